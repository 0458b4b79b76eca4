"""The package as it is installed: its version, its data, its names, what it imports."""

import importlib.metadata
import json
import pkgutil
import subprocess
import sys

import boto_waiters_plus

NAMES = boto_waiters_plus.__all__

FRESH = """
import json, sys
import boto_waiters_plus as bwp

names = sorted(set(bwp.__all__) - set(dir(bwp)))
first = sorted(sys.modules)
bwp.install()
print(json.dumps([names, first, sorted(sys.modules)]))
"""
OTHERS = ("boto3", "botocore", "aiobotocore", "urllib3", "wrapt", "asyncio", "ssl")
LATER = ("definitions", "engine", "options", "outcome", "exceptions", "many")


def test_a_fresh_process_imports_only_what_it_uses():
    command = [sys.executable, "-c", FRESH]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    hidden, first, installed = json.loads(run.stdout)
    assert hidden == []
    later = [*OTHERS, *(f"boto_waiters_plus.{each}" for each in LATER)]
    assert {*first}.isdisjoint(later)
    assert {*installed}.isdisjoint(later)


def test_public_names_exist_and_hide_no_submodule():
    assert all(hasattr(boto_waiters_plus, name) for name in NAMES)
    submodules = {module.name for module in pkgutil.iter_modules(boto_waiters_plus.__path__)}
    assert submodules.isdisjoint(NAMES)


def test_installed_version_is_the_packages_own():
    assert importlib.metadata.version("boto-waiters-plus") == boto_waiters_plus.__version__


def test_package_says_it_is_typed():
    files = importlib.metadata.files("boto-waiters-plus") or []
    editable = not any(str(file).endswith("outcome.py") for file in files)
    assert editable or any(str(file).endswith("py.typed") for file in files)
