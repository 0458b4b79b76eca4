"""`boto-wait` in this process, and files on botocore's search path."""

import json

import pytest

from boto_waiters_plus.cli import main
from boto_waiters_plus.testing import virtual_time


@pytest.fixture
def on_search_path(tmp_path, monkeypatch):
    """`on_search_path(text)`: a file of definitions of sqs with this text."""

    def put(text):
        folder = tmp_path / "sqs/2012-11-05"
        folder.mkdir(parents=True)
        (folder / "smithy-waiters-1.json").write_text(text)
        monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))

    return put


@pytest.fixture
def queue_ready(on_search_path, waitable):
    """A waiter of sqs on the search path, with a delay of five seconds."""
    success = {"state": "success", "matcher": {"success": True}}
    members = {"namespace": "com.amazonaws.sqs", "minDelay": 5, "maxDelay": 5}
    on_search_path(json.dumps(waitable("QueueReady", "GetQueueUrl", success, **members)))


@pytest.fixture
def run_check():
    """`run_check(*words)`: the exit code of `boto-wait check`."""

    return lambda *words: main(["check", *map(str, words)])


@pytest.fixture
def wait(capsys):
    """`wait(*words)`: exit code, stdout and stderr, without real sleeping."""

    def run(*words):
        with virtual_time():
            code = main(list(words))
        return (code, *capsys.readouterr())

    return run
