"""Workers: take-over, handing back, what they cannot do, what they lose, and what they share."""

import concurrent.futures
import functools
import json
import signal
import ssl
import threading
import warnings
from unittest import mock

import boto3
import botocore.parsers
import pytest
from botocore import exceptions as errors
from stored_waits import IN_MEMORY, SHARED, Key, driven, start, until, without_parameter, work

import boto_waiters_plus as bwp
from boto_waiters_plus import operations


@pytest.fixture
def store(open_store, running_clock):
    return open_store(clock=running_clock)


@pytest.fixture
def failing(monkeypatch):
    """`failing(store, name, condition, is_done=...)`: an access fails once, done or not."""

    def lose(store, name, condition=lambda *_: True, *, is_done=False):
        access, lost = getattr(store.database, name), []

        def once(*arguments):
            if lost or not condition(*arguments):
                return access(*arguments)
            lost.append(arguments)
            if is_done:
                access(*arguments)
            raise operations.StoreError("the connection was closed")

        monkeypatch.setattr(store.database, name, once)
        return lost

    return lose


def unreachable():
    return errors.EndpointConnectionError(endpoint_url="https://example.com")


def die_with_all(store, lease=30):
    """Leave the waits to a worker that is gone, and whose lease lives for a while."""
    store.database.claim(store.database.acquire("there:1", lease), lease, 10)


# --- take-over ------------------------------------------------------------------------------------


def test_many_workers_end_each_operation_once(store, stream, creating, active):
    clients = [stream(*[creating] * 60, active) for _ in range(3)]
    started = [start(store, clients[0]) for _ in range(60)]
    with concurrent.futures.ThreadPoolExecutor() as threads:
        ended = [*threads.map(functools.partial(work, store, batch_size=5, max_open=20), clients)]
    assert all(operation.result(10) for operation in started)
    assert sum(ended) == 60


def test_handed_back_operations_go_on_elsewhere(store, stream, creating, active, working):
    operation = start(store, stream(creating))
    stop = working(store, stream(creating), worker_name="first")
    until(lambda: operation.metadata["attempts"] > 3)
    assert operation.metadata["worker"] == "first"
    stop()
    metadata = operation.metadata
    assert (operation.done(), metadata["worker"]) == (False, None)
    store.clock.now += 30
    work(store, stream(active))
    assert operation.result(10).attempts == metadata["attempts"] + 1
    assert operation.result().elapsed > metadata["elapsed"] + 30


def test_a_worker_that_dies_is_replaced_when_its_lease_ends(store, stream, active):
    operation = start(store, stream(active))
    die_with_all(store)
    assert operation.metadata["worker"] == "there:1"
    assert work(store, stream(active)) == 0
    store.clock.now += 31
    for body in (operation.to_json(), *store.list(state="open").operations):
        assert body["metadata"]["worker"] is None
    assert work(store, stream(active)) == 1
    assert operation.result(10).attempts == 1


def test_a_lost_lease_is_replaced(store, stream, creating, working, caplog):
    operation = start(store, stream(creating), max_wait=1e6)
    working(store, stream(creating), worker_name="first")
    until(lambda: operation.metadata["attempts"])
    thief = store.database.acquire("thief", 1e6)

    def steal():
        store.clock.now += 31
        # The worker may have renewed its lease meanwhile.
        rows, _ = store.database.claim(thief, 1e6, 10)
        return rows

    until(steal)
    store.clock.now += 31
    until(lambda: "the lease was lost" in caplog.text)
    store.database.release(thief)
    until(lambda: operation.metadata["worker"] == "first")
    assert not operation.done()


def test_time_before_a_claim_is_counted_once(store, stream, active, monkeypatch):
    operation = start(store, stream(active), max_wait=60)
    claim = store.database.claim

    def claimed_late(*arguments):
        # As long as a frozen worker may hold the lock of a file.
        store.clock.now += 40
        return claim(*arguments)

    monkeypatch.setattr(store.database, "claim", claimed_late)
    work(store, stream(active))
    assert operation.result(10).attempts == 1


# --- no connection --------------------------------------------------------------------------------


def test_a_worker_that_cannot_connect_gives_the_wait_back(store, stream, active, working):
    """Another worker of the store may reach the service."""
    operation = start(store, stream(active))
    working(store, stream(unreachable()), worker_name="without a route")
    until(lambda: operation.metadata["attempts"] > 0 and operation.metadata["worker"] is None)
    assert not operation.done()
    work(store, stream(active))
    assert operation.result(10).attempts > 1


@IN_MEMORY
def test_a_worker_that_cannot_connect_at_first_goes_on_itself(store, stream, active, working):
    client = stream(*[unreachable()] * 20, active)
    options = {"max_wait": 600, "min_delay": 60, "max_delay": 60}
    waits = [start(store, client, StreamName=f"s{number}", **options) for number in range(20)]
    working(store, client)
    until(lambda: all(operation.metadata["attempts"] for operation in waits))
    store.clock.now += 61
    assert [operation.result(60).attempts for operation in waits] == [2] * 20


def test_a_wait_that_connects_after_all_is_not_given_back(
    store, stream, creating, active, monkeypatch
):
    write, written, has_connected = store.database.write, [], threading.Event()

    def write_late(lease, changes):
        # The attempt that could not connect is written when the next one has.
        assert has_connected.wait(60)
        written.extend(changes)
        return write(lease, changes)

    monkeypatch.setattr(store.database, "write", write_late)
    client = stream(unreachable(), creating, lambda: has_connected.set() or creating, active)
    assert driven(store, client).result(10).attempts == 4
    assert not [change for change in written if "worker" in change]


def test_a_wait_to_the_letter_ends_without_a_connection(store, stream):
    error = driven(store, stream(unreachable()), retry_transient=False).exception(10)
    assert "EndpointConnectionError" in str(error)


# --- workers that cannot --------------------------------------------------------------------------


DENIED = errors.ClientError({"Error": {"Code": "AccessDenied"}}, "AssumeRole")
UNTRUSTED = {"endpoint_url": "https://kinesis", "error": ssl.SSLCertVerificationError("unknown")}


NO_CLIENT = [
    (Exception("hidden-word"), "internal"),
    (DENIED, "credentials"),
    (errors.ProfileNotFound(profile="there"), "credentials"),
    (operations.OperationError("unsupported", "not here"), "unsupported"),
]


@pytest.mark.parametrize(("why", "code"), [
    *NO_CLIENT,
    (errors.NoCredentialsError(), "credentials"),
    (errors.ParamValidationError(report="value: hidden-word"), "invalid_parameters"),
    (errors.NoRegionError(), "invalid_parameters"),
    (errors.EndpointProviderError(msg="hidden-word"), "unsupported"),
    (errors.EndpointVariantError(tags="dualstack"), "unsupported"),
    (errors.UnknownSignatureVersionError(signature_version="v5"), "unsupported"),
    (errors.MissingDependencyException(msg="awscrt"), "unsupported"),
    (errors.SSLError(**UNTRUSTED), "unsupported"),
    ("an older botocore", "unsupported"),
    ("one without a parameter", "invalid_parameters"),
])  # fmt: skip
def test_a_worker_that_cannot_call_leaves_waits_to_others(store, stream, active, why, code):
    client, unable = stream(active), stream(why)
    started = [start(store, client) for _ in range(5)]
    if why == "an older botocore":
        unable = boto3.client("sqs")
    elif why == "one without a parameter":
        unable = without_parameter(stream(active), "DescribeStream", "StreamName")
    make = mock.Mock(side_effect=why if (why, code) in NO_CLIENT else None, return_value=unable)
    assert store.work(until_idle=True, make_client=make) == 0
    make.assert_called_once()
    told = [each.metadata["last_error"] for each in started]
    assert {each["code"] for each in told} == {code}
    assert "hidden-word" not in json.dumps(told)
    assert ("StreamName is unknown" in json.dumps(told)) is (why == "one without a parameter")
    assert work(store, client) == 5


@pytest.mark.parametrize("error", [
    {"Error": {"Code": "ValidationException", "Message": "no such parameter"}},
    botocore.parsers.ResponseParserError("no JSON"),
    errors.IncompleteReadError(actual_bytes=1, expected_bytes=2),
    errors.UnStubbedResponseError(operation_name="o", reason="r"),
])  # fmt: skip
def test_an_error_of_the_service_ends_a_wait(store, stream, error):
    assert driven(store, stream(error)).exception(10)


@pytest.mark.parametrize("later", [31, 61])
def test_what_is_refused_here_waits_a_minute(store, stream, active, working, later):
    operation = start(store, stream(active), max_wait=30 if later < 60 else 600)
    client = stream(errors.ParamValidationError(report="unknown"), active)
    working(store, client)
    until(lambda: "last_error" in operation.metadata)
    assert len(client.answers.requests) == 1
    store.clock.now += later
    if later > 60:
        assert operation.result(60).attempts == 1
        return
    # Nobody could until its deadline.
    assert operation.exception(60).code == "invalid_parameters"
    assert len(client.answers.requests) == 1


@pytest.mark.parametrize("was_polled", [False, True])
def test_what_nobody_can_go_on_with_ends_at_its_deadline(
    store, stream, creating, working, was_polled
):
    def make(_):
        raise errors.ProfileNotFound(profile="there")

    operation = start(store, stream(creating))
    if was_polled:
        stop = working(store, stream(creating))
        until(lambda: operation.metadata["attempts"])
        stop()
    assert store.work(until_idle=True, make_client=make) == 0
    store.clock.now += 61
    assert store.work(until_idle=True, make_client=make) == 1
    assert operation.exception(10)
    error = operation.to_json()["error"]
    assert error["code"] == ("timed_out" if was_polled else "credentials")
    assert ("no worker could drive it" in error["detail"]) is was_polled


def test_a_worker_tries_a_kind_again_after_a_while(store, stream, active, working):
    client = stream(active)
    operation = start(store, client, max_wait=600)
    working(store, None, make_client=mock.Mock(side_effect=[PermissionError("not yet"), client]))
    until(lambda: "last_error" in operation.metadata)
    store.clock.now += 61
    assert operation.result(60).attempts == 1


# --- waits that no worker drives ------------------------------------------------------------------


@pytest.mark.parametrize("worker", ["none", "gone", "lives"])
def test_result_says_whether_a_worker_drives_it(
    open_store, clock, stream, creating, working, monkeypatch, worker
):
    store = open_store(clock=clock)
    operation = start(store, stream(creating), max_wait=600)
    words = "no worker drives it, nothing was written for 60 s: call work"
    if worker == "gone":
        words = "its worker there:1 may be gone, nothing was written for 60 s$"
        die_with_all(store, lease=600)
    store.clock.now += 60
    if worker == "lives":
        words = "has not ended$"
        working(store, stream(creating))
        until(lambda: operation.metadata["attempts"])
    wait = threading.Event.wait
    hasten = lambda event, seconds=None: wait(event, seconds and 0.01)  # noqa: E731
    monkeypatch.setattr(threading.Event, "wait", hasten)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(concurrent.futures.TimeoutError, match=words):
            operation.result(60)
    assert [each.category for each in caught] == [RuntimeWarning] * (worker != "lives")


@pytest.mark.parametrize("lease", [None, 30])
def test_a_wait_that_nothing_drives_ends_past_its_max_wait(store, stream, active, lease):
    driven = start(store, stream(active))
    die_with_all(store, lease=600)
    operation = start(store, stream(active))
    if lease:
        # It ends, and nothing notices that.
        die_with_all(store, lease)
    store.clock.now += 70
    with pytest.raises(bwp.WaiterTimeoutError, match="no worker"):
        operation.result(60)
    assert store.get_json(operation.path)["error"]["code"] == "timed_out"
    # The lease of the other lives: it is left to its worker.
    assert not driven.done()


def test_a_look_ends_what_nothing_drives(store, stream, active):
    path = start(store, stream(active)).path
    for seconds, is_done in ((60, False), (10, True)):
        store.clock.now += seconds
        assert store.get_json(path)["done"] is is_done


def test_a_reopened_wait_has_its_new_deadline(store, open_store, stream):
    elsewhere, held = open_store(), start(store, stream())
    path = held.path
    # Between two looks of the process that holds it.
    with mock.patch.object(store.watcher, "_end"):
        elsewhere.cancel(path)
        elsewhere.resume(path, max_wait=3600)
        store.clock.now += 600
        with pytest.raises(concurrent.futures.TimeoutError):
            held.result(1)
    assert elsewhere.get_json(path)["done"] is False


def test_many_held_waits_are_rarely_compared(store, stream, active, monkeypatch):
    client, checked = stream(active), threading.Semaphore(0)
    held = [start(store, client) for _ in range(20)]
    calls = {}
    for name in ("open_ids", "ended_ids", "get"):
        calls[name] = mock.Mock(wraps=getattr(store.database, name))
        monkeypatch.setattr(
            store.database, name, lambda *a, name=name: checked.release() or calls[name](*a)
        )
    for _ in range(20):
        store.watcher.check()
        assert checked.acquire(timeout=60)
    assert calls["get"].call_count == 0
    held[7].cancel()
    until(held[7].cancelled)
    assert calls["open_ids"].call_count <= 1
    assert not held[8].done()


# --- writes that fail, and answers that are lost --------------------------------------------------


def is_end(lease, changes):
    return "state" in changes[0]


@SHARED
@pytest.mark.parametrize(("name", "condition", "is_done"), [
    ("claim", lambda *_: True, True), ("write", is_end, False), ("write", is_end, True),
])  # fmt: skip
def test_what_is_leased_is_driven_although_an_answer_is_lost(
    store, stream, active, failing, name, condition, is_done
):
    operation = start(store, stream(active))
    lost = failing(store, name, condition, is_done=is_done)
    work(store, stream(active))
    assert operation.result(10).attempts == 1
    assert lost


@SHARED
def test_waits_that_were_claimed_begin_without_a_renewal(store, stream, active, failing):
    started = [start(store, stream(active)) for _ in range(3)]
    lost = failing(store, "renew")
    client = stream(active)

    def slow_client(_):
        store.clock.now += 15
        return client

    store.work(until_idle=True, make_client=slow_client, lease=30)
    assert all(each.result(10) for each in started)
    assert lost


@SHARED
def test_waits_that_cannot_be_given_back_are_driven(store, stream, active, failing):
    operation = start(store, stream(active))
    lost = failing(store, "write", lambda _, changes: "worker" in changes[0])
    # The next call is under way until then.
    work(store, stream(unreachable(), lambda: until(lambda: lost) or active))
    assert operation.result(10).attempts > 1


def test_an_interrupt_before_a_write_loses_no_attempt(store, stream, creating, monkeypatch):
    client = stream(creating)
    operation = start(store, client)
    write, interrupted = store.database.write, []

    def once(lease, changes):
        if not interrupted:
            interrupted.append(changes)
            raise KeyboardInterrupt
        return write(lease, changes)

    monkeypatch.setattr(store.database, "write", once)
    with pytest.raises(KeyboardInterrupt):
        store.work(make_client=lambda _: client)
    assert operation.metadata["attempts"] == len(client.answers.requests) > 0


@IN_MEMORY
@pytest.mark.parametrize("at", ["work", "hand-back"])
def test_an_encrypt_that_fails_holds_no_wait(open_store, running_clock, stream, active, at):
    key, stop = Key(), threading.Event()

    def make(_):
        key.errors = [ZeroDivisionError()]
        if at == "hand-back":
            stop.set()
        raise PermissionError

    store = open_store(**key.pair, clock=running_clock)
    operation = start(store, stream(active))
    assert store.work(until_idle=True, make_client=make, stop_event=stop) == 0
    assert operation.metadata["worker"] is None
    assert not store.database.leases()
    key.errors = []
    assert work(store, stream(active)) == 1


# --- calls ----------------------------------------------------------------------------------------


def test_waits_of_one_kind_share_calls(store, answered):
    ids = [f"i-{number:017x}" for number in range(40)]
    items = [{"InstanceId": each, "State": {"Name": "running"}} for each in ids]
    ec2 = answered("ec2", {"Reservations": [{"Instances": items}]})
    begin = functools.partial(store.start, ec2, "instance_running", max_wait=60)
    started = [begin(InstanceIds=[each]) for each in ids]
    work(store, ec2)
    assert all(operation.result(10).attempts == 1 for operation in started)
    assert len(ec2.answers.requests) <= 4


@IN_MEMORY
@pytest.mark.parametrize("others", [0, 1])
def test_workers_share_the_calls_per_second(store, stream, active, virtual_time, others):
    began = []
    client = stream(lambda: began.append(virtual_time.now) or active)
    for number in range(21):
        start(store, client, StreamName=f"stream-{number}")
    for _ in range(others):
        store.database.acquire("another", 3600)
    work(store, client, calls_per_second={"kinesis": 20})
    seconds = max(began) - min(began)
    assert seconds == pytest.approx((1 + others) * 20 / 20, abs=0.11 * (1 + others))


# --- signals that end a worker in the main thread ------------------------------------------------
@IN_MEMORY
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
@pytest.mark.parametrize(("name", "of_sighup", "told"), [
    ("SIGTERM", signal.SIG_DFL, ["made", signal.SIGTERM]),
    ("SIGHUP", lambda *_: None, ["made", getattr(signal, "SIGHUP", None)]),
    # As nohup leaves it.
    ("SIGHUP", signal.SIG_IGN, ["made", "made"]),
])  # fmt: skip
def test_own_handler_of_sigterm_is_called_after_the_work(store, stream, name, of_sighup, told):
    seen, number = [], getattr(signal, name)
    for profile in ("one", "two"):
        start(store, stream(), profile_name=profile)

    def make(_):
        signal.raise_signal(number)
        seen.append("made")
        raise operations.OperationError("unsupported", "not here")

    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    hang_up = signal.signal(signal.SIGHUP, of_sighup)
    try:
        store.work(until_idle=True, batch_size=1, make_client=make)
        assert signal.getsignal(signal.SIGHUP) is of_sighup
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, hang_up)
    assert seen == told


# --- what else ------------------------------------------------------------------------------------


def test_virtual_time_moves_while_a_worker_has_nothing_to_do(stream, active, virtual_time, recwarn):
    client, store = stream(active), operations.Store(":memory:")
    # No news for the worker until then.
    start(store, client, initial_delay=30)
    assert work(store, client, lease=3600) == 1
    assert virtual_time.now >= 30
    # After five real seconds, or never, it would move with a warning about the worker's thread.
    assert [str(each.message) for each in recwarn if each.category is RuntimeWarning] == []
    store.close()


@pytest.mark.parametrize("text", ["A\0B", "A\ud800B", "A\nB"])
def test_any_text_of_a_service_is_stored(store, stream, creating, error_answer, text):
    creating["StreamDescription"]["StreamStatus"] = text
    operation = driven(store, stream(creating, error_answer(text, text)))
    assert operation.exception(10).observed is None
    assert operation.metadata["state_seen"] == f"error {text!r}".replace("'", "")


def test_an_odd_name_of_a_worker_is_refused(store):
    with pytest.raises(ValueError, match="worker_name"):
        store.work(worker_name="a\0b")
