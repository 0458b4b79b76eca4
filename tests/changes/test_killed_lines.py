"""A call whose process is killed at each line of `changes` that it runs.

All lines take minutes; here is every 7th, and `KILL_EVERY=1` takes them all.
"""

import os
import signal
import sys
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from changes.cutting_proxy import CuttingProxy

pytest.importorskip("sqlalchemy")

from changes.dying_callers import as_a_process

from boto_waiters_plus import idempotency
from boto_waiters_plus.operations import Store

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the service forks"),
]

FOLDER = str(Path(idempotency.__file__).parent / "changes")
EVERY = int(os.environ.get("KILL_EVERY", "7"))
NOWHERE = 0
# Open calls and instances after the kill, in the order in which a call passes them.
PASSED = [(0, 0), (1, 0), (1, 1), (0, 1)]


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    with CuttingProxy(str(tmp_path_factory.mktemp("service") / "tokens.db")) as proxy:
        yield proxy


@pytest.fixture
def client(proxy, virtual_time):
    config = Config(retries={"total_max_attempts": 1}, proxies={})
    return boto3.client("ec2", endpoint_url=proxy.url, config=config)


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


def each_kill(proxy, faults, action):
    """Yield after each kill: the number of instances that there are."""
    proxy.begin([])
    # What a process reads once is no part of a call.
    action()
    proxy.begin(faults)
    name, lines = as_a_process(lambda: killed_at(NOWHERE, action))
    assert (name, len(proxy.instances())) == ("i-1", 1)
    assert lines > 100
    for line in range(lines, 0, -EVERY):
        proxy.begin(faults)
        assert as_a_process(lambda line=line: killed_at(line, action)) is None
        yield len(proxy.instances())


FAULTS = pytest.mark.parametrize("faults", [[], [("reply", 0.5)]], ids=["answered", "reply lost"])


@FAULTS
@pytest.mark.timeout(600)
def test_rerun_under_its_token_returns_the_one_instance(proxy, client, image, faults):
    image["ClientToken"] = idempotency.token_for(client, "RunInstances", "job-1")

    def call():
        return idempotency.call_once(client.run_instances, max_wait=60, **image)

    for _ in each_kill(proxy, faults, call):
        name, _ = as_a_process(lambda: killed_at(NOWHERE, call))
        assert (name, len(proxy.instances())) == ("i-1", 1)


@FAULTS
@pytest.mark.timeout(600)
def test_resumed_call_returns_the_one_instance(proxy, client, image, faults, tmp_path):
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
    for instances in each_kill(proxy, faults, call):
        was_open, *end = as_a_process(lambda instances=instances: go_on(instances))
        passed.append((was_open, instances))
        # A call that has ended is over, even if its process died before it returned.
        name = None if passed[-1] == PASSED[-1] else "i-1"
        assert (end, len(proxy.instances())) == ([0, name], 1)
    assert passed == sorted(passed, key=PASSED.index, reverse=True)
    assert {*passed} == {*PASSED}
    # It ends with its wait, a few lines before it returns.
    assert passed.count(PASSED[-1]) * EVERY < 20
