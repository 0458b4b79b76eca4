"""What PyInstaller has to know; it finds this by the entry point `pyinstaller40`."""

from __future__ import annotations

from pathlib import Path


def get_hook_dirs() -> list[str]:
    """Return the folder with the hook of the package."""
    return [str(Path(__file__).parent)]
