"""Bounded calls against every fault of the table, and what they may not do to anybody else.

Bounds are generous: what is measured precisely is in `bench/faults.py`.
"""

import contextlib
import gc
import socket
import ssl
import threading
import time
from unittest import mock

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError
from case_tables import tabled
from faults.scenarios import (
    ABANDONED,
    ANSWER,
    FAULTS,
    MODES,
    TABLE,
    error,
    hosts_of,
    make_client,
    operation,
    retry_quota,
    run_fault,
)
from faults.server import (
    BEFORE_HEADERS,
    BODY,
    BlackHole,
    FaultServer,
    answer,
    drip,
    hang,
    slow_names,
)
from faults.support import (
    GENEROUS,
    TELLS_ARRIVALS,
    Alarms,
    aside,
    drop_what_others_leave_open,
    skip_without_black_holes,
)

from boto_waiters_plus.calls import connections, late_retries
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.call_budget import CallEnded

pytestmark = pytest.mark.timing

SECONDS = 0.3
SHORT = 0.15
MANY_SECONDS = 60

# In these modes they take different ways through botocore; the others do not care.
IN_ALL_MODES = {
    "hang before headers",
    "body drips",
    "TLS handshake drips",
    "connect is black-holed",
    "reset for ever",
    "ServiceUnavailable 503 for ever, json",
    "ThrottlingException 400 for ever, json",
    "healthy",
}
CASES = [
    pytest.param(fault, mode, host, id="-".join(filter(None, [fault.name, mode, host])))
    for fault in FAULTS
    for host in hosts_of(fault)
    for mode in fault.modes
    if mode == fault.modes[-2 if len(fault.modes) > 1 else 0] or fault.name in IN_ALL_MODES
]


def ending_of(call, **options):
    try:
        bounded_call(call, **options)
    except CallEnded as ended:
        if ended.reason == "retry refused":
            return ending_of_error(ended.__cause__)
        return ABANDONED if ended.reason == "deadline" else ended.reason
    except Exception as raised:
        return ending_of_error(raised)
    return ANSWER


def ending_of_error(error):
    if isinstance(error, ClientError):
        return error.response["Error"]["Code"]
    return type(error).__name__


@pytest.mark.parametrize(("fault", "mode", "host"), CASES)
def test_a_bounded_call_ends_as_the_table_says(fault, mode, host, certificate):
    if "black hole" in fault.place:
        skip_without_black_holes()
    with run_fault(fault, mode, certificate, host=host) as running:
        seconds = SHORT if fault.endings == {ABANDONED} else SECONDS
        if ABANDONED not in fault.endings:
            # It ends by itself, late on a busy machine.
            seconds = 5
        began = time.perf_counter()
        ending = ending_of(running.call, client=running.client, seconds=seconds)
        assert time.perf_counter() - began < seconds + GENEROUS
        assert ending in fault.endings
        if ending == ABANDONED and fault.place == "server":
            assert running.server.wait_until_closed(5)
    if fault.place == "proxy":
        drop_what_others_leave_open()


@pytest.mark.parametrize("mode", MODES)
def test_after_a_call_that_was_cut_off_the_client_works_and_has_its_quota(mode):
    with FaultServer([hang(BODY), answer(body=TABLE)]) as server:
        client = make_client("json", server.url, mode)
        quota = retry_quota(client)
        assert ending_of(operation(client), client=client, seconds=0.2) == ABANDONED
        assert operation(client)()["Table"]["TableStatus"] == "ACTIVE"
        assert retry_quota(client) == quota
        client.close()


def test_retries_that_would_not_fit_take_nothing_from_the_quota():
    throttle = error("json", 400, "ThrottlingException")
    with FaultServer([throttle]) as server:
        client = make_client("json", server.url, "standard")
        for _ in range(20):
            ending = ending_of(operation(client), client=client, seconds=0.95)
            assert ending == "ThrottlingException"
        assert retry_quota(client) == 500
        assert len(server.requests) == 20
        client.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_refused_retry_gives_the_error_botocore_would_have_given(mode):
    code = "ProvisionedThroughputExceededException"
    with (
        FaultServer([error("json", 400, code)]) as server,
        # So that the first pause may last a second in every mode, and does not fit.
        mock.patch.object(late_retries, "LEGACY_DYNAMODB_SCALE", 1.0),
    ):
        client = make_client("json", server.url, mode)
        with pytest.raises(CallEnded, match="retry refused") as caught:
            bounded_call(operation(client), client=client, seconds=0.95)
        error_ = caught.value.__cause__
        assert type(error_) is client.exceptions.ProvisionedThroughputExceededException
        assert error_.operation_name == "DescribeTable"
        assert error_.response["ResponseMetadata"]["RetryAttempts"] == 0
        assert error_.response["ResponseMetadata"]["HTTPStatusCode"] == 400
        client.close()


@pytest.mark.parametrize("mode", MODES)
def test_the_last_attempt_of_the_sdk_is_a_verdict(mode):
    with FaultServer([error("json", 503, "ServiceUnavailable")]) as server:
        client = make_client("json", server.url, retries={"mode": mode, "total_max_attempts": 2})
        with pytest.raises(ClientError, match="reached max retries: 1"):
            bounded_call(operation(client), client=client, seconds=1.9)
        assert len(server.requests) == 2
        client.close()


# --- who else is there -----------------------------------------------------------------------


def test_a_connection_that_another_call_has_taken_over_is_not_shut():
    """The first call has its answer, but not its end, when the second uses the connection."""
    second = []
    # Before urllib3 2 there is no asking for `is_connected`; taking over is seen at the request.
    with FaultServer([answer(body=TABLE), answer(body=TABLE, after=0.6)]) as server:
        client = make_client("json", server.url, "standard", max_pool_connections=1)
        first_thread = threading.get_ident()

        def dawdle(**_):
            if threading.get_ident() == first_thread:
                second.append(aside(lambda: second.append(operation(client)())))
                server.wait_for_request(2)
                threading.Event().wait(0.4)  # past the deadline

        client.meta.events.register("after-call.dynamodb", dawdle)
        # Its answer arrived in time.
        ending = ANSWER if TELLS_ARRIVALS else ABANDONED
        assert ending_of(operation(client), client=client, seconds=0.3) == ending
        second[0].join(10)
        assert second[1]["Table"]["TableStatus"] == "ACTIVE"
        assert second[1]["ResponseMetadata"]["RetryAttempts"] == 0
        assert server.accepted == 1
        client.close()


def test_a_connection_older_than_the_first_bounded_call_is_bounded():
    with FaultServer([answer(body=TABLE), drip(BODY)]) as server:
        client = make_client("json", server.url, "legacy")
        operation(client)()
        assert ending_of(operation(client), client=client, seconds=0.3) == ABANDONED
        assert server.wait_until_closed(5)
        client.close()


@pytest.mark.parametrize("number", range(10))
def test_the_first_bounded_call_disturbs_no_other_call(number):
    """Calls of other threads go on while the client's pools are exchanged."""
    tables, errors, stop = [], [], threading.Event()

    def call_on():
        try:
            while not stop.is_set():
                operation(client)()
        except Exception as raised:
            errors.append(raised)

    def first_call():
        tables.append(bounded_call(operation(client), client=client, seconds=30)["Table"])

    with FaultServer([answer(body=TABLE)]) as server:
        client = make_client("json", server.url, retries={"total_max_attempts": 1})
        threads = [aside(call_on) for _ in range(4)]
        server.wait_for_request(4 + number)
        for thread in [aside(first_call), aside(first_call)]:
            thread.join(30)
        stop.set()
        for thread in threads:
            thread.join(30)
        client.close()
    assert [table["TableStatus"] for table in tables] == ["ACTIVE"] * 2
    assert errors == []


# --- cancelling ------------------------------------------------------------------------------


@contextlib.contextmanager
def being_cancelled(client, call, **options):
    """The call in a thread; the block is to set the event, and the call has to end."""
    event, endings = threading.Event(), []
    options |= {"client": client, "seconds": None, "cancel_event": event}
    thread = aside(lambda: endings.append(ending_of(call, **options)))
    yield event
    began = time.perf_counter()
    thread.join(30)
    assert endings == ["cancelled"]
    assert time.perf_counter() - began < GENEROUS


def test_cancelling_shuts_the_connection_in_use():
    with FaultServer([drip(BODY)]) as server:
        client = make_client("json", server.url, "legacy")
        with being_cancelled(client, operation(client)) as event:
            server.wait_for_request()
            event.set()
        assert server.wait_until_closed(5)
        client.close()


def test_cancelling_ends_a_tls_handshake(certificate):
    (fault,) = [fault for fault in FAULTS if fault.name == "TLS hello unanswered"]
    with run_fault(fault, "legacy", certificate) as running:
        with being_cancelled(running.client, running.call) as event:
            while not running.server.accepted:
                threading.Event().wait(0.005)
            threading.Event().wait(0.1)  # the hello is on its way
            event.set()
        assert running.server.wait_until_closed(5)


def test_cancelling_ends_a_connect_that_nobody_answers():
    skip_without_black_holes()
    with BlackHole() as hole:
        client = make_client("json", hole.url, "legacy", connect_timeout=20)
        with being_cancelled(client, operation(client)) as event:
            threading.Event().wait(0.1)
            event.set()
        client.close()


def test_cancelling_ends_a_name_lookup():
    with slow_names(1):
        client = make_client("json", "http://slow.test:9", "legacy")
        with being_cancelled(client, operation(client)) as event:
            threading.Event().wait(0.1)
            event.set()
        client.close()


def test_ctrl_c_ends_the_call_at_once():
    def interrupt(*_):
        raise KeyboardInterrupt

    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        client = make_client("json", server.url, "legacy")
        began = time.perf_counter()
        with Alarms(0.2, 0, interrupt), pytest.raises(KeyboardInterrupt):
            bounded_call(operation(client), client=client, seconds=MANY_SECONDS)
        assert time.perf_counter() - began < GENEROUS
        assert server.wait_until_closed(5)
        client.close()


# --- other ways of bounding ------------------------------------------------------------------


def test_in_a_thread_even_a_users_handler_is_bounded_and_the_connection_is_shut():
    go_on = threading.Event()
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        client = make_client("json", server.url, "legacy")
        options = {"client": client, "seconds": 0.3, "in_thread": True}
        assert ending_of(operation(client), **options) == ABANDONED
        assert server.wait_until_closed(5)
        client.meta.events.register("before-send.dynamodb", lambda **_: go_on.wait(30) and None)
        began = time.perf_counter()
        assert ending_of(operation(client), **options) == ABANDONED
        assert time.perf_counter() - began < GENEROUS
        assert len(server.requests) == 1
        go_on.set()
        client.close()


@tabled("name")
def test_without_urllib3s_private_method_calls_are_bounded_too(name, certificate):
    (fault,) = [fault for fault in FAULTS if fault.name == name]
    if "black hole" in fault.place:
        skip_without_black_holes()
    with (
        mock.patch.object(connections, "asks_socket_maker", return_value=False),
        mock.patch.object(connections.TrackedConnection, "make_socket", lambda _, make: make()),
        run_fault(fault, "standard", certificate) as running,
    ):
        began = time.perf_counter()
        ending = ending_of(running.call, client=running.client, seconds=SHORT)
        assert time.perf_counter() - began < SHORT + GENEROUS
        assert ending == ABANDONED


# --- what is not touched ---------------------------------------------------------------------


def test_a_users_shorter_connect_timeout_stays():
    skip_without_black_holes()
    with BlackHole() as hole:
        client = make_client("json", hole.url, connect_timeout=0.2, retries={"max_attempts": 0})
        with pytest.raises(ConnectTimeoutError, match="Connect timeout"):
            bounded_call(operation(client), client=client, seconds=MANY_SECONDS)
        client.close()


def connections_of(client):
    """Return the idle connections of a client."""
    pools = client._endpoint.http_session._manager.pools._container.values()
    return [each for pool in pools for each in pool.pool.queue if each is not None]


def test_options_and_timeouts_of_a_connection_stay():
    option = (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    with FaultServer([answer(body=TABLE)]) as server:
        options = {"read_timeout": 7, "tcp_keepalive": True}
        client, other = (make_client("json", server.url, **options) for _ in range(2))
        bounded_call(operation(client), client=client, seconds=MANY_SECONDS)
        operation(other)()
        (connection,), (as_before,) = connections_of(client), connections_of(other)
        assert option in connection.socket_options
        assert connection.socket_options == as_before.socket_options
        assert connection.sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        # urllib3 before 2 leaves the connect timeout there.
        assert connection.timeout == as_before.timeout
        assert connection.sock.gettimeout() == 7
        client.close()
        other.close()


# --- what is closed --------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [hang(BODY), drip(BODY), drip(BODY, close=True)])
@pytest.mark.parametrize("tls", [False, True])
def test_a_body_that_is_cut_off_closes_its_socket(fault, tls, certificate):
    with FaultServer(
        [answer(body=TABLE), fault], tls=certificate.context if tls else None
    ) as server:
        path = certificate.path if tls else None
        client = make_client("json", server.url, "standard", path)
        bounded_call(operation(client), client=client, seconds=MANY_SECONDS)
        assert connections_of(client)
        assert ending_of(operation(client), client=client, seconds=0.2) == ABANDONED
        assert [each for each in connections_of(client) if each.sock is not None] == []
        assert server.wait_until_closed(5)
        client.close()


def test_a_call_cut_off_just_before_tls_leaves_no_socket(certificate):
    (fault,) = [fault for fault in FAULTS if fault.name == "TLS handshake drips"]
    load = ssl.SSLContext.load_verify_locations

    def load_slowly(*args, **keywords):
        threading.Event().wait(0.5)  # past the deadline
        load(*args, **keywords)

    with run_fault(fault, "legacy", certificate) as running:
        with (
            mock.patch.object(ssl.SSLContext, "load_verify_locations", load_slowly),
            pytest.raises(CallEnded) as caught,
        ):
            bounded_call(running.call, client=running.client, seconds=0.2)
        assert caught.value.__cause__ is not None
        sockets = [each for each in gc.get_objects() if type(each) is ssl.SSLSocket]
        assert [each for each in sockets if not each.server_side and each.fileno() != -1] == []


def test_a_streaming_response_in_time_can_be_read_later():
    with FaultServer([answer(body=b"x" * 100_000)]) as server:
        client = make_client("head", server.url, "standard")
        call = lambda: client.get_object(Bucket="bucket", Key="key")  # noqa: E731 - one line
        response = bounded_call(call, client=client, seconds=0.5)
        threading.Event().wait(0.7)
        assert len(response["Body"].read()) == 100_000
        client.close()
