"""With `install()` active, botocore and boto3 do what their own tests hold."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("behaviours.py")


def names():
    spec = importlib.util.spec_from_file_location("behaviours", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.BEHAVIOURS)


def run(*arguments):
    command = [sys.executable, str(SCRIPT), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def both():
    return run(), run("install")


@pytest.mark.parametrize("name", names())
def test_install_changes_nothing_else(both, name):
    stock, installed = both
    assert installed[name] == stock[name]


def test_every_behaviour_can_be_observed(both):
    """One that only raises would compare two equal errors."""
    errors = {
        name: result
        for name, result in both[0].items()
        if isinstance(result, str) and "Error: " in result[:60]
    }
    assert errors == {}
