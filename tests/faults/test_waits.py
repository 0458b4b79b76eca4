"""Waits over real sockets: beside botocore alone, and many on one client."""

import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from faults import scenarios
from faults.scenarios import ABANDONED, FAULTS, TABLE, get_waiter, make_client, operation, run_fault
from faults.server import BEFORE_HEADERS, FaultServer, answer, hang
from faults.support import raised_by

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.bounded_call import bounded_call

pytestmark = pytest.mark.nightly(subject="wire")

NO_RETRIES = {"mode": "standard", "total_max_attempts": 1}
ENDING = [
    fault
    for fault in FAULTS
    # The error of a reset before TLS depends on how far the client is.
    if fault.endings != {ABANDONED} and fault.name != "reset before TLS"
]


def stock(client, **options):
    name, parameters = scenarios.waiter_of(client)
    return client.get_waiter(name).wait(**options, **parameters)


def run_alone(fault, certificate, way, **options):
    """What a wait of one attempt raises, with the client's endpoint."""
    with run_fault(fault, "standard", certificate, retries=NO_RETRIES) as running:
        return raised_by(lambda: way(running.client, **options)), running.client.meta.endpoint_url


def kind_of(error):
    """The type of an error; an endless recursion is one wherever it was noticed."""
    is_recursion = "maximum recursion depth" in str(error)
    return RecursionError if is_recursion else type(error)


@pytest.mark.parametrize("fault", ENDING, ids=str)
def test_get_waiter_raises_what_botocore_raises(fault, certificate):
    config = {"WaiterConfig": {"Delay": 1, "MaxAttempts": 1}}
    alone, url = run_alone(fault, certificate, stock, **config)
    ours, our_url = run_alone(fault, certificate, get_waiter, **config, retry_transient=False)
    text, words = str(ours).replace(our_url, ""), str(alone).replace(url, "")
    if isinstance(ours, bwp.WaiterError):
        # What the package adds stands behind botocore's words.
        assert type(alone).__name__ == "WaiterError"
        assert text.startswith(words)
        assert ours.kwargs == alone.kwargs
        assert ours.last_response == alone.last_response
    else:
        assert kind_of(ours) is kind_of(alone)
        # How deep a recursion went is told by where it stopped.
        assert text == words or kind_of(ours) is RecursionError


@pytest.mark.parametrize("way", [scenarios.wait_until, get_waiter])
def test_certificate_that_is_not_trusted_is_never_polled_past(way, certificate):
    (fault,) = (fault for fault in FAULTS if fault.name == "certificate is not trusted")
    raised, _ = run_alone(fault, certificate, way, max_wait=60, retry_transient=True)
    assert "SSLError" in (type(raised).__name__, type(raised.__cause__).__name__)


def test_waits_that_time_out_do_not_touch_another_on_the_client():
    def behave(exchange):
        if b"steady" in exchange.request:
            answer(body=TABLE, after=1.0)(exchange)
        hang(BEFORE_HEADERS)(exchange)

    def wait_for(table, max_wait):
        return pool.submit(
            bwp.wait_until, client, "table_exists", TableName=table, max_wait=max_wait
        )

    with FaultServer([behave]) as server, ThreadPoolExecutor(51) as pool:
        client = make_client("json", server.url, "standard", max_pool_connections=10)
        steady = wait_for("steady", 60)
        server.wait_for_request(seconds=60)
        others = [wait_for("table", 0.4) for _ in range(50)]
        assert {type(each.exception(60)) for each in others} == {bwp.WaiterTimeoutError}
        assert steady.result(60).response["Table"]["TableStatus"] == "ACTIVE"
        assert sum(b"steady" in request for request in server.requests) == 1
        client.close()


@pytest.mark.parametrize("number", range(5))
def test_first_bounded_call_disturbs_no_other_call(number):
    """Calls of other threads go on while the client's pools are exchanged."""
    errors, stop = [], threading.Event()

    def call_on():
        while not stop.is_set():
            errors.append(raised_by(operation(client)))

    def first_call(_):
        return bounded_call(operation(client), client=client, seconds=60)["Table"]

    with FaultServer([answer(body=TABLE)]) as server, ThreadPoolExecutor(6) as pool:
        client = make_client("json", server.url, retries={"total_max_attempts": 1})
        others = [pool.submit(call_on) for _ in range(4)]
        server.wait_for_request(4 + number, seconds=60)
        assert all(pool.map(first_call, range(2)))
        stop.set()
        wait(others, 60)
        client.close()
    assert set(errors) == {None}
