"""The documentation site: every page has its place, and every public name is described."""

import pkgutil
import re
import runpy
import sys
from importlib import import_module
from pathlib import Path

import pytest
from docs.snippets import DOCS, ROOT, name_of, pages

import boto_waiters_plus as bwp

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not in a wheel")


def listed(page):
    """The pages that the toctrees of a page list, relative to docs."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                yield (Path(page).parent / f"{line}.md").as_posix()


def test_every_page_is_in_one_toctree():
    written = {name_of(page) for page in pages()} - {"README.md"}
    found = [entry for page in written for entry in listed(page)]
    made = {"reference/index.md", "coverage.md", "screens.md", "effects.md"}
    assert set(found) == written - {"index.md"} | made
    assert len(found) == len(set(found))


def test_the_front_page_is_the_head_of_the_readme():
    """Its example, picture and tables are those of README.md, which tests execute."""
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    marks = dict(re.findall(r'^:(start-after|end-before): "(.*)"$', page, re.MULTILINE))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    head = readme.partition(marks["start-after"])[2].partition(marks["end-before"])[0]
    for part in ("```python\n", "![", "| measured |", "| | botocore's waiter |", "## Install"):
        assert part in head


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


def test_configuration_is_read_without_sphinx(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert runpy.run_path(str(DOCS / "conf.py"))["version"] == bwp.__version__
