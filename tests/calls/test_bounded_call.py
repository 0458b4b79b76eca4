"""Bounded calls without a network: time, cancel events, nesting, threads, clients and recorders."""

import asyncio
import contextlib
import contextvars
import functools
import http.client
import math
import socket
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest import mock

import botocore.awsrequest
import pytest
from botocore.exceptions import ConnectionClosedError
from calls import support
from calls.support import awaited_call, ended, join_call_threads, make_client, until_cut
from faults.support import own_threads
from freezegun import freeze_time

from boto_waiters_plus.calls import connections
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.budget import CallBudget, CallExpired, awaited_budget, current_budget
from boto_waiters_plus.calls.threads import abandonable_call
from boto_waiters_plus.calls.watch import Watchdog
from boto_waiters_plus.testing import virtual_time

SECONDS = 60


@pytest.fixture
def no_own_threads():
    """No thread of the package, whatever ran before."""
    support.join_own_threads()


def bounded(call, client=None, **options):
    return bounded_call(call, client=client, **{"seconds": SECONDS, **options})


# --- what comes back -------------------------------------------------------------------------


in_thread = functools.partial(bounded, in_thread=True)


def awaited(call, **options):
    async def coroutine():
        return call()

    options = {"client": None, "seconds": SECONDS, **options}
    return asyncio.run(awaited_call(coroutine, **options))


each_form = pytest.mark.parametrize("form", [bounded, in_thread, awaited])


@each_form
@pytest.mark.parametrize("seconds", [None, 1e308, math.inf, 10**9])
@pytest.mark.parametrize("event", [None, threading.Event()], ids=["", "event"])
@pytest.mark.usefixtures("clock")
def test_result_in_time_is_returned(form, seconds, event):
    assert form(lambda: "result", seconds=seconds, cancel_event=event) == "result"


@each_form
@pytest.mark.parametrize("seconds", [None, SECONDS])
def test_error_in_time_is_raised_as_it_is(form, seconds):
    error = TimeoutError("its own")
    with pytest.raises(TimeoutError) as caught:
        form(mock.Mock(side_effect=error), seconds=seconds)
    assert caught.value is error


@each_form
@pytest.mark.parametrize("seconds", [0, -1, -math.inf, math.nan])
def test_call_without_time_is_not_made(form, seconds):
    call = mock.Mock()
    with ended("deadline"):
        form(call, seconds=seconds)
    call.assert_not_called()


@each_form
def test_call_is_not_made_once_cancelled(form):
    event, call = threading.Event(), mock.Mock()
    event.set()
    with ended("cancelled"):
        form(call, seconds=None, cancel_event=event)
    call.assert_not_called()


@pytest.mark.parametrize("form", [bounded, awaited])
def test_refused_retry_is_told_apart(form):
    error = KeyError("503")

    def call():
        (current_budget() or awaited_budget.get()).refused_retry = error
        raise error

    with ended("retry refused") as caught:
        form(call)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [None, KeyError("x")])
def test_late_result_is_no_result_and_a_late_error_is_the_cause(late, error):
    with ended("deadline") as caught:
        bounded(late(error or "result"))
    assert caught.value.__cause__ is error


def test_result_at_the_deadline_is_late(clock):
    with ended("deadline"):
        bounded(lambda: clock.advance(SECONDS))
    assert bounded(lambda: clock.advance(SECONDS - 0.001)) is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("in_thread", [False, True])
def test_what_ends_the_program_passes_though_late(late, error, in_thread):
    call = mock.Mock(side_effect=error()) if in_thread else late(error())
    with pytest.raises(error):
        bounded(call, in_thread=in_thread)
    assert current_budget() is None


# --- cancelling ------------------------------------------------------------------------------


class OtherEvent:
    """An event of a class of the user's.

    Args:
        wait: what waiting for it does.
        is_set: what asking it does in the thread that listens.
    """

    def __init__(self, wait=lambda: None, is_set=lambda: False):
        self.asked = threading.Event()
        self._wait = wait
        self._is_set = is_set

    def is_set(self):
        if threading.current_thread() is threading.main_thread():
            return False
        self.asked.set()
        return self._is_set()

    def wait(self, timeout=None):
        self._wait()


@pytest.mark.parametrize("kind", [threading.Event, lambda: OtherEvent(is_set=lambda: True)])
@pytest.mark.parametrize("in_thread", [False, True])
def test_cancel_event_ends_the_call(kind, in_thread):
    event, go_on = kind(), threading.Event()

    def call():
        getattr(event, "set", lambda: None)()
        go_on.wait(60) if in_thread else until_cut()

    with ended("cancelled"):
        bounded(call, seconds=None, cancel_event=event, in_thread=in_thread)
    go_on.set()


def test_event_that_is_not_set_is_asked_until_the_call_is_over():
    before, asked, seen = own_threads(), threading.Semaphore(0), []
    variable = contextvars.ContextVar("variable")
    variable.set("of the caller")
    event = OtherEvent(is_set=lambda: seen.append(variable.get(None)) or asked.release())
    assert bounded(lambda: all(asked.acquire(timeout=60) for _ in range(4)), cancel_event=event)
    assert set(seen) == {"of the caller"}
    for thread in own_threads():
        if "listener" in thread.name and thread not in before:
            thread.join(60)
            assert not thread.is_alive()


@pytest.mark.parametrize("does", [RuntimeError, KeyboardInterrupt, SystemExit, "block"])
def test_event_that_raises_or_blocks_leaves_the_deadline_alone(clock, does):
    go_on = threading.Event()
    wait, is_set = (lambda: go_on.wait(60)), mock.Mock(side_effect=does)
    event = OtherEvent(wait) if does == "block" else OtherEvent(is_set=is_set)

    def call():
        clock.advance(1)
        event.asked.wait(60)
        clock.advance()
        until_cut()

    with ended("deadline"):
        bounded(call, cancel_event=event)
    assert not go_on.is_set()
    go_on.set()


# --- time ------------------------------------------------------------------------------------


@pytest.mark.parametrize("patched", [virtual_time, lambda: freeze_time("2026-01-01")])
def test_replaced_clock_does_not_keep_the_deadline_away(patched):
    with patched(), ended("deadline"):
        bounded(until_cut, seconds=0.01)


def test_virtual_time_does_not_bring_the_deadline_near():
    with virtual_time() as time:
        assert bounded(lambda: time.advance(3600)) is None


# --- nesting and threads ---------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["deadline", "cancelled"])
def test_inner_call_ends_with_the_outer_one(clock, reason):
    event = threading.Event()
    ended_calls = []

    def inner():
        if reason == "cancelled":
            event.set()
        clock.advance(1 if reason == "cancelled" else 1000)
        until_cut()

    def outer():
        with ended(reason):
            bounded(inner, seconds=5000)
        ended_calls.append("inner")
        until_cut()

    with ended(reason):
        bounded(outer, cancel_event=event)
    assert ended_calls == ["inner"]


def test_inner_call_may_end_before_the_outer_one(clock):
    def outer():
        with ended("deadline"):
            bounded(lambda: clock.advance(10), seconds=5)
        return "result"

    assert bounded(outer) == "result"


def test_thread_that_copies_the_context_is_not_bounded():
    def call():
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(context.run, current_budget).result(60), current_budget()

    assert [type(budget) for budget in bounded(call)] == [type(None), CallBudget]


@pytest.mark.usefixtures("no_own_threads")
def test_one_thread_watches_over_all_calls_and_ends_when_idle():
    barrier = threading.Barrier(6)

    def call():
        barrier.wait(60)
        barrier.wait(60)

    with ThreadPoolExecutor(5) as pool:
        for _ in range(5):
            pool.submit(bounded, call)
        barrier.wait(60)
        (watchdog,) = own_threads()
        assert watchdog.daemon
        barrier.wait(60)
    support.join_own_threads()


@pytest.mark.parametrize("action", ["always", "error"])
@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.usefixtures("no_own_threads")
def test_calls_without_threads_are_made_with_a_warning(late, caplog, action, in_thread):
    refusing = mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("no more"))
    with refusing, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        assert bounded(lambda: "result", in_thread=in_thread) == "result"
        with ended("deadline"):
            bounded(late(KeyError("x")), in_thread=in_thread)
    texts = caplog.messages if action == "error" else [str(each.message) for each in caught]
    assert len([text for text in texts if "no thread can be started" in text]) == 2


@pytest.mark.parametrize("error", [None, ValueError("no")], ids=["result", "error"])
def test_result_that_comes_as_the_time_ends_is_discarded(error):
    class LastMoment(CallBudget):
        def wait_for(self, is_met):
            super().wait_for(is_met)
            raise CallExpired

    discard, function = mock.Mock(), mock.Mock(return_value="result", side_effect=error)
    with pytest.raises(CallExpired):
        abandonable_call(function, LastMoment(SECONDS), discard=discard, name="test")
    assert discard.call_args_list == ([] if error else [mock.call("result")])


# --- sockets ---------------------------------------------------------------------------------


class OtherSocket:
    """A socket of eventlet's or gevent's kind: no `shutdown` of the class, and no parent."""

    def __init__(self, sock):
        self.fileno = sock.fileno
        self.close = sock.close


@pytest.fixture
def pair():
    ours, peer = socket.socketpair()
    with ours, peer:
        peer.settimeout(60)
        ours.settimeout(60)
        yield ours, peer


def test_socket_of_another_library_is_shut(clock, monkeypatch, pair):
    ours, peer = pair
    monkeypatch.setattr(socket, "socket", OtherSocket)

    def call():
        current_budget().use(SimpleNamespace(sock=OtherSocket(ours)))
        clock.advance()
        assert peer.recv(1) == b""

    with ended("deadline"):
        bounded(call)


@pytest.mark.usefixtures("no_own_threads")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_watchdog_whose_thread_has_died_gets_another(clock, pair):
    def dies(watchdog):
        with watchdog.lock:
            raise SystemExit

    def receive():
        current_budget().track_socket(SimpleNamespace(), pair[0])
        clock.advance()
        return pair[0].recv(1)

    with mock.patch.object(Watchdog, "_goes_on", dies):
        bounded(lambda: None)
        support.join_own_threads()
    with ended("deadline"):
        bounded(receive)


@pytest.mark.parametrize("is_full", [True, False])
def test_socket_that_cannot_be_duplicated_has_a_timeout(is_full, monkeypatch, pair):
    """Where no file descriptor is left, nothing but the timeout can end the rest of the call."""
    pair[0].settimeout(None)

    def close():
        budget, connection = current_budget(), SimpleNamespace(sock=pair[0])
        budget.use(connection)
        if is_full:
            monkeypatch.setattr(socket, "dup", mock.Mock(side_effect=OSError(24, "too many")))
        assert budget.keep_while_closed(connection)
        return pair[0].gettimeout()

    with pytest.warns() if is_full else contextlib.nullcontext():
        timeout = bounded(close)
    assert 0 < timeout <= SECONDS if is_full else timeout is None


def test_next_connection_frees_the_duplicate_of_the_one_before(pair):
    other, its_peer = socket.socketpair()

    def connect_twice():
        budget = current_budget()
        budget.track_socket(SimpleNamespace(), pair[0], before_tls=True)
        budget.track_socket(SimpleNamespace(), other, before_tls=True)
        pair[0].close()
        return pair[1].recv(1)

    with other, its_peer:
        assert bounded(connect_twice) == b""


# --- clients ---------------------------------------------------------------------------------


@pytest.mark.nightly(subject="wire")
def test_client_is_not_kept_alive(collect_garbage):
    client = make_client()
    bounded(lambda: None, client)
    reference = weakref.ref(client)
    del client
    collect_garbage()
    assert reference() is None


@pytest.mark.parametrize("is_of_a_client", [False, True])
@pytest.mark.parametrize("how", ["late", "late in a thread", "abandoned"])
def test_late_stream_of_a_client_is_closed(clock, how, is_of_a_client):
    """The value of a callable is its own."""
    body, go_on = mock.Mock(), threading.Event()

    def call():
        clock.advance()
        if how == "abandoned":
            go_on.wait(60)
        return {"Body": body}

    with ended("deadline"):
        bounded(call, make_client() if is_of_a_client else None, in_thread=how != "late")
    assert all(thread.daemon for thread in own_threads())
    go_on.set()
    join_call_threads()
    assert body.close.call_count == is_of_a_client


def is_in_thread(client):
    return bounded(threading.get_ident, client) != threading.get_ident()


@pytest.mark.parametrize("missing", ["endpoint", "pool classes", "droppable pools"])
def test_calls_without_botocores_names_are_made_in_threads(missing, monkeypatch):
    client = make_client()
    if missing == "endpoint":
        del client._endpoint
    if missing == "pool classes":
        del client._endpoint.http_session._pool_classes_by_scheme
    if missing == "droppable pools":
        monkeypatch.setattr(connections, "_can_drop_pools", lambda: False)
    assert is_in_thread(client)


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_adaptive_mode_takes_a_thread(mode):
    assert is_in_thread(make_client(mode=mode)) == (mode == "adaptive")


class Recorded(botocore.awsrequest.AWSHTTPConnection):
    """Answers without a socket, as recorders do."""

    requests = []  # noqa: RUF012 - of all instances
    sock = property(lambda _: None, lambda *_: None)

    def request(self, method, url, *_, **__):
        self.requests.append((method, url))

    def getresponse(self, *_, **__):
        raise http.client.RemoteDisconnected("played to its end")


@pytest.mark.parametrize("recorder", [Recorded, lambda *_, **__: Recorded("127.0.0.1")])
@pytest.mark.parametrize("order", ["before", "after"])
def test_connections_of_a_recorder_are_left_alone(order, recorder):
    Recorded.requests.clear()
    own = dict(vars(Recorded))
    client = make_client(attempts=1)
    if order == "after":
        bounded(lambda: None, client)
    with mock.patch.object(botocore.awsrequest.AWSHTTPConnectionPool, "ConnectionCls", recorder):
        with pytest.raises(ConnectionClosedError):
            bounded(client.list_tables, client)
        assert is_in_thread(client)
    assert Recorded.requests == [("POST", "/")]
    assert dict(vars(Recorded)) == own
    assert not is_in_thread(client)
