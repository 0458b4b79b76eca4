"""Whole waits against every fault of the table: what `wait_until_*` raises, what `get_waiter`
raises, and what botocore alone does with the same.

Bounds are generous: what is measured precisely is in `bench/faults.py`.
"""

import threading
import time

import boto3
import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.tokens import DeferredRefreshableToken
from faults.scenarios import (
    ABANDONED,
    FAULTS,
    MODES,
    STACKS,
    TABLE,
    error,
    make_client,
    retry_quota,
    run_fault,
    waiter_of,
)
from faults.server import (
    BEFORE_HEADERS,
    BODY,
    FaultServer,
    answer,
    close,
    drip,
    hang,
    plain_answer,
    raw,
    reset,
)
from faults.support import (
    GENEROUS,
    aside,
    drop_what_others_leave_open,
    skip_without_black_holes,
)

import boto_waiters_plus as bwp

pytestmark = pytest.mark.timing

SHORT = 0.15
CREATING = b'{"Table": {"TableName": "table", "TableStatus": "CREATING"}}'


def wait_until(client, **options):
    name, parameters = waiter_of(client)
    return bwp.wait_until(client, name, **options, **parameters)


def get_waiter(client, **options):
    bwp.enable(client)
    return alone(client, **options)


def alone(client, **options):
    """botocore's own waiter, or what we have made of it."""
    name, parameters = waiter_of(client)
    return client.get_waiter(name).wait(**options, **parameters)


def one_attempt(way, client):
    """Make one attempt, to the letter: botocore alone retries no transient error."""
    letter = {} if way is alone else {"retry_transient": False}
    if way is wait_until:
        return way(client, max_wait=60, max_attempts=1, **letter)
    return way(client, WaiterConfig={"Delay": 1, "MaxAttempts": 1}, **letter)


def raised_by(call):
    try:
        call()
    except Exception as raised:
        return raised
    return None


# --- faults that only the deadline ends ------------------------------------------------------

CUT_OFF = [fault for fault in FAULTS if fault.endings == {ABANDONED}]


# `get_waiter` makes its calls as `wait_until` does: some faults are enough.
TIMED_OUT = [(wait_until, fault) for fault in CUT_OFF]
TIMED_OUT += [(get_waiter, fault) for fault in CUT_OFF[::6]]


@pytest.mark.parametrize(("way", "fault"), TIMED_OUT, ids=str)
def test_a_wait_times_out_in_time(way, fault, certificate):
    if "black hole" in fault.place:
        skip_without_black_holes()
    mode = fault.modes[-2 if len(fault.modes) > 1 else 0]
    with run_fault(fault, mode, certificate) as running:
        began = time.perf_counter()
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            way(running.client, max_wait=SHORT)
        assert time.perf_counter() - began < SHORT + GENEROUS
        assert isinstance(caught.value, TimeoutError)
        assert caught.value.last_response == {}
        if fault.place == "server":
            assert running.server.wait_until_closed(5)
    if fault.place == "proxy":
        del caught
        drop_what_others_leave_open()


@pytest.mark.parametrize(
    ("way", "mode", "fault"),
    [
        *((wait_until, mode, hang(BEFORE_HEADERS)) for mode in MODES),
        (wait_until, "standard", drip(BODY)),
        (get_waiter, "standard", hang(BEFORE_HEADERS)),
    ],
)
def test_a_hang_amid_a_wait_leaves_the_last_good_answer_and_a_client_that_works(way, mode, fault):
    with FaultServer([answer(body=CREATING), fault, answer(body=TABLE)]) as server:
        client = make_client("json", server.url, mode)
        quota = retry_quota(client)
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            way(client, max_wait=0.4, min_delay=0.05, max_delay=0.05)
        assert caught.value.last_response["Table"]["TableStatus"] == "CREATING"
        assert caught.value.observed == "CREATING"
        assert client.describe_table(TableName="table")["Table"]["TableStatus"] == "ACTIVE"
        assert retry_quota(client) == quota
        client.close()


# --- faults that end by themselves -----------------------------------------------------------

ENDING = [
    fault
    for fault in FAULTS
    if fault.endings != {ABANDONED} and fault.place not in ("credentials", "throttled")
]


def run_alone(fault, way, certificate):
    """What a way raises, with the client's endpoint."""
    retries = {"mode": "standard", "total_max_attempts": 1}
    with run_fault(fault, "standard", certificate, retries=retries) as running:
        result = raised_by(lambda: one_attempt(way, running.client))
        return result, running.client.meta.endpoint_url


def kind_of(error):
    """The type of an error; an endless recursion is one wherever it was noticed."""
    is_recursion = "maximum recursion depth" in str(error)
    return RecursionError if is_recursion else type(error)


@pytest.mark.parametrize("fault", ENDING, ids=str)
def test_a_fault_that_ends_by_itself_is_told_as_botocore_tells_it(fault, certificate):
    stock, url = run_alone(fault, alone, certificate)
    compare_get_waiter(stock, url, *run_alone(fault, get_waiter, certificate))
    compare_wait_until(stock, *run_alone(fault, wait_until, certificate))


def compare_get_waiter(stock, url, ours, our_url):
    """The same error, with the same words at the beginning."""
    if stock is None or type(stock).__name__ == "WaiterError":
        assert (stock is None) == (ours is None)
        assert stock is None or isinstance(ours, bwp.WaiterError)
        assert getattr(ours, "last_response", None) == getattr(stock, "last_response", None)
    else:
        assert kind_of(ours) is kind_of(stock)
    # The ports differ; how deep a recursion went is told by where it stopped. Of a WaiterError,
    # what the package adds stands behind botocore's words.
    text, words = str(ours).replace(our_url, ""), str(stock).replace(url, "")
    if isinstance(ours, bwp.WaiterError):
        assert text.startswith(words)
        assert ours.kwargs == stock.kwargs
    elif kind_of(ours) is not RecursionError:
        assert text == words


def compare_wait_until(stock, ours, url):
    """An error of one family, with the cause and the endpoint."""
    match stock:
        case None:
            assert ours is None
        case bwp.WaiterError() | ClientError():
            pytest.fail("botocore alone raises none of these")
        case Exception(last_response={"Error": {"Code": code}}):
            assert type(ours) is bwp.WaiterFailedError
            assert isinstance(ours.__cause__, ClientError)
            assert ours.__cause__.response["Error"]["Code"] == code
            assert code in str(ours)
        case Exception(last_response=_):
            # Attempts used up: an answer without a state is no success.
            assert type(ours) is bwp.WaiterAttemptsError
        case raw:
            assert type(ours) is bwp.WaiterFailedError
            assert ours.__cause__ is ours.last_exception
            assert kind_of(ours.__cause__) is kind_of(raw)
            assert url in str(ours)
            assert "not today" not in str(ours)


NO_RETRIES = {"mode": "standard", "total_max_attempts": 1}
DELAYS = {"min_delay": 0.01, "max_delay": 0.01}


@pytest.mark.parametrize("way", [wait_until, get_waiter])
def test_a_wait_survives_a_bad_minute(way):
    unavailable, throttled = error("json", 503, "Unavailable"), error("json", 400, "Throttling")
    script = [close, unavailable, answer(body=CREATING), reset, throttled, raw(b"220 mail\r\n")]
    with FaultServer([*script, answer(body=TABLE)]) as server:
        client = make_client("json", server.url, retries=NO_RETRIES)
        outcome = way(client, max_wait=60, **DELAYS)
        assert outcome.attempts == len(server.requests) == 7
        client.close()


UNREACHABLE = [
    fault
    for fault in FAULTS
    if fault.place in ("untrusted", "refusing", "no name") or fault.handshake is plain_answer
]


@pytest.mark.parametrize("way", [wait_until, get_waiter])
@pytest.mark.parametrize("fault", UNREACHABLE, ids=str)
def test_a_service_that_cannot_be_reached_at_first_ends_the_wait(fault, way, certificate):
    with run_fault(fault, "standard", certificate, retries=NO_RETRIES) as running:
        ended = raised_by(lambda: way(running.client, max_wait=60, **DELAYS))
        if way is wait_until:
            assert type(ended) is bwp.WaiterFailedError
            assert (ended.attempts, ended.transient_errors) == (1, 0)
            ended = ended.__cause__
        assert type(ended).__name__ in fault.endings


@pytest.mark.parametrize("way", [wait_until, get_waiter])
def test_a_certificate_that_is_not_trusted_is_never_polled_past(way, certificate):
    (fault,) = (fault for fault in UNREACHABLE if fault.place == "untrusted")
    with run_fault(fault, "standard", certificate, retries=NO_RETRIES) as running:
        ended = raised_by(lambda: way(running.client, max_wait=60, retry_transient=True))
        assert "SSLError" in (type(ended).__name__, type(ended.__cause__).__name__)


@pytest.mark.parametrize(
    ("way", "mode", "script", "max_wait"),
    [
        (wait_until, "legacy", [error("query", 503, "ServiceUnavailable")] * 3, 3),
        (wait_until, "standard", [error("query", 400, "Throttling")], 0.95),
        (wait_until, "adaptive", [error("query", 400, "Throttling")], 0.95),
        (get_waiter, "standard", [error("query", 400, "Throttling")], 0.95),
    ],
)
def test_a_refused_retry_of_the_sdk_is_no_verdict(way, mode, script, max_wait):
    """The retry would not fit; the wait polls again."""
    with FaultServer([*script, answer(body=STACKS)]) as server:
        client = make_client("query", server.url, mode)
        outcome = way(client, max_wait=max_wait, min_delay=0.2, max_delay=0.2)
        assert outcome.response["Stacks"][0]["StackStatus"] == "CREATE_COMPLETE"
        assert len(server.requests) == len(script) + 1
        client.close()


@pytest.mark.parametrize("body", [b"", b"{}", b"{]", b'{"Table": null}'])
def test_an_answer_that_says_nothing_is_never_a_success(body):
    with FaultServer([answer(body=body), answer(body=TABLE)]) as server:
        client = make_client("json", server.url)
        outcome = wait_until(client, max_wait=60, min_delay=0.01, max_delay=0.01)
        assert outcome.attempts == 2
        client.close()


# --- credentials -----------------------------------------------------------------------------


@pytest.mark.parametrize("way", [wait_until, get_waiter])
def test_expired_keys_that_cannot_be_refreshed_fail_at_once(way):
    with FaultServer([error("json", 400, "ExpiredTokenException")]) as server:
        client = make_client("json", server.url)
        options = {} if way is get_waiter else {"retry_transient": True}
        said = r"failed with ExpiredTokenException|An error occurred \(ExpiredTokenException\)"
        with pytest.raises(bwp.WaiterFailedError, match=said):
            way(client, max_wait=60, **options)
        assert len(server.requests) == 1
        client.close()


def test_a_bearer_token_that_cannot_be_had_ends_in_time():
    class Hanging:
        def load_token(self, **_):
            return DeferredRefreshableToken("test", lambda: threading.Event().wait(3) and None)

    session = botocore.session.Session()
    session.register_component("token_provider", Hanging())
    client = bwp.enable(session.create_client("codecatalyst", region_name="us-east-1"))
    environment = {"spaceName": "space", "projectName": "project", "id": "1"}
    began = time.perf_counter()
    with pytest.raises(bwp.WaiterTimeoutError):
        bwp.wait_until(client, "dev_environment_running", max_wait=SHORT, **environment)
    assert time.perf_counter() - began < 2
    client.close()


def test_each_attempt_is_signed_afresh():
    session = boto3.Session()
    keys = iter(["first", "second", "third"])

    class Rotating:
        method = "rotating"

        def get_frozen_credentials(self):
            from botocore.credentials import ReadOnlyCredentials  # noqa: PLC0415 - one use

            return ReadOnlyCredentials(next(keys), "secret", "token")

    with FaultServer([answer(body=CREATING), answer(body=TABLE)]) as server:
        client = session.client(
            "dynamodb",
            region_name="us-east-1",
            endpoint_url=server.url,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            config=Config(retries={"mode": "standard"}),
        )
        client._request_signer._credentials = Rotating()
        wait_until(client, max_wait=60, min_delay=0.01, max_delay=0.01)
        assert b"Credential=first/" in server.requests[0]
        assert b"Credential=second/" in server.requests[1]
        client.close()


# --- many on one client ----------------------------------------------------------------------


def test_fifty_waits_that_time_out_at_once_do_not_touch_another_on_the_same_client():
    def behave(exchange):
        if b"steady" in exchange.request:
            answer(body=TABLE, after=1.0)(exchange)
        hang(BEFORE_HEADERS)(exchange)

    with FaultServer([behave]) as server:
        client = make_client("json", server.url, "standard", max_pool_connections=10)
        steady, endings = [], []

        def wait_for(table, results, **options):
            call = lambda: results.append(  # noqa: E731 - what it gives is wanted too
                bwp.wait_until(client, "table_exists", TableName=table, **options)
            )
            results.append(raised_by(call))

        threads = [aside(lambda: wait_for("steady", steady, max_wait=60))]
        server.wait_for_request()
        threads += [aside(lambda: wait_for("table", endings, max_wait=0.4)) for _ in range(50)]
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert [type(ending) for ending in endings] == [bwp.WaiterTimeoutError] * 50
        assert steady[0].response["Table"]["TableStatus"] == "ACTIVE"
        assert sum(b"steady" in request for request in server.requests) == 1
        client.close()


# --- cancelling ------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [wait_until, get_waiter])
def test_cancelling_aborts_the_request_in_flight(way):
    event, ended = threading.Event(), []
    with FaultServer([hang(BEFORE_HEADERS)]) as server:
        client = make_client("json", server.url, "standard")
        wait = lambda: way(client, max_wait=100, cancel_event=event)  # noqa: E731 - one line
        thread = aside(lambda: ended.append(raised_by(wait)))
        server.wait_for_request(seconds=30)
        event.set()
        thread.join(60)
        assert [type(one) for one in ended] == [bwp.WaiterCancelledError]
        assert server.wait_until_closed(5)
        assert len(server.requests) == 1
        client.close()


# --- a thread for each call ------------------------------------------------------------------


PHASES = ["before-parameter-build", "before-call", "before-sign", "before-send", "after-call"]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("way", [wait_until, get_waiter])
def test_an_error_of_a_users_handler_passes(way, phase):
    with FaultServer([answer(body=TABLE)]) as server:
        client = make_client("json", server.url, "standard")
        client.meta.events.register(f"{phase}.dynamodb", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            way(client, max_wait=60)
        client.close()


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("way", [wait_until, get_waiter])
def test_in_a_thread_a_users_handler_is_bounded_and_its_thread_is_all_that_stays(way, phase):
    go_on = threading.Event()
    # The turn of the adaptive mode comes after the test that waited for it.
    others = set(threading.enumerate())
    with FaultServer([answer(body=TABLE)]) as server:
        client = make_client("json", server.url, "standard")
        client.meta.events.register(f"{phase}.dynamodb", lambda **_: go_on.wait(100) and None)
        began = time.perf_counter()
        with pytest.raises(bwp.WaiterTimeoutError):
            way(client, max_wait=SHORT, call_in_thread=True)
        assert time.perf_counter() - began < SHORT + GENEROUS
        left = [each for each in threading.enumerate() if each.name == "boto_waiters_plus call"]
        [thread] = set(left) - others
        go_on.set()
        thread.join(30)
        assert not thread.is_alive()
        client.close()


@pytest.mark.parametrize("place", ["install", "client"])
def test_a_thread_for_each_call_may_be_the_default(place):
    names = []
    with FaultServer([answer(body=TABLE)]) as server:
        client = make_client("json", server.url)
        client.meta.events.register(
            "before-send.dynamodb", lambda **_: names.append(threading.current_thread().name)
        )
        defaults = {"call_in_thread": True}
        try:
            if place == "install":
                bwp.install(defaults=defaults)
            else:
                bwp.enable(client, defaults=defaults)
            wait_until(client, max_wait=60)
            client.get_waiter("table_exists").wait(TableName="table")
            wait_until(client, max_wait=60, call_in_thread=False)
        finally:
            bwp.uninstall()
        own = threading.current_thread().name
        assert names == ["boto_waiters_plus call", "boto_waiters_plus call", own]
        client.close()


@pytest.mark.parametrize("way", [wait_until, get_waiter])
def test_refused_retries_for_ever_time_out(way):
    with FaultServer([error("query", 503, "ServiceUnavailable")]) as server:
        client = make_client("query", server.url, "legacy")
        with pytest.raises(bwp.WaiterTimeoutError) as caught:
            way(client, max_wait=0.9, min_delay=0.2, max_delay=0.2)
        assert caught.value.last_response["Error"]["Code"] == "ServiceUnavailable"
        client.close()
