"""The build hook: every wheel has the types of `boto_waiters_plus.typed`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TypesBuildHook(BuildHookInterface[Any]):
    """Writes them beside the wheel's modules; for an editable install, into the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the types before the files of the wheel are collected."""
        sys.path[:0] = [self.root, str(Path(self.root) / "tools")]
        from generate_types import write  # noqa: PLC0415 - found by the line above

        if version == "editable":
            write(Path(self.root) / "boto_waiters_plus" / "typed")
            return
        self._folder = tempfile.TemporaryDirectory()
        write(Path(self._folder.name))
        build_data["force_include"][self._folder.name] = "boto_waiters_plus/typed"

    def finalize(self, version: str, *_: Any) -> None:
        """Remove what is in the wheel by now."""
        if version != "editable":
            self._folder.cleanup()
