"""`boto-wait operations`, in process."""

import contextlib
import json
import socket

import boto3
import pytest
from stored_waits import driven  # beside this file

from boto_waiters_plus import operations
from boto_waiters_plus.cli import main

BACKGROUND = ["s3", "bucket-exists", "--max-wait", "1m", "--region", "us-east-1", "--background"]


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "waits.db")


@pytest.fixture
def command(file, capsys):
    """`command(action, *words)`: exit code and stdout of a command on the store."""

    def run(action, *words):
        return main(["operations", action, "--store", file, *words]), capsys.readouterr().out

    return run


@pytest.fixture
def start(file, capsys):
    """`start(*words)`: the paths of waits that `--background` began."""

    def run(*words):
        assert main([*BACKGROUND, "--store", file, *words]) == 0
        return capsys.readouterr().out.split()

    return run


def test_background_prints_the_path(start, command):
    (path,) = start("--bucket", "later", "--endpoint-url", "http://127.0.0.1:9")
    assert json.loads(command("get", path)[1])["metadata"]["label"] == "s3 Bucket=later"


def test_many_background_waits_are_stored_at_one_moment(start, command):
    paths = start("--each", "bucket", *[f"bucket-{number}" for number in range(30)])
    found = json.loads(command("list", "--output", "json")[1])["results"]
    assert {each["path"] for each in found} == {*paths}
    assert len({each["metadata"]["create_time"] for each in found}) == 1


def test_list_shows_states(start, file, command):
    (path,) = start("--bucket", "b")
    code, text = command("list")
    assert code == 0
    header, row = text.strip().splitlines()
    assert header.split() == ["PATH", "STATE", "ATTEMPTS", "DEADLINE", "LABEL"]
    assert row.split()[:3] == [path, "open", "0"]
    none = {"results": [], "next_page_token": None}
    assert json.loads(command("list", "--output", "json", "--state", "done")[1]) == none
    options = {"max_wait": 60, "exclusive_key": "deploy", "Bucket": "b"}
    with contextlib.closing(operations.Store(file)) as store:
        wanted = store.start(boto3.client("s3"), "bucket_exists", **options)
    text = command("list", "--exclusive-key", "deploy", "--output", "json")[1]
    assert [each["path"] for each in json.loads(text)["results"]] == [wanted.path]


@pytest.mark.parametrize("action", ["get", "wait", "cancel", "resume"])
def test_what_is_no_path_is_refused(start, command, action):
    (path,) = start("--bucket", "b")
    for wrong in (f"{path}\udcff", path.replace("operations", "waits"), "operations/\0"):
        assert command(action, wrong)[0] == 2
    assert json.loads(command("get", path)[1])["done"] is False


def test_cancel_resume_expire(start, command):
    (path,) = start("--bucket", "b")
    assert command("cancel", path)[0] == 0
    assert command("cancel", path)[0] == 255
    code, text = command("wait", path)
    assert code == 255
    assert json.loads(text)["error"]["code"] == "cancelled"
    assert json.loads(command("resume", path, "--max-wait", "90")[1])["done"] is False
    assert command("wait", path, "--timeout", "0.1")[0] == 124
    assert command("cancel", path)[0] == 0
    assert command("expire", "--older-than", "0")[0] == 0
    assert "\n" not in command("list")[1].strip()


def test_resume_names_the_option_that_it_needs(file, capsys, stream, creating):
    with contextlib.closing(operations.Store(file)) as store:
        path = driven(store, stream(creating), max_attempts=1).path
    assert main(["operations", "resume", "--store", file, path]) == 2
    message = f"{path}: there are no attempts left: give --max-attempts\n"
    assert capsys.readouterr().err.endswith(message)


@pytest.mark.parametrize(("words", "problem"), [
    (["get", "operations/1"], "there is no"),
    (["list", "--state", "opne"], "--state must be one of"),
    (["list", "--page-token", "x"], "--page-token is not of a list"),
    (["resume", "operations/" + "0" * 32], "there is no"),
])  # fmt: skip
def test_wrong_arguments_are_one_line(words, problem, file, capsys):
    assert main(["operations", words[0], "--store", file, *words[1:]]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(("words", "problem"), [
    (["--port", "{taken}"], "cannot listen on 127.0.0.1 port {taken}"),
    (["--host", "192.0.2.1", "--port", "0"], "cannot listen"),
    (["--token-file", "{folder}/none"], "cannot read {folder}/none"),
    (["--token-file", "/dev/null"], "token must not be empty"),
])  # fmt: skip
def test_serve_refuses_what_it_cannot_do(file, capsys, tmp_path, words, problem):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        facts = {"taken": taken.getsockname()[1], "folder": tmp_path}
        words = [word.format(**facts) for word in words]
        assert main(["operations", "serve", "--store", file, *words]) == 2
    error = capsys.readouterr().err
    assert problem.format(**facts) in error
    assert error.count("\n") == 1
