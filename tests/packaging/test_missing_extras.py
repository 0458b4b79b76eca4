"""What needs an optional package that is missing says how to install it."""

import importlib
import os
import sys

import pytest

from boto_waiters_plus import operations
from boto_waiters_plus.cli import main

TELEMETRY, FLEET = "boto_waiters_plus.telemetry", "boto_waiters_plus.fleet"


def missing(patch, package, *reloaded):
    """Let an import of the package fail, and these modules be imported anew."""
    for name in list(sys.modules):
        if any(f"{name}.".startswith(f"{each}.") for each in (package, *reloaded)):
            patch.delitem(sys.modules, name)
    patch.setitem(sys.modules, package, None)


@pytest.mark.parametrize(
    ("package", "reloaded", "use", "extra"),
    [
        (
            "sqlalchemy",
            "boto_waiters_plus.operations.sql",
            lambda: operations.Store("waits.db"),
            "store",
        ),
        ("psycopg", "psycopg", lambda: operations.Store("postgresql://host/n"), "store-postgresql"),
        ("opentelemetry", TELEMETRY, lambda: importlib.import_module(TELEMETRY), "otel"),
        ("distributed", FLEET, lambda: importlib.import_module(FLEET), "fleet"),
    ],
)
def test_a_missing_extra_is_named(package, reloaded, use, extra, monkeypatch):
    missing(monkeypatch, package, reloaded)
    with pytest.raises(ImportError, match=rf"boto-waiters-plus\[{extra}\]"):
        use()


@pytest.mark.parametrize(
    ("package", "words", "code", "extra"),
    [
        ("moto.server", ["demo"], 255, "boto-waiters-plus[demo]"),
        ("uvicorn", ["operations", "serve", "--store", "waits.db"], 2, "uvicorn"),
    ],
)
def test_the_command_names_what_is_missing(package, words, code, extra, monkeypatch, capsys):
    # The demo drops variables of its process.
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setitem(sys.modules, package, None)
    assert main(words) == code
    assert extra in capsys.readouterr().err
