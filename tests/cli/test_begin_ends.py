"""The ends of `boto-wait begin` in a process of its own: signals, and its exit codes."""

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest
from changes.test_killed_process import serving

RUN = ["ec2", "run-instances", "--image-id", "ami-1", "--min-count", "1", "--max-count", "1"]
COMMAND = [sys.executable, "-m", "boto_waiters_plus.cli"]


@pytest.fixture
def service():
    with serving() as kept:
        yield kept
        kept.may_answer.set()


def started(words, **options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*COMMAND, *words], **pipes, **options)


def _hear_ctrl_c():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM ends a process at once there")
@pytest.mark.parametrize(
    ("sent", "code", "error"),
    [(signal.SIGTERM, 143, "Terminated"), (signal.SIGINT, 130, "KeyboardInterrupt")],
)
def test_signal_leaves_a_call_that_goes_on(service, tmp_path, sent, code, error):
    pytest.importorskip("sqlalchemy")
    store = ["--store", str(tmp_path / "my calls.db")]
    words = [*RUN, "--max-wait", "5m", "--output", "json", "--endpoint-url", service.url]
    service.may_answer.clear()
    # A shell starts what runs in its background with Ctrl-C ignored, and so these tests.
    words += [*store, "--then", "instance-exists"]
    process = started(["begin", *words], preexec_fn=_hear_ctrl_c)
    try:
        lines = [process.stderr.readline() for _ in range(2)]
        while "RunInstances" not in service.actions:
            assert process.poll() is None
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    facts = json.loads(out)
    assert process.returncode == code
    assert (facts["error"]["type"], facts["outcome_unknown"]) == (error, True)
    assert lines[0].endswith(f"to repeat this call: --client-token {facts['token']}\n")
    assert lines[1] == f"boto-wait begin: to go on: {facts['resume']}\n"
    assert "Traceback" not in err
    # The command of the JSON goes on, under the same token.
    service.may_answer.set()
    resume = [*COMMAND, *shlex.split(facts["resume"])[1:], "--output", "json"]
    resumed = subprocess.run(resume, capture_output=True, text=True, check=True)
    assert json.loads(resumed.stdout)["token"] == facts["token"]
    assert [each["token"] for each in service.instances.values()] == [facts["token"]]


@pytest.mark.parametrize(
    ("environment", "words", "code"),
    [
        ({}, ["--max-wait", "5m"], 0),
        ({}, ["--max-wait", "x"], 2),
        ({}, ["--max-wait", "1"], 124),
        ({"AWS_ACCESS_KEY_ID": ""}, ["--max-wait", "5m"], 253),
        ({}, ["--max-wait", "5m", "--client-token", "used"], 254),
    ],
)
def test_exit_code_tells_the_end(service, monkeypatch, environment, words, code):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    service.answer({"Action": "RunInstances", "ClientToken": "used", "ImageId": "another"})
    if "1" in words:
        service.may_answer.clear()
    where = ["--endpoint-url", service.url, "--output", "json"]
    process = started(["begin", *RUN, *words, *where, "--no-wait"])
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    if code not in (0, 2):
        assert json.loads(out)["outcome"] == "failed"
        assert "resume" not in json.loads(out)
