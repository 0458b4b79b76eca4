"""The timeline of a wait: its last attempts, with their times and the states that they saw."""

import copy
import pickle

import boto3
import pytest

import boto_waiters_plus as bwp

THROTTLE = {"Error": {"Code": "ThrottlingException", "Message": "slow down"}}
EVERY_SECOND = {"min_delay": 1, "delay_pace": "fixed"}


@pytest.fixture
def kinesis(virtual_time):
    bwp.install()
    return boto3.client("kinesis")


def wait(client, **options):
    return client.wait_until_stream_exists(StreamName="s", **{"max_wait": 900, **options})


def test_each_attempt_has_its_time_and_state(kinesis, answers, creating, active):
    answers(kinesis, creating, THROTTLE, creating, active)
    outcome = wait(kinesis, **EVERY_SECOND)
    states = ("CREATING", "ThrottlingException", "CREATING", "ACTIVE")
    found = [(attempt, round(elapsed, 1), state) for attempt, elapsed, state in outcome.timeline]
    assert found == [(place + 1, place, state) for place, state in enumerate(states)]


def test_an_expected_error_is_the_last_state(kinesis, answers, active, error_answer):
    answers(kinesis, active, error_answer("ResourceNotFoundException"))
    outcome = kinesis.wait_until_stream_not_exists(StreamName="s", max_wait=900)
    assert [entry.state for entry in outcome.timeline] == ["ACTIVE", "ResourceNotFoundException"]


def test_an_error_has_the_attempts_that_were_answered(kinesis, answers, creating):
    answers(kinesis, creating, {"Error": {"Code": "AccessDenied"}})
    with pytest.raises(bwp.WaiterFailedError) as caught:
        wait(kinesis)
    assert [entry.state for entry in caught.value.timeline] == ["CREATING", "AccessDenied"]
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        wait(kinesis, max_wait=0)
    assert caught.value.timeline == ()


def test_the_last_100_are_kept(kinesis, answers, creating, active):
    answers(kinesis, *[creating] * 180, THROTTLE, *[creating] * 39, active)
    outcome = wait(kinesis, **EVERY_SECOND)
    timeline = outcome.timeline
    assert [entry.attempt for entry in timeline] == list(range(122, 222))
    assert [entry.attempt for entry in timeline if entry.state != "CREATING"] == [181, 221]
    assert timeline[0].elapsed == 121


def test_copies_and_pickles_keep_it(kinesis, answers, creating, active):
    answers(kinesis, creating, active, creating)
    outcome = wait(kinesis)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        wait(kinesis, max_wait=30)
    for end in (outcome, caught.value):
        assert len(end.timeline) > 1
        for again in (copy.copy(end), pickle.loads(pickle.dumps(end))):
            assert again.timeline == end.timeline


def test_states_that_may_not_be_shown_are_left_out(answers, virtual_time):
    path = "Credentials.SecretAccessKey"
    token = bwp.WaiterDefinition.from_states("Given", "GetSessionToken", path=path, success=["x"])
    sts = boto3.client("sts")
    answers(sts, *[{"Credentials": {"SecretAccessKey": value}} for value in ("hidden", "x")])
    outcome = bwp.wait_until(sts, token, max_wait=60)
    assert [entry.state for entry in outcome.timeline] == [None, None]
