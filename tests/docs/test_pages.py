"""The examples of the first pages run, and the API reference is complete."""

import contextlib
import pkgutil
import re
from importlib import import_module

import boto3
import pytest
from docs.page_run import ROOT, PageRun
from docs.page_setups import SETUPS
from moto import mock_aws

import boto_waiters_plus as bwp

pytestmark = pytest.mark.nightly(subject="docs")

DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", SETUPS)
def test_blocks_of_the_page_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    path = (ROOT if name == "README.md" else DOCS) / name
    page = PageRun(path, monkeypatch)
    setup = contextlib.contextmanager(SETUPS[name])
    with contextlib.closing(page), mock_aws(), setup(page):
        page.run()


def described():
    """The objects that the pages under docs/api describe."""
    for page in DOCS.glob("api/*.md"):
        module = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = import_module(line.split()[-1])
            elif directive := re.fullmatch(r"\.\. (?:auto\w+|py:data):: (\w+)", line):
                yield getattr(module, directive[1])


def public_names():
    """The names of `__all__`, of the package and of its public modules."""
    modules = (
        import_module(f"{bwp.__name__}.{info.name}")
        for info in pkgutil.iter_modules(bwp.__path__)
        if info.name != "cli"  # a command, not an API
    )
    for module in (bwp, *modules):
        for name in getattr(module, "__all__", ()):
            yield f"{module.__name__}.{name}", getattr(module, name)


def test_api_reference_has_every_public_name():
    objects = list(described())
    missing = [name for name, value in public_names() if not any(value is o for o in objects)]
    assert missing == []
