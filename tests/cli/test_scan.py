"""`boto-wait scan`."""

import ast
import json
from pathlib import Path

import pytest
from case_tables import tabled

ROWS = json.loads((Path(__file__).parents[1] / "cases/scan.json").read_text(encoding="utf-8"))
LOOP = """import time
glue = boto3.client("glue")
while glue.get_crawler(Name="c")["Crawler"]["State"] != "READY":
    time.sleep(10)
"""
LINE = "glue.wait_until_crawler_ready(Name='c', max_wait=..., min_delay=10, delay_pace='fixed')"
UNCLEAR = """import time
while client.get_job_run(**options)["State"] != wanted:
    time.sleep(1)
"""


@pytest.fixture
def scan(tmp_path, monkeypatch, command):
    """`scan(text, words)`: exit code, stdout and stderr for a file with this text."""
    monkeypatch.chdir(tmp_path)

    def run(text, words="", name="deploy.py"):
        Path(name).write_text(text, encoding="utf-8")
        return command(f"scan {name} {words}")

    return run


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["form"])
def test_form_of_a_loop(row, scan):
    code, out, err = scan("\n".join(row["source"]), "--output json")
    lines = [each["replacement"] for each in json.loads(out)]
    assert lines == ([] if row["writes"] is None else [row["writes"]])
    assert (code, err) == (0, f"boto-wait scan: files: 1, loops: {len(lines)}\n")
    for line in lines:
        ast.parse(f"async def f():\n {line}")


def test_a_finding_is_a_line_with_its_place(scan):
    _, out, _ = scan(LOOP)
    assert out == f"deploy.py:3:1: glue GetCrawler is polled by hand; write: {LINE}\n"


@pytest.mark.parametrize(("text", "code"), [(LOOP, 1), (UNCLEAR, 0), ("", 0)])
def test_fail_on_found_exits_with_1(scan, text, code):
    assert scan(text, "--fail-on FOUND")[0] == code


def test_unclear_loops_are_printed_with_all(scan):
    assert scan(UNCLEAR)[1] == ""
    assert scan(UNCLEAR, "--all")[1].startswith("deploy.py:2:1: ")


def test_notebook_names_cell_and_line(scan):
    first, second = LOOP.partition("while")[0], "while" + LOOP.partition("while")[2]
    cells = [("markdown", "# while"), ("code", "%pip install x\n" + first), ("code", "a b c")]
    cells += [("code", second)]
    sources = [
        {"cell_type": kind, "source": text.splitlines(keepends=True)} for kind, text in cells
    ]
    text = json.dumps({"cells": sources})
    _, out, _ = scan(text, name="n.ipynb")
    assert out.startswith("n.ipynb: cell 4, line 1: glue GetCrawler ")
    [found] = json.loads(scan(text, "--output json", name="n.ipynb")[1])
    assert (found["cell"], found["line"]) == (4, 1)


def test_annotations_name_the_line(scan):
    _, out, _ = scan(LOOP, "--output github")
    assert out.startswith("::notice file=deploy.py,line=3,col=1,title=PollingLoop::glue ")
    [result] = json.loads(scan(LOOP, "--output sarif")[1])["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("PollingLoop", "note")
    assert LINE in result["message"]["text"]


@tabled("scan: unreadable file is a message", "name", "text")
def test_unreadable_file_is_a_message(scan, name, text):
    code, out, err = scan(text, name=name)
    assert (code, out, f"{name} was not read: " in err) == (0, "", True)


def test_files_of_folders_are_parsed_not_run(tmp_path, command):
    (tmp_path / "venv").mkdir()
    for name in ("a.py", "b.txt", "venv/c.py", ".d.py"):
        (tmp_path / name).write_text(f"raise SystemExit\n{LOOP}")
    code, out, err = command("scan", tmp_path)
    assert (code, err) == (0, "boto-wait scan: files: 1, loops: 1\n")
    assert out.startswith(f"{tmp_path / 'a.py'}:4:1: ")


def test_missing_path_exits_with_2(command):
    assert command("scan nothing.py") == (2, "", "boto-wait scan: no such file: nothing.py\n")
