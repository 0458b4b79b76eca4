"""A reader of docs/architecture.md adds a kind of call and a judge by its steps."""

import asyncio
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

import boto_waiters_plus as bwp
from boto_waiters_plus.testing import virtual_time

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def file_complete(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.csv").write_text("complete")
    page = Sybil([PythonCodeBlockParser()], path=str(DOCS)).parse(DOCS / "architecture.md")
    with virtual_time():
        for example in page.examples():
            example.evaluate()
    return page.namespace["file_complete"]


def grow(report):
    with report.open("a") as file:
        file.write("row\n")


def blocking(wait):
    return wait.run()


def in_task(wait):
    return asyncio.run(wait.run_async())


@pytest.mark.parametrize("form", [blocking, in_task])
def test_wait_of_the_page_ends_in_each_way(file_complete, tmp_path, form):
    report, events = tmp_path / "growing.csv", []
    with virtual_time() as clock:
        for second in range(10, 20, 2):
            clock.call_at(second, lambda: grow(report))
        wait = file_complete(report, max_wait=60)
        wait.wait_run.observe_attempts(events.append)
        outcome = form(wait)
        assert outcome.response == outcome.observed == report.stat().st_size
        assert events[0].error == "FileNotFoundError"
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            form(file_complete(tmp_path / "other.csv", max_wait=20))
    assert caught.value.elapsed == pytest.approx(20, abs=5)
    assert isinstance(caught.value.last_exception, FileNotFoundError)


@pytest.mark.parametrize("form", [blocking, in_task])
def test_error_that_is_no_reply_is_raised(file_complete, form):
    with pytest.raises(NotADirectoryError):
        form(file_complete("report.csv/inside", max_wait=60))
