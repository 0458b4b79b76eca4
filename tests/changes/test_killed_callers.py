"""A call whose process is killed at each line of `changes` that it runs.

All lines take minutes; here is every 7th, and `KILL_EVERY=1` takes them all.
"""

import json
import os
import signal
import sys
import warnings
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

pytest.importorskip("sqlalchemy")

from boto_waiters_plus import idempotency
from boto_waiters_plus.operations import Store

pytestmark = [
    pytest.mark.nightly(subject="wire"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="callers are forks"),
]

FOLDER = str(Path(idempotency.__file__).parent / "changes")
EVERY = int(os.environ.get("KILL_EVERY", "7"))
NOWHERE = 0
# Open calls and instances after the kill, in the order in which a call passes them.
PASSED = [(0, 0), (1, 0), (1, 1), (0, 1)]


@pytest.fixture
def client(served, virtual_time):
    config = Config(retries={"total_max_attempts": 1}, proxies={})
    return boto3.client("ec2", endpoint_url=served.url, config=config)


def as_a_process(action):
    """Return the JSON of what `action` returns in a process of its own; None if it was killed."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # The thread of the service is not needed in the child.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        status = 1
        try:
            os.write(writing, json.dumps(action()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the caller failed"
    return json.loads(text) if text else None


def killed_at(line, action):
    """Run it and kill the process at the n-th line; return its result, and how many it has."""
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        if event == "line":
            lines += 1
            if lines == line:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    call = action()
    sys.settrace(None)
    return name_in(call), lines


def name_in(call):
    return call.response["Instances"][0]["InstanceId"]


def begin(served, cuts):
    served.forget()
    served.cuts = list(cuts)


def each_kill(served, cuts, action):
    """Yield after each kill: the number of instances that there are."""
    served.forget()
    # What a process reads once is no part of a call.
    action()
    begin(served, cuts)
    name, lines = as_a_process(lambda: killed_at(NOWHERE, action))
    assert (name, len(served.instances)) == ("i-1", 1)
    assert lines > 100
    for line in range(lines, 0, -EVERY):
        begin(served, cuts)
        assert as_a_process(lambda line=line: killed_at(line, action)) is None
        yield len(served.instances)


CUTS = pytest.mark.parametrize("cuts", [[], [("reply", 0.5)]], ids=["answered", "reply lost"])


@CUTS
@pytest.mark.timeout(600)
def test_rerun_under_its_token_returns_the_one_instance(served, client, image, cuts):
    image["ClientToken"] = idempotency.token_for(client, "RunInstances", "job-1")

    def call():
        return idempotency.call_once(client.run_instances, max_wait=60, **image)

    for _ in each_kill(served, cuts, call):
        name, _ = as_a_process(lambda: killed_at(NOWHERE, call))
        assert (name, len(served.instances)) == ("i-1", 1)


@CUTS
@pytest.mark.timeout(600)
def test_resumed_call_returns_the_one_instance(served, client, image, cuts, tmp_path):
    # Each process opens it anew.
    store = Store(tmp_path / "calls.db")

    def call():
        options = {"max_wait": 60, "then_wait": "InstanceExists", "in_store": store}
        return idempotency.call_once(client.run_instances, **options, **image)

    def go_on(instances):
        kept, made = store.open_calls(), None
        for each in kept:
            where = {"in_store": store, "path": each["path"]}
            made = idempotency.resume_call(client, each["record"], **where)
        if not (kept or instances):
            made = call()
        return len(kept), len(store.open_calls()), made and name_in(made)

    passed = []
    for instances in each_kill(served, cuts, call):
        was_open, *end = as_a_process(lambda instances=instances: go_on(instances))
        passed.append((was_open, instances))
        # A call that has ended is over, even if its process died before it returned.
        name = None if passed[-1] == PASSED[-1] else "i-1"
        assert (end, len(served.instances)) == ([0, name], 1)
    assert passed == sorted(passed, key=PASSED.index, reverse=True)
    assert {*passed} == {*PASSED}
    # It ends with its wait, a few lines before it returns.
    assert passed.count(PASSED[-1]) * EVERY < 20
