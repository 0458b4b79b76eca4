"""Waiter objects of botocore: our options of `wait`, what it returns, the words of its errors."""

import copy
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import boto3
import botocore.useragent
import botocore.waiter as botocores
import pytest
from botocore.exceptions import ReadTimeoutError, WaiterError
from botocore.waiter import NormalizedOperationMethod
from service.roles import refusal, sending
from service.ways import by_batch, by_method, by_waiter

import boto_waiters_plus as bwp

THERE = {"ResponseMetadata": {"HTTPStatusCode": 200}}


def bucket_error(s3, **keywords):
    """Return the error that a wait for a bucket ends with."""
    with pytest.raises(WaiterError) as caught:
        by_waiter(s3, "bucket_exists", Bucket="b", **keywords)
    return caught.value


def waiter(operation, *acceptors, name="GetSecretValue"):
    """A waiter that is made by hand, for an operation or any function."""
    config = {"operation": name, "delay": 1, "maxAttempts": 1, "acceptors": list(acceptors)}
    return botocores.Waiter("Mine", botocores.SingleWaiterConfig(config), operation)


STATUS_200 = {"state": "success", "matcher": "status", "expected": 200}

# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("keywords", [
    {"max_wait": timedelta(seconds=12)}, {"WaiterConfig": {"MaxWait": timedelta(seconds=12)}},
    {"WaiterConfig": {"MaxWait": 500}, "max_wait": 12},
    {"WaiterConfig": {"MaxWait": 12, "Delay": 4}}, {"WaiterConfig": {"MaxWait": 12, "Delay": 0}},
], ids=str)  # fmt: skip
def test_max_wait_is_wall_clock_and_counts_requests(s3, answers, missing, virtual_time, keywords):
    answers(s3, lambda: virtual_time.advance(1.5) or missing)
    error = bucket_error(s3, **keywords)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert error.max_wait == 12
    assert 9 <= error.elapsed <= 12 + 1.5
    assert virtual_time.now <= 12 + 1.5


def test_max_attempts_bounds_beside_max_wait(s3, answers, missing, virtual_time):
    asked = answers(s3, missing)
    error = bucket_error(s3, WaiterConfig={"MaxWait": 1000, "MaxAttempts": 3, "Delay": 1})
    assert (type(error), len(asked.requests)) == (bwp.WaiterAttemptsError, 3)


@pytest.mark.parametrize("delays", [{"delay_pace": "fixed"}, {"max_delay": 3}, {"min_delay": 1}])
def test_delays_can_replace_a_delay_of_0(s3, answers, missing, virtual_time, delays):
    answers(s3, missing)
    error = bucket_error(s3, WaiterConfig={"Delay": 0, "MaxAttempts": 5}, **delays)
    assert type(error) is bwp.WaiterAttemptsError


@pytest.mark.parametrize(("waiter_config", "kind", "text"), [
    ({"delay": 5}, ValueError, "'Delay'"), ({"max_wait": 5}, ValueError, "WaiterConfig"),
    (None, TypeError, "WaiterConfig"), ("Delay=5", TypeError, "WaiterConfig"),
], ids=str)  # fmt: skip
def test_bad_waiter_config_is_refused_before_any_call(s3, answers, waiter_config, kind, text):
    asked = answers(s3, THERE)
    with pytest.raises(kind, match=text):
        by_waiter(s3, "bucket_exists", Bucket="b", WaiterConfig=waiter_config)
    assert asked.requests == []


def test_the_callers_dicts_are_not_changed(s3, answers, sleeps):
    answers(s3, THERE)
    keywords = {"Bucket": "b", "WaiterConfig": {"Delay": 1, "MaxAttempts": 3, "MaxWait": 60}}
    before = copy.deepcopy(keywords)
    by_waiter(s3, "bucket_exists", **keywords)
    assert keywords == before


# --- what it returns ----------------------------------------------------------------------------


@pytest.fixture
def s3_resource(installed):
    return boto3.resource("s3")


def test_get_waiter_returns_the_outcome(s3, answers, missing, sleeps):
    answers(s3, missing, missing, THERE, missing)
    made = s3.get_waiter("bucket_exists")
    outcome = made.wait(Bucket="b")
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert outcome is made.outcome
    assert (outcome.waiter, outcome.attempts, outcome.acceptor.index) == ("BucketExists", 3, 0)
    assert outcome.response["ResponseMetadata"]["RequestId"] == "request-1"
    assert outcome.elapsed == pytest.approx(sum(sleeps), abs=1)
    with pytest.raises(WaiterError):
        made.wait(Bucket="b")
    assert made.outcome is None


def by_hand(client):
    return waiter(NormalizedOperationMethod(client.head_bucket), STATUS_200, name="HeadBucket")


@pytest.mark.parametrize("is_by_hand", [True, False])
def test_waiters_built_otherwise_have_the_outcome(s3, answers, is_by_hand):
    """botocore's function makes a class of its own, whose `wait` returns None as ever."""
    answers(s3, THERE)
    body = {"operation": "HeadBucket", "delay": 5, "maxAttempts": 9, "acceptors": [STATUS_200]}
    model = botocores.WaiterModel({"version": 2, "waiters": {"Mine": body}})
    made = by_hand(s3) if is_by_hand else botocores.create_waiter_with_client("Mine", model, s3)
    assert made.outcome is None
    returned = made.wait(Bucket="b")
    assert isinstance(made.outcome, bwp.ResponseOutcome)
    assert returned is (made.outcome if is_by_hand else None)


def test_without_install_everything_returns_none(answers):
    older = boto3.resource("s3").Bucket("b")
    bwp.install()
    s3, resource = boto3.client("s3"), boto3.resource("s3")
    for each in (s3, resource.meta.client, older.meta.client):
        answers(each, THERE)
    assert older.wait_until_exists() is None
    bucket = resource.Bucket("b")
    bwp.uninstall()
    assert not hasattr(s3.get_waiter("bucket_exists"), "outcome")
    assert bucket.wait_until_exists() is None
    assert by_hand(s3).wait(Bucket="b") is None


def test_resource_methods_return_the_outcome(s3_resource, answers, missing, sleeps):
    answers(s3_resource.meta.client, missing, THERE, {"ContentLength": 3}, missing)
    bucket = s3_resource.Bucket("b")
    assert bucket.wait_until_exists().attempts == 2
    assert bucket.Object("key").wait_until_exists().response["ContentLength"] == 3
    assert isinstance(bucket.wait_until_not_exists(), bwp.ExceptionOutcome)


def test_resource_methods_take_our_keywords(s3_resource, answers, missing, virtual_time):
    asked, told = answers(s3_resource.meta.client, missing), []
    with pytest.raises(bwp.WaiterTimeoutError):
        s3_resource.Bucket("b").wait_until_exists(max_wait=3, on_attempt=told.append)
    assert len(told) == len(asked.requests)
    with pytest.raises(bwp.WaiterAttemptsError):
        s3_resource.Bucket("b").wait_until_exists(WaiterConfig={"Delay": 1, "MaxAttempts": 2})
    assert len(asked.requests) == len(told) + 2


def test_resource_methods_return_the_outcome_to_their_own_thread(s3_resource, answers):
    numbers = iter(range(100))
    answers(s3_resource.meta.client, lambda: {"ContentLength": next(numbers)})
    with ThreadPoolExecutor(8) as pool:
        found = [s3_resource.Object("b", f"key-{number}") for number in range(40)]
        outcomes = list(pool.map(lambda each: each.wait_until_exists(), found))
    assert sorted(o.response["ContentLength"] for o in outcomes) == list(range(40))


def test_a_handlers_own_wait_until_method_keeps_its_return_value(installed):
    session, own = boto3.Session(), {"wait_until_custom": lambda self: "custom"}
    add = lambda class_attributes, **_: class_attributes.update(own)  # noqa: E731
    session.events.register("creating-resource-class.s3.Bucket", add)
    assert session.resource("s3").Bucket("b").wait_until_custom() == "custom"


# --- the words of its errors --------------------------------------------------------------------

USED_UP = "Max attempts exceeded"
ACCEPTED = "Matched expected service error code: ResourceNotFoundException"
THROTTLED = "An error occurred (ThrottlingException): Rate exceeded"


def path(argument, expected, state="success", matcher="path"):
    return {"state": state, "matcher": matcher, "argument": argument, "expected": expected}


CREATING = {"Table": {"TableStatus": "CREATING"}}
MISSING = refusal("ResourceNotFoundException")
THROTTLE = refusal("ThrottlingException", "Rate exceeded")
LOST = ReadTimeoutError(endpoint_url="https://dynamodb")
CODELESS = {"Error": {}, "ResponseMetadata": {"HTTPStatusCode": 503}}


@pytest.mark.parametrize(("replies", "reason", "words", "observed", "last"), [
    ([CREATING], USED_UP, f"{USED_UP}. For dynamodb TableName=orders: ", "CREATING", "Table"),
    ([MISSING], f"{USED_UP}. Previously accepted state: {ACCEPTED}", "", None, "Error"),
    ([CREATING, THROTTLE], THROTTLED, f"{THROTTLED}. {USED_UP}. ", "CREATING", "Error"),
    # botocore takes it for no error.
    ([CREATING, CODELESS], f"{USED_UP}", f"{USED_UP}. For dynamodb", "CREATING", "Error"),
    ([MISSING, LOST], f"{USED_UP}. Previously accepted state: {ACCEPTED}", "", None, "Error"),
])  # fmt: skip
@pytest.mark.usefixtures("installed", "virtual_time")
def test_attempts_used_up_keep_botocores_words(answers, replies, reason, words, observed, last):
    dynamodb, config = boto3.client("dynamodb"), {"Delay": 1, "MaxAttempts": len(replies)}
    answers(dynamodb, *replies)
    with pytest.raises(bwp.WaiterAttemptsError) as caught:
        by_waiter(dynamodb, "table_exists", TableName="orders", WaiterConfig=config)
    error = caught.value
    assert (error.attempts, error.acceptor, error.observed) == (len(replies), None, observed)
    for twin in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert str(twin).startswith(f"Waiter TableExists failed: {words or reason}")
        assert twin.kwargs == {"name": "TableExists", "reason": reason}
        assert twin.label == "dynamodb TableName=orders"
        assert twin.last_response == error.last_response
        assert last in twin.last_response


@pytest.mark.parametrize("wrap", [NormalizedOperationMethod, lambda method: method])
def test_a_value_on_a_sensitive_path_is_not_shown(installed, answers, wrap):
    """`SecretString` is sensitive in the model of Secrets Manager."""
    client = boto3.client("secretsmanager")
    answers(client, {"SecretString": "hunter2"})
    operation, events = wrap(client.get_secret_value), []
    secret = waiter(operation, path("SecretString", "hunter2"))
    outcome = secret.wait(SecretId="s", on_attempt=events.append)
    assert (outcome.observed, events[0].state) == (None, None)
    assert "hunter2" not in repr(outcome).replace(outcome.acceptor.text, "")
    with pytest.raises(WaiterError) as caught:
        waiter(operation, path("SecretString", "other")).wait(SecretId="s")
    assert caught.value.observed is None
    assert "hunter2" not in str(caught.value)


def test_a_path_without_a_value_is_no_match(s3, answers):
    """There, stock raises the error of jmespath."""
    answers(s3, {})
    mine = waiter(s3.list_buckets, path("length(Nothing)", 3), STATUS_200, name="ListBuckets")
    assert mine.wait().acceptor.index == 1


def test_a_path_that_is_too_much_work_is_told(installed):
    doubled = "|".join(["[@,@][]"] * 23)
    mine = waiter(lambda **_: {"a": 1}, path("a", "b"), path(doubled, 3))
    with pytest.raises(WaiterError, match="Failing expressions: "):
        mine.wait()


# --- botocore's mark of a waiter in the user agent: there during a wait, not after ----------------

BUCKET = {"Bucket": "b", "max_wait": 60}


def agents_of(requests):
    agents = [request.headers["User-Agent"] for request in requests]
    return [each.decode() if isinstance(each, bytes) else each for each in agents]


def are_marked(requests):
    marks = [re.search(r" m/(\S+)", agent) for agent in agents_of(requests)]
    return [found is not None and "B" in found[1].split(",") for found in marks]


needs_marks = pytest.mark.skipif(
    not hasattr(botocore.useragent, "register_feature_id"),
    reason="this botocore has no marks in its user agent",
)


@needs_marks
@pytest.mark.parametrize("way", [by_method, by_waiter, by_batch, None])
def test_requests_of_a_wait_are_marked_and_the_next_call_is_not(installed, way, virtual_time):
    resource = boto3.resource("s3")
    client, bucket = resource.meta.client, resource.Bucket("b")
    sent = sending(client, *((status, b"") for status in (404, 404, 200, 200, 405, 200)))

    def wait():
        return way(client, "bucket_exists", **BUCKET) if way else bucket.wait_until_exists()

    wait()
    client.head_bucket(Bucket="b")
    with pytest.raises(bwp.WaiterError):
        wait()
    client.head_bucket(Bucket="b")
    assert are_marked(sent) == [True, True, True, False, True, False]


def test_user_agent_is_what_stocks_waiter_sends():
    client = boto3.client("s3")
    sent = sending(client, (200, b""))
    by_waiter(client, "bucket_exists", Bucket="b")
    bwp.install()
    by_waiter(client, "bucket_exists", Bucket="b")
    bwp.wait_until(client, "BucketExists", **BUCKET)
    first, *others = agents_of(sent)
    assert others == [first, first]
