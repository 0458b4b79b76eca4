"""Errors of a call: their names, which end a wait, which are raised raw, and what is shown."""

import contextlib
import json
import logging
import socket
import ssl
import traceback
from datetime import timedelta
from functools import partial
from unittest import mock

import boto3
import botocore.exceptions as botocores
import pytest
import urllib3.exceptions
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError, WaiterError
from botocore.parsers import ResponseParserError
from case_tables import CASES, experiments
from service.roles import refusal, sending
from service.ways import ALL, by_method, by_waiter

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.service.errors import says_absent, says_not_found

ANY_RESPONSE = {"state": "success", "matcher": {"success": True}}
URL = {"endpoint_url": "https://x"}
ONCE = Config(retries={"total_max_attempts": 1})
BOUNDS = {"max_wait": 300, "min_delay": 1, "max_delay": 99}
WAYS = pytest.mark.parametrize("way", [by_method, by_waiter])
ROWS = json.loads((CASES / "errors.json").read_text("utf-8"))
QUOTE = ROWS["texts"][0]["message"]
pytestmark = pytest.mark.usefixtures("installed", "virtual_time")


def attached(service, document):
    bwp.install(definitions=document)
    return boto3.client(service)


def way_to_wait(way, client, **options):
    """Return a function that waits for a user: a waiter object by its own schedule."""
    if way is by_method:
        options = {"max_wait": 60, **options}
    return partial(way, client, "user_exists", **options)


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS["names"], ids=str)
def test_error_types_match_every_name(answers, waitable, row):
    service, _, operation = row["operation"].partition(".")
    answer = refusal(row["code"], Message="Y", QueryErrorCode="QueueDoesNotExist")
    parameters = {"Bucket": "b"} if operation == "HeadBucket" else {}
    for error_type in (*row["matching"], *row["others"]):
        on_error = {"state": "success", "matcher": {"errorType": error_type}}
        client = attached(service, waitable("Seen", operation, on_error))
        answers(client, answer)
        is_other = error_type in row["others"]
        with pytest.raises(bwp.WaiterFailedError) if is_other else contextlib.nullcontext():
            outcome = client.wait_until_seen(max_wait=60, **parameters)
            assert outcome.exception.response["Error"]["Code"] == row["code"]


def test_error_types_match_classes_and_shapes_of_errors(answers, waitable):
    modelled = boto3.client("rds").exceptions.DBInstanceNotFoundFault
    for raised, name in (
        (modelled({"Error": {"Code": "X"}}, "DescribeDBInstances"), "DBInstanceNotFoundFault"),
        # A replaced operation raises the error without its class.
        (ClientError(refusal("DBInstanceNotFound"), "op"), "DBInstanceNotFoundFault"),
        (EndpointConnectionError(**URL), "EndpointConnectionError"),
    ):
        on_error = {"state": "success", "matcher": {"errorType": name}}
        client = attached("rds", waitable("Seen", "DescribeDBInstances", on_error))
        answers(client, raised)
        assert client.wait_until_seen(max_wait=60).exception is raised


EMPTY = [{}, {"Error": {}}, {"Error": None}, {"Error": {"Code": 404}}]


@pytest.mark.parametrize("response", EMPTY, ids=str)
def test_an_almost_empty_error_response_is_a_failure(iam, answers, response):
    raised = ClientError({"Error": {}}, "GetUser")
    raised.response = response
    answers(iam, raised)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        iam.wait_until_user_exists(max_wait=60)
    assert caught.value.last_response == response
    assert "HTTP" not in str(caught.value)


MISSING = ["DBInstanceNotFound", "InvalidVolume.NotFound", "ResourceNotFoundException", "NotFound"]
MISSING += ["DBClusterNotFoundFault", "QueueDoesNotExist", "NoSuchBucket", "NoSuchEntity"]
FOUND = "ResourceNotFoundExceptions NotFoundish ThereIsNoSuchBucket AccessDenied 404"


@pytest.mark.parametrize("code", [*FOUND.split(), ""])
def test_missing_ok_for_retries_no_other_error(answers, waitable, code):
    client = attached("iam", waitable("UserThere", "GetUser", ANY_RESPONSE))
    asked = answers(client, refusal(code, "no user bob"))
    with pytest.raises(bwp.WaiterFailedError):
        client.wait_until_user_there(max_wait=60, missing_ok_for=10)
    assert len(asked.requests) == 1


@pytest.mark.parametrize("code", ["404", *MISSING])
def test_missing_ok_for_retries_not_found(answers, waitable, virtual_time, code):
    client = attached("iam", waitable("UserThere", "GetUser", ANY_RESPONSE))
    error = refusal(code, "no user bob", status=404 if code == "404" else 400)
    answers(client, lambda: {} if 5 <= virtual_time.now < 50 else error)
    wait = partial(client.wait_until_user_there, max_wait=60, missing_ok_for=10, max_delay=3)
    wait()
    virtual_time.advance(50)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        wait()
    assert caught.value.service_message == "no user bob"
    assert 10 <= caught.value.elapsed <= 14


# --- `retry_errors_for`: errors that are no failure for the first seconds, by their code ---------

LEAST = {"InvalidClientTokenId": 20, "AccessDenied": 60, "ServiceFailure": 0}
NEW_KEY = {"InvalidClientTokenId": 20, "AccessDenied": timedelta(minutes=1)}
USER = {"max_wait": 600, "max_delay": 3, "retry_errors_for": NEW_KEY}


@pytest.mark.parametrize("way", ALL)
@pytest.mark.parametrize(("code", "least"), LEAST.items())
def test_after_its_time_an_error_is_a_failure(iam, answers, virtual_time, way, code, least):
    asked = answers(iam, refusal(code, "no", status=403))
    with pytest.raises(WaiterError, match=code):
        way(iam, "user_exists", **USER)
    assert least <= virtual_time.now <= least + 6
    assert (len(asked.requests) == 1) is (code not in NEW_KEY)


def test_a_failure_acceptor_is_held_off_and_a_success_is_not(iam, waitable, answers):
    denied, gone = (
        {"state": state, "matcher": {"errorType": code}}
        for state, code in (("failure", "AccessDenied"), ("success", "NoSuchEntity"))
    )
    bwp.enable(iam, definitions=waitable("UserGone", "GetUser", denied, gone))
    answers(iam, *[refusal("AccessDenied")] * 2, refusal("NoSuchEntity"))
    times = {"AccessDenied": 30, "NoSuchEntity": 30}
    outcome = iam.wait_until_user_gone(max_wait=60, retry_errors_for=times)
    assert (outcome.attempts, type(outcome)) == (3, bwp.ExceptionOutcome)


def test_a_transient_error_that_is_named_is_retried_in_the_letter_too(iam, answers):
    answers(iam, refusal("Throttling", status=400), {})
    options = {"max_wait": 60, "retry_transient": False, "retry_errors_for": {"Throttling": 9}}
    assert iam.wait_until_user_exists(**options).attempts == 2


def test_poll_retries_errors_by_code_and_by_the_names_of_their_classes():
    read = mock.Mock(side_effect=[FileNotFoundError(), {}])
    options = {"max_wait": 60, "retry_errors_for": {"OSError": 30}}
    assert conditions.poll(read, {"acceptors": [ANY_RESPONSE]}, **options).attempts == 2


NO_MAPPINGS = ["AccessDenied", ["AccessDenied"], {403: 60}, {"": 60}, {"403": "60"}, {"403": -1}]


@pytest.mark.parametrize("value", NO_MAPPINGS, ids=str)
def test_what_is_no_mapping_of_codes_is_refused(iam, answers, value):
    asked = answers(iam, {})
    with pytest.raises((TypeError, ValueError), match="retry_errors_for"):
        iam.wait_until_user_exists(max_wait=60, retry_errors_for=value)
    assert asked.requests == []


# --- transient ----------------------------------------------------------------------------------

UNTRUSTED = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed")
UNTRUSTED_BY_PROXY = urllib3.exceptions.ProxyError("no", UNTRUSTED)


ERRORS = {
    "transient": [
        refusal("ThrottlingException"), refusal("Whatever", status=429), refusal("RequestTimeout"),
        refusal("InternalFailure", status=500), botocores.ReadTimeoutError(**URL),
        botocores.ConnectionClosedError(**URL), botocores.ResponseStreamingError(error="x"),
        refusal("InvalidParameterException", QUOTE),
    ],
    "unconnected": [
        EndpointConnectionError(**URL), botocores.ConnectTimeoutError(**URL),
        botocores.ProxyConnectionError(proxy_url="http://p"), botocores.HTTPClientError(error="?"),
        botocores.SSLError(**URL, error="record layer failure"),
    ],
    "answer": [
        refusal("NotImplemented", status=501), refusal("HTTPVersionNotSupported", status=505),
        refusal("AccessDenied", status=403), refusal("ValidationError"),
        botocores.SSLError(**URL, error=UNTRUSTED),
        botocores.SSLError(**URL, error=urllib3.exceptions.SSLError(UNTRUSTED)),
        botocores.ProxyConnectionError(proxy_url="p", error=UNTRUSTED_BY_PROXY),
        botocores.InvalidS3AddressingStyleError(s3_addressing_style="x"),
        ResponseParserError("<html>"),
    ],
}  # fmt: skip
KINDS = [(kind, each) for kind, errors in ERRORS.items() for each in errors]


@WAYS
@pytest.mark.parametrize(("kind", "raised"), KINDS)
def test_which_errors_end_a_wait(iam, answers, way, kind, raised):
    """A missing connection may be a wrong endpoint, until the service has answered."""
    replies = []
    answers(iam, lambda: replies.pop(0))

    def attempts(*script, **options):
        replies[:] = [*script, {"User": {}}]
        with contextlib.suppress(WaiterError, botocores.BotoCoreError, ResponseParserError):
            way_to_wait(way, iam, **options)()
        return len(script) + 1 - len(replies)

    missing, is_answer = refusal("NoSuchEntity"), kind == "answer"
    assert attempts(raised, raised) == (3 if kind == "transient" else 1)
    assert attempts(missing, raised) == (2 if is_answer else 3)
    assert attempts(refusal("Unavailable", status=503), raised) == (2 if is_answer else 3)
    assert attempts(raised, retry_transient=True) == (1 if is_answer else 2)
    assert attempts(raised, retry_transient=False) == 1


@pytest.mark.parametrize("row", ROWS["kinds"], ids=str)
def test_the_model_tells_what_an_error_means(answers, waitable, row):
    """A transient error is no end; after a throttle, the longest delay follows."""
    service, _, operation = row["operation"].partition(".")
    client, delays = attached(service, waitable("Seen", operation, ANY_RESPONSE)), []
    required = client.meta.service_model.operation_model(operation).input_shape.required_members
    answers(client, refusal(row["code"], status=row["status"]), {})
    observed = {"on_attempt": lambda event: delays.append(event.next_delay)}
    with contextlib.nullcontext() if row["transient"] else pytest.raises(bwp.WaiterFailedError):
        client.wait_until_seen(**BOUNDS, **observed, **dict.fromkeys(required, "a"))
    assert (delays[0] == 99) is row["throttled"]


@pytest.mark.parametrize(("code", "status"), [
    ("ResourceNotFoundException", 400), ("NoSuchThing", 400), ("Gone", 404), ("AccessDenied", 403),
])  # fmt: skip
def test_what_is_certain_is_no_throttle_whatever_it_quotes(iam, answers, code, status):
    answers(iam, refusal(code, QUOTE, status))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(iam, "RoleExists", max_wait=300, retry_transient=True, RoleName="r")
    assert caught.value.attempts == 1


def is_throttled(way, client, asked):
    """Whether a wait goes on after an error, with the longest delay; otherwise it has failed."""
    delays = []
    wait = way_to_wait(way, client, **BOUNDS, on_attempt=lambda e: delays.append(e.next_delay))
    try:
        wait(UserName="u")
    except WaiterError:
        assert (delays, len(asked.requests)) == ([None], 1)
        return False
    assert (delays, len(asked.requests)) == ([99, None], 2)
    return True


@WAYS
@pytest.mark.parametrize("text", ROWS["texts"], ids=lambda text: text["message"][-50:])
def test_a_throttle_that_another_error_quotes_is_one(iam, answers, way, text):
    asked = answers(iam, refusal("InvalidParameterException", text["message"], 400), {})
    assert is_throttled(way, iam, asked) is text["is_throttle"]


@pytest.mark.parametrize(("code", "status"), [("InternalFailure", 500), ("Busy", 429)])
def test_the_delay_after_it_is_long_whatever_its_status(iam, answers, code, status):
    assert is_throttled(by_method, iam, answers(iam, refusal(code, QUOTE, status), {}))


# --- raw ----------------------------------------------------------------------------------------


RAW = [
    botocores.ParamValidationError(report="bad"), botocores.NoCredentialsError(),
    botocores.PartialCredentialsError(provider="env", cred_var="x"), botocores.NoRegionError(),
    botocores.UnStubbedResponseError(operation_name="X", reason="dry"),
    AttributeError("mine"), OSError("mine"), KeyboardInterrupt(), SystemExit(3),
]  # fmt: skip


@WAYS
@pytest.mark.parametrize("raised", RAW, ids=lambda raised: type(raised).__name__)
@pytest.mark.parametrize("at", [1, 3])
def test_raw_errors_are_raised_unchanged(iam, answers, raised, way, at):
    asked = answers(iam, *[refusal("NoSuchEntity", status=404)] * (at - 1), raised)
    options = {"retry_transient": True, "missing_ok_for": 30} if way is by_method else {}
    with pytest.raises(type(raised)) as caught:
        way_to_wait(way, iam, **options)()
    assert caught.value is raised
    assert len(asked.requests) == at


# --- transport ----------------------------------------------------------------------------------


SECRET = {"endpoint_url": "https://b.example/secret"}
UNKNOWN = urllib3.exceptions.NewConnectionError(None, "secret")
UNKNOWN.__cause__ = socket.gaierror(-2, "Name or service not known")
TRANSPORT = [
    (EndpointConnectionError(**SECRET, error=ConnectionRefusedError(111, "refused")), "refused"),
    (EndpointConnectionError(**SECRET, error=UNKNOWN), "Name or service not known"),
    (EndpointConnectionError(**SECRET, error=OSError(5, "w" * 300)), "w" * 197 + "..."),
    (EndpointConnectionError(**SECRET, error=OSError("secret")), ""),
    (botocores.SSLError(**SECRET, error=ssl.SSLError(1, "verify failed")), "verify failed"),
    (botocores.ConnectTimeoutError(**SECRET), ""),
    (botocores.ProxyConnectionError(proxy_url="http://u:secret@proxy"), ""),
    (botocores.HTTPClientError(error="secret"), ""),
    (urllib3.exceptions.ProtocolError("secret"), ""),
    (ResponseParserError("secret"), ""),
]


@pytest.mark.parametrize(("raised", "words"), TRANSPORT, ids=lambda value: str(value)[:40])
def test_transport_errors_are_failures_with_a_cause(answers, raised, words):
    client = boto3.client("iam", endpoint_url="https://b.example/")
    answers(client, raised)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_user_exists(max_wait=60, retry_transient=False)
    error = caught.value
    assert error.__cause__ is error.last_exception is raised
    assert (error.attempts, error.last_response) == (1, {})
    named = f"{type(raised).__name__} at https://b.example" + (f": {words}" if words else "")
    assert named in str(error)
    assert "secret" not in str(error)
    with pytest.raises(type(raised)) as caught:
        client.get_waiter("user_exists").wait(retry_transient=False)
    assert caught.value is raised


@pytest.mark.parametrize("kind", [EndpointConnectionError, botocores.ConnectionClosedError])
def test_credentials_in_an_endpoint_url_are_not_shown(answers, kind):
    endpoint = "https://user:hunter2@service.example:8080"
    client = boto3.client("iam", endpoint_url=f"{endpoint}/?token=hunter2")
    answers(client, kind(endpoint_url=f"{endpoint}/"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_user_exists(max_wait=60, retry_transient=False)
    printed = "".join(traceback.format_exception(caught.value))
    assert "https://service.example:8080/" in printed
    assert "hunter2" not in printed + repr(caught.value.__cause__)
    assert caught.value.last_exception.kwargs["endpoint_url"] == "https://service.example:8080/"


@pytest.mark.parametrize(("error", "words"), [
    (OSError(5, "Input/output error"), "OSError: Input/output error"),
    (json.JSONDecodeError("Expecting value", "<secret", 0), "JSONDecodeError: Expecting value"),
    (KeyError("password=secret"), r"KeyError \("),
])  # fmt: skip
def test_a_condition_tells_what_is_behind_an_error(error, words):
    call = mock.Mock(side_effect=error)
    with pytest.raises(bwp.WaiterTimeoutError, match=words) as caught:
        conditions.wait_for(call, max_wait=1, retry_on=type(error))
    assert "secret" not in str(caught.value)


# --- bodies -------------------------------------------------------------------------------------

INSTANCE = {"InstanceIds": ["i"]}
CASES_OF_BODIES = {
    "ec2": ("instance_running", INSTANCE),
    "cloudformation": ("stack_exists", {"StackName": "web"}),
    "dynamodb": ("table_exists", {"TableName": "orders"}),
    "codebuild": ("builds_succeeded", {"ids": ["a"]}),
}


def wait_for_body(service, body, status=200, **options):
    """Return the error of a wait whose requests are all answered with this body, unparsed."""
    client = boto3.client(service, config=ONCE)
    sending(client, (status, body))
    waiter, parameters = CASES_OF_BODIES[service]
    with pytest.raises(bwp.WaiterError) as caught:
        bwp.wait_until(client, waiter, max_wait=9, **parameters, **options)
    return caught.value


@experiments("is answered", "service", "status", "body", "transient", "words")
def test_what_a_body_decides_and_shows(service, status, body, transient, words):
    error = wait_for_body(service, body.encode("latin-1"), status=status, max_attempts=2)
    kind = bwp.WaiterAttemptsError if transient else bwp.WaiterFailedError
    assert (type(error), error.transient_errors) == (kind, transient or 0)
    assert (f"the body begins with {words}" in str(error)) is (words is not None)
    assert ("the body begins" in str(error)) is (words is not None)
    assert len(str(error)) < 600
    assert "hidden" not in f"{error} {error!r} {error.service_message}"
    if not (words or transient) and body:
        assert body not in "".join(traceback.format_exception(error))


def test_an_unreadable_error_of_a_server_ends_no_waiter_object():
    client = boto3.client("ec2", config=ONCE)
    sent = sending(client, (502, b"Bad Gateway"), (200, b"<a><reservationSet/></a>"))
    with pytest.raises(bwp.WaiterAttemptsError):
        client.get_waiter("instance_running").wait(WaiterConfig={"MaxAttempts": 2})
    assert len(sent) == 2


NEVER = {"acceptors": [{"state": "success", "matcher": {"success": False}}]}
LABELLED = [
    lambda ec2, **options: bwp.wait_all([bwp.Wait(ec2, "instance_running", INSTANCE, **options)]),
    lambda ec2, **options: conditions.poll(ec2.describe_instances, NEVER, **options),
    lambda _, **options: conditions.wait_for(lambda: None, **options),
]


@pytest.mark.parametrize("way", LABELLED, ids=["wait_all", "poll", "wait_for"])
def test_a_label_of_the_caller_is_escaped(way, answers):
    client = boto3.client("ec2")
    answers(client, {"Reservations": []})
    with pytest.raises((bwp.WaiterTimeoutError, bwp.WaitersError)) as caught:
        way(client, label="web\nINFO \x1b[31m", max_wait=1)
    (error,) = getattr(caught.value, "errors", {0: caught.value}).values()
    assert (error.label, str(error).isprintable()) == (r"web\nINFO \x1b[31m", True)


def test_a_body_that_may_hold_secrets_is_not_quoted(monkeypatch):
    states = {"path": "Credentials.AccessKeyId", "success": ["a"]}
    waiter = bwp.WaiterDefinition.from_states("Given", "GetSessionToken", **states)
    monkeypatch.setitem(CASES_OF_BODIES, "sts", (waiter, {}))
    assert "hidden" not in str(wait_for_body("sts", b"<html>hidden"))


def test_an_endless_redirect_is_a_failure_of_the_call():
    """botocore follows it until Python's limit."""
    client = boto3.client("ec2")
    for name in ("before-call", "redirect"):
        client.meta.events.register(name, lambda **_: client.meta.events.emit("redirect") and None)
    with pytest.raises(bwp.WaiterFailedError, match="RecursionError"):
        client.wait_until_instance_running(InstanceIds=["i"], max_wait=60)


# --- texts of the service -----------------------------------------------------------------------


@WAYS
@experiments("is told", "place", "text")
def test_texts_of_a_service_are_escaped(way, cloudformation, answers, caplog, place, text):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    told = dict.fromkeys(("code", "message", "state", "reason", "parameter"), "web") | {place: text}
    stack = {"StackName": told["parameter"], "StackStatusReason": told["reason"]}
    states = ["ROLLBACK_COMPLETE"] if place != "state" else [text, "ROLLBACK_COMPLETE"]
    replies = [{"Stacks": [{**stack, "StackStatus": each}]} for each in states]
    if place in ("code", "message"):
        replies = [refusal(told["code"], told["message"])]
    answers(cloudformation, *replies)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        way(cloudformation, "stack_create_complete", StackName=told["parameter"], max_wait=60)
    shown = [str(caught.value), repr(caught.value), *caplog.messages]
    assert any(ascii(text)[1:10] in each for each in shown)
    assert [each for each in shown if not each.isprintable()] == []


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
def test_a_denied_deletion_may_mean_that_it_is_gone(answers, code):
    backup = boto3.client("backup")
    answers(backup, refusal(code, "Insufficient privileges"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        backup.wait_until_backup_vault_deleted(BackupVaultName="v", max_wait=60)
    is_told = "when the resource is gone" in str(caught.value)
    assert is_told is (code == "AccessDeniedException")


def test_other_words_mean_that_something_is_gone():
    codes = "EntityDoesNotExistException IdcApplicationNotExistsFault WAFNonexistentItemException"
    for code in codes.split():
        assert (says_absent(code), says_not_found(code)) == (True, False)
