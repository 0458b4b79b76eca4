"""What happens to a process while it waits: signals, interrupts, forks, its end, no files left."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path
from unittest import mock

import pytest
from faults.scenarios import TABLE, get_waiter, make_client, wait_until
from faults.server import BEFORE_HEADERS, BODY, FaultServer, answer, drip, hang
from faults.support import GENEROUS, alarmed, aside, raised_by

import boto_waiters_plus as bwp

pytestmark = [
    pytest.mark.nightly(subject="wire"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks and timers on this system"),
]

ROOT = Path(__file__).absolute().parents[2]
CREATING = b'{"Table": {"TableName": "table", "TableStatus": "CREATING"}}'
WAYS = pytest.mark.parametrize("wait", [wait_until, get_waiter])


# --- signals ---------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("during", ["the sleep", "the call"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_the_program_passes_at_once_and_leaves_no_request(wait, during, error):
    behaviour = answer(body=CREATING) if during == "the sleep" else hang(BEFORE_HEADERS)
    with FaultServer([behaviour]) as server:
        client = make_client("json", server.url)
        began = time.monotonic()
        with alarmed(0.2, mock.Mock(side_effect=error)), pytest.raises(error):
            wait(client, max_wait=100, min_delay=90, max_delay=90)
        assert time.monotonic() - began < 0.2 + GENEROUS
        assert during == "the sleep" or server.wait_until_closed(5)
        client.close()


# --- forks -----------------------------------------------------------------------------------


def waits_in_child(client):
    return isinstance(raised_by(lambda: wait_until(client, max_wait=0.3)), bwp.WaiterTimeoutError)


@pytest.mark.parametrize("is_new", [True, False], ids=["new client", "client of the parent"])
def test_child_that_is_forked_amid_a_wait_can_wait(is_new):
    """The parent is not disturbed."""
    outcomes = []

    def behave(exchange):
        if b"parent" in exchange.request:
            answer(body=TABLE, after=1)(exchange)
        hang(BEFORE_HEADERS)(exchange)

    with FaultServer([behave]) as server:
        client = make_client("json", server.url)
        parents = {"TableName": "parent", "max_wait": 60}
        parent = aside(lambda: outcomes.append(bwp.wait_until(client, "table_exists", **parents)))
        server.wait_for_request(seconds=30)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads: the point
            child = os.fork()
        if not child:
            signal.alarm(60)  # lest it holds on to the pipes of the run
            own = make_client("json", server.url) if is_new else client
            os._exit(7 if waits_in_child(own) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        parent.join(60)
        assert outcomes[0].response["Table"]["TableStatus"] == "ACTIVE"
        client.close()


# --- processes of their own --------------------------------------------------------------------


def run_script(text, *arguments):
    path = [str(ROOT), str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-X", "dev", "-c", textwrap.dedent(text), *arguments]
    options = {"stdin": subprocess.DEVNULL, "timeout": 120}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, **options)


BEGUN = """
    import asyncio, atexit, os, sys, threading, time, warnings
    from concurrent.futures import ThreadPoolExecutor, TimeoutError
    from types import SimpleNamespace
    import boto3
    import boto_waiters_plus as bwp
    from boto_waiters_plus import operations

    def block(*_):
        threading.Event().wait()

    def answer(model, **_):
        if model.name == "BatchStopJobRun":
            block()
        run = {"Id": "jr_1", "JobRunState": state}
        body = {"JobRunId": "jr_1", "JobRun": run, "ResponseMetadata": {"HTTPStatusCode": 200}}
        return SimpleNamespace(status_code=200), body

    def begin(max_wait=900, with_=bwp.begin, **options):
        quick = {"min_delay": 0.01, "max_delay": 0.02, **options}
        return with_(glue.start_job_run, max_wait=max_wait, JobName="nightly", **quick)

    def end():
        print(time.time(), flush=True)

    state, glue = "RUNNING", boto3.client("glue", region_name="us-east-1")
    glue.meta.events.register("before-call", answer)
    """

ENDS = {
    "falls off the end": """
        operation = begin()
        for callback in (lambda _: None, block):
            begin(on_attempt=callback).add_done_callback(callback)
        state = "SUCCEEDED"
        begin().add_done_callback(block)
        state = "RUNNING"
        begin(max_wait=0.05, stop_on_timeout=True)
        for _ in range(3):
            threading.Thread(target=operation.result, daemon=True).start()

        async def main():
            begun = await begin(with_=bwp.begin_async)
            await asyncio.wait([asyncio.ensure_future(begun)], timeout=0.1)

        asyncio.run(main())
        end()
        """,
    "sys.exit": """
        store = operations.Store(sys.argv[1])
        kept = begin(in_store=store)
        kept.add_done_callback(block)
        working = {"make_client": lambda _: glue}
        threading.Thread(target=store.work, kwargs=working, daemon=True).start()
        threading.Thread(target=kept.result, daemon=True).start()
        while not kept.metadata["attempts"]:
            threading.Event().wait(0.01)
        atexit.register(end)
        sys.exit(5)
        """,
    "an error": """
        operation = begin()
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
        child = os.fork()
        if child:
            assert os.waitpid(child, 0)[1] == 0
            sys.excepthook = lambda *_: end()
            raise ValueError
        """,
    "a pool": """
        ThreadPoolExecutor(1).submit(begin(max_wait=0.3).exception)
        end()
        """,
    "a handler of atexit": """
        operation = begin()

        def wait():
            store = operations.Store(":memory:")
            for call in (begin, lambda: operation, lambda: begin(in_store=store)):
                try:
                    call().result(0.05)
                # Python 3.12 starts no thread any more.
                except (TimeoutError, RuntimeError):
                    pass
            assert operation.cancel()
            end()

        atexit.register(wait)
        """,
}

EXIT_CODES = {ENDS["sys.exit"]: 5, ENDS["an error"]: 1}

DAEMONS = """
    import sys, threading
    from faults.scenarios import get_waiter, make_client, wait_until
    client = make_client("json", sys.argv[1])
    for wait in (wait_until, get_waiter):
        threading.Thread(target=wait, args=[client], kwargs={"max_wait": 500}, daemon=True).start()
    while not any("watchdog" in t.name for t in threading.enumerate()):
        threading.Event().wait(0.01)
    threading.Event().wait(0.2)
    """

NO_FILES = """
    import os, resource, sys, time, warnings
    from faults.scenarios import make_client, wait_until
    from faults.support import raised_by
    client = make_client("json", sys.argv[1], retries={"total_max_attempts": 1})
    raised_by(lambda: wait_until(client, max_wait=0.01))
    client.close()
    free, (soft, hard) = os.dup(2), resource.getrlimit(resource.RLIMIT_NOFILE)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, hard))
    began = time.monotonic()
    warnings.simplefilter("ignore")
    raised = raised_by(lambda: wait_until(client, max_wait=0.5))
    took = time.monotonic() - began
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    print(type(raised).__name__, "in time" if took < 3 else took)
    """


def test_daemon_threads_that_wait_at_exit_are_not_waited_for():
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        run = run_script(DAEMONS, server.url)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.parametrize("close", [False, True])
def test_wait_without_file_descriptors_ends_in_time(close):
    """The last descriptor is the connection's, so that no duplicate of it can be made."""
    with FaultServer([drip(BODY, close=close, pause=5)]) as server:
        run = run_script(NO_FILES, server.url)
    assert run.stdout == "WaiterTimeoutError in time\n", run.stderr


@pytest.mark.parametrize("script", ENDS.values(), ids=ENDS)
def test_process_with_begun_operations_ends_at_once(script, tmp_path):
    run = run_script(textwrap.dedent(BEGUN) + textwrap.dedent(script), str(tmp_path / "waits.db"))
    assert (run.returncode, run.stderr) == (EXIT_CODES.get(script, 0), "")
    assert time.time() - float(run.stdout) < GENEROUS
