"""What the caller's own code raises inside a call, which an HTTP client takes for its own."""

import asyncio
import contextlib
import signal
import socket
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.awsrequest
import botocore.exceptions as botocores
import pytest
import requests
import urllib3
from calls.support import alarm, handled, make_client
from service.ways import by_batch, by_method, by_plain_waiter, by_task, by_waiter

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.calls.budget import CallBudget
from boto_waiters_plus.calls.errors import callers_error
from boto_waiters_plus.common.process import start_thread
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.signals import SqsSignal

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no SIGUSR1 here")


def by_condition(client, waiter, **keywords):
    options = {"max_wait": 60, "retry_on": botocores.BotoCoreError}
    return conditions.wait_for(lambda: client.describe_table(TableName="table"), **options)


def by_awaited_condition(client, waiter, **keywords):
    async def call():
        return client.describe_table(TableName="table")

    return asyncio.run(conditions.wait_for_async(call, max_wait=60))


class Alarm(Exception):  # noqa: N818 - of a caller
    """What a handler raises."""


class Handler:
    """A signal handler that is an object."""

    def __init__(self, error):
        self.error = error

    def __call__(self, signum, frame, /):
        raise self.error

    def method(self, *_):
        """A signal handler that is a method."""
        raise self.error

    def without_frame(self, signum, frame):
        """A signal handler that has dropped what it was given."""
        del signum, frame
        raise self.error


@contextlib.contextmanager
def happening(at, event):
    """While a request is sent or its connection made, let an event happen once."""
    events, peers, heads = [event], [], []

    def moment(name):
        while at == name and events:
            events.pop()()

    class Socket(socket.socket):
        def recv_into(self, *arguments):
            # The head comes with the first byte of the body.
            heads.append(None)
            moment("reading" if len(heads) > 1 else "")
            return super().recv_into(*arguments)

    class Connection(botocore.awsrequest.AWSHTTPConnection):
        def connect(self):
            moment("connecting")
            if at == "dialing":
                with mock.patch("socket.socket.connect", side_effect=lambda *_: moment(at)):
                    super().connect()
            ours, peer = socket.socketpair()
            self.sock = Socket(fileno=ours.detach())
            peers.append(peer)

        def request(self, *arguments, **options):
            super().request(*arguments, **options)
            moment("sending")

        def getresponse(self):
            if at == "reading":
                peers[-1].sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
            peers[-1].close()
            return super().getresponse()

    with mock.patch.object(botocore.awsrequest.AWSHTTPConnectionPool, "ConnectionCls", Connection):
        yield
    for peer in peers:
        peer.close()


def client_of(mode="legacy", attempts=1):
    bwp.install()
    return make_client(mode=mode, attempts=attempts)


def raising(error):
    def event():
        raise error

    return event


RUNG = [Alarm("rang"), TimeoutError("rang"), ConnectionError("rang"), FileNotFoundError("rang")]
FORMS = [by_method, by_waiter, by_plain_waiter, by_condition]


@pytest.mark.parametrize("way", FORMS)
@pytest.mark.parametrize("at", ["dialing", "connecting", "sending", "reading"])
@pytest.mark.parametrize("error", RUNG, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("kind", ["function", "object", "method", "without frame"])
def test_what_a_signal_handler_raises_is_raised_as_it_was(virtual_time, way, at, error, kind):
    handlers = {
        "function": lambda *_: raising(error)(),
        "object": Handler(error),
        "method": Handler(error).method,
        "without frame": Handler(error).without_frame,
    }
    with handled(handlers[kind]), happening(at, alarm), pytest.raises(type(error)) as caught:
        way(client_of(), "table_exists", TableName="table", max_wait=60)
    assert caught.value is error


@pytest.mark.parametrize("way", [by_method, by_waiter, by_plain_waiter])
@pytest.mark.parametrize("mode", ["legacy", "standard"])
@pytest.mark.parametrize("error", [Alarm("rang"), TimeoutError("rang")])
def test_the_sdk_does_not_retry_it_either(virtual_time, way, mode, error):
    client = client_of(mode, attempts=3)
    with handled(Handler(error)), happening("sending", alarm), pytest.raises(type(error)) as caught:
        way(client, "table_exists", TableName="table", max_wait=60)
    assert caught.value is error


HOOKS = [
    *(LookupError("mine"), RuntimeError("mine"), ValueError("mine"), Alarm("mine")),
    *(FileNotFoundError("mine"), requests.exceptions.ConnectionError("mine")),
]


@pytest.mark.parametrize("way", [*FORMS, by_awaited_condition, by_task, by_batch])
@pytest.mark.parametrize("error", HOOKS, ids=lambda error: type(error).__name__)
def test_what_a_hook_raises_is_raised_as_it_was(virtual_time, way, error):
    with happening("sending", raising(error)), pytest.raises(type(error)) as caught:
        way(client_of(), "table_exists", TableName="table", max_wait=60)
    assert caught.value is error


TRANSPORT = [
    *(ConnectionResetError(104, "reset"), TimeoutError("timed out"), OSError(101, "unreachable")),
    *(socket.gaierror(-2, "unknown"), urllib3.exceptions.ProtocolError("broken")),
]


@pytest.mark.parametrize("way", [by_method, by_task, by_batch])
@pytest.mark.parametrize("error", TRANSPORT, ids=lambda error: type(error).__name__)
def test_errors_of_the_transport_stay_transient(virtual_time, way, error):
    send = mock.patch("socket.socket.sendall", side_effect=error)
    with send, happening("sending", alarm), pytest.raises(bwp.WaiterTimeoutError):
        way(client_of(), "table_exists", TableName="table", max_wait=60, retry_transient=True)


OF_HTTPX = type("ReadError", (Exception,), {"__module__": "httpx2"})


DOUBLES = [
    *(botocores.HTTPClientError(error=error) for error in ("told", OF_HTTPX())),
    botocores.ConnectTimeoutError(endpoint_url="https://x", error=Exception("told")),
]


@pytest.mark.parametrize("double", DOUBLES)
def test_a_test_double_has_no_error_of_a_caller(double):
    assert callers_error(double) is None


def test_an_alarm_that_is_being_handled_is_not_raised_again(virtual_time):
    # Such as by a program that waits once more after its own timeout.
    client, error = client_of(), TimeoutError("rang")
    try:
        with handled(Handler(error)):
            alarm()
    except TimeoutError:
        with happening("sending", lambda: None), pytest.raises(bwp.WaiterTimeoutError):
            client.wait_until_table_exists(TableName="table", max_wait=60)


def test_an_alarm_that_a_library_wrapped_before_is_not_raised_again(virtual_time):
    client, error = client_of(), TimeoutError("rang")
    try:
        with handled(Handler(error)), happening("sending", alarm):
            client.describe_table(TableName="table")
    except botocores.HTTPClientError:
        for way in FORMS:
            lost = pytest.raises((botocores.WaiterError, botocores.ConnectionClosedError))
            with happening("sending", lambda: None), lost:
                way(client, "table_exists", TableName="table", max_wait=60)


def test_a_condition_retries_what_it_was_asked_to(virtual_time):
    client, sent = client_of(), []

    def send():
        sent.append(1)
        if len(sent) < 3:
            with happening("sending", raising(Alarm("mine"))):
                return client.describe_table(TableName="table")
        return True

    assert conditions.wait_for(send, max_wait=60, retry_on=Alarm)
    assert len(sent) == 3


# --- outside of a request -----------------------------------------------------------------------


class Ringing(dict):
    """A part of a response that is read while the signal arrives."""

    def get(self, *_):
        alarm()


def tracking():
    CallBudget(60).track_socket(mock.Mock(), SimpleNamespace(fileno=alarm))


def matching():
    definition = bwp.WaiterDefinition.from_states("Mine", "X", path="a.b", success=["x"])
    Matching(definition.acceptors).match_response({"a": Ringing()})


def starting_thread():
    start_thread(int, "x")


def starting_batch():
    bwp.wait_all([bwp.Wait(client_of(), "table_exists", {"TableName": "t"})], max_wait=60)


def starting_receiver():
    SqsSignal("http://127.0.0.1:9/q", client=boto3.client("sqs")).subscribe()


@pytest.mark.parametrize("error", [Alarm("rang"), TimeoutError("rang"), RuntimeError("rang")])
@pytest.mark.parametrize(
    "interrupted", [matching, tracking, starting_thread, starting_batch, starting_receiver]
)
def test_wherever_the_signal_arrives_its_error_is_raised(interrupted, error):
    start = mock.patch("threading.Thread.start", side_effect=alarm)
    with handled(Handler(error)), start, pytest.raises(type(error)) as caught:
        interrupted()
    assert caught.value is error
