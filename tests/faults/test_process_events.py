"""What happens to a process while it waits: signals, interrupts, forks, its end, executors."""

import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import pytest
from faults.scenarios import TABLE, make_client
from faults.server import BEFORE_HEADERS, BODY, FaultServer, answer, drip, hang
from faults.support import GENEROUS, Alarms, aside, join_own_threads, own_threads
from faults.unchanged import differences, namespaces

import boto_waiters_plus as bwp

pytestmark = pytest.mark.timing

ROOT = Path(__file__).absolute().parents[2]
CREATING = b'{"Table": {"TableName": "table", "TableStatus": "CREATING"}}'
EXISTS = {"TableName": "table"}
QUICK = {"min_delay": 0.1, "max_delay": 0.1}

needs_timer = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="no interval timers on this system"
)


def wait_on(client, way="wait_until", **options):
    if way == "wait_until":
        return bwp.wait_until(client, "table_exists", **options, **EXISTS)
    bwp.enable(client)
    return client.get_waiter("table_exists").wait(**options, **EXISTS)


# --- signals ---------------------------------------------------------------------------------


@needs_timer
def test_signals_that_mean_nothing_neither_shorten_a_wait_nor_make_it_spin():
    alarms = []
    with (
        FaultServer([answer(body=CREATING)]) as server,
        Alarms(0.005, 0.005, lambda *_: alarms.append(1)),
    ):
        client = make_client("json", server.url)
        began = time.monotonic()
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            wait_on(client, max_wait=1, **QUICK)
        assert time.monotonic() - began > 0.7
        client.close()
    assert len(alarms) > 5
    assert caught.value.attempts == len(server.requests) <= 11


def interrupt(error):
    def handler(*_):
        raise error

    return handler


@needs_timer
@pytest.mark.parametrize(
    ("error", "way", "during"),
    [
        (KeyboardInterrupt, "wait_until", "the sleep"),
        (KeyboardInterrupt, "wait_until", "the call"),
        (KeyboardInterrupt, "get_waiter", "the call"),
        (SystemExit(3), "get_waiter", "the sleep"),
        (SystemExit(3), "wait_until", "the call"),
        (GeneratorExit, "wait_until", "the call"),
    ],
    ids=str,
)
def test_what_ends_the_program_passes_at_once_and_leaves_no_request(error, way, during):
    body = answer(body=CREATING) if during == "the sleep" else hang(BEFORE_HEADERS)
    with FaultServer([body]) as server:
        client = make_client("json", server.url)
        began = time.monotonic()
        kind = error if isinstance(error, type) else type(error)
        with Alarms(0.2, 0, interrupt(error)), pytest.raises(kind):
            wait_on(client, way, max_wait=100, min_delay=90, max_delay=90)
        assert time.monotonic() - began < 0.2 + GENEROUS
        if during == "the call":
            assert server.wait_until_closed(5)
        client.close()


class HandlerError(Exception):
    """Raised by the handler of a signal."""


def send_signal_in_parser(main_thread, ended):
    """Send SIGUSR1 to a thread while it parses a response."""
    while not ended.wait(0.005):
        frame, modules = sys._current_frames()[main_thread], set()
        while frame is not None:
            modules.add(frame.f_globals["__name__"])
            frame = frame.f_back
        if "botocore.parsers" in modules:
            signal.pthread_kill(main_thread, signal.SIGUSR1)
            return


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads there")
@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
def test_a_signal_handlers_error_in_the_parser_passes(way):
    # Parsing takes most of a second.
    attribute = {"AttributeName": "a", "AttributeType": "S"}
    body = {"Table": {"AttributeDefinitions": [attribute] * 100_000}}
    ended = threading.Event()
    previous = signal.signal(signal.SIGUSR1, interrupt(HandlerError()))
    arguments = threading.get_ident(), ended
    sender = threading.Thread(target=send_signal_in_parser, args=arguments)
    # Python swallows what a handler raises while a finalizer runs.
    gc.disable()
    try:
        with FaultServer([answer(body=json.dumps(body).encode())]) as server:
            client = make_client("json", server.url)
            sender.start()
            with pytest.raises(HandlerError):
                wait_on(client, way, max_wait=20)
            client.close()
    finally:
        gc.enable()
        ended.set()
        sender.join()
        signal.signal(signal.SIGUSR1, previous)


# --- uninstall -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
def test_a_call_in_flight_keeps_its_deadline_after_uninstall(way):
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        bwp.install()
        client = make_client("json", server.url)
        threading.Timer(0.2, bwp.uninstall).start()
        began = time.monotonic()
        with pytest.raises(bwp.WaiterTimeoutError):
            wait_on(client, way, max_wait=1)
        assert time.monotonic() - began < 1 + GENEROUS
        assert server.wait_until_closed(5)
        client.close()


def test_a_wait_that_outlives_uninstall_puts_nothing_back():
    with FaultServer([answer(body=CREATING)]) as server:
        # botocore and urllib3 choose some functions at their first calls.
        stock = make_client("json", server.url)
        for _ in range(2):
            stock.describe_table(**EXISTS)
        stock.close()
        before = namespaces()
        bwp.install()
        client = make_client("json", server.url)
        threading.Timer(0.2, bwp.uninstall).start()
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            wait_on(client, max_wait=1, **QUICK)
        assert caught.value.attempts > 2
        # The next calls of all clients are botocore's own.
        other = make_client("json", server.url)
        assert not hasattr(other, "wait_until_table_exists")
        client.close()
        other.close()
    assert list(differences(before, namespaces())) == []


# --- forks -----------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("kind", ["a new client", "the parent's client"])
def test_a_child_forked_amid_a_wait_can_wait_and_the_parent_is_not_disturbed(kind):
    def behave(exchange):
        if b"parent" in exchange.request:
            answer(body=TABLE, after=1)(exchange)
        hang(BEFORE_HEADERS)(exchange)

    outcomes = []
    with FaultServer([behave]) as server:
        client = make_client("json", server.url)
        parent = aside(
            lambda: outcomes.append(
                bwp.wait_until(client, "table_exists", TableName="parent", max_wait=60)
            )
        )
        server.wait_for_request(seconds=30)
        assert any("watchdog" in name for name in own_threads())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads: the point
            child = os.fork()
        if not child:
            os._exit(_waits_in_child(kind, client, server.url))
        assert _exit_code(child) == 0
        parent.join(30)
        assert outcomes[0].response["Table"]["TableStatus"] == "ACTIVE"
        client.close()


def _waits_in_child(kind, client, url):
    try:
        client = make_client("json", url) if kind == "a new client" else client
        began = time.monotonic()
        wait_on(client, max_wait=0.3)
    except bwp.WaiterTimeoutError:
        return 0 if time.monotonic() - began < 0.3 + GENEROUS else 3
    except BaseException:
        return 1
    return 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forkserver on this system")
def test_processes_of_a_forkserver_wait():
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        done = run_script(
            """
            import multiprocessing, sys
            from faults.test_process_events import _waits_in_child
            processes = multiprocessing.get_context("forkserver")
            processes.set_forkserver_preload(["faults.test_process_events"])
            with processes.Pool(2) as pool:
                waits = [("a new client", None, sys.argv[1])] * 4
                print(pool.starmap(_waits_in_child, waits))
            """,
            server.url,
        )
    assert done.stdout == "[0, 0, 0, 0]\n", done.stderr


def _exit_code(child, seconds=60):
    """How a child ended; one that does not is killed, lest it hold on to the pipes of the run."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# --- the end of the process ------------------------------------------------------------------


def run_script(text, *arguments):
    script = textwrap.dedent(text)
    path = [str(ROOT), str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-X", "dev", "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        check=False,
    )


def test_daemon_threads_that_wait_at_exit_are_neither_waited_for_nor_heard_of():
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        run = run_script(
            """
            import sys, threading, time
            from faults.scenarios import make_client
            import boto_waiters_plus as bwp
            client = bwp.enable(make_client("json", sys.argv[1]))
            options = {"TableName": "table", "max_wait": 500}
            for wait in (client.wait_until_table_exists, client.get_waiter("table_exists").wait):
                threading.Thread(target=wait, kwargs=options, daemon=True).start()
            while not any("watchdog" in t.name for t in threading.enumerate()):
                time.sleep(0.01)
            time.sleep(0.2)
            """,
            server.url,
        )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


AT_EXIT = """
    import atexit, sys, threading
    from faults.scenarios import make_client
    import boto_waiters_plus as bwp
    bwp.install()
    client = make_client("json", sys.argv[1], retries={"total_max_attempts": 1})
    def wait():
        for way in (client.wait_until_table_exists, client.get_waiter("table_exists").wait):
            try:
                print(way(TableName="table", max_wait=0.3).attempts)
            except bwp.WaiterTimeoutError:
                print("timed out")
        try:
            threading.Thread(target=int, daemon=True).start()
        except RuntimeError:
            print("no thread")
    atexit.register(wait)
    """


@pytest.mark.parametrize(("host", "is_healthy"), [("127.0.0.1", False), ("localhost", True)])
def test_a_wait_while_the_interpreter_exits_works(host, is_healthy):
    with FaultServer([answer(body=TABLE) if is_healthy else hang(BEFORE_HEADERS)]) as server:
        began = time.monotonic()
        run = run_script(AT_EXIT, server.url.replace("127.0.0.1", host))
        took = time.monotonic() - began
    ended = "1" if is_healthy else "timed out"
    assert run.returncode == 0
    assert run.stdout.splitlines()[:2] == [ended, ended], run.stderr
    assert took < 0.6 + 2 * GENEROUS
    starts_no_thread = "no thread" in run.stdout  # Python 3.12, for one.
    assert ("RuntimeWarning: no thread can be started" in run.stderr) == starts_no_thread
    assert starts_no_thread or run.stderr == ""


@pytest.mark.parametrize("close", [False, True])
def test_without_file_descriptors_a_wait_ends_in_time(close):
    """The last descriptor is the connection's, so that no duplicate of it can be made."""
    pytest.importorskip("resource")
    with FaultServer([drip(BODY, close=close, pause=5)]) as server:
        run = run_script(
            """
            import os, resource, sys, time, warnings
            from faults.scenarios import make_client
            import boto_waiters_plus as bwp
            client = bwp.enable(make_client("json", sys.argv[1], retries={"total_max_attempts": 1}))
            client.wait_until_table_exists
            try:
                client.wait_until_table_exists(TableName="table", max_wait=0.01)
            except bwp.WaiterTimeoutError:
                pass
            client.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
            files = []
            try:
                while True:
                    files.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                os.close(files.pop())
            began = time.monotonic()
            try:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    client.wait_until_table_exists(TableName="table", max_wait=0.5)
            except bwp.WaiterTimeoutError as error:
                took = time.monotonic() - began
            for each in files:
                os.close(each)
            print("in time" if took < 2 else took, *{str(each.message)[:9] for each in caught})
            """,
            server.url,
        )
    warned = " no thread" if close else ""
    assert (run.returncode, run.stdout) == (0, f"in time{warned}\n"), run.stderr


# --- what is left behind ---------------------------------------------------------------------


def test_a_hundred_waits_that_time_out_leave_no_thread_and_no_socket():
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("open files are not counted here")
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        client = make_client("json", server.url)
        for count in (5, 100):
            for _ in range(count):
                with pytest.raises(bwp.WaiterTimeoutError):
                    wait_on(client, max_wait=0.01)
            assert server.wait_until_closed(5)
            join_own_threads()
            if count == 5:
                before = len(list(folder.iterdir()))
        assert own_threads() == []
        assert len(list(folder.iterdir())) <= before
        client.close()
