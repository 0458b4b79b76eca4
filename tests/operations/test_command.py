"""`boto-wait operations`, in processes of its own, against a moto server."""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid

import boto3
import httpx2 as httpx
import pytest
from case_tables import tabled

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.exit_codes import CannotRunError
from boto_waiters_plus.cli.operations import start_in_background


@pytest.fixture
def s3(endpoint):
    return boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "waits.db")


@pytest.fixture
def command(file, capsys):
    """`command(*words)`: exit code and stdout of a command on the store."""

    def run(action, *words):
        code = main(["operations", action, "--store", file, *words])
        return code, capsys.readouterr().out

    return run


@pytest.fixture
def bucket():
    return f"later-{uuid.uuid4()}"


@pytest.fixture
def path(s3, file, bucket, capsys):
    """An operation that waits for a bucket."""
    options = {"min_delay": 0.05, "max_delay": 0.1, "max_wait": 60}
    wait = bwp.Wait(s3, "bucket_exists", {"Bucket": bucket}, **options)
    assert start_in_background([wait], file) == 0
    return capsys.readouterr().out.strip()


@pytest.fixture
def worker(file):
    """`worker(*words)`: a process that drives the waits of the store, killed after the test."""
    code = "import sys; from boto_waiters_plus.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "operations", "work", "--store", file]
    processes = []

    def start(*words):
        process = subprocess.Popen([*command, *words], stderr=subprocess.DEVNULL, env=os.environ)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_a_wait_outlives_its_worker(s3, worker, bucket, path, command):
    """Start in the background, kill the worker, start another, see the result."""
    first = worker("--lease", "1")
    end = time.monotonic() + 30
    while not json.loads(command("get", path)[1])["metadata"]["attempts"]:
        assert time.monotonic() < end
        time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    s3.create_bucket(Bucket=bucket)
    worker("--lease", "1")
    code, text = command("wait", path, "--timeout", "30")
    assert code == 0
    assert json.loads(text)["response"]["kind"] == "response"


def test_background_prints_the_path(endpoint, file, bucket, command, capsys):
    words = ["s3", "bucket-exists", "--bucket", bucket, "--max-wait", "1m", "--background"]
    where = ["--endpoint-url", endpoint, "--region", "us-east-1", "--store", file]
    assert main([*words, *where]) == 0
    path = capsys.readouterr().out.strip()
    body = json.loads(command("get", path)[1])
    assert body["metadata"]["label"] == f"s3 Bucket={bucket}"


def test_background_takes_no_delays_that_contradict_each_other(file, capsys):
    words = ["s3", "bucket-exists", "--bucket", "b", "--max-wait", "1m", "--region", "us-east-1"]
    delays = ["--min-delay", "9", "--max-delay", "1"]
    assert main([*words, *delays, "--background", "--store", file]) == 2
    text = "boto-wait: --min-delay (9.0) is more than --max-delay (1.0)\n"
    assert capsys.readouterr() == ("", text)


def test_list_shows_states(path, command):
    code, text = command("list")
    assert code == 0
    header, row = text.strip().splitlines()
    assert header.split() == ["PATH", "STATE", "ATTEMPTS", "DEADLINE", "LABEL"]
    assert row.split()[:3] == [path, "open", "0"]
    assert json.loads(command("list", "--output", "json", "--state", "done")[1]) == {
        "results": [],
        "next_page_token": None,
    }


def test_cancel_resume_expire(path, command):
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


@tabled("words", "problem")
def test_wrong_arguments_are_one_line(words, problem, file, capsys):
    assert main(["operations", words[0], "--store", file, *words[1:]]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_a_store_that_cannot_be_used(tmp_path, s3, capsys):
    missing = str(tmp_path / "no" / "waits.db")
    assert main(["operations", "list", "--store", missing]) == 255
    assert "unable to open" in capsys.readouterr().err
    with pytest.raises(CannotRunError, match="unable to open"):
        start_in_background([bwp.Wait(s3, "bucket_exists", {"Bucket": "b"}, max_wait=9)], missing)


@pytest.mark.parametrize("is_broken", [False, True])
def test_sigterm_hands_back_and_exits_with_0(file, path, worker, is_broken):
    process = worker()
    store = operations.Store(file)
    end = time.monotonic() + 30
    while not store.get_json(path)["metadata"]["attempts"]:
        assert time.monotonic() < end
        time.sleep(0.1)
    if is_broken:
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("alter table boto_waiters_leases rename to gone")
    process.terminate()
    assert process.wait(20) == (255 if is_broken else 0)
    if not is_broken:
        assert store.get_json(path)["metadata"]["worker"] is None
    store.close()


def test_sigterm_ends_serve_with_143(file, serve):
    process, address = serve("--store", file)
    assert httpx.get(address.partition("#")[0]).status_code == 200
    process.terminate()
    assert process.communicate(timeout=10)[1] == "boto-wait: terminated\n"
    assert process.returncode == 143


@pytest.mark.parametrize("token", [None, "word"])
def test_serve_answers_until_it_is_interrupted(file, path, serve, tmp_path, token):
    words = ["--store", file]
    if token is not None:
        (tmp_path / "token").write_text(f"{token}\n")
        words += ["--token-file", str(tmp_path / "token")]
    process, address = serve(*words)
    url, _, generated = address.partition("#token=")
    token = token or generated
    assert len(token) > 30 if generated else "#" not in address
    assert httpx.get(f"{url}{path}").status_code == 401
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{url}{path}", headers=headers).json()["path"] == path
    # A page that is open does not keep it from ending.
    with httpx.stream("GET", f"{url}operations:events", headers=headers) as events:
        assert path in next(events.iter_lines())
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10)[1] == "boto-wait: interrupted\n"
    assert process.returncode == 130


@tabled("words", "problem")
def test_serve_refuses_what_it_cannot_do(file, capsys, tmp_path, words, problem):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        facts = {"taken": taken.getsockname()[1], "folder": tmp_path}
        words = [word.format(**facts) for word in words]
        assert main(["operations", "serve", "--store", file, *words]) == 2
    error = capsys.readouterr().err
    assert problem.format(**facts) in error
    assert error.count("\n") == 1
