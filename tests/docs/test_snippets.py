"""Every block of every page is executed."""

import contextlib
import re

import boto3
import pytest
from docs.commands import NOT_RUN
from docs.page_run import PageRun
from docs.page_setups import SETUPS
from docs.snippets import DOCS, EXECUTED, MADE_BY_THE_BUILD, blocks, name_of, pages
from moto import mock_aws

PAGES = {name_of(page): page for page in pages()}
WITH_BLOCKS = [
    name
    for name, page in PAGES.items()
    if any(block.language in EXECUTED for block in blocks(page))
    and name != "contributing.md"  # test_contributing.py follows its recipes
]

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not in a wheel")


@pytest.fixture
def run_page(tmp_path, monkeypatch, answers):
    """`run_page(name)`: execute all blocks of a page against moto, in virtual time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)

    def run(name):
        page = PageRun(PAGES[name], tmp_path, monkeypatch, answers)
        setup = contextlib.contextmanager(SETUPS.get(name, SETUPS[None]))
        with contextlib.closing(page), mock_aws(), setup(page):
            for block in blocks(PAGES[name]):
                if block.language in EXECUTED:
                    page.execute(block)
        return page

    return run


@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_blocks_of_the_page_run(name, run_page):
    page = run_page(name)
    executable = [block for block in blocks(page.page) if block.language in EXECUTED]
    assert set(page.executed) == set(executable)


def test_every_setup_has_a_page():
    assert {name for name in SETUPS if name} <= set(WITH_BLOCKS)


def test_what_is_not_run_is_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES.values())
    text = re.sub(r"(\.venv/bin/)?python3?", "python", text)
    assert [command for command in NOT_RUN if command not in text] == []


@pytest.mark.parametrize("name", PAGES)
def test_links_of_the_page_lead_somewhere(name):
    page = PAGES[name]
    targets = re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not leads_somewhere(page, target)]
    assert missing == []


def leads_somewhere(page, target):
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if file.is_relative_to(DOCS) and name_of(file).startswith(MADE_BY_THE_BUILD):
        return page.is_relative_to(DOCS)  # only the site has it
    if not file.exists():
        return False
    return not anchor or anchor in anchors(file)


def anchors(file):
    """Return the anchors of the headings of a page, as code hosts and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    plain = [re.sub(r"\]\([^)]*\)", "", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}
