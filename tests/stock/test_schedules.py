"""The schedule of a stock waiter: to the letter if it was chosen, else over the same time."""

import functools
import math
import random
import sys
import time
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.waiter
import pytest
from botocore.exceptions import WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter, WaiterModel
from hypothesis import given
from hypothesis import strategies as st

import boto_waiters_plus as bwp

DELAY, ATTEMPTS = 5, 20  # botocore's for bucket_exists
SPAN = DELAY * (ATTEMPTS - 1)
THERE = {"ResponseMetadata": {"HTTPStatusCode": 200}}


def run(waiter, **keywords):
    """Return the error that a wait ends with."""
    with pytest.raises(WaiterError) as caught:
        waiter.wait(Bucket="b", **keywords)
    return caught.value


# --- schedules that were chosen -----------------------------------------------------------------

NOT_FOUND = {"Error": {"Code": "404"}, "ResponseMetadata": {"HTTPStatusCode": 404}}


def model(operation, delay, **acceptor):
    """The model of a waiter, as a library has it beside its code."""
    return {"operation": operation, "delay": delay, "maxAttempts": 20, "acceptors": [acceptor]}


STILL = model("HeadBucket", 5, state="retry", matcher="error", expected="404")


@functools.cache
def client_without_bucket(_installed):
    """A client, and the list of its requests."""
    client, requests = boto3.client("s3"), []
    answer = SimpleNamespace(status_code=404), NOT_FOUND
    client.meta.events.register("before-call", lambda **_: requests.append(1) or answer)
    return client, requests


def seen(schedule, form, *, installed):
    """The error of a wait with this schedule, the number of its requests, and its sleeps."""
    client, requests = client_without_bucket(installed)
    requests.clear()
    waiter = client.get_waiter("bucket_exists")
    if form == "by hand":
        operation = NormalizedOperationMethod(client.head_bucket)
        waiter = Waiter("BucketExists", SingleWaiterConfig(STILL), operation)
    if form != "given":
        waiter.config.delay = schedule.get("Delay", waiter.config.delay)
        waiter.config.max_attempts = schedule.get("MaxAttempts", waiter.config.max_attempts)
    with mock.patch.object(time, "sleep") as sleep:
        error = run(waiter, **({"WaiterConfig": schedule} if form == "given" else {}))
    return error, len(requests), sleep.mock_calls


NUMBERS = st.integers(-2, 12) | st.floats(-2, 12) | st.fractions(-2, 12)
SECONDS = st.integers(0, 3600) | st.floats(0, 90_000)
SCHEDULE = {"Delay": SECONDS, "MaxAttempts": NUMBERS}


@given(
    schedule=st.fixed_dictionaries({}, optional=SCHEDULE).filter(bool),
    form=st.sampled_from(["given", "assigned", "by hand"]),
)
def test_chosen_schedule_is_stocks_to_the_letter(schedule, form):
    stock, *facts_of_stock = seen(schedule, form, installed=False)
    # Not by defaults either.
    bwp.install(defaults={"max_delay": 0.3, "max_attempts": 3})
    try:
        ours, *facts = seen(schedule, form, installed=True)
    finally:
        bwp.uninstall()
    assert facts == facts_of_stock
    assert str(ours).startswith(str(stock))
    assert ours.kwargs == stock.kwargs


@pytest.mark.parametrize("attempts", [sys.maxsize, math.inf, 10**12])
def test_unbounded_attempts_are_allowed(s3, answers, missing, sleeps, attempts):
    answers(s3, *[missing] * 50, THERE)
    waiter = s3.get_waiter("bucket_exists")
    waiter.config.max_attempts = attempts
    outcome = waiter.wait(Bucket="b")
    assert outcome.attempts == 51
    assert sleeps == [DELAY] * 50


@pytest.mark.parametrize("choice", ["delay", "max_attempts", "fixed pace"])
def test_the_same_values_or_a_fixed_pace_choose_the_schedule(s3, answers, missing, sleeps, choice):
    asked = answers(s3, missing)
    waiter = s3.get_waiter("bucket_exists")
    if choice != "fixed pace":
        setattr(waiter.config, choice, getattr(waiter.config, choice))
    run(waiter, **({"delay_pace": "fixed"} if choice == "fixed pace" else {}))
    assert len(asked.requests) == ATTEMPTS
    assert sleeps == [DELAY] * (ATTEMPTS - 1)


def test_a_config_of_another_class_counts_as_chosen(sleeps):
    acceptor = SimpleNamespace(state="retry", matcher_func=lambda _: True, explanation="still")
    config = SimpleNamespace(delay=3, max_attempts=5, acceptors=[acceptor])
    bwp.install()
    with pytest.raises(WaiterError, match="still"):
        Waiter("duck", config, lambda **_: {}).wait()
    assert sleeps == [3] * 4


@pytest.mark.parametrize("seconds", [0.5, 100])
@pytest.mark.parametrize(("config", "attempts"), [({"Delay": 5, "MaxAttempts": 6}, 6), ({}, 20)])
def test_time_in_answered_requests_is_not_counted(
    s3, answers, missing, virtual_time, seconds, config, attempts
):
    """As in stock, the schedule is a number of attempts, however long each answer takes."""

    def slow():
        virtual_time.advance(seconds)
        return missing

    asked = answers(s3, slow)
    error = run(s3.get_waiter("bucket_exists"), WaiterConfig=config)
    assert error.attempts == len(asked.requests) >= attempts
    assert virtual_time.now == pytest.approx(error.attempts * seconds + DELAY * (attempts - 1))


IS_UP = {"matcher": "path", "argument": "Table.TableStatus", "expected": "UP"}
TABLE_UP = model("DescribeTable", 7, state="success", **IS_UP)
MODELS = WaiterModel({"version": 2, "waiters": {"TableUp": TABLE_UP}})


def test_defaults_heal_waiters_of_other_libraries(answers, error_answer, sleeps):
    """A library's model that forgets the not-found error right after a creation."""
    dynamodb = boto3.client("dynamodb")
    bwp.install(defaults={"missing_ok_for": 60, "max_delay": 1})
    missing = error_answer("ResourceNotFoundException")
    answers(dynamodb, missing, missing, {"Table": {"TableStatus": "UP"}}, missing)
    botocore.waiter.create_waiter_with_client("TableUp", MODELS, dynamodb).wait(TableName="t")
    assert sleeps == [7, 7]
    sleeps.clear()
    with pytest.raises(bwp.WaiterFailedError, match="ResourceNotFoundException"):
        botocore.waiter.create_waiter_with_client("TableUp", MODELS, dynamodb).wait(TableName="t")
    assert sleeps == [7] * 9


# --- untouched schedules ------------------------------------------------------------------------

DRAWS = {
    "lowest": lambda low, high: low,
    "highest": lambda low, high: high,
    "middle": lambda low, high: (low + high) / 2,
}


@pytest.fixture(params=DRAWS)
def drawn(request, monkeypatch):
    draw = DRAWS[request.param]
    monkeypatch.setattr(random.Random, "uniform", lambda _, low, high: draw(low, high))
    monkeypatch.setattr(random.Random, "randint", lambda _, low, high: round(draw(low, high)))


@pytest.mark.parametrize("make", ["enabled", "resource", "older than install"])
def test_waiter_of_a_client_is_untouched(answers, missing, sleeps, make):
    client = boto3.client("s3")
    bwp.enable(client) if make == "enabled" else bwp.install()
    waiter = client.get_waiter("bucket_exists")
    wait = waiter.wait
    if make == "resource":
        bucket = boto3.resource("s3").Bucket("b")
        client, wait = bucket.meta.client, lambda **_: bucket.wait_until_exists()
    answers(client, missing)
    assert run(SimpleNamespace(wait=wait)).max_wait is None
    assert all(2 <= delay <= DELAY for delay in sleeps[:-1])
    assert len(sleeps) > ATTEMPTS - 1
    assert sum(sleeps) == pytest.approx(SPAN)


@pytest.mark.parametrize("ready_at", [1, 55, SPAN - 1, SPAN])
def test_untouched_waiter_sees_what_stock_would_see(
    s3, answers, missing, virtual_time, drawn, ready_at
):
    answers(s3, lambda: THERE if virtual_time.now >= ready_at else missing)
    outcome = s3.get_waiter("bucket_exists").wait(Bucket="b")
    assert ready_at <= outcome.elapsed <= SPAN + 1e-6


def test_delay_after_a_throttle_is_the_whole_delay(s3, answers, missing, sleeps, error_answer):
    answers(s3, error_answer("Throttling", "Rate exceeded"), missing)
    run(s3.get_waiter("bucket_exists"), retry_transient=True)
    assert sleeps[0] == DELAY


def test_max_delay_gives_the_patient_schedule_back(s3, answers, missing, sleeps, monkeypatch):
    monkeypatch.setattr(random.Random, "randint", lambda _, low, high: high)
    answers(s3, missing)
    run(s3.get_waiter("bucket_exists"), max_delay=120)
    assert sleeps[1:5] == [4, 8, 16, 32]


# The options, and the least and the longest delay that they ask for.
GIVEN = {
    "max_delay": ({"max_delay": 0.5}, 0.5, 0.5),
    "max_delay above": ({"max_delay": 7}, 2, 7),
    "min_delay": ({"min_delay": 1}, 1, DELAY),
    "both": ({"min_delay": 1, "max_delay": 2}, 1, 2),
    "both, no divisors of the span": ({"min_delay": 0.6, "max_delay": 0.7}, 0.6, 0.7),
    "fixed": ({"min_delay": 1, "delay_pace": "fixed"}, 1, 1),
    "function": ({"delay_pace": lambda _: 0.5}, 0.5, 0.5),
}


@pytest.mark.parametrize("given", GIVEN)
def test_delays_that_were_given_are_not_stretched(s3, answers, missing, sleeps, drawn, given):
    options, least, longest = GIVEN[given]
    answers(s3, missing)
    error = run(s3.get_waiter("bucket_exists"), **options)
    assert sleeps[0] == least
    assert max(sleeps) < longest + 1e-6
    # Where the end leaves no other way, the last two are shorter.
    assert min(sleeps[:-2]) >= least
    assert sum(sleeps) == pytest.approx(SPAN)
    # The schedule's end, in botocore's words.
    assert isinstance(error, bwp.WaiterAttemptsError)
    assert "Max attempts exceeded" in str(error)
    assert error.attempts == len(sleeps) + 1
    assert error.last_response["Error"]["Code"] == "404"


HALVES = {"max_delay": 0.5}


@pytest.mark.parametrize("place", ["call", "install"])
@pytest.mark.parametrize(("options", "count"), [
    (HALVES, 191), ({**HALVES, "max_attempts": 5}, 5), ({**HALVES, "max_attempts": 500}, 191),
])  # fmt: skip
def test_delays_may_be_given_at_every_place(s3, answers, missing, sleeps, place, options, count):
    bwp.install(defaults=options if place == "install" else None)
    answers(s3, missing)
    error = run(s3.get_waiter("bucket_exists"), **(options if place == "call" else {}))
    assert isinstance(error, bwp.WaiterAttemptsError)
    assert sleeps == [0.5] * (count - 1)


def test_no_delay_exceeds_botocores(s3, answers, missing, sleeps, monkeypatch):
    """The last one neither, where a little more than a whole delay is left."""
    draws = {2: 2, 4: 2, DELAY: DELAY}
    monkeypatch.setattr(random.Random, "randint", lambda _, low, high: draws[high])
    answers(s3, missing)
    run(s3.get_waiter("bucket_exists"))
    assert max(sleeps) <= DELAY
    assert sum(sleeps) == pytest.approx(SPAN)


@pytest.mark.parametrize("config", [{"MaxAttempts": 5}, {"Delay": 3, "MaxAttempts": 5}], ids=str)
def test_a_deadline_stretches_no_delays(s3, answers, missing, sleeps, config):
    answers(s3, missing)
    with bwp.deadline(1000):
        run(s3.get_waiter("bucket_exists"), WaiterConfig=config, max_delay=0.5)
    assert sleeps == [0.5] * 4


def test_delays_given_to_a_defined_waiter_are_kept(answers, sleeps):
    bwp.install()
    athena = boto3.client("athena")
    answers(athena, {"QueryExecution": {"Status": {"State": "RUNNING"}}})
    waiter = athena.get_waiter("query_execution_succeeded")
    with pytest.raises(bwp.WaiterAttemptsError):
        waiter.wait(QueryExecutionId="q", max_delay=0.5)
    assert set(sleeps) == {0.5}
    assert sum(sleeps) == waiter.config.delay * (waiter.config.max_attempts - 1)


def test_the_delay_that_does_not_fit_is_the_given_one(answers, missing):
    bwp.install(defaults={"min_delay": 50})
    client = boto3.client("s3")
    called = answers(client, missing)
    with pytest.raises(ValueError, match="less than the min_delay of the defaults") as caught:
        client.get_waiter("bucket_exists").wait(Bucket="b", max_delay=1)
    assert (caught.value.argument, caught.value.value) == ("max_delay", 1)
    assert called.operations == []
