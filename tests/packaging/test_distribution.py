"""The package as it is installed: its version, its data, its public names, its weight."""

import importlib.metadata
import pkgutil
import subprocess
import sys

from case_tables import tables

import boto_waiters_plus
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services

PUBLIC_NAMES = tables("packaging")["test_distribution.py::PUBLIC_NAMES"]


def test_public_names_are_these():
    assert boto_waiters_plus.__all__ == PUBLIC_NAMES
    assert all(hasattr(boto_waiters_plus, name) for name in PUBLIC_NAMES)


def test_installed_version_is_the_packages_own():
    assert importlib.metadata.version("boto-waiters-plus") == boto_waiters_plus.__version__


def test_definitions_are_shipped():
    names = {definition.name for definition in shipped_definitions("s3")}
    assert {"BucketExists", "BucketNotExists", "ObjectExists", "ObjectNotExists"} <= names
    assert sum(1 for _ in shipped_services()) >= 80


def test_package_says_it_is_typed():
    files = importlib.metadata.files("boto-waiters-plus") or []
    editable = not any(str(file).endswith("outcome.py") for file in files)
    assert editable or any(str(file).endswith("py.typed") for file in files)


def test_dir_lists_every_public_name_before_its_first_use():
    script = "import boto_waiters_plus as p; print(sorted(set(p.__all__) - set(dir(p))))"
    assert _output_of(script) == "[]"


def test_no_public_name_hides_a_submodule():
    submodules = {module.name for module in pkgutil.iter_modules(boto_waiters_plus.__path__)}
    assert submodules.isdisjoint(PUBLIC_NAMES)


IMPORTED = "; print(sorted(m for m in sys.modules if m.startswith(('boto', 'wrapt', 'asyncio'))))"


def test_importing_the_package_imports_nothing_else():
    script = f"import sys, boto_waiters_plus{IMPORTED}"
    assert _output_of(script) == "['boto_waiters_plus']"


def test_installing_imports_nothing_that_only_a_wait_needs():
    script = f"import sys, boto_waiters_plus; boto_waiters_plus.install(){IMPORTED}"
    imported = _output_of(script)
    layers = ("aws", "definitions", "engine", "options", "outcome", "exceptions", "many")
    assert [name for name in layers if f"boto_waiters_plus.{name}" in imported] == []


def _output_of(script):
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return run.stdout.strip()
