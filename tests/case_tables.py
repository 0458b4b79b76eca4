"""The experiments of tests/cases/attacks.json, for the tests that run them."""

import functools
import json
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"


def experiments(does, *names):
    """Run a test for each experiment of `cases/attacks.json` that does this.

    An experiment has a name, a claim that it tries, and values of these names or None.
    """
    found = [each for each in _experiments() if each["does"] == does]
    rows = [tuple(each.get(name) for name in names) for each in found]
    ids = [f"{each['name']}: {each['claim']}" for each in found]
    return pytest.mark.parametrize(names, rows, ids=ids)


@functools.cache
def _experiments():
    return json.loads((CASES / "attacks.json").read_text("utf-8"))["experiments"]
