"""What needs an optional package that is missing says how to install it."""

import importlib.metadata
import os
import re
import shlex
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli import main
from boto_waiters_plus.common.errors import missing_extra

TELEMETRY, FLEET = "boto_waiters_plus.telemetry", "boto_waiters_plus.fleet"


def missing(patch, package, *reloaded):
    """Let an import of the package fail, and these modules be imported anew."""
    for name in list(sys.modules):
        if any(f"{name}.".startswith(f"{each}.") for each in (package, *reloaded)):
            patch.delitem(sys.modules, name)
    patch.setitem(sys.modules, package, None)


def installed_by(text, extra):
    """The packages of the command in a message about an extra."""
    assert f"requires the extra {extra} (" in text
    words = shlex.split(text.partition("install it with: ")[2])
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    return {re.match(r"[\w-]+", word)[0] for word in words[4:]}


def open_store(url="waits.db"):
    return operations.Store(url)


def show_progress():
    client = boto3.client("s3", region_name="us-east-1")
    bwp.wait_all([bwp.Wait(client, "bucket_exists", {"Bucket": "b"}, max_wait=9)], progress=True)


SQL, IDL = "boto_waiters_plus.operations.sql", "boto_waiters_plus.definitions.idl"
HTTP_FACE = "boto_waiters_plus.operations.http_api"
POSTGRESQL = "postgresql://host/n"


STORED = "platformdirs sqlalchemy"
ON_POSTGRESQL = "platformdirs psycopg sqlalchemy"
SERVED = "platformdirs sqlalchemy starlette uvicorn"


@pytest.mark.parametrize(("missed", "reloaded", "use", "extra", "packages"), [
    ("sqlalchemy", SQL, open_store, "store", STORED),
    ("sqlalchemy", SQL, lambda: open_store(":memory:"), "store", STORED),
    ("sqlalchemy", SQL, lambda: open_store(POSTGRESQL), "store-postgresql", ON_POSTGRESQL),
    ("psycopg", "psycopg", lambda: open_store(POSTGRESQL), "store-postgresql", ON_POSTGRESQL),
    ("starlette", HTTP_FACE, lambda: operations.asgi, "serve", SERVED),
    ("opentelemetry", TELEMETRY, partial(import_module, TELEMETRY), "otel", "opentelemetry-api"),
    ("distributed", FLEET, partial(import_module, FLEET), "fleet", f"distributed {STORED}"),
    ("platformdirs", "platformdirs", bwp.History, "history", "platformdirs"),
    ("lark", IDL, lambda: bwp.load_definitions("x.smithy"), "idl", "lark"),
    ("rich.live", "rich.live", show_progress, "cli", "argcomplete markdown-it-py rich"),
])  # fmt: skip
def test_a_missing_extra_is_named(missed, reloaded, use, extra, packages, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("x.smithy").write_text("")
    missing(monkeypatch, missed, reloaded)
    with pytest.raises((ImportError, bwp.WaiterDefinitionError)) as caught:
        use()
    assert installed_by(str(caught.value), extra) == {*packages.split()}


@pytest.mark.parametrize(("missed", "words", "code", "extra", "packages"), [
    ("moto.server", "demo", 255, "demo", "flask flask-cors moto rich"),
    ("uvicorn", "operations serve --store waits.db", 2, "serve", SERVED),
    ("starlette sqlalchemy", "operations serve", 2, "serve", SERVED),
    ("sqlalchemy", "operations list", 2, "store", STORED),
    ("platformdirs", "history", 255, "history", "platformdirs"),
])  # fmt: skip
def test_the_command_names_what_is_missing(
    missed, words, code, extra, packages, monkeypatch, tmp_path, capsys
):
    monkeypatch.chdir(tmp_path)
    # The demo drops variables of its process.
    monkeypatch.setattr(os, "environ", {})
    for package in missed.split():
        missing(monkeypatch, package, SQL, HTTP_FACE)
    assert main(words.split()) == code
    out, err = capsys.readouterr()
    assert (out, installed_by(err.splitlines()[-1], extra)) == ("", {*packages.split()})


def test_the_readme_has_each_extra_and_its_packages():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| `([\w-]+)` \| .+ \| (.+) \|$", readme)
    needed = {}
    for each in importlib.metadata.requires("boto-waiters-plus"):
        package, _, extra = each.partition("; extra == ")
        if extra:
            needed.setdefault(extra.strip("'\""), set()).add(re.match(r"[\w-]+", package)[0])
    assert {extra: {*packages.split(", ")} for extra, packages in rows} == needed


def test_without_metadata_the_clone_is_named(monkeypatch):
    missing(monkeypatch, "sqlalchemy", SQL)
    # As of a folder of sources on the path, beside a distribution without the extra.
    for requires in ([], ["sqlalchemy>=2; extra == 'store-postgresql'"]):
        monkeypatch.setattr(importlib.metadata, "requires", lambda _, found=requires: found)
        with pytest.raises(ImportError, match=r'-m pip install "\.\[store\]" in a clone'):
            open_store()


@pytest.mark.parametrize(("executable", "named"), [
    ("/venv/bin/python3.13t", "/venv/bin/python3.13t"),
    (r"C:\venv\Scripts\python.exe", r"C:\venv\Scripts\python.exe"),
    *((other, "python") for other in ("/my venv/bin/python", "/a&b(c)/bin/python")),
    *((other, "python") for other in ("/usr/bin/uwsgi", "", None)),
])  # fmt: skip
def test_the_command_survives_a_shell(executable, named, monkeypatch):
    monkeypatch.setattr(sys, "executable", executable)
    text = missing_extra("it", "store", ImportError("x"))
    assert f"install it with: {named} -m pip install " in text


def test_an_error_of_the_package_itself_is_raised(monkeypatch):
    missing(monkeypatch, "boto_waiters_plus.fleet.fleet_run", FLEET)
    with pytest.raises(ModuleNotFoundError, match=r"^import of .*\.fleet_run"):
        import_module(FLEET)
