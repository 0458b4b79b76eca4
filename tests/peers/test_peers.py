"""With `install()` active, botocore and boto3 do what their own tests hold."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("behaviours.py")


def test_install_changes_no_behaviour_of_botocore_and_boto3():
    commands = [[sys.executable, str(SCRIPT), *more] for more in ([], ["install"])]
    runs = [subprocess.Popen(each, stdout=subprocess.PIPE, text=True) for each in commands]
    stock, installed = (json.loads(run.communicate(timeout=170)[0]) for run in runs)
    assert len(stock) > 30
    changed = {
        name: (stock[name], installed[name]) for name in stock if stock[name] != installed[name]
    }
    # One that only raises would compare two equal errors.
    errors = {
        name: result
        for name, result in stock.items()
        if isinstance(result, str) and "Error: " in result[:60]
    }
    assert (changed, errors) == ({}, {})
