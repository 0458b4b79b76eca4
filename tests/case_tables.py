"""The facts of `tests/cases`, and the experiments of its `attacks.json`."""

import functools
import json
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"


def cases(name):
    """The content of a file of `tests/cases`."""
    return json.loads((CASES / f"{name}.json").read_text("utf-8"))


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
    return cases("attacks")["experiments"]
