"""`Wait` and `wait_all` on real clients."""

import asyncio
import contextlib
import inspect
import logging
import threading
from datetime import timedelta

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import NoCredentialsError
from botocore.stub import Stubber
from case_tables import tabled

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.call_budget import CallExpired, current_budget
from boto_waiters_plus.many import Wait, wait_all

TABLE = {
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def exists(s3, bucket, max_wait=100, **options):
    return Wait(s3, "bucket_exists", {"Bucket": bucket}, max_wait=max_wait, **options)


def requests_of(*clients):
    seen = []
    for client in clients:
        client.meta.events.register("before-call", lambda model, **_: seen.append(model.name))
    return seen


# --- outcomes ---------------------------------------------------------------------------------


def test_outcomes_come_in_the_order_given(s3, dynamodb, virtual_time):
    virtual_time.call_at(30, lambda: s3.create_bucket(Bucket="late"))
    virtual_time.call_at(50, lambda: dynamodb.create_table(TableName="table", **TABLE))
    outcomes = wait_all(
        [
            exists(s3, "late"),
            Wait(dynamodb, "TableExists", {"TableName": "table"}, max_wait=200),
            exists(s3, "first"),
            Wait(s3, "bucket_not_exists", {"Bucket": "never"}, max_wait=5),
        ]
    )
    assert [type(outcome) for outcome in outcomes] == [
        bwp.ResponseOutcome,
        bwp.ResponseOutcome,
        bwp.ResponseOutcome,
        bwp.ExceptionOutcome,
    ]
    assert [outcome.waiter for outcome in outcomes] == [
        "BucketExists",
        "TableExists",
        "BucketExists",
        "BucketNotExists",
    ]
    assert outcomes[1].response["Table"]["TableName"] == "table"
    assert outcomes[0].elapsed >= 30
    assert outcomes[1].elapsed >= 50
    assert outcomes[2].elapsed == 0


@pytest.mark.parametrize("count", [1, 130])
def test_each_wait_ends_as_it_would_alone(s3, virtual_time, count):
    def one_of(index):
        return [
            exists(s3, "first"),
            # A real call has two seconds for its last attempt.
            exists(s3, "never", max_wait=20, delay_pace=lambda _: 6, last_attempt="spec"),
            Wait(s3, "bucket_not_exists", {"Bucket": "second"}, max_wait=30, max_attempts=1),
            Wait(s3, "bucket_not_exists", {"Bucket": "never"}, max_wait=30, success_count=2),
        ][index % 4]

    def facts(result):
        shared = (type(result), result.attempts, round(result.elapsed, 6), result.acceptor)
        if isinstance(result, bwp.WaiterError):
            response = {**result.last_response}
            response.pop("ResponseMetadata", None)
            return (*shared, result.kwargs, response, type(result.last_exception))
        return shared

    alone = []
    for index in range(4):
        wait = one_of(index)
        options = {
            name: getattr(wait.options, name)
            for name in ("delay_pace", "last_attempt", "max_attempts", "success_count")
        }
        try:
            result = bwp.wait_until(
                s3, wait.waiter, max_wait=wait.max_wait, **options, **wait.parameters
            )
        except bwp.WaiterError as error:
            result = error
        alone.append(facts(result))
    together = wait_all([one_of(i) for i in range(4 * count)], on_failure="collect")
    assert [facts(result) for result in together] == alone * count


def test_no_waits_end_at_once():
    assert wait_all([]) == []
    assert wait_all(iter([])) == []


def test_waits_may_come_from_a_generator(s3):
    outcomes = wait_all(exists(s3, name) for name in ("first", "second"))
    assert len(outcomes) == 2


def test_changing_parameters_later_changes_no_wait(s3):
    parameters = {"Bucket": "first"}
    wait = Wait(s3, "bucket_exists", parameters, max_wait=60)
    parameters["Bucket"] = "never"
    assert wait_all([wait])[0].attempts == 1


def test_clients_need_not_be_hooked(s3):
    assert not hasattr(s3, "wait_until_bucket_exists")
    assert wait_all([exists(s3, "first")])[0].attempts == 1


# --- failures ---------------------------------------------------------------------------------


@pytest.fixture
def mixed(s3):
    """Two waits that succeed late, and two that fail early."""
    return [
        exists(s3, "late"),
        exists(s3, "never", max_wait=20),
        Wait(s3, "bucket_not_exists", {"Bucket": "first"}, max_wait=30, max_attempts=1),
        exists(s3, "late"),
    ]


def test_every_wait_ends_before_failures_are_raised(s3, mixed, virtual_time):
    virtual_time.call_at(50, lambda: s3.create_bucket(Bucket="late"))
    with pytest.raises(bwp.WaitersError) as raised:
        wait_all(mixed)
    error = raised.value
    assert virtual_time.now >= 50
    assert {index: type(e) for index, e in error.errors.items()} == {
        1: bwp.WaiterTimeoutError,
        2: bwp.WaiterAttemptsError,
    }
    assert [type(outcome) for outcome in error.outcomes] == [
        bwp.ResponseOutcome,
        type(None),
        type(None),
        bwp.ResponseOutcome,
    ]
    text = str(error)
    assert "2 of 4 waits" in text
    assert "\n  [1] Waiter BucketExists timed out" in text
    assert "\n  [2] Waiter BucketNotExists used up its 1 attempt" in text


def test_on_failure_cancel_cancels_the_rest(s3, mixed, virtual_time):
    virtual_time.call_at(50, lambda: s3.create_bucket(Bucket="late"))
    with pytest.raises(bwp.WaitersError) as raised:
        wait_all(mixed, on_failure="cancel")
    assert virtual_time.now == 0
    assert {index: type(e) for index, e in raised.value.errors.items()} == {
        0: bwp.WaiterCancelledError,
        1: bwp.WaiterCancelledError,
        2: bwp.WaiterAttemptsError,
        3: bwp.WaiterCancelledError,
    }
    text = str(raised.value)
    assert "[2] Waiter BucketNotExists" in text
    assert "[0]" not in text
    assert "3 were cancelled" in text


def test_other_errors_are_named_without_their_text(s3, virtual_time):
    with pytest.raises(bwp.WaitersError) as raised:
        wait_all([Wait(s3, "bucket_exists", {"Bucket": "secret/name"}, max_wait=10)])
    assert "ParamValidationError" in str(raised.value)
    assert str(raised.value).endswith("s3 Bucket=secret/name: ParamValidationError")


@tabled("parameters", "words")
def test_wrong_and_missing_parameters_are_named(s3, parameters, words, virtual_time):
    definition = bwp.WaiterDefinition.from_states(
        "Found", "HeadBucket", path="BucketRegion", success=["x"]
    )
    if "PartNumber" in parameters:
        definition = bwp.WaiterDefinition.from_states(
            "Found", "HeadObject", path="ETag", success=["x"]
        )
        parameters = {**parameters, "Key": "k"}
    with pytest.raises(bwp.WaitersError) as raised:
        wait_all([Wait(s3, definition, parameters, max_wait=10), exists(s3, "first")])
    assert f"ParamValidationError: {words}" in str(raised.value)
    assert "hidden" not in str(raised.value).partition("ParamValidationError")[2]


def test_missing_credentials_are_the_error_of_the_wait(monkeypatch, virtual_time):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    client = boto3.session.Session().client("s3", region_name="us-east-1")
    assert isinstance(
        wait_all([exists(client, "first")], on_failure="collect")[0], NoCredentialsError
    )


def test_closed_client_can_be_waited_on(s3, virtual_time):
    s3.close()
    assert wait_all([exists(s3, "first")])[0].attempts == 1


# --- max_wait and deadlines -------------------------------------------------------------------


def test_max_wait_of_the_batch_bounds_each_wait(s3, virtual_time):
    waits = [exists(s3, "never", max_wait=1000), exists(s3, "never", max_wait=15)]
    results = wait_all(waits, max_wait=timedelta(seconds=40), on_failure="collect")
    assert [result.max_wait for result in results] == [40, 15]
    assert 39 < virtual_time.now <= 40


def test_max_wait_of_the_batch_is_enough(s3, virtual_time):
    wait = Wait(s3, "bucket_exists", {"Bucket": "never"})
    assert wait_all([wait], max_wait=40, on_failure="collect")[0].max_wait == 40


def test_wait_without_max_wait_is_refused(s3):
    requests = requests_of(s3)
    with pytest.raises(TypeError, match=r"waits\[1\] needs max_wait"):
        wait_all([exists(s3, "first"), Wait(s3, "bucket_exists", {"Bucket": "never"})])
    assert requests == []


# --- options and settings ---------------------------------------------------------------------


def test_settings_of_install_and_enable_apply(s3, virtual_time):
    bwp.install(defaults={"max_attempts": 5, "delay_pace": lambda _: 3})
    other = boto3.client("s3", region_name="us-east-1")
    bwp.enable(other, defaults={"max_attempts": 2})
    results = wait_all(
        [exists(s3, "never"), exists(other, "never"), exists(other, "never", max_attempts=1)],
        on_failure="collect",
    )
    assert [result.attempts for result in results] == [5, 2, 1]


@pytest.mark.parametrize("whose", ["its own", "that of all"])
def test_cancel_event_ends_the_call_in_flight(s3, whose):
    stop = threading.Event()
    seen = []

    def cancel(**_):
        budget = current_budget()
        (event,) = budget.cancel_events
        seen.append(event.is_set())
        stop.set()
        # The event of the batch reaches the call through the end of the run.
        seen.append(event.wait(30))
        # A response that comes before the event is checked would count.
        with contextlib.suppress(CallExpired):
            budget.wait_for(lambda: False)

    s3.meta.events.register("before-call.s3", cancel)
    own = {"cancel_event": stop} if whose == "its own" else {}
    of_all = {} if own else {"cancel_event": stop}
    results = wait_all([exists(s3, "first", **own)], on_failure="collect", **of_all)
    assert isinstance(results[0], bwp.WaiterCancelledError)
    for thread in threading.enumerate():
        if thread.name.startswith("boto_waiters_plus call"):
            thread.join(30)
    assert seen == [False, True]


@pytest.mark.parametrize("connections", [3, 10])
def test_calls_stay_within_the_clients_connections(connections):
    config = Config(max_pool_connections=connections)
    client = boto3.client("s3", region_name="us-east-1", config=config)
    client.create_bucket(Bucket="first")
    running, most = [], []
    lock, have_met = threading.Lock(), threading.Event()

    def begin(**_):
        with lock:
            running.append(1)
            most.append(len(running))
            if len(running) == connections:
                have_met.set()
        have_met.wait(30)

    def end(**_):
        with lock:
            running.pop()

    client.meta.events.register("before-call.s3", begin)
    client.meta.events.register("after-call.s3", end)
    wait_all([exists(client, "first") for _ in range(50)])
    # On a busy machine, the first may end before the last begins.
    assert 1 < max(most) <= connections


def test_calls_stay_within_the_threads_given(s3):
    names = set()
    s3.meta.events.register(
        "before-call.s3", lambda **_: names.add(threading.current_thread().name)
    )
    wait_all([exists(s3, "first") for _ in range(40)], threads=2)
    assert 1 <= len(names) <= 2


# --- callbacks --------------------------------------------------------------------------------


def test_callback_that_raises_is_warned_of_once(s3, virtual_time, caplog):
    def broken(event):
        raise ZeroDivisionError(f"attempt {getattr(event, 'attempt', None)}")

    def create():
        s3.create_bucket(Bucket="late")

    virtual_time.call_at(10, create)
    bwp.install(on_event=broken)
    waits = [exists(s3, "late", on_attempt=broken) for _ in range(3)]
    with (
        caplog.at_level(logging.ERROR, "boto_waiters_plus"),
        pytest.warns(RuntimeWarning) as warned,
    ):
        outcomes = wait_all(waits, progress=broken)
    assert [type(outcome) for outcome in outcomes] == [bwp.ResponseOutcome] * 3
    texts = sorted(str(warning.message) for warning in warned)
    assert len(texts) == 3
    assert texts[0].startswith("on_attempt raised ZeroDivisionError: attempt 1 (the first of ")
    assert texts[1].startswith("on_event raised ZeroDivisionError: attempt 0 (the first of ")
    assert texts[2].startswith("progress raised ZeroDivisionError")
    assert all(warning.filename == __file__ for warning in warned)
    assert len(caplog.records) == 3


def test_observers_get_the_events_of_single_waits(s3, virtual_time):
    def events_of(wait):
        events = []
        bwp.uninstall()
        bwp.install(on_event=events.append)
        with pytest.raises(bwp.WaiterError):
            wait()
        return [(event.kind, event.attempt, event.error, event.state) for event in events]

    alone = events_of(
        lambda: bwp.wait_until(
            s3, "bucket_exists", Bucket="never", max_wait=50, delay_pace=lambda _: 20
        )
    )
    together = events_of(
        lambda: wait_all([exists(s3, "never", max_wait=50, delay_pace=lambda _: 20)])
    )
    assert together == alone
    assert alone[0][0] == "start"
    assert alone[-1] == ("timeout", alone[-1][1], "WaiterTimeoutError", None)


# --- bad arguments ----------------------------------------------------------------------------


@tabled("arguments", "error", "text")
def test_wait_is_checked_when_it_is_made(s3, arguments, error, text):
    client, waiter, parameters, *options = arguments
    with pytest.raises(error, match=text):
        Wait(
            s3 if client == "client" else client,
            waiter,
            parameters,
            **(options[0] if options else {"max_wait": 1}),
        )


@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({"max_wait": float("inf")}, ValueError, "max_wait"),
        ({"on_failure": "ignore"}, ValueError, "on_failure"),
        ({"threads": 0}, ValueError, "threads"),
        ({"threads": 2.5}, TypeError, "threads"),
        ({"threads": True}, TypeError, "threads"),
        ({"progress": "yes"}, TypeError, "progress"),
        ({"cancel_event": object()}, TypeError, "cancel_event"),
        ({"thread": 2}, TypeError, "wait_all: unknown option 'thread'; did you mean 'threads'"),
    ],
)
def test_bad_arguments_are_refused_before_any_request(s3, keywords, error, text):
    requests = requests_of(s3)
    with pytest.raises(error, match=text):
        wait_all([exists(s3, "first")], **keywords)
    assert requests == []


def test_empty_list_of_ids_is_refused_when_it_is_made():
    client = boto3.client("ec2", region_name="us-east-1")
    with pytest.raises(ValueError, match="InstanceIds is empty"):
        Wait(client, "instance_running", {"InstanceIds": []}, max_wait=10)


def test_other_objects_than_waits_are_refused(s3):
    with pytest.raises(
        TypeError, match=r"waits\[1\] must be a Wait, a ConditionWait or an Operation, not dict"
    ):
        wait_all([exists(s3, "first"), {}])
    with pytest.raises(TypeError, match="an iterable of Wait objects"):
        wait_all(exists(s3, "first"))
    with pytest.raises(TypeError, match="an iterable of Wait objects"):
        wait_all(None)


def test_same_wait_twice_is_refused(s3):
    requests = requests_of(s3)
    twice = exists(s3, "first")
    with pytest.raises(ValueError, match=r"waits\[2\] and waits\[0\] are the same object"):
        wait_all([twice, exists(s3, "first"), twice])
    assert requests == []


def test_the_repr_of_a_wait_names_the_resource(s3):
    wait = exists(s3, "first", max_wait=10)
    assert repr(wait) == "Wait(BucketExists for s3 Bucket=first, max_wait=10)"


def test_stubbed_responses_are_used_in_order(virtual_time):
    client = boto3.client("ec2", region_name="us-east-1")
    states = ["pending", "pending", "running"]
    with Stubber(client) as stub:
        for state in states:
            stub.add_response(
                "describe_instances",
                {"Reservations": [{"Instances": [{"State": {"Name": state}}]}]},
            )
        (outcome,) = wait_all([Wait(client, "instance_running", {}, max_wait=600)])
    assert outcome.attempts == 3
    assert outcome.observed == ["running"]


@pytest.mark.parametrize("wrong", ["timeout", "MaxWait", "WaiterConfig", "maxwait"])
@pytest.mark.parametrize("twin", ["", "_async"])
@pytest.mark.parametrize("name", ["wait_all", "wait_any", "as_completed"])
def test_other_names_of_max_wait_are_answered(s3, answers, name, twin, wrong):
    asked = answers(s3, {})
    function = getattr(bwp, name + twin)
    text = rf"{name}{twin} takes max_wait \(seconds\) instead of {wrong}"
    with pytest.raises(TypeError, match=text):
        asyncio.run(function([Wait(s3, "bucket_exists", {"Bucket": "b"})], **{wrong: 5}))
    assert asked.requests == []
    assert "max_wait" in inspect.signature(function).parameters
    assert "keywords" not in inspect.signature(function).parameters
    assert inspect.iscoroutinefunction(function) == (bool(twin) and name != "as_completed")
