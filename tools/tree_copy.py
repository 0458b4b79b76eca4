"""A copy of the working tree in which files are broken, one at a time, to see which tests fail."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
LEFT_OUT: Final = (".git", ".tox", ".venv", "__pycache__", ".*_cache", "dist", "build", "*.db")


class TreeCopy:
    """A copy of the tree.

    Args:
        folder: where it is made; it must not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))

    @contextlib.contextmanager
    def replaced(self, path: str, text: str) -> Iterator[None]:
        """Let a file have another text inside the block.

        Args:
            path: of the file, relative to the root.
            text: the whole of it.
        """
        place = self.folder / path
        kept = place.read_text(encoding="utf-8")
        _write(place, text)
        try:
            yield
        finally:
            _write(place, kept)


def _write(place: Path, text: str) -> None:
    """Write a file, and delete its bytecode: a change within the same second leaves it valid."""
    place.write_text(text, encoding="utf-8")
    for each in (place.parent / "__pycache__").glob(f"{place.stem}.*.pyc"):
        each.unlink()
