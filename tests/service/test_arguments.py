"""The arguments of `wait` on a stock waiter: our options, and what is refused."""

from datetime import timedelta

import pytest
from botocore.exceptions import WaiterError

import boto_waiters_plus as bwp

THERE = {"ResponseMetadata": {"HTTPStatusCode": 200}}


def run(waiter, **keywords):
    """Return the error that a wait ends with."""
    with pytest.raises(WaiterError) as caught:
        waiter.wait(Bucket="b", **keywords)
    return caught.value


@pytest.mark.parametrize("keywords", [
    {"max_wait": timedelta(seconds=12)}, {"WaiterConfig": {"MaxWait": timedelta(seconds=12)}},
    {"WaiterConfig": {"MaxWait": 500}, "max_wait": 12},
    {"WaiterConfig": {"MaxWait": 12, "Delay": 4}}, {"WaiterConfig": {"MaxWait": 12, "Delay": 0}},
], ids=str)  # fmt: skip
def test_max_wait_is_wall_clock_and_counts_requests(s3, answers, missing, virtual_time, keywords):
    answers(s3, lambda: virtual_time.advance(1.5) or missing)
    error = run(s3.get_waiter("bucket_exists"), **keywords)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert error.max_wait == 12
    assert 9 <= error.elapsed <= 12 + 1.5
    assert virtual_time.now <= 12 + 1.5


def test_max_wait_and_max_attempts_both_bound(s3, answers, missing, virtual_time):
    asked = answers(s3, missing)
    waiter = s3.get_waiter("bucket_exists")
    error = run(waiter, WaiterConfig={"MaxWait": 1000, "MaxAttempts": 3, "Delay": 1})
    assert isinstance(error, bwp.WaiterAttemptsError)
    assert len(asked.requests) == 3
    error = run(waiter, WaiterConfig={"MaxWait": 2.5, "MaxAttempts": 50, "Delay": 1})
    assert isinstance(error, bwp.WaiterTimeoutError)


def test_options_are_keywords_of_wait(s3, answers, missing, sleeps):
    asked = answers(s3, missing)
    told = []
    options = {"max_attempts": 4, "initial_delay": 2, "on_attempt": told.append}
    run(s3.get_waiter("bucket_exists"), delay_pace=lambda attempt: 10 * attempt, **options)
    assert len(asked.requests) == 4
    assert sleeps == [2, 10, 20, 30]
    assert [event.attempt for event in told] == [1, 2, 3, 4]


@pytest.mark.parametrize("delays", [{"delay_pace": "fixed"}, {"max_delay": 3}, {"min_delay": 1}])
@pytest.mark.parametrize(("config", "kind"), [
    ({"Delay": 0, "MaxAttempts": 5}, bwp.WaiterAttemptsError),
    ({"Delay": 0, "MaxWait": 0.2}, bwp.WaiterTimeoutError),
])  # fmt: skip
def test_delays_can_replace_a_delay_of_0(s3, answers, missing, virtual_time, config, kind, delays):
    answers(s3, missing)
    error = run(s3.get_waiter("bucket_exists"), WaiterConfig=config, **delays)
    assert type(error) is kind


@pytest.mark.parametrize(("waiter_config", "kind", "text"), [
    ({"delay": 5}, ValueError, "'Delay'"), ({"MaxAttempt": 5}, ValueError, "'MaxAttempts'"),
    ({"max_wait": 5}, ValueError, "WaiterConfig"), ({"MaxWiat": 5}, ValueError, "'MaxWait'"),
    ({"Delay": 5, "Jitter": True}, ValueError, "Jitter"),
    (None, TypeError, "WaiterConfig"), ("Delay=5", TypeError, "WaiterConfig"),
], ids=str)  # fmt: skip
def test_bad_waiter_config_is_refused_before_any_call(
    s3, answers, missing, waiter_config, kind, text
):
    asked = answers(s3, missing)
    with pytest.raises(kind, match=text):
        s3.get_waiter("bucket_exists").wait(Bucket="b", WaiterConfig=waiter_config)
    assert asked.requests == []


def test_the_callers_dicts_are_not_changed(s3, answers, sleeps):
    answers(s3, THERE)
    config = {"Delay": 1, "MaxAttempts": 3, "MaxWait": 60}
    keywords = {"Bucket": "b", "WaiterConfig": config}
    s3.get_waiter("bucket_exists").wait(**keywords)
    assert keywords == {"Bucket": "b", "WaiterConfig": config}
    assert config == {"Delay": 1, "MaxAttempts": 3, "MaxWait": 60}
