"""The files that the package reads; its modules are found by their import statements."""

from PyInstaller.utils.hooks import (  # type: ignore[import-untyped]  # no stubs, no package
    collect_data_files,
)

from boto_waiters_plus.definitions.shipped import data_root

# In a checkout `data/` lies beside the package.
datas = [(str(data_root()), "boto_waiters_plus/data")]
FILES = ["**/*.lark", "**/page.html", "**/openapi.json"]
datas += collect_data_files("boto_waiters_plus", includes=FILES)
