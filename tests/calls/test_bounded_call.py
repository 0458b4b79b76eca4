"""Bounded calls without a network: time, threads, nesting, clients and recorders."""

import contextlib
import contextvars
import datetime as dt
import functools
import http.client
import math
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
import warnings
import weakref
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.awsrequest
import pytest
from botocore.config import Config
from botocore.credentials import RefreshableCredentials
from botocore.exceptions import ConnectionClosedError
from botocore.stub import Stubber
from freezegun import freeze_time

from boto_waiters_plus.calls import connections, private_names
from boto_waiters_plus.calls.abandonable_call import abandonable_call
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.call_budget import (
    CallBudget,
    CallEnded,
    CallExpired,
    SocketHandle,
    current_budget,
)
from boto_waiters_plus.calls.watchdog import Watchdog
from boto_waiters_plus.testing import virtual_time

SOON = 0.05
LATE = 0.15
MANY_SECONDS = 60


def own_threads():
    return [t for t in threading.enumerate() if t.name.startswith("boto_waiters_plus")]


def join_own_threads():
    """Wait until the package's threads have ended: each does when it is idle."""
    for thread in own_threads():
        thread.join(30)
    assert own_threads() == []


@pytest.fixture
def no_own_threads():
    """No thread of the package, whatever ran before."""
    join_own_threads()


@functools.cache
def session():
    return boto3.Session()


def client(service="dynamodb", **options):
    return session().client(
        service,
        region_name="us-east-1",
        endpoint_url="http://127.0.0.1:9",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        **options,
    )


def pause(seconds):
    """Let real time pass, whatever is patched."""
    threading.Event().wait(seconds)


def late(result=None, error=None):
    def call():
        pause(LATE)
        if error is not None:
            raise error
        return result

    return call


@contextlib.contextmanager
def ended(reason):
    with pytest.raises(CallEnded) as caught:
        yield caught
    assert caught.value.reason == reason


# --- what comes back -------------------------------------------------------------------------


def test_without_a_bound_the_call_is_just_made():
    seen = []
    call = lambda: seen.append(current_budget()) or "result"  # noqa: E731 - one line
    assert bounded_call(call, client=None, seconds=None) == "result"
    assert seen == [None]


def test_result_in_time_is_returned():
    assert bounded_call(lambda: "result", client=None, seconds=MANY_SECONDS) == "result"


def test_error_in_time_is_raised_as_it_is():
    error = KeyError("x")
    with pytest.raises(KeyError) as caught:
        bounded_call(mock.Mock(side_effect=error), client=None, seconds=MANY_SECONDS)
    assert caught.value is error


def test_late_result_is_no_result():
    with ended("deadline") as caught:
        bounded_call(late("result"), client=None, seconds=SOON)
    assert caught.value.__cause__ is None


def test_late_error_is_the_cause():
    error = KeyError("x")
    with ended("deadline") as caught:
        bounded_call(late(error=error), client=None, seconds=SOON)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("seconds", [0, -1, -math.inf, math.nan])
def test_with_no_time_left_nothing_is_called(seconds):
    call = mock.Mock()
    with ended("deadline"):
        bounded_call(call, client=None, seconds=seconds)
    call.assert_not_called()


@pytest.mark.parametrize("seconds", [1e308, math.inf, 10**9])
def test_a_deadline_beyond_all_clocks_is_none(seconds):
    assert bounded_call(lambda: "result", client=None, seconds=seconds) == "result"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("in_thread", [False, True])
def test_what_ends_the_program_passes_though_late(error, in_thread):
    call = late(error=error()) if not in_thread else mock.Mock(side_effect=error())
    seconds = MANY_SECONDS if in_thread else SOON
    with pytest.raises(error):
        bounded_call(call, client=None, seconds=seconds, in_thread=in_thread)
    assert current_budget() is None


# --- cancelling ------------------------------------------------------------------------------


def test_a_set_event_lets_nothing_be_called():
    event = threading.Event()
    event.set()
    call = mock.Mock()
    with ended("cancelled"):
        bounded_call(call, client=None, seconds=None, cancel_event=event)
    call.assert_not_called()


class BadEvent:
    """Fits the protocol, and raises whenever it is asked during the call."""

    def __init__(self, error):
        self.error = error
        self.threads = set()
        self.asked = threading.Event()

    def is_set(self):
        if threading.current_thread() is threading.main_thread():
            return False
        self.threads.add(threading.current_thread().name)
        self.asked.set()
        raise self.error

    def wait(self, timeout=None):
        return self.is_set()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_event_that_raises_leaves_the_deadline_alone(error):
    event = BadEvent(error)

    def call():
        event.asked.wait(30)
        pause(1.1)

    with ended("deadline"):
        # A busy machine needs a while to start the thread that asks.
        bounded_call(call, client=None, seconds=1, cancel_event=event)
    assert event.threads == {"boto_waiters_plus cancel listener"}


def test_event_that_blocks_delays_no_deadline():
    go_on = threading.Event()

    class Blocking:
        is_set = staticmethod(lambda: False)
        wait = staticmethod(lambda _: go_on.wait(30))

    began = time.perf_counter()
    with ended("deadline"):
        in_thread = {"client": None, "seconds": 0.2, "in_thread": True}
        bounded_call(lambda: go_on.wait(30), cancel_event=Blocking(), **in_thread)
    assert time.perf_counter() - began < 10
    go_on.set()


def cancelled_after(event):
    """Set the event during the call; return the seconds until the call was ended."""
    go_on, times = threading.Event(), []

    def set_it():
        pause(0.05)
        times.append(time.perf_counter())
        event.set()

    threading.Thread(target=set_it).start()
    options = {"client": None, "seconds": None, "cancel_event": event, "in_thread": True}
    with ended("cancelled"):
        bounded_call(lambda: go_on.wait(30), **options)
    go_on.set()
    return time.perf_counter() - times[0]


def test_cancelling_takes_a_moment():
    assert min(cancelled_after(threading.Event()) for _ in range(5)) < 0.05


def test_events_of_other_kinds_cancel_too():
    event = multiprocessing.get_context("spawn").Event()
    assert cancelled_after(event) < 5


WAITING = """if True:
    import contextlib, resource, threading
    from boto_waiters_plus.calls.bounded_call import bounded_call
    from boto_waiters_plus.calls.call_budget import CallEnded

    event, go_on = threading.Event(), threading.Event()
    options = {"client": None, "seconds": 60, "cancel_event": event, "in_thread": True}

    def call():
        with contextlib.suppress(CallEnded):
            bounded_call(lambda: go_on.wait(60), **options)

    thread = threading.Thread(target=call)
    thread.start()
    pause = threading.Event().wait
    pause(0.2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    pause(1)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before)
    go_on.set()
    thread.join(30)
"""


def test_a_waiting_event_is_not_polled():
    pytest.importorskip("resource")
    # In a process of its own: the threads of other tests switch, too.
    command = [sys.executable, "-c", WAITING]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    # The pause itself is one; polling 50 times a second would be 50.
    assert int(ran.stdout) <= 20


# --- time ------------------------------------------------------------------------------------


def test_a_frozen_clock_does_not_keep_the_deadline_away():
    with freeze_time("2026-01-01"), ended("deadline"):
        bounded_call(late(), client=None, seconds=SOON)


def test_virtual_time_neither_brings_the_deadline_near_nor_keeps_it_away():
    with virtual_time() as clock:
        assert bounded_call(lambda: clock.advance(3600), client=None, seconds=MANY_SECONDS) is None
        with ended("deadline"):
            bounded_call(late(), client=None, seconds=SOON)


# --- nesting and threads ---------------------------------------------------------------------


def test_an_inner_call_ends_with_the_outer_one():
    ended_calls = []

    def outer():
        try:
            bounded_call(late(), client=None, seconds=MANY_SECONDS)
        except CallEnded:
            ended_calls.append("inner")
        return "result"

    with ended("deadline"):
        bounded_call(outer, client=None, seconds=SOON)
    assert ended_calls == ["inner"]


def test_an_inner_call_may_end_before_the_outer_one():
    def outer():
        with ended("deadline"):
            bounded_call(late(), client=None, seconds=SOON)
        return "result"

    assert bounded_call(outer, client=None, seconds=MANY_SECONDS) == "result"


def test_cancelling_the_outer_call_cancels_the_inner_one():
    event, ended_calls = threading.Event(), []

    def inner():
        event.set()
        # Time for the listener on a busy machine.
        pause(1)

    def outer():
        try:
            bounded_call(inner, client=None, seconds=MANY_SECONDS)
        except CallEnded:
            ended_calls.append("inner")

    with ended("cancelled"):
        bounded_call(outer, client=None, seconds=None, cancel_event=event)
    assert ended_calls == ["inner"]


def test_a_thread_that_copies_the_context_is_not_bounded():
    seen = []

    def call():
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=[lambda: seen.append(current_budget())])
        thread.start()
        thread.join(60)
        seen.append(current_budget())

    bounded_call(call, client=None, seconds=MANY_SECONDS)
    assert [type(budget) for budget in seen] == [type(None), CallBudget]


@pytest.mark.usefixtures("no_own_threads")
def test_one_thread_watches_over_all_calls_and_ends_when_idle():
    barrier = threading.Barrier(21)

    def call():
        barrier.wait(60)
        barrier.wait(60)

    def bounded():
        bounded_call(call, client=None, seconds=MANY_SECONDS)

    threads = [threading.Thread(target=bounded) for _ in range(20)]
    for thread in threads:
        thread.start()
    barrier.wait(60)
    assert len(own_threads()) == 1
    assert own_threads()[0].daemon
    barrier.wait(60)
    for thread in threads:
        thread.join(60)
    join_own_threads()


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.usefixtures("no_own_threads")
def test_without_threads_calls_are_made_with_a_warning(in_thread):
    with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("no more")):
        with pytest.warns(RuntimeWarning, match="no thread can be started"):
            result = bounded_call(
                lambda: "result", client=None, seconds=MANY_SECONDS, in_thread=in_thread
            )
        assert result == "result"
        with (
            pytest.warns(RuntimeWarning, match="max_wait is kept by socket timeouts alone"),
            ended("deadline"),
        ):
            bounded_call(late(), client=None, seconds=SOON)


@pytest.mark.usefixtures("no_own_threads")
def test_answer_is_returned_though_warnings_are_errors(caplog):
    with (
        mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("no more")),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        assert bounded_call(lambda: "result", client=None, seconds=MANY_SECONDS) == "result"
        with ended("deadline"):
            bounded_call(late(), client=None, seconds=SOON)
    assert len([text for text in caplog.messages if "no thread can be started" in text]) == 2


class OtherSocket:
    """A socket of eventlet's or gevent's kind: no `shutdown` of the class, and no parent."""

    def __init__(self, sock):
        self.fileno = sock.fileno
        self.close = sock.close


class UnknownSocket:
    """A socket that knows nothing."""

    def fileno(self):
        raise LookupError("fileno")

    def close(self):
        raise LookupError("close")


def held(sock):
    """A call that lasts longer than its deadline, with a socket in use."""

    def call():
        current_budget().use(SimpleNamespace(sock=sock))
        pause(LATE)

    return call


def test_socket_of_another_library_is_shut_at_the_deadline(monkeypatch):
    mine, peer = socket.socketpair()
    monkeypatch.setattr(socket, "socket", OtherSocket)
    with mine, peer:
        peer.settimeout(30)

        def call():
            current_budget().use(SimpleNamespace(sock=OtherSocket(mine)))
            assert peer.recv(1) == b""

        with ended("deadline"):
            bounded_call(call, client=None, seconds=1)


@pytest.mark.usefixtures("no_own_threads")
def test_unknown_socket_does_not_end_the_watchdog(monkeypatch):
    with ended("deadline"):
        bounded_call(late(), client=None, seconds=SOON)
    [watchdog] = own_threads()
    monkeypatch.setattr(socket, "socket", UnknownSocket)
    for _ in range(3):
        with ended("deadline"):
            bounded_call(held(UnknownSocket()), client=None, seconds=SOON)
    assert own_threads() == [watchdog]


@pytest.mark.usefixtures("no_own_threads")
def test_in_a_thread_any_call_is_given_up_at_the_deadline():
    go_on = threading.Event()
    began = time.perf_counter()
    with ended("deadline"):
        bounded_call(lambda: go_on.wait(30), client=None, seconds=SOON, in_thread=True)
    assert time.perf_counter() - began < 10
    assert any("call" in thread.name and thread.daemon for thread in own_threads())
    go_on.set()
    join_own_threads()


def test_in_a_thread_result_error_and_context_are_the_callers():
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")

    def bounded(call):
        return bounded_call(call, client=None, seconds=MANY_SECONDS, in_thread=True)

    assert bounded(variable.get) == "set"
    assert bounded(threading.get_ident) != threading.get_ident()
    problem = KeyError("x")
    with pytest.raises(KeyError) as caught:
        bounded(mock.Mock(side_effect=problem))
    assert caught.value is problem


# --- clients ---------------------------------------------------------------------------------


def test_a_client_is_not_kept_alive(collect_garbage):
    one = client()
    bounded_call(lambda: None, client=one, seconds=MANY_SECONDS)
    reference = weakref.ref(one)
    del one
    collect_garbage()
    assert reference() is None


def test_a_stand_in_for_a_client_will_do():
    assert bounded_call(lambda: 1, client=mock.MagicMock(), seconds=MANY_SECONDS) == 1


def test_stubber_answers_inside_a_bounded_call():
    one = client()
    with Stubber(one) as stubber:
        stubber.add_response("list_tables", {"TableNames": ["table"]})
        stubber.add_client_error("list_tables", "ResourceNotFoundException")
        result = bounded_call(one.list_tables, client=one, seconds=MANY_SECONDS)
        assert result["TableNames"] == ["table"]
        with pytest.raises(one.exceptions.ResourceNotFoundException):
            bounded_call(one.list_tables, client=one, seconds=MANY_SECONDS)


@pytest.mark.parametrize("error", [None, ValueError("no")], ids=["result", "error"])
def test_result_that_comes_as_the_time_ends_is_discarded(error):
    class LastMoment(CallBudget):
        def wait_for(self, is_met):
            super().wait_for(is_met)
            raise CallExpired

    discarded, budget = [], LastMoment(MANY_SECONDS)
    with pytest.raises(CallExpired):
        abandonable_call(late("result", error), budget, discard=discarded.append, name="test")
    assert discarded == ([] if error else ["result"])


def test_late_streaming_response_is_closed():
    body = mock.Mock()
    with ended("deadline"):
        bounded_call(late({"Body": body}), client=client(), seconds=SOON)
    body.close.assert_called_once_with()


def test_late_value_of_a_callable_is_left_alone():
    value = mock.Mock()
    with ended("deadline"):
        bounded_call(late({"Body": value}), client=None, seconds=SOON)
    value.close.assert_not_called()


def test_abandoned_call_closes_its_late_response():
    body = mock.Mock()
    with ended("deadline"):
        bounded_call(late({"Body": body}), client=client(), seconds=SOON, in_thread=True)
    join_own_threads()
    body.close.assert_called_once_with()


def test_refused_retry_is_told_apart():
    error = KeyError("503")

    def call():
        current_budget().refused_retry = error
        raise error

    with ended("retry refused") as caught:
        bounded_call(call, client=None, seconds=MANY_SECONDS)
    assert caught.value.__cause__ is error


# --- connection classes ------------------------------------------------------------------------

POOLS = [botocore.awsrequest.AWSHTTPConnectionPool, botocore.awsrequest.AWSHTTPSConnectionPool]
CLASSES = [botocore.awsrequest.AWSHTTPConnection, botocore.awsrequest.AWSHTTPSConnection]


def pools_of(one):
    return private_names.pool_classes_of(private_names.http_session_of(one))


def test_a_client_gets_connection_classes_of_its_own():
    one, other = client(), client()
    bounded_call(lambda: None, client=one, seconds=MANY_SECONDS)
    pools = pools_of(one)
    assert pools["http"] is not POOLS[0]
    assert issubclass(pools["http"].ConnectionCls, CLASSES[0])
    assert issubclass(pools["https"].ConnectionCls, CLASSES[1])
    assert pools_of(other) == {"http": POOLS[0], "https": POOLS[1]}


@pytest.mark.parametrize("missing", ["endpoint", "pool classes", "droppable pools"])
def test_without_its_names_calls_are_made_in_threads(missing):
    one = client()
    if missing == "endpoint":
        del one._endpoint
    if missing == "pool classes":
        del one._endpoint.http_session._pool_classes_by_scheme
    droppable = missing != "droppable pools"
    with mock.patch.object(connections, "_can_drop_pools", return_value=droppable):
        ident = bounded_call(threading.get_ident, client=one, seconds=MANY_SECONDS)
    assert ident != threading.get_ident()


@pytest.mark.parametrize(("mode", "is_in_thread"), [("standard", False), ("adaptive", True)])
def test_adaptive_mode_takes_a_thread(mode, is_in_thread):
    one = client(config=Config(retries={"mode": mode}))
    ident = bounded_call(threading.get_ident, client=one, seconds=MANY_SECONDS)
    assert (ident != threading.get_ident()) == is_in_thread


@pytest.mark.parametrize(("minutes", "is_in_thread"), [(60, False), (1, True)])
def test_a_refresh_of_credentials_takes_a_thread(minutes, is_in_thread):
    one = client()
    one._request_signer._credentials = RefreshableCredentials(
        "key", "secret", "token", dt.datetime.now(dt.timezone.utc) + dt.timedelta(minutes=minutes),
        refresh_using=None, method="test",
    )  # fmt: skip
    ident = bounded_call(threading.get_ident, client=one, seconds=MANY_SECONDS)
    assert (ident != threading.get_ident()) == is_in_thread


class Recorded(CLASSES[0]):
    """Answers without a socket, as recorders do."""

    requests = []  # noqa: RUF012 - of all instances
    sock = property(lambda _: None, lambda *_: None)

    def request(self, method, url, *_, **__):
        self.requests.append((method, url))

    def getresponse(self, *_, **__):
        raise http.client.RemoteDisconnected("played to its end")


@pytest.mark.parametrize("order", ["before", "after"])
def test_a_recorders_connections_are_left_alone(order):
    Recorded.requests.clear()
    one = client()
    if order == "after":
        bounded_call(lambda: None, client=one, seconds=MANY_SECONDS)
    with mock.patch.object(POOLS[0], "ConnectionCls", Recorded):
        with pytest.raises(ConnectionClosedError):
            bounded_call(one.list_tables, client=one, seconds=MANY_SECONDS)
        assert bounded_call(threading.get_ident, client=one, seconds=5) != threading.get_ident()
    assert Recorded.requests[0] == ("POST", "/")
    assert bounded_call(threading.get_ident, client=one, seconds=5) == threading.get_ident()
    assert issubclass(pools_of(one)["http"].ConnectionCls, connections.TrackedConnection)


# --- the watchdog ------------------------------------------------------------------------------


def ends_at_its_deadline():
    """Return whether a call that receives nothing is ended."""
    one, other = socket.socketpair()

    def receive():
        current_budget().track_socket(SimpleNamespace(), one)
        one.settimeout(10)
        return one.recv(1)

    with one, other, ended("deadline"):
        bounded_call(receive, client=None, seconds=SOON)
        return False
    return True


@pytest.mark.usefixtures("no_own_threads")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_watchdog_whose_thread_has_died_gets_another():
    def dies(watchdog):
        with watchdog.lock:
            raise SystemExit

    with mock.patch.object(Watchdog, "_goes_on", dies):
        bounded_call(lambda: None, client=None, seconds=MANY_SECONDS)
        join_own_threads()
    began = time.monotonic()
    assert ends_at_its_deadline()
    assert time.monotonic() - began < 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forks beside threads
def test_forked_child_has_a_watchdog_of_its_own():
    bounded_call(lambda: None, client=None, seconds=MANY_SECONDS)
    child = os.fork()
    if not child:
        code = 1
        try:
            began = time.monotonic()
            if ends_at_its_deadline() and time.monotonic() - began < 10:
                code = 7
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


# --- retries of the SDK ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "operation", "requests"),
    [("kinesis", "list_streams", 6), ("dynamodb", "list_tables", 11)],
)
@pytest.mark.usefixtures("sleeps")
def test_legacy_retries_go_on_while_their_delays_fit(service, operation, requests):
    """Their delays grow from 1 s, on DynamoDB from 0.05 s: 32 s and 51.2 s do not fit."""
    retries = {"mode": "legacy", "total_max_attempts": 20}
    one = client(service, config=Config(retries=retries))
    sent = []

    def unavailable(request, **_):
        sent.append(request)
        response = botocore.awsrequest.AWSResponse(request.url, 503, {}, None)
        response._content = b"{}"
        return response

    one.meta.events.register("before-send", unavailable)
    with ended("retry refused"):
        bounded_call(getattr(one, operation), client=one, seconds=30)
    assert len(sent) == requests


# --- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_full", [True, False])
def test_socket_that_cannot_be_duplicated_has_a_timeout(is_full, monkeypatch):
    """Where no file descriptor is left, nothing but the timeout can end the rest of the call."""
    one, other = socket.socketpair()

    def close():
        budget, connection = current_budget(), SimpleNamespace(sock=one)
        budget.use(connection)
        if is_full:
            monkeypatch.setattr(socket, "dup", mock.Mock(side_effect=OSError(24, "too many")))
        assert budget.keep_while_closed(connection)
        return one.gettimeout()

    with one, other, pytest.warns() if is_full else contextlib.nullcontext():
        timeout = bounded_call(close, client=None, seconds=MANY_SECONDS)
        assert 0 < timeout <= MANY_SECONDS if is_full else timeout is None


def test_next_connection_frees_the_duplicate_of_the_one_before():
    one, peer = socket.socketpair()
    other, its_peer = socket.socketpair()

    def connect_twice():
        budget = current_budget()
        budget.track_socket(SimpleNamespace(), one, before_tls=True)
        budget.track_socket(SimpleNamespace(), other, before_tls=True)
        one.close()
        peer.settimeout(0)
        return peer.recv(1)

    with one, peer, other, its_peer:
        assert bounded_call(connect_twice, client=None, seconds=MANY_SECONDS) == b""


@pytest.mark.parametrize("is_duplicate", [True, False])
def test_only_the_duplicate_of_a_socket_is_closed(is_duplicate):
    one, other = socket.socketpair()
    with one, other:
        handle = SocketHandle()
        handle.sock, handle.is_duplicate = one, is_duplicate
        handle.give_up()
        assert (one.fileno() == -1) is is_duplicate
