"""What PyInstaller is told of the files of the package."""

import runpy
import sys
from pathlib import Path
from types import ModuleType

import boto_waiters_plus
from boto_waiters_plus.__pyinstaller import get_hook_dirs

PACKAGE = Path(boto_waiters_plus.__file__).parent


def test_every_file_that_is_read_is_bundled(monkeypatch):
    """PyInstaller's own function takes such patterns; it is no dependency of the tests."""
    hooks = ModuleType("PyInstaller.utils.hooks")
    hooks.collect_data_files = lambda _, includes: [
        (str(path), str(path.parent)) for pattern in includes for path in PACKAGE.glob(pattern)
    ]
    for name in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)
    (folder,) = get_hook_dirs()
    found = runpy.run_path(str(Path(folder) / "hook-boto_waiters_plus.py"))["datas"]
    bundled = {Path(source).name for source, _ in found}
    read = {
        path.name
        for path in PACKAGE.rglob("*")
        if path.suffix not in (".py", ".pyc", ".pyi", "") and "data" not in path.parts
    }
    assert read - {"py.typed"} <= bundled
