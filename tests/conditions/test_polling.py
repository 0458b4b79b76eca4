"""`poll` and `poll_async`: calls, matching, and bad arguments."""

import datetime as dt
import functools
import threading
from decimal import Decimal
from unittest import mock

import boto3
import pytest
from botocore import exceptions as errors
from botocore.exceptions import ClientError

import boto_waiters_plus as bwp
from boto_waiters_plus import (
    WaiterDefinitionError,
    WaiterFailedError,
    WaiterTimeoutError,
    conditions,
)
from boto_waiters_plus.conditions import poll, wait_for

LONG_CUT = f"{'x' * 150} [...] {'x' * 350}"
ANY_RESPONSE = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}
ANY_ERROR = {"acceptors": [{"state": "success", "matcher": {"success": False}}]}


def on_error(name):
    return {"acceptors": [{"state": "success", "matcher": {"errorType": name}}]}


# --- the callable ---


@pytest.fixture
def run(styled):
    """`poll`, blocking, in a task, and with a callable to await."""
    return styled(conditions).poll


def test_input_becomes_keywords_and_stays_unchanged():
    seen, parameters = [], {"Name": "x", "Nested": {"a": [1]}}

    def call(**keywords):
        seen.append(dict(keywords))
        keywords.clear()

    poll(call, ANY_RESPONSE, input=parameters, max_wait=60)
    assert seen == [{"Name": "x", "Nested": {"a": [1]}}]
    assert parameters == {"Name": "x", "Nested": {"a": [1]}}


class Thing:
    def method(self, *, name="none"):
        return name

    def __call__(self, name="none"):
        return name


@pytest.mark.parametrize(("call", "response"), [
    (Thing().method, "x"),
    (Thing(), "x"),
    (functools.partial(Thing().method), "x"),
    (mock.Mock(return_value="y"), "y"),
    (dict, {"name": "x"}),
    (lambda: "without parameters", "without parameters"),
])  # fmt: skip
def test_any_callable_can_be_polled(call, response):
    assert poll(call, ANY_RESPONSE, input={"name": "x"}, max_wait=60).response == response


def test_the_wait_is_named_by_its_definition_and_the_callable(virtual_time):
    up = bwp.WaiterDefinition.from_states("ThingUp", "GetThing", path="State", success=["UP"])
    with pytest.raises(WaiterTimeoutError, match="GetThing") as caught:
        poll(dict, up, max_wait=60)
    assert caught.value.waiter == "ThingUp"
    with pytest.raises(WaiterTimeoutError) as caught:
        poll(Thing().method, on_error("Never"), max_wait=60)
    assert (caught.value.waiter, caught.value.label) == ("Poll", "Thing.method")


# --- methods of clients ---


def is_true(path, kind="output"):
    matcher = {"path": path, "expected": "true", "comparator": "booleanEquals"}
    return {"acceptors": [{"state": "success", "matcher": {kind: matcher}}]}


def test_items_of_a_table_compare_as_numbers(answers):
    table = boto3.resource("dynamodb").Table("orders")
    answers(table.meta.client, {"Item": {"count": {"N": "3"}, "tags": {"SS": ["a"]}}})
    path = "Item.count >= `3` && Item.tags[0] == 'a'"
    outcome = poll(table.get_item, is_true(path), input={"Key": {"id": "1"}}, max_wait=9)
    assert isinstance(outcome.response["Item"]["count"], Decimal)


@pytest.mark.parametrize(("value", "path"), [
    (Decimal(3), "@ > `2` && @ == `3`"),
    (Decimal("2.50"), "@ < `3` && @ == `2.5`"),
    (Decimal(12345678901234567891), "@ == `12345678901234567891`"),
    (Decimal("NaN"), "!(@ == `0`)"),
    (Decimal("sNaN"), "!(@ == `0`)"),
    (Decimal("1E+999999"), "@ > `5`"),
    (((1, 2), (3,)), "@ == `[[1, 2], [3]]` && length(@[0]) == `2`"),
    ({"a": (Decimal(1),)}, "a[?@ == `1`] | length(@) == `1`"),
    (dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc), "@ == `1767225600`"),
    ({"kinds": {"x"}}, "kinds[0] == 'x'"),
], ids=str)  # fmt: skip
def test_values_of_any_callable_are_in_the_data_model(run, value, path):
    assert run(lambda: value, is_true(path), max_wait=1).response is value
    waiter = is_true(f"input.value | {path}", "inputOutput")
    assert run(lambda **_: {}, waiter, input={"value": value}, max_wait=1).attempts == 1


def test_a_value_that_contains_itself_is_matched_as_far_as_it_goes():
    value = {"state": "ready"}
    value["self"] = value
    assert poll(lambda: value, is_true("state == 'ready'"), max_wait=1).response is value


def test_methods_of_clients_have_the_data_model(answers):
    client = boto3.client("dynamodb")
    created = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone.utc)
    answers(client, {"Table": {"CreationDateTime": created}})
    path = "Table.CreationDateTime == `1704110400` && length(keys(@)) == `1`"
    given = {"TableName": "orders"}
    for call, options in (
        (client.describe_table, {"input": given}),
        (functools.partial(client.describe_table, **given), {}),
    ):
        outcome = poll(call, is_true(path), max_wait=3, **options)
        assert outcome.response["Table"]["CreationDateTime"] is created
        assert "ResponseMetadata" in outcome.response


def test_methods_of_clients_have_the_shapes_of_the_model(answers):
    client = boto3.client("s3")
    answers(client, {"Error": {"Code": "404", "Message": "Not Found"}})
    given = {"input": {"Bucket": "b"}, "max_wait": 3}
    assert poll(client.head_bucket, on_error("NotFound"), **given).exception
    client = boto3.client("secretsmanager")
    answers(client, {"SecretString": "new-secret"})
    waiter = bwp.WaiterDefinition.from_states("A", "A", path="SecretString", success=["new-secret"])
    outcome = poll(client.get_secret_value, waiter, input={"SecretId": "s"}, max_wait=3)
    assert outcome.observed is None


# --- errors ---


class ThingMissing(Exception):  # noqa: N818 - a name as services have it
    pass


def client_error(code, message="went wrong"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "GetThing")


def raising(error):
    def call():
        raise error

    return call


@pytest.mark.parametrize(("error", "name", "matches"), [
    (ThingMissing(), "ThingMissing", True),
    (KeyError("x"), "LookupError", True),
    (KeyError("x"), "IndexError", False),
    (client_error("Gone"), "Gone", True),
    (client_error("Gone"), "ClientError", True),
    (errors.EndpointConnectionError(endpoint_url="http://x"), "EndpointConnectionError", True),
], ids=str)  # fmt: skip
def test_errors_are_matched_by_class_and_code(run, error, name, matches):
    if matches:
        assert run(raising(error), on_error(name), max_wait=60).exception is error
        return
    with pytest.raises(WaiterFailedError) as caught:
        run(raising(error), on_error(name), max_wait=60)
    assert caught.value.__cause__ is error


MISTAKES = [
    errors.ParamValidationError(report="Missing required parameter"),
    errors.NoCredentialsError(),
    errors.PartialCredentialsError(provider="env", cred_var="secret"),
    errors.NoRegionError(),
    errors.UnStubbedResponseError(operation_name="GetThing", reason="none left"),
]


@pytest.mark.parametrize("error", MISTAKES, ids=lambda error: type(error).__name__)
def test_an_error_that_the_caller_must_mend_is_raised(run, error):
    with pytest.raises(type(error)) as caught:
        run(raising(error), ANY_ERROR, max_wait=60)
    assert caught.value is error


@pytest.mark.parametrize(("response", "message"), [
    ({"Error": {"Code": "Oops", "Message": "no quota"}}, "no quota"),
    ({"Error": {"Code": "Oops", "Message": "x" * 5000}}, LONG_CUT),
    ({"Error": {"Code": "Oops", "Message": None}}, None),
    ({"Error": {"Code": "Oops", "Message": 7}}, "7"),
    *[({"Error": {"Code": 5}}, None), ({}, None)],
], ids=["message", "long", "none", "no text", "number", "empty"])  # fmt: skip
def test_a_failure_carries_the_services_message(run, response, message):
    with pytest.raises(WaiterFailedError) as caught:
        run(raising(ClientError(response, "GetThing")), ANY_RESPONSE, max_wait=60)
    assert len(str(caught.value)) < 700
    assert caught.value.service_message == message
    assert caught.value.last_response.get("Error") == response.get("Error")


# --- bad arguments ---


def never():
    pytest.fail("called though an argument is bad")


@pytest.mark.parametrize(("call", "waiter", "options", "kind", "says"), [
    (never, {}, {}, WaiterDefinitionError, "acceptors"),
    (never, ANY_RESPONSE, {"input": [1]}, TypeError, "input"),
    (never, ANY_RESPONSE, {"Bucket": "b"}, TypeError, "Bucket.*input"),
])  # fmt: skip
def test_a_bad_argument_is_refused_before_any_call(run, call, waiter, options, kind, says):
    with pytest.raises(kind, match=says):
        run(call, waiter, **{"max_wait": 60, **options})


# --- call_in_thread ---


@pytest.fixture
def stuck():
    """A callable that does not return during the test."""
    go_on = threading.Event()
    yield lambda: go_on.wait(100)
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "boto_waiters_plus call":
            thread.join(30)


def test_call_in_thread_abandons_a_hanging_callable(stuck, virtual_time):
    returned, calls = [], iter([lambda: 5, lambda: returned.append(stuck())])
    options = {"max_wait": 1, "interval": 0.5, "call_in_thread": True}
    assert wait_for(lambda: next(calls)() == 7, on_timeout="last", **options) is False
    assert returned == []


def test_call_in_thread_judges_in_the_calling_thread():
    called, judged = [], []

    def call():
        called.append(threading.get_ident())
        raise KeyError

    options = {"call_in_thread": True, "on_attempt": lambda _: judged.append(threading.get_ident())}
    with pytest.raises(WaiterFailedError) as caught:
        poll(call, ANY_RESPONSE, max_wait=60, **options)
    assert isinstance(caught.value.__cause__, KeyError)
    assert called != judged == [threading.get_ident()]
