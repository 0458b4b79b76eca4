"""Rows of parametrized tests from tests/cases/tables: one file a folder, a table for a subject."""

import functools
import json
import pkgutil
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TABLES = TESTS / "cases" / "tables"


def _value(members):
    """Return what JSON lacks.

    The class of `{"class": "ValueError"}` or `{"class": "module:Name"}`, the tuple of
    `{"tuple": [1, 2]}`, the set of `{"set": [1, 2]}`, and the text of `{"text": ["a", ["!", 90]]}`,
    which has 90 of the last.
    """
    match members:
        case {"class": name} if len(members) == 1:
            return pkgutil.resolve_name(name if ":" in name else f"builtins:{name}")
        case {"tuple": values} if len(members) == 1:
            return tuple(values)
        case {"set": values} if len(members) == 1:
            return set(values)
        case {"text": [*parts]} if len(members) == 1:
            return "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts)
    return members


@functools.cache
def tables(folder):
    """Return the tables of a folder by subject: lists of rows, or objects of rows by their ids."""
    return json.loads((TABLES / f"{folder}.json").read_text("utf-8"), object_hook=_value)


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
    return json.loads((TESTS / "cases/attacks.json").read_text("utf-8"))["experiments"]


def tabled(table, *names, **options):
    """Run a test for each row of a table of its folder; a row has a value for each of these names.

    A string among rows that begins with # is a comment.
    """

    def parametrized(test):
        folder = Path(test.__code__.co_filename).relative_to(TESTS).parent.name
        rows = tables(folder or "tests")[table]
        if isinstance(rows, dict):
            options["ids"], rows = list(rows), list(rows.values())
        rows = [row for row in rows if not (isinstance(row, str) and row.startswith("# "))]
        return pytest.mark.parametrize(names if len(names) > 1 else names[0], rows, **options)(test)

    return parametrized
