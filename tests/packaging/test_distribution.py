"""The package as it is installed: its version, its data, its public names, its weight."""

import importlib.metadata
import json
import subprocess
import sys

import boto_waiters_plus
from boto_waiters_plus.definitions.shipped import data_root, shipped_definitions, shipped_services

PUBLIC_NAMES = [
    "ExceptionOutcome",
    "ResponseOutcome",
    "Wait",
    "WaitEvent",
    "WaitOptions",
    "WaiterAttemptsError",
    "WaiterCancelledError",
    "WaiterDefinition",
    "WaiterDefinitionError",
    "WaiterError",
    "WaiterFailedError",
    "WaiterOutcome",
    "WaiterTimeoutError",
    "WaitersError",
    "as_completed",
    "as_completed_async",
    "deadline",
    "enable",
    "install",
    "load_definitions",
    "uninstall",
    "wait_all",
    "wait_all_async",
    "wait_any",
    "wait_any_async",
    "wait_until",
    "wait_until_async",
]


def test_public_names_are_these():
    assert boto_waiters_plus.__all__ == PUBLIC_NAMES
    assert all(hasattr(boto_waiters_plus, name) for name in PUBLIC_NAMES)


def test_installed_version_is_the_packages_own():
    assert importlib.metadata.version("boto-waiters-plus") == boto_waiters_plus.__version__


def test_definitions_are_shipped():
    assert (data_root() / "s3.json").is_file()
    names = {definition.name for definition in shipped_definitions("s3")}
    assert {"BucketExists", "BucketNotExists", "ObjectExists", "ObjectNotExists"} <= names
    assert sum(1 for _ in shipped_services()) >= 80


def test_package_says_it_is_typed():
    files = importlib.metadata.files("boto-waiters-plus") or []
    editable = not any(str(file).endswith("outcome.py") for file in files)
    assert editable or any(str(file).endswith("py.typed") for file in files)


def test_importing_loads_neither_boto3_nor_wrapt_nor_asyncio_drivers():
    """What a plain import may cost: botocore, and nothing that only some waits need."""
    script = (
        "import sys, json, boto_waiters_plus;"
        "print(json.dumps([m for m in ('boto3', 'wrapt', 'asyncio', 'rich', 'moto', 'aiobotocore',"
        " 'unittest.mock', 'boto_waiters_plus.conditions', 'boto_waiters_plus.testing',"
        " 'boto_waiters_plus.definitions.idl')"
        " if m in sys.modules]))"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(run.stdout) == []
