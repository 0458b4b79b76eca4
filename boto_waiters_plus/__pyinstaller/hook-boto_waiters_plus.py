"""The files that the package reads; its modules are found by their import statements."""

from PyInstaller.utils.hooks import (  # type: ignore[import-untyped]  # no stubs, no package
    collect_data_files,
)

FILES = ["data.zip", "**/*.lark", "**/page.html", "**/openapi.json"]
datas = collect_data_files("boto_waiters_plus", includes=FILES)
