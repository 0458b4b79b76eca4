"""`boto-wait scan`."""

import ast
import errno
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from boto3.session import Session
from case_tables import cases

ROWS = cases("scan")
LOOP = """import time
glue = boto3.client("glue")
while glue.get_crawler(Name="c")["Crawler"]["State"] != "READY":
    time.sleep(10)
"""
LINE = (
    "glue.wait_until_crawler_ready(Name='c', max_wait=..., min_delay=10, delay_pace='fixed')"
    "  # max_wait: the seconds to wait at most"
)
NEEDED = (
    "boto-wait scan: the lines need `import boto_waiters_plus as bwp`, and `bwp.install()` where "
    "the program starts\n"
)
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
    assert (code, err.startswith(f"boto-wait scan: files: 1, loops: {len(lines)}")) == (0, True)
    for line in lines:
        ast.parse(f"async def f():\n {line}")


def test_a_finding_is_a_line_with_its_place(scan):
    _, out, _ = scan(LOOP)
    assert out == f"deploy.py:3:1: glue GetCrawler is polled by hand; write: {LINE}\n"


@pytest.mark.parametrize(("text", "code"), [(LOOP, 1), (UNCLEAR, 0), ("", 0)])
def test_fail_on_found_exits_with_1(scan, text, code):
    assert scan(text, "--fail-on FOUND")[0] == code


def test_unclear_loops_are_counted_and_printed_with_all(scan):
    code, out, err = scan(UNCLEAR)
    assert (code, out, err) == (0, "", "boto-wait scan: files: 1, loops: 0, unclear: 1 (--all)\n")
    code, out, err = scan(UNCLEAR, "--all")
    assert out.startswith("deploy.py:2:1: ")
    assert err == "boto-wait scan: files: 1, loops: 0, unclear: 1\n"


def test_what_the_lines_need_is_said_once(scan):
    assert scan(LOOP + LOOP)[2] == "boto-wait scan: files: 1, loops: 2\n" + NEEDED


@pytest.mark.parametrize("kept", [
    LOOP.replace('"READY":', '"READY":  # boto-wait: keep'),
    LOOP.replace("while", "# boto-wait: keep, it is the demo\nwhile"),
    ("from tenacity import retry\n# boto-wait: keep\n@retry\ndef f():\n"
     "    assert boto3.client('glue').get_crawler(Name='c')['Crawler']['State'] == 'READY'\n"),
])  # fmt: skip
def test_comment_leaves_a_loop_alone(kept, scan):
    assert scan(kept, "--all") == (0, "", "boto-wait scan: files: 1, loops: 0\n")


def test_comment_of_one_loop_leaves_the_next(scan):
    kept = LOOP.replace('"READY":', '"READY":  # boto-wait: keep')
    assert scan(kept + LOOP)[2].startswith("boto-wait scan: files: 1, loops: 1\n")


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the patch")
def test_patch_is_applied_by_git(tmp_path, scan):
    before = f"{LOOP}print('ready')"
    code, patch, err = scan(before.replace("\n", "\r\n"), "--diff", name="deploy.py")
    assert (code, err) == (0, "boto-wait scan: files: 1, loops: 1\n" + NEEDED)
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True)
    after = Path("deploy.py").read_bytes().decode()
    assert after == f"{LOOP.partition('while')[0]}{LINE}\nprint('ready')".replace("\n", "\r\n")


def test_patch_keeps_a_byte_order_mark_and_the_lines_of_the_parser(scan):
    _, patch, _ = scan("\ufeff" + LOOP.replace("time\n", "time  # \x0c\u2028\n"), "--diff")
    assert patch.split("\n")[3] == " \ufeffimport time  # \x0c\u2028"
    assert [each for each in patch.split("\n") if each.startswith("-")][1:] == [
        f"-{each}" for each in LOOP.splitlines()[2:]
    ]


@pytest.mark.parametrize("loop", [
    LOOP + "    print('not yet')\n",
    LOOP.replace("time.sleep(10)", "self.passes = 1\n    time.sleep(10)"),
    ("def f():\n  while True:\n    if glue.get_crawler(Name='c')['Crawler']['State'] == 'READY':\n"
     "      return True\n    time.sleep(1)\n"),
    ("state = ''\nwhile state != 'READY':\n"
     "    state = glue.get_crawler(Name='c')['Crawler']['State']\n    time.sleep(1)\n"
     "print(state)\n"),
])  # fmt: skip
def test_patch_leaves_what_would_be_lost(loop, scan):
    text = LOOP.partition("while")[0] + loop.removeprefix(LOOP.partition("while")[0])
    code, out, err = scan(text, "--diff")
    assert (code, out) == (0, "")
    assert err.startswith("boto-wait scan: files: 1, loops: 1\n")


def test_notebook_names_cell_and_line(scan):
    first, second = LOOP.partition("while")[0], "while" + LOOP.partition("while")[2]
    texts = "%pip install x\n" + first, "a b c", second
    cells = [{"cell_type": "code", "source": each.splitlines(keepends=True)} for each in texts]
    text = json.dumps({"cells": [{"cell_type": "markdown", "source": ["# while"]}, *cells]})
    _, out, _ = scan(text, name="n.ipynb")
    assert out.startswith("n.ipynb: cell 4, line 1: glue GetCrawler ")
    [found] = json.loads(scan(text, "--output json", name="n.ipynb")[1])
    assert (found["cell"], found["line"]) == (4, 1)


def test_annotations_name_the_line(scan):
    _, out, _ = scan(LOOP, "--output github")
    assert out.startswith("::notice file=deploy.py,line=3,col=1,title=PollingLoop::glue ")
    found = json.loads(scan(LOOP, "--output sarif", name="my%deploy.py")[1])
    [result] = found["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%25deploy.py"
    assert (result["ruleId"], result["level"]) == ("PollingLoop", "note")
    assert LINE in result["message"]["text"]


@pytest.mark.parametrize(("name", "text"), [
    ("deploy.py", LOOP + "while True\n"), ("deploy.py", LOOP + "\x00"),
    ("n.ipynb", "{"), ("n.ipynb", "{}"),
])  # fmt: skip
def test_unreadable_file_is_a_message(scan, name, text):
    code, out, err = scan(text, name=name)
    assert (code, out, f"{name} was not read: " in err) == (0, "", True)


def test_files_of_folders_are_parsed_not_run(tmp_path, command):
    (tmp_path / "venv").mkdir()
    for name in ("a.py", "b.txt", "venv/c.py", ".d.py"):
        (tmp_path / name).write_text(f"raise SystemExit\n{LOOP}")
    code, out, err = command("scan", tmp_path)
    assert (code, err) == (0, "boto-wait scan: files: 1, loops: 1\n" + NEEDED)
    assert out.startswith(f"{tmp_path / 'a.py'}:4:1: ")


def test_links_in_a_folder_are_not_followed(tmp_path, command):
    folder, given = tmp_path / "folder", tmp_path / "given"
    folder.mkdir()
    for place in (folder, tmp_path):
        (place / "a.py").write_text(LOOP)
    for name, target in {"b": ".", "c": ".", "d": "..", "e.py": "../a.py"}.items():
        (folder / name).symlink_to(target)
    given.symlink_to(folder)
    _, out, err = command("scan", given, folder / "e.py")
    assert [line.split(":")[0] for line in out.splitlines()] == [f"{given}/a.py", f"{folder}/e.py"]
    assert err == "boto-wait scan: files: 2, loops: 2\n" + NEEDED


@pytest.mark.skipif(os.name == "nt", reason="Windows has none of them")
def test_only_regular_files_are_read(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)  # the name of a socket has to be short
    os.mkfifo("pipe.py")
    Path("device.py").symlink_to(os.devnull)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.py")
        for name in ("device.py", "pipe.py", "socket.py"):
            code, out, err = command("scan", name)
            assert (code, out, err.count("\n")) == (0, "", 2)
            assert err.startswith(f"boto-wait scan: {name} was not read: ")
        assert command("scan .") == (0, "", "boto-wait scan: files: 0, loops: 0\n")


def test_unreadable_folder_is_a_message(tmp_path, monkeypatch, command):
    (tmp_path / "closed").mkdir()
    (tmp_path / "d.py").write_text(LOOP)
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    _, out, err = command("scan", tmp_path)
    assert out.startswith(f"{tmp_path / 'd.py'}:3:1: ")
    assert f"{tmp_path / 'closed'} was not read: PermissionError: " in err


@pytest.mark.parametrize(("name", "size"), [("a.py", 5_000_001), ("n.ipynb", 20_000_001)])
def test_large_file_is_not_read(tmp_path, command, name, size):
    with (tmp_path / name).open("wb") as file:
        file.truncate(size)
    assert f"{name} was not read: too large\n" in command("scan", tmp_path)[2]


SERVICES = Session().get_available_services()
FUNCTION = "def f(a):\n" + " f(a + a)\n" * 500
HARD = {
    "functions": FUNCTION + UNCLEAR.replace("wanted", "f(client)") + "    f(1)\n" * 500,
    "tests": UNCLEAR + "    if n > 9: pass\n    n += 1\n" * 2000,
    "branches": LOOP + "    if a == 'a': pass\n" + "    elif a == 'b': pass\n" * 400,
    "states": LOOP.replace("!= ", f"not in {tuple(map(str, range(6000)))} or "),
    "services": "".join(LOOP.replace('"glue"', repr(each)) for each in SERVICES[:40]),
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_work_for_a_file_is_bounded(tmp_path, command, text):
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "b.py").write_text(LOOP)
    _, out, err = command("scan", tmp_path)
    assert f"boto-wait scan: {tmp_path / 'a.py'} was not read: too much work\n" in err
    assert out.startswith(f"{tmp_path / 'b.py'}:3:1: ")


def test_steps_of_one_loop_are_not_those_of_the_next(scan):
    loop = LOOP.replace("    time.sleep", "    if verbose:\n        a = 1\n    time.sleep")
    assert "loops: 40\n" in scan(loop * 40)[2]


def test_patch_has_no_other_form(scan):
    code, out, err = scan(LOOP, "--diff --output json")
    assert (code, out, "leave out --output" in err) == (2, "", True)


def test_what_doubles_with_each_statement_takes_no_memory(scan):
    text = LOOP.replace(
        "    time.sleep", "    a = 'a'\n" + "    a = a + a\n" * 500 + "    time.sleep"
    )
    assert scan(text)[1].startswith("deploy.py:3:1: ")


def test_common_method_is_of_an_unknown_service(scan):
    polled = "client.list_tags_for_resource(ResourceArn=arn)"
    _, out, _ = scan(UNCLEAR.replace("client.get_job_run(**options)", polled), "--all")
    assert out.startswith("deploy.py:2:1: an unknown operation ")


def test_many_loops_are_within_the_bound(scan):
    assert "loops: 300\n" in scan(LOOP * 300)[2]
