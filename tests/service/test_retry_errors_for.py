"""`retry_errors_for`: errors that are no failure for the first seconds, by their code."""

from datetime import timedelta
from unittest import mock

import pytest
from botocore.exceptions import WaiterError
from service import ways

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions

WAYS = pytest.mark.parametrize("way", ways.ALL)
NEW_KEY = {"InvalidClientTokenId": 20, "AccessDenied": timedelta(minutes=1)}
USER = {"max_wait": 600, "max_delay": 3, "retry_errors_for": NEW_KEY}


@WAYS
def test_an_error_is_retried_for_its_time(iam, answers, error_answer, virtual_time, way):
    unknown_key = error_answer("InvalidClientTokenId", status=403)
    asked = answers(iam, lambda: {} if virtual_time.now >= 15 else unknown_key)
    assert way(iam, "user_exists", **USER).attempts == len(asked.requests) > 1


@WAYS
@pytest.mark.parametrize(("code", "least"), [("InvalidClientTokenId", 20), ("AccessDenied", 60)])
def test_after_its_time_an_error_is_a_failure(
    iam, answers, error_answer, virtual_time, way, code, least
):
    answers(iam, error_answer(code, "no", status=403))
    with pytest.raises(WaiterError, match=code):
        way(iam, "user_exists", **USER)
    assert least <= virtual_time.now <= least + 6


@WAYS
def test_other_errors_are_failures_at_once(iam, answers, error_answer, virtual_time, way):
    asked = answers(iam, error_answer("ServiceFailure", "no", status=400))
    with pytest.raises(WaiterError, match="ServiceFailure"):
        way(iam, "user_exists", **USER)
    assert len(asked.requests) == 1


def test_a_failure_acceptor_is_held_off_and_a_success_is_not(
    iam, waitable, answers, error_answer, virtual_time
):
    denied, gone = (
        {"state": state, "matcher": {"errorType": code}}
        for state, code in (("failure", "AccessDenied"), ("success", "NoSuchEntity"))
    )
    bwp.enable(iam, definitions=waitable("UserGone", "GetUser", denied, gone))
    answers(iam, *[error_answer("AccessDenied")] * 2, error_answer("NoSuchEntity"))
    times = {"AccessDenied": 30, "NoSuchEntity": 30}
    outcome = iam.wait_until_user_gone(max_wait=60, retry_errors_for=times)
    assert (outcome.attempts, type(outcome)) == (3, bwp.ExceptionOutcome)


def test_a_transient_error_that_is_named_is_retried_in_the_letter_too(
    iam, answers, error_answer, virtual_time
):
    answers(iam, error_answer("Throttling", status=400), {})
    options = {"max_wait": 60, "retry_transient": False, "retry_errors_for": {"Throttling": 9}}
    assert iam.wait_until_user_exists(**options).attempts == 2


def test_defaults_hold_until_a_call_gives_its_own(iam, answers, error_answer, virtual_time):
    bwp.enable(iam, defaults={"retry_errors_for": {"AccessDenied": 30}})
    denied = error_answer("AccessDenied", status=403)
    answers(iam, denied, {}, denied)
    assert iam.wait_until_user_exists(max_wait=60).attempts == 2
    with pytest.raises(bwp.WaiterFailedError):
        iam.wait_until_user_exists(max_wait=60, retry_errors_for={})


def test_poll_retries_errors_by_code_and_by_the_names_of_their_classes(virtual_time):
    read = mock.Mock(side_effect=[FileNotFoundError(), {}])
    found = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}
    options = {"max_wait": 60, "retry_errors_for": {"OSError": 30}}
    assert conditions.poll(read, found, **options).attempts == 2


@pytest.mark.parametrize(("value", "kind", "words"), [
    ("AccessDenied", TypeError, "mapping"), (["AccessDenied"], TypeError, "mapping"),
    ({403: 60}, TypeError, "error code"), ({"": 60}, ValueError, "error code"),
    ({"403": "60"}, TypeError, "'403'"), ({"403": -1}, ValueError, "'403'"),
], ids=str)  # fmt: skip
def test_what_is_no_mapping_of_codes_to_seconds_is_refused(iam, answers, value, kind, words):
    asked = answers(iam, {})
    with pytest.raises(kind, match=f"retry_errors_for.*{words}|{words}.*retry_errors_for"):
        iam.wait_until_user_exists(max_wait=60, retry_errors_for=value)
    assert asked.requests == []
