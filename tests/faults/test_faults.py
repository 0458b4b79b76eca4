"""Every fault of the table in every form, over real sockets: its end, when, and what it leaves."""

import contextlib
import threading
import time
import warnings
from pathlib import Path
from unittest import mock

import pytest
from faults.scenarios import ABANDONED, FAULTS, FORMS, ending_of, run_fault
from faults.support import GENEROUS, are_black_holes_possible, own_threads, raised_by

from boto_waiters_plus.calls import connections

pytestmark = pytest.mark.nightly(subject="wire")


def seconds_for(fault):
    """One that ends by itself does so late on a busy machine."""
    if fault.endings == {ABANDONED}:
        return 0.15
    return 0.3 if ABANDONED in fault.endings else 5


@contextlib.contextmanager
def leaving_nothing(collect_garbage):
    """Assert that no thread, socket or file of the block stays, though the test keeps its error."""
    before = open_files()
    with warnings.catch_warnings(record=True) as unclosed:
        warnings.simplefilter("always", ResourceWarning)
        yield
        for thread in own_threads("watchdog"):
            # One that is being started cannot be joined yet.
            while thread.ident is None:
                time.sleep(0.01)
            thread.join(30)
        assert own_threads("watchdog") == []
        collect_garbage()
    assert [str(each.message) for each in unclosed] == []
    end = time.perf_counter() + 5
    while len(open_files()) > len(before):
        assert time.perf_counter() < end, open_files()
        threading.Event().wait(0.01)


def open_files():
    folder = Path("/proc/self/fd")
    return sorted(map(str, folder.iterdir())) if folder.exists() else []


def close_idle_connections(client):
    """Close what is the client's own; the frames of an error may hold its pools."""
    for pool in client._endpoint.http_session._manager.pools._container.values():
        for connection in filter(None, pool.pool.queue):
            connection.close()


def check(fault, form, mode, certificate, collect_garbage, host=None):
    if "black hole" in fault.place and not are_black_holes_possible():
        pytest.skip("a full queue does not hold connections up on this system")
    seconds = seconds_for(fault)
    fault_that_runs = run_fault(fault, mode, certificate, host=host)
    with leaving_nothing(collect_garbage), fault_that_runs as running:
        began = time.perf_counter()
        raised = raised_by(lambda: FORMS[form](running, seconds))
        assert time.perf_counter() - began < seconds + GENEROUS
        assert ending_of(raised) in fault.endings
        if ending_of(raised) == ABANDONED and fault.place == "server":
            assert running.server.wait_until_closed(5)
        close_idle_connections(running.client)
    # Until here, with all that its frames hold.
    del raised


def also(how):
    """Of the faults those that are tried so besides: the others do not care."""
    faults = [fault for fault in FAULTS if how in fault.also]
    return pytest.mark.parametrize("fault", faults, ids=str)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_fault_ends_as_the_table_says_and_leaves_nothing(fault, form, certificate, collect_garbage):
    mode = "standard" if "standard" in fault.modes else fault.modes[0]
    check(fault, form, mode, certificate, collect_garbage)


@also("each mode")
@pytest.mark.parametrize("mode", ["legacy", "adaptive"])
def test_fault_ends_in_each_retry_mode(fault, mode, certificate, collect_garbage):
    check(fault, "call", mode, certificate, collect_garbage)


@also("a name")
def test_fault_ends_with_a_name_that_is_looked_up(fault, certificate, collect_garbage):
    check(fault, "call", "standard", certificate, collect_garbage, "localhost")


@also("no socket maker")
def test_fault_ends_without_urllib3s_private_method(fault, certificate, collect_garbage):
    asks = mock.patch.object(connections, "asks_socket_maker", return_value=False)
    connection = connections.TrackedConnection
    with asks, mock.patch.object(connection, "make_socket", lambda _, make: make()):
        check(fault, "call", "standard", certificate, collect_garbage)
