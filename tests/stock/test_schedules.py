"""The schedule of a stock waiter: to the letter if it was chosen, else over the same time."""

import math
import random
import sys
import time
from fractions import Fraction
from types import SimpleNamespace
from unittest import mock

import boto3
import pytest
from botocore.exceptions import WaiterError
from botocore.waiter import (
    NormalizedOperationMethod,
    SingleWaiterConfig,
    Waiter,
    WaiterModel,
    create_waiter_with_client,
)
from hypothesis import given
from hypothesis import strategies as st

import boto_waiters_plus as bwp

DELAY, ATTEMPTS = 5, 20  # botocore's for bucket_exists
SPAN = DELAY * (ATTEMPTS - 1)
THERE = {"ResponseMetadata": {"HTTPStatusCode": 200}}


@pytest.fixture
def stock_s3():
    """A client, and nothing installed yet."""
    return boto3.client("s3")


def run(waiter, **keywords):
    """Return the error that a wait ends with."""
    with pytest.raises(WaiterError) as caught:
        waiter.wait(Bucket="b", **keywords)
    return caught.value


def test_smithy_gives_an_unchosen_schedule_awss_delays(answers, missing, sleeps):
    bwp.install(defaults=bwp.SMITHY)
    s3 = boto3.client("s3")
    answers(s3, missing)
    run(s3.get_waiter("bucket_exists"))
    assert sleeps[0] == DELAY < max(sleeps)
    assert sum(sleeps) == pytest.approx(SPAN)
    sleeps.clear()
    run(s3.get_waiter("bucket_exists"), WaiterConfig={"Delay": 3, "MaxAttempts": 4})
    assert sleeps == [3] * 3


# --- schedules that were chosen -----------------------------------------------------------------

SCHEDULES = [
    {"Delay": 1},
    {"MaxAttempts": 4},
    {"MaxAttempts": 1},
    {"Delay": 0, "MaxAttempts": 50},
    {"Delay": 0.1, "MaxAttempts": 7},
    {"Delay": 2, "MaxAttempts": 100 / 15},
    {"Delay": 2, "MaxAttempts": 0},
    {"Delay": 86400.5, "MaxAttempts": 2},
    {"Delay": 2, "MaxAttempts": -3},
    {"Delay": 1, "MaxAttempts": Fraction(7, 2)},
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_chosen_schedule_is_stocks_to_the_letter(stock_s3, answers, missing, sleeps, schedule):
    asked = answers(stock_s3, missing)
    stock = run(stock_s3.get_waiter("bucket_exists"), WaiterConfig=schedule)
    attempts, slept = len(asked.requests), list(sleeps)
    asked.requests.clear()
    sleeps.clear()

    bwp.install()
    ours = run(stock_s3.get_waiter("bucket_exists"), WaiterConfig=schedule)
    assert len(asked.requests) == attempts == ours.attempts
    assert sleeps == slept
    assert str(ours).startswith(str(stock))
    assert ours.kwargs == stock.kwargs


@given(
    delay=st.one_of(st.integers(0, 3600), st.floats(0, 3600)),
    attempts=st.one_of(st.integers(-2, 60), st.floats(-2, 60)),
)
def test_any_assigned_schedule_is_stocks_to_the_letter(delay, attempts):
    config = SingleWaiterConfig(
        {"operation": "GetThing", "delay": 1, "maxAttempts": 1, "acceptors": []}
    )
    config.delay, config.max_attempts = delay, attempts
    seen = []
    for prepare in (lambda: None, bwp.install):
        prepare()
        call = mock.Mock(return_value={})
        with mock.patch.object(time, "sleep") as sleep, pytest.raises(WaiterError):
            Waiter("w", config, call).wait()
        bwp.uninstall()
        seen.append((call.call_count, sleep.mock_calls))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("attempts", [sys.maxsize, math.inf, 10**12])
def test_unbounded_attempts_are_allowed(s3, answers, missing, sleeps, attempts):
    answers(s3, *[missing] * 50, THERE)
    waiter = s3.get_waiter("bucket_exists")
    waiter.config.max_attempts = attempts
    outcome = waiter.wait(Bucket="b")
    assert outcome.attempts == 51
    assert sleeps == [DELAY] * 50


@pytest.mark.parametrize("name", ["delay", "max_attempts"])
def test_assigning_the_same_value_chooses_the_schedule(s3, answers, missing, sleeps, name):
    asked = answers(s3, missing)
    waiter = s3.get_waiter("bucket_exists")
    setattr(waiter.config, name, getattr(waiter.config, name))
    run(waiter)
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


CONFIG = {"operation": "HeadBucket", "delay": 7, "maxAttempts": 3, "acceptors": []}


@pytest.mark.parametrize("make", ["by hand", "with client"])
def test_model_of_the_caller_is_kept_to_the_letter(s3, answers, missing, sleeps, make):
    bwp.install(defaults={"max_delay": 120, "max_attempts": 30})
    acceptor = {"state": "retry", "matcher": "error", "expected": "404"}
    config = {**CONFIG, "acceptors": [acceptor]}
    asked = answers(s3, missing)
    if make == "by hand":
        operation = NormalizedOperationMethod(s3.head_bucket)
        waiter = Waiter("BucketExists", SingleWaiterConfig(config), operation)
    else:
        model = WaiterModel({"version": 2, "waiters": {"BucketExists": config}})
        waiter = create_waiter_with_client("BucketExists", model, s3)
    with pytest.raises(bwp.WaiterAttemptsError):
        waiter.wait(Bucket="b")
    assert sleeps == [7, 7]
    assert len(asked.requests) == 3


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


@pytest.mark.parametrize(("code", "message"), [
    ("Throttling", "Rate exceeded"), ("InvalidRequest", "Rate exceeded (ErrorCode: Throttling)"),
])  # fmt: skip
def test_delay_after_a_throttle_is_the_whole_delay(
    s3, answers, missing, sleeps, error_answer, code, message
):
    throttle = error_answer(code, message, 400)
    answers(s3, throttle, missing)
    run(s3.get_waiter("bucket_exists"), retry_transient=True)
    assert sleeps[0] == DELAY


def test_fixed_pace_keeps_the_delay(s3, answers, missing, sleeps):
    asked = answers(s3, missing)
    run(s3.get_waiter("bucket_exists"), delay_pace="fixed")
    assert sleeps == [DELAY] * (ATTEMPTS - 1)
    assert len(asked.requests) == ATTEMPTS


@pytest.mark.parametrize("place", ["call", "install"])
def test_max_delay_gives_the_patient_schedule_back(
    s3, answers, missing, sleeps, monkeypatch, place
):
    monkeypatch.setattr(random.Random, "randint", lambda _, low, high: high)
    bwp.install(defaults={"max_delay": 120} if place == "install" else None)
    answers(s3, missing)
    run(s3.get_waiter("bucket_exists"), **({"max_delay": 120} if place == "call" else {}))
    assert sleeps[1:5] == [4, 8, 16, 32]


@pytest.mark.parametrize("key", ["timeout", "interval"])
def test_an_unknown_key_of_the_config_is_answered_with_all(s3, key):
    words = f"'{key}'.*Delay, MaxAttempts, MaxWait"
    with pytest.raises(ValueError, match=words):
        s3.get_waiter("bucket_exists").wait(Bucket="b", WaiterConfig={key: 5})
