"""The build hook: wheels have the stubs of `boto_waiters_plus.typed`, and `data/` in one file."""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelBuildHook(BuildHookInterface[Any]):
    """Writes them for the wheel; for an editable install, the stubs alone, into the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files before those of the wheel are collected."""
        sys.path[:0] = [self.root, str(Path(self.root) / "tools")]
        from generate_types import write  # noqa: PLC0415 - found by the line above

        from boto_waiters_plus.definitions.shipped import ARCHIVE  # noqa: PLC0415 - see above

        if version == "editable":
            write(Path(self.root) / "boto_waiters_plus" / "typed")
            return
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        write(folder / "typed")
        with zipfile.ZipFile(folder / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted((Path(self.root) / "data").glob("*.json")):
                # The same bytes from each build: no times.
                archive.writestr(
                    zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED
                )
        build_data["force_include"][str(folder)] = "boto_waiters_plus"

    def finalize(self, version: str, *_: Any) -> None:
        """Remove what is in the wheel by now."""
        if version != "editable":
            self._folder.cleanup()
