"""No attempt is made when the service may have forgotten the token."""

import time

import boto3
import pytest

from boto_waiters_plus import idempotency

WRITE = {"TransactItems": [{"Put": {"TableName": "orders", "Item": {"id": {"S": "1"}}}}]}
LIFETIME = 600
"""Seconds; DynamoDB's documentation says 10 minutes."""


@pytest.fixture
def write(call_once, dynamodb):
    """`write(**options)`: TransactWriteItems, whose tokens are known for ten minutes."""
    return lambda **options: call_once(dynamodb.transact_write_items, **{**WRITE, **options})


def test_no_attempt_begins_at_the_end_of_the_lifetime(write, dynamodb, answers, lost, virtual_time):
    begun = []

    def note():
        begun.append(virtual_time.now)
        return lost

    answers(dynamodb, note)
    with pytest.raises(idempotency.CallTimeoutError) as caught:
        write(max_wait=3600)
    assert 0.8 * LIFETIME < begun[-1] - begun[0] <= 0.95 * LIFETIME
    error = caught.value
    assert (error.outcome_unknown, error.token_lifetime, error.max_wait) == (True, 600, 3600)
    assert "timed out after 570 s" in str(error)
    assert str(error).endswith(
        "The service knows the token for 600 s from the first attempt: find out whether the call "
        "was executed before you repeat it."
    )


def test_outage_longer_than_the_lifetime_executes_once(
    write, dynamodb, answers, lost, virtual_time
):
    """The service executes the first request and forgets its token after ten minutes."""
    executed = []

    def answer():
        if not executed or virtual_time.now - executed[-1] > LIFETIME:
            executed.append(virtual_time.now)
        return lost if virtual_time.now - executed[0] < 630 else {}

    answers(dynamodb, answer)
    with pytest.raises(idempotency.CallTimeoutError):
        write(max_wait=3600)
    assert len(executed) == 1


def test_shorter_max_wait_ends_the_call_as_ever(write, dynamodb, answers, lost):
    answers(dynamodb, lost)
    with pytest.raises(idempotency.CallTimeoutError) as caught:
        write(max_wait=60)
    token = caught.value.token
    assert str(caught.value).endswith(
        f"To repeat the same call, pass ClientRequestToken='{token}' to call_once. The service "
        "knows the token for 600 s from the first attempt."
    )


def test_service_that_says_so_has_the_last_word(write, dynamodb, answers, lost, error_answer):
    answers(dynamodb, lost, error_answer("ClientTokenExpiredException"))
    with pytest.raises(idempotency.TokenExpiredError) as caught:
        write(max_wait=3600)
    assert caught.value.token_lifetime == LIFETIME


def test_wait_that_follows_has_all_of_max_wait(call_once, stock_botocore, answers, virtual_time):
    codebuild = boto3.client("codebuild")
    phases = [{"builds": [{"id": "b:1", "buildStatus": "IN_PROGRESS"}]}] * 100
    done = {"builds": [{"id": "b:1", "buildStatus": "SUCCEEDED"}]}
    answers(codebuild, {"build": {"id": "b:1"}}, *phases, done)
    call = call_once(
        codebuild.start_build, max_wait=36000, then_wait="BuildsSucceeded", projectName="p"
    )
    assert call.outcome.elapsed > 300
    assert virtual_time.now > 300


def test_unlisted_operation_has_no_bound_but_max_wait(call_once, ec2, answers, lost, image):
    answers(ec2, lost)
    with pytest.raises(idempotency.CallTimeoutError) as caught:
        call_once(ec2.run_instances, max_wait=1200, **image)
    assert caught.value.elapsed > 1190
    assert caught.value.token_lifetime is None


class Records:
    """Keeps the last record in memory."""

    def save_call(self, record):
        self.record = dict(record)
        return "calls/1"

    def finish_call(self, path, result):
        pass


@pytest.fixture
def record(virtual_time, answers, lost):
    """What a store keeps of a call that got no answer."""
    store, client = Records(), boto3.client("dynamodb")
    answers(client, lost)
    with pytest.raises(idempotency.CallTimeoutError):
        idempotency.call_once(client.transact_write_items, max_wait=10, in_store=store, **WRITE)
    return store.record


@pytest.mark.parametrize(
    ("age", "is_made"), [(0, True), (560, True), (571, False), (86400, False), (-5, False)]
)
def test_resumed_call_counts_from_the_first_attempt(dynamodb, answers, record, age, is_made):
    service = answers(dynamodb, {})
    # A call that began in the future: the clock was set back, and its age cannot be known.
    record["started_at"] = time.time() - age
    if is_made:
        assert idempotency.resume_call(dynamodb, record).attempts == 1
    else:
        with pytest.raises(
            idempotency.CallTimeoutError, match="before its first attempt"
        ) as caught:
            idempotency.resume_call(dynamodb, record)
        assert caught.value.outcome_unknown
    assert len(service.requests) == is_made


def test_resumed_call_of_unknown_age_is_not_made(dynamodb, answers, record):
    service = answers(dynamodb, {})
    del record["started_at"]
    with pytest.raises(idempotency.CallTimeoutError):
        idempotency.resume_call(dynamodb, record)
    assert service.requests == []
