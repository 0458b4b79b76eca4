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


@pytest.fixture(scope="module")
def both():
    commands = [[sys.executable, str(SCRIPT), *more] for more in ([], ["install"])]
    runs = [subprocess.Popen(each, stdout=subprocess.PIPE, text=True) for each in commands]
    return [json.loads(run.communicate(timeout=170)[0]) for run in runs]


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
