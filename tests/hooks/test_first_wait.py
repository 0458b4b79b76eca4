"""The first wait of a process: what it imports, and that its `max_wait` counts that time."""

import json
import subprocess
import sys

from case_tables import tabled

SETUP = """
import importlib.abc, json, sys, time
from types import SimpleNamespace
import boto3
import boto_waiters_plus as bwp

bwp.install()
client = boto3.Session().client("kinesis")
client.calls = 0

def answer(**_):
    client.calls += 1
    stream = {"StreamDescription": {"StreamStatus": "ACTIVE"}}
    return SimpleNamespace(status_code=200), {**stream, "ResponseMetadata": {"HTTPStatusCode": 200}}

client.meta.events.register("before-call", answer)

def imported():
    return {name.partition(".")[2] for name in sys.modules if name.startswith("boto_waiters_plus")}
"""

# An import takes 100 seconds of a clock that goes on as the real one does.
SLOW_IMPORTS = """
real, passed = time.monotonic, 0
time.monotonic = lambda: real() + passed

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        global passed
        passed += 100 if name.startswith("boto_waiters_plus.") else 0

sys.meta_path.insert(0, Slow())
"""


def printed(script):
    """Return what a script prints, as JSON, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", SETUP + script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_lookup_imports_nothing_that_runs_waits():
    found = printed("client.wait_until_stream_exists; print(json.dumps([*imported()]))")
    assert "service.service_waiters" in found
    assert {each.partition(".")[0] for each in found}.isdisjoint({"batch", "wait"})
    assert not {"engine.machine", "engine.matching", "service.client_waits"} & {*found}


def test_a_blocking_wait_imports_nothing_for_other_waits():
    found = printed(
        "client.wait_until_stream_exists(StreamName='s', max_wait=9);"
        "print(json.dumps([*imported(), *({'asyncio'} & {*sys.modules})]))"
    )
    assert "wait.sync" in found
    others = ("many", "conditions", "signals", "operations", "idempotency", "testing", "cli")
    assert [name for name in found if name.startswith(others)] == []
    assert not {"wait.aio", "calls.awaited_call", "service.tokens", "engine.wait_event"} & {*found}


@tabled("call", ids=["method", "function", "awaited function"])
def test_max_wait_counts_what_the_call_imports(call):
    end = ")" * call.count("(")
    # Whatever comes before the call is no part of it: the lookup, and the module of the function.
    script = f"""
import asyncio
bwp.wait_until, bwp.wait_until_async, bwp.WaiterTimeoutError, client.wait_until_stream_exists
{SLOW_IMPORTS}
try:
    outcome = {call}StreamName='s', max_wait=50{end}
except bwp.WaiterTimeoutError as error:
    print(json.dumps([client.calls, error.attempts, error.elapsed >= 100]))
"""
    assert printed(script) == [0, 0, True]


def test_max_wait_of_many_counts_what_the_call_imports():
    script = f"""
wait, wait_all = bwp.Wait(client, "StreamExists", {{"StreamName": "s"}}), bwp.wait_all
{SLOW_IMPORTS}
[error] = wait_all([wait], max_wait=50, on_failure="collect")
print(json.dumps([type(error).__name__, client.calls]))
"""
    assert printed(script) == ["WaiterTimeoutError", 0]


def test_elapsed_counts_what_the_call_imports():
    script = f"""
client.wait_until_stream_exists
{SLOW_IMPORTS}
outcome = client.wait_until_stream_exists(StreamName='s', max_wait=9000)
second = client.wait_until_stream_exists(StreamName='s', max_wait=9000)
print(json.dumps([outcome.attempts, outcome.elapsed > 100, second.elapsed < 100]))
"""
    assert printed(script) == [1, True, True]


@tabled("call", ids=["wait_until", "get_waiter", "awaited function"])
def test_a_first_wait_that_times_out_imports_nothing_at_its_end(call):
    script = f"""
import asyncio
at_the_call = []

def hang(**_):
    at_the_call.append(imported())
    time.sleep(0.3)

client.meta.events.register_first("before-call", hang)
try:
    {call}
except bwp.WaiterTimeoutError as error:
    str(error), error.label
    print(json.dumps(sorted(imported() - at_the_call[0])))
"""
    assert printed(script) == []
