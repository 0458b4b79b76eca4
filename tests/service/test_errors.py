"""Errors of a call: their names, which are raised raw, and the messages of the others."""

import json
import logging
import socket
import ssl
import traceback
import urllib.request
from functools import partial
from types import SimpleNamespace

import boto3
import botocore.exceptions
import botocore.waiter
import pytest
import urllib3.exceptions
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    UnStubbedResponseError,
    WaiterError,
)
from botocore.model import ServiceModel
from botocore.parsers import ResponseParserError
from botocore.stub import Stubber
from case_tables import tabled

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.calls.reply_errors import is_of_the_call
from boto_waiters_plus.service.errors import error_facts, says_not_found

ANY_RESPONSE = {"state": "success", "matcher": {"success": True}}


def on_error(name, state="success"):
    return {"state": state, "matcher": {"errorType": name}}


def attached(service, document, **keywords):
    bwp.install(definitions=document)
    return boto3.client(service, **keywords)


# --- names --------------------------------------------------------------------------------------


@tabled("service", "operation", "code", "details", "error_type", "matches")
def test_error_types_match_every_name(
    answers, error_answer, waitable, service, operation, code, details, error_type, matches
):
    client = attached(service, waitable("Seen", operation, on_error(error_type)))
    answers(client, error_answer(code, **details))
    parameters = {"Bucket": "b"} if operation == "HeadBucket" else {}
    try:
        outcome = client.wait_until_seen(max_wait=1, **parameters)
    except bwp.WaiterFailedError:
        assert not matches
    else:
        assert matches
        assert isinstance(outcome, bwp.ExceptionOutcome)
        assert outcome.exception.response["Error"]["Code"] == code


def test_the_class_of_a_modelled_error_counts():
    client = boto3.client("dynamodb")
    raised = client.exceptions.ResourceNotFoundException(
        {"Error": {"Code": "Other"}}, "DescribeTable"
    )
    assert {"Other", "ResourceNotFoundException"} <= error_facts(raised).names
    assert "ClientError" not in error_facts(ClientError({"Error": {"Code": "X"}}, "Y")).names


@pytest.mark.parametrize(
    "response", [{}, {"Error": {}}, {"Error": None}, {"Error": {"Code": 404}}], ids=str
)
def test_an_almost_empty_error_response(response):
    operation = boto3.client("s3").meta.service_model.operation_model("HeadBucket")
    made = ClientError({"Error": {}}, "HeadBucket")
    made.response = response
    facts = error_facts(made, operation)
    assert facts.response == response
    assert isinstance(facts.code, str)


@tabled("code", "missing")
def test_codes_that_mean_not_found(code, missing):
    assert says_not_found(code) is missing


@pytest.mark.parametrize(
    ("code", "status", "missing"),
    [("Whatever", 404, True), ("NoSuchEntity", 400, True), ("Whatever", 400, False)],
)
def test_missing_ok_for_retries_not_found(
    answers, error_answer, waitable, virtual_time, code, status, missing
):
    client = attached("iam", waitable("UserThere", "GetUser", ANY_RESPONSE))
    answers(
        client, lambda: {"User": {}} if virtual_time.now >= 5 else error_answer(code, status=status)
    )
    if missing:
        outcome = client.wait_until_user_there(max_wait=60, missing_ok_for=10, max_delay=3)
        assert isinstance(outcome, bwp.ResponseOutcome)
    else:
        with pytest.raises(bwp.WaiterFailedError):
            client.wait_until_user_there(max_wait=60, missing_ok_for=10, max_delay=3)


def test_missing_for_too_long_is_a_failure(answers, error_answer, waitable, virtual_time):
    client = attached("iam", waitable("UserThere", "GetUser", ANY_RESPONSE))
    answers(client, error_answer("NoSuchEntity", "no user bob", status=404))
    with pytest.raises(bwp.WaiterFailedError, match="no user bob") as caught:
        client.wait_until_user_there(max_wait=60, missing_ok_for=10, max_delay=3)
    assert 10 <= caught.value.elapsed <= 14


# --- transient ----------------------------------------------------------------------------------


URL = {"endpoint_url": "https://x"}
EXCEPTIONS = botocore.exceptions
UNTRUSTED = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed")


def of_service(code, status=400):
    return ClientError(
        {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "GetUser"
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (of_service("ThrottlingException"), "throttle"),
        (of_service("SlowDown", 503), "throttle"),
        (of_service("Whatever", 429), "throttle"),
        (of_service("RequestTimeout"), "transient"),
        (of_service("503", 503), "transient"),
        (of_service("InternalFailure", 500), "transient"),
        (of_service("Whatever", 599), "transient"),
        (of_service("NotImplemented", 501), "answer"),
        (of_service("HTTPVersionNotSupported", 505), "answer"),
        (of_service("AccessDenied", 403), "answer"),
        (of_service("ValidationError"), "answer"),
        (of_service("ExpiredToken", 403), "answer"),
        (of_service("NoSuchEntity", 404), "answer"),
        (EXCEPTIONS.ReadTimeoutError(**URL), "transient"),
        (EXCEPTIONS.ConnectionClosedError(**URL), "transient"),
        (EXCEPTIONS.ResponseStreamingError(error="x"), "transient"),
        (EXCEPTIONS.EndpointConnectionError(**URL), "unconnected"),
        (EXCEPTIONS.ConnectTimeoutError(**URL), "unconnected"),
        (EXCEPTIONS.ProxyConnectionError(proxy_url="http://p"), "unconnected"),
        (EXCEPTIONS.SSLError(**URL, error="record layer failure"), "unconnected"),
        (EXCEPTIONS.HTTPClientError(error="?"), "unconnected"),
        (EXCEPTIONS.SSLError(**URL, error=UNTRUSTED), "answer"),
        (EXCEPTIONS.SSLError(**URL, error=urllib3.exceptions.SSLError(UNTRUSTED)), "answer"),
        (
            EXCEPTIONS.ProxyConnectionError(
                proxy_url="http://p", error=urllib3.exceptions.ProxyError("no", UNTRUSTED)
            ),
            "answer",
        ),
        (EXCEPTIONS.InvalidS3AddressingStyleError(s3_addressing_style="x"), "answer"),
        (ResponseParserError("<html>"), "answer"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value)[:40],
)
def test_which_errors_are_transient(error, kind):
    facts = error_facts(error).attempt(error, None).facts
    assert facts.transient is (kind != "answer")
    assert facts.throttled is (kind == "throttle")
    assert (facts.unconnected and facts.transient) is (kind == "unconnected")
    assert facts.answered is isinstance(error, ClientError | ResponseParserError)


@tabled("service", "operation", "code", "status", "transient", "throttled")
def test_the_model_tells_what_a_429_means(service, operation, code, status, transient, throttled):
    model = boto3.client(service).meta.service_model.operation_model(operation)
    facts = error_facts(of_service(code, status), model)
    assert (facts.transient, facts.throttled) == (transient, throttled)


def test_an_error_that_the_model_calls_retryable_is_transient():
    model = boto3.client("s3").meta.service_model
    shapes = {
        name: {"type": "structure", "members": {}, "exception": True, "retryable": retryable}
        for name, retryable in (("Busy", {"throttling": True}), ("Moving", {"throttling": False}))
    }
    shapes["Gone"] = {"type": "structure", "members": {}, "exception": True}
    errors = [{"shape": name} for name in shapes]
    operation = ServiceModel(
        {
            "metadata": model.metadata,
            "operations": {"GetThing": {"name": "GetThing", "errors": errors, "http": {}}},
            "shapes": shapes,
        }
    ).operation_model("GetThing")
    found = {name: error_facts(of_service(name), operation) for name in shapes}
    assert {name: (each.transient, each.throttled) for name, each in found.items()} == {
        "Busy": (True, True),
        "Moving": (True, False),
        "Gone": (False, False),
    }


def waits_of(client, **options):
    """Return the ways to wait for a user, each with options."""
    return {
        "wait_until": partial(client.wait_until_user_exists, max_wait=60, **options),
        "get_waiter": partial(client.get_waiter("user_exists").wait, **options),
    }


def iam_with(answers, *replies):
    """Return a client that gives these answers, and what it was asked."""
    client = boto3.client("iam")
    return client, answers(client, *replies)


PASSING = [
    "ThrottlingException",
    of_service("ServiceUnavailable", 503).response,
    EXCEPTIONS.ReadTimeoutError(**URL),
    EXCEPTIONS.ConnectionClosedError(**URL),
]
UNCONNECTED = [
    EndpointConnectionError(**URL),
    EXCEPTIONS.ConnectTimeoutError(**URL),
    EXCEPTIONS.SSLError(**URL, error="record layer failure"),
]


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
@pytest.mark.parametrize("raised", PASSING, ids=lambda value: str(value)[:40])
def test_a_wait_polls_again_after_a_transient_error(
    answers, error_answer, virtual_time, way, raised
):
    bwp.install()
    answer = error_answer(raised) if isinstance(raised, str) else raised
    client, asked = iam_with(answers, answer, answer, {"User": {}})
    waits_of(client)[way]()
    assert len(asked.requests) == 3
    # To the letter, the first of them ends the wait.
    client, asked = iam_with(answers, answer, answer, {"User": {}})
    wait = waits_of(client, retry_transient=False)[way]
    is_raw = way == "get_waiter" and isinstance(answer, Exception)
    with pytest.raises(type(answer) if is_raw else bwp.WaiterFailedError) as caught:
        wait()
    assert len(asked.requests) == 1
    assert not is_raw or caught.value is answer


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
@pytest.mark.parametrize("raised", UNCONNECTED, ids=lambda value: type(value).__name__)
def test_a_missing_connection_ends_a_wait_until_the_service_has_answered(
    answers, error_answer, virtual_time, way, raised
):
    bwp.install()
    client, asked = iam_with(answers, raised, {"User": {}})
    with pytest.raises((bwp.WaiterFailedError, type(raised))) as caught:
        waits_of(client)[way]()
    assert len(asked.requests) == 1
    assert raised in (caught.value, caught.value.__cause__)
    client, _ = iam_with(answers, raised, {"User": {}})
    waits_of(client, retry_transient=True)[way]()
    for first in (error_answer("Unavailable", status=503), error_answer("NoSuchEntity")):
        client, asked = iam_with(answers, first, raised, raised, {"User": {}})
        waits_of(client)[way]()
        assert len(asked.requests) == 4


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
def test_a_certificate_that_is_not_trusted_ends_every_wait(
    answers, error_answer, virtual_time, way
):
    bwp.install()
    client = boto3.client("iam")
    raised = EXCEPTIONS.SSLError(**URL, error=UNTRUSTED)
    asked = answers(client, error_answer("NoSuchEntity", status=404), raised, {"User": {}})
    with pytest.raises((bwp.WaiterFailedError, EXCEPTIONS.SSLError)):
        waits_of(client, retry_transient=True)[way]()
    assert len(asked.requests) == 2


def test_acceptors_of_botocore_see_no_transport_error(answers, virtual_time):
    """To botocore, an error is what has a response; `false` would match the lack of one."""
    bwp.install()
    acceptor = {"matcher": "error", "expected": False, "state": "success"}
    if not botocore.waiter.AcceptorConfig(acceptor).matcher_func({}):
        pytest.skip("this botocore knows names of errors only")
    config = {"delay": 1, "maxAttempts": 3, "operation": "GetUser", "acceptors": [acceptor]}
    model = botocore.waiter.WaiterModel({"version": 2, "waiters": {"Any": config}})
    client = boto3.client("iam")
    asked = answers(client, EXCEPTIONS.ReadTimeoutError(**URL), {"User": {}})
    waiter = botocore.waiter.create_waiter_with_client("Any", model, client)
    waiter.wait()
    assert (len(asked.requests), waiter.outcome.attempts) == (2, 2)


def test_transient_errors_to_the_end_use_up_botocores_attempts(answers, virtual_time):
    bwp.install()
    client = boto3.client("iam")
    lost = EXCEPTIONS.ReadTimeoutError(**URL)
    answers(client, {"User": {}}, lost)
    with pytest.raises(bwp.WaiterAttemptsError) as caught:
        client.get_waiter("user_exists").wait(
            WaiterConfig={"Delay": 1, "MaxAttempts": 3}, success_count=2
        )
    error = caught.value
    assert error.kwargs["reason"].startswith("Max attempts exceeded")
    assert (error.transient_errors, error.last_exception) == (2, lost)
    assert "2 ended in transient errors, the last: ReadTimeoutError at https://iam." in str(error)
    assert "User" in error.last_response


# --- raw ----------------------------------------------------------------------------------------


class Own(Exception):  # noqa: N818 - its author's choice
    """An exception of a user's handler."""


RAW = [
    (ParamValidationError, ParamValidationError(report="bad")),
    (NoCredentialsError, NoCredentialsError()),
    (PartialCredentialsError, PartialCredentialsError(provider="env", cred_var="x")),
    (NoRegionError, NoRegionError()),
    (UnStubbedResponseError, UnStubbedResponseError(operation_name="X", reason="dry")),
    (Own, Own("mine")),
    (ValueError, ValueError("mine")),
    (KeyError, KeyError("mine")),
    (TimeoutError, TimeoutError("mine")),
    (OSError, OSError("mine")),
    (KeyboardInterrupt, KeyboardInterrupt()),
    (SystemExit, SystemExit(3)),
]


@pytest.mark.parametrize(("kind", "raised"), RAW, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
@pytest.mark.parametrize("at", [1, 3])
def test_raw_errors_are_raised_unchanged(
    answers, error_answer, virtual_time, kind, raised, way, at
):
    bwp.install()
    client = boto3.client("iam")
    asked = answers(client, *[error_answer("NoSuchEntity", status=404)] * (at - 1), raised)
    wait = client.get_waiter("user_exists").wait
    if way == "wait_until":
        wait = partial(
            client.wait_until_user_exists, max_wait=60, retry_transient=True, missing_ok_for=30
        )
    with pytest.raises(kind) as caught:
        wait()
    assert caught.value is raised
    assert len(asked.requests) == at


def test_missing_credentials_are_raw(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    bwp.install()
    client = boto3.Session().client("iam")
    for wait in (
        lambda: client.wait_until_user_exists(max_wait=3),
        client.get_waiter("user_exists").wait,
    ):
        with pytest.raises(NoCredentialsError) as caught:
            wait()
        assert caught.value.__cause__ is None


def test_an_exhausted_stubber_is_raw():
    bwp.install()
    client = boto3.client("iam")
    with Stubber(client) as stubber:
        stubber.add_client_error("get_user", "NoSuchEntity", http_status_code=404)
        with pytest.raises(UnStubbedResponseError):
            client.wait_until_user_exists(max_wait=3, min_delay=0.001, max_delay=0.001)
        stubber.assert_no_pending_responses()


# --- transport ----------------------------------------------------------------------------------


@pytest.fixture
def unreachable():
    """An S3 client whose endpoint refuses connections, without retries."""
    bwp.install()
    return boto3.client(
        "s3",
        endpoint_url="http://127.0.0.1:1",
        config=Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"}),
    )


def test_an_unreachable_endpoint_is_a_named_failure(unreachable):
    with pytest.raises(bwp.WaiterFailedError) as caught:
        unreachable.wait_until_object_exists(Bucket="secret-bucket", Key="secret-key", max_wait=30)
    error = caught.value
    assert "EndpointConnectionError" in str(error)
    assert "127.0.0.1:1" in str(error)
    assert "retry_transient=True" in str(error)
    assert isinstance(error.__cause__, EndpointConnectionError)
    assert error.last_exception is error.__cause__
    assert error.last_response == {}
    assert error.attempts == 1


def test_stock_waiters_raise_unreachable_endpoints_raw(unreachable):
    with pytest.raises(EndpointConnectionError) as caught:
        unreachable.get_waiter("object_exists").wait(Bucket="b", Key="k")
    assert not isinstance(caught.value, WaiterError)
    resource = boto3.resource(
        "s3", endpoint_url="http://127.0.0.1:1", config=Config(retries={"max_attempts": 0})
    )
    with pytest.raises(EndpointConnectionError):
        resource.Bucket("b").wait_until_exists()


def test_credentials_in_an_endpoint_url_are_not_shown():
    bwp.install()
    client = boto3.client(
        "iam",
        endpoint_url="http://user:hunter2@127.0.0.1:1/path?token=hunter3",
        config=Config(retries={"max_attempts": 0}),
    )
    with pytest.raises(
        bwp.WaiterFailedError, match=r"at http://127\.0\.0\.1:1: Connection refused"
    ) as caught:
        client.wait_until_user_exists(max_wait=3)
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize("error_class", [EndpointConnectionError, ConnectionClosedError])
def test_a_printed_cause_shows_no_user_info(answers, error_class):
    endpoint = "https://user:hunter2@service.example:8080"
    bwp.install()
    client = boto3.client("iam", endpoint_url=endpoint)
    answers(client, error_class(endpoint_url=f"{endpoint}/"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_user_exists(max_wait=3, retry_transient=False)
    printed = "".join(traceback.format_exception(caught.value))
    assert "https://service.example:8080/" in printed
    assert "hunter2" not in printed + repr(caught.value.__cause__)
    assert caught.value.last_exception.kwargs["endpoint_url"] == "https://service.example:8080/"


def raised_in(modules):
    """Return an error whose traceback has frames in modules of these names, innermost last."""
    code, scope = "raise AttributeError", {}
    for module in reversed(modules):
        scope = {**scope, "__name__": module}
        code, scope = "exec(code, scope)", {"code": code, "scope": scope}
    with pytest.raises(AttributeError) as caught:
        exec(code, scope)
    return caught.value


@tabled("frames", "of_the_call")
def test_only_parsers_stumble_over_a_response(frames, of_the_call):
    assert is_of_the_call(raised_in(frames)) is of_the_call


@pytest.mark.parametrize(
    "raised",
    [
        EndpointConnectionError(endpoint_url="https://b.example/secret"),
        botocore.exceptions.ReadTimeoutError(endpoint_url="https://b.example/secret"),
        botocore.exceptions.ConnectTimeoutError(endpoint_url="https://b.example/secret"),
        botocore.exceptions.ProxyConnectionError(proxy_url="http://u:secret@proxy"),
        botocore.exceptions.SSLError(endpoint_url="https://b.example/secret", error="e"),
        botocore.exceptions.ConnectionClosedError(endpoint_url="https://b.example/secret"),
        botocore.exceptions.HTTPClientError(error="secret"),
        botocore.exceptions.CredentialRetrievalError(provider="p", error_msg="secret"),
        urllib3.exceptions.ProtocolError("secret"),
        ResponseParserError("secret"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_transport_errors_are_failures_with_a_cause(answers, raised):
    bwp.install()
    client = boto3.client("iam")
    answers(client, raised)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_user_exists(max_wait=3, retry_transient=False)
    assert caught.value.__cause__ is raised
    assert type(raised).__name__ in str(caught.value)
    assert "iam" in str(caught.value)
    assert "secret" not in str(caught.value)

    with pytest.raises(type(raised)) as caught:
        client.get_waiter("user_exists").wait(retry_transient=False)
    assert caught.value is raised


# --- what is behind an error --------------------------------------------------------------------

REFUSED = ConnectionRefusedError(111, "Connection refused")


def raised_from(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (EndpointConnectionError(endpoint_url="x", error=REFUSED), "Connection refused"),
        (
            EndpointConnectionError(
                endpoint_url="x",
                error=raised_from(
                    urllib3.exceptions.NewConnectionError(None, "secret"),
                    socket.gaierror(-2, "Name or service not known"),
                ),
            ),
            "Name or service not known",
        ),
        (
            botocore.exceptions.SSLError(
                endpoint_url="x", error=ssl.SSLError(1, "certificate verify failed")
            ),
            "certificate verify failed",
        ),
        (EndpointConnectionError(endpoint_url="x", error=OSError("secret")), None),
        (EndpointConnectionError(endpoint_url="x", error=OSError(5, "w" * 300)), "w" * 197 + "..."),
    ],
)
def test_the_words_of_the_system_are_quoted(raised, words):
    text = "Endpoint" if words is None else f"at https://b.example: {words}"
    facts = error_facts(raised, endpoint="https://b.example/")
    assert facts.text.endswith(text if words else "at https://b.example")
    assert facts.code == type(raised).__name__


def test_causes_in_a_circle_end():
    first, second = OSError("a"), OSError("b")
    first.__cause__, second.__cause__ = second, first
    assert error_facts(first).text == "OSError"


def test_an_error_that_was_being_handled_is_no_cause():
    error = KeyError("x")
    error.__context__ = FileNotFoundError(2, "No such file or directory")
    assert error_facts(error).text == "KeyError"


@pytest.mark.parametrize(
    ("call", "retried", "words"),
    [
        (
            lambda: urllib.request.urlopen("http://127.0.0.1:1"),
            OSError,
            "URLError: Connection refused",
        ),
        (
            lambda: json.loads("<html>\n" + "x" * 300),
            ValueError,
            r"JSONDecodeError: Expecting value \(line 1, column 1\) ",
        ),
    ],
    ids=["refused", "no JSON"],
)
def test_a_condition_tells_what_is_behind_an_error(call, retried, words, virtual_time):
    with pytest.raises(bwp.WaiterTimeoutError, match=f"last state seen: {words}"):
        conditions.wait_for(call, max_wait=1, retry_on=retried)


def answering(client, body, status=200):
    """A client whose requests are all answered with this body, before any parser has seen it."""
    raw = SimpleNamespace(stream=lambda **_: iter([body]))
    client.meta.events.register("before-send", lambda **_: AWSResponse("x", status, {}, raw))
    return client


@pytest.mark.parametrize("body", [b"Bad Gateway", b'{"a": ', b"<html>", b""])
@tabled("service", "waiter", "parameters")
def test_an_error_of_a_server_is_transient_whatever_its_body(service, waiter, parameters, body):
    retries = Config(retries={"total_max_attempts": 1})
    client = answering(boto3.client(service, config=retries), body, status=502)
    with pytest.raises(bwp.WaiterAttemptsError) as caught:
        bwp.wait_until(
            client, waiter, max_wait=9, max_attempts=2, delay_pace=lambda _: 0.01, **parameters
        )
    assert caught.value.transient_errors == 2


@pytest.mark.parametrize(
    ("service", "waiter", "parameters", "body", "words"),
    [
        ("ec2", "instance_running", {"InstanceIds": ["i"]}, b"<html>Log\nin", r"'<html>Log\nin'"),
        ("ec2", "instance_running", {"InstanceIds": ["i"]}, b"\xff" * 999, "'" + "\ufffd" * 196),
        ("cloudformation", "stack_exists", {"StackName": "web"}, b"no upstream", "'no upstream'"),
    ],
)
def test_a_body_in_another_format_is_quoted(service, waiter, parameters, body, words):
    bwp.install()
    client = answering(boto3.client(service), body)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(client, waiter, max_wait=3, **parameters)
    assert f"the body begins with {words}" in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("service", "waiter", "parameters", "body"),
    [
        ("dynamodb", "table_exists", {"TableName": "orders"}, b'["hidden"]'),
        ("dynamodb", "table_exists", {"TableName": "orders"}, b'{"Table": ["hidden"]}'),
        ("cloudformation", "stack_exists", {"StackName": "web"}, b"<a><b>hidden"),
        ("codebuild", "builds_succeeded", {"ids": ["a"]}, b'{"builds": [{"startTime": "hidden"}]}'),
    ],
)
def test_an_answer_that_does_not_fit_the_model_is_not_quoted(service, waiter, parameters, body):
    client = bwp.enable(answering(boto3.client(service), body))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(client, waiter, max_wait=3, **parameters)
    assert "the body does not fit the model of" in str(caught.value)
    assert "hidden" not in f"{caught.value} {caught.value!r} {caught.value.service_message}"


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
def test_texts_of_a_service_are_escaped(way, answers, caplog):
    reason = "forged\n2026 INFO Waiter x succeeded \x1b[2J \x9b31m"
    client = boto3.client("cloudformation")
    stack = {"StackName": "web", "StackStatus": "ROLLBACK_COMPLETE", "StackStatusReason": reason}
    answers(client, {"Stacks": [stack]})
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    waiter = bwp.enable(client).get_waiter("stack_create_complete")
    wait = waiter.wait if way == "get_waiter" else client.wait_until_stack_create_complete
    with pytest.raises(bwp.WaiterFailedError) as caught:
        wait(StackName="web", max_wait=3)
    assert r"forged\n2026 INFO Waiter x succeeded \x1b[2J \x9b31m" in str(caught.value)
    for text in [str(caught.value), repr(caught.value), *caplog.messages]:
        assert text.isprintable()


def test_a_code_of_a_service_is_escaped(answers, error_answer):
    client = boto3.client("cloudformation")
    answers(client, error_answer("Code\x1b[2J\n", "No\x07"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(client, "stack_create_complete", StackName="web", max_wait=3)
    assert str(caught.value).isprintable()


def test_an_empty_body_is_not_quoted():
    bwp.install()
    client = answering(boto3.client("ec2"), b"")
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_instance_running(InstanceIds=["i"], max_wait=3)
    assert "ResponseParserError" in str(caught.value)
    assert "the body begins" not in str(caught.value)


def test_an_endless_redirect_is_a_failure_of_the_call():
    """botocore follows it until Python's limit."""
    bwp.install()
    client = boto3.client("ec2")

    def redirected(**_):
        client.meta.events.emit("redirect")

    client.meta.events.register("before-call", redirected)
    client.meta.events.register("redirect", redirected)
    with pytest.raises(bwp.WaiterFailedError, match="RecursionError"):
        client.wait_until_instance_running(InstanceIds=["i"], max_wait=3)


def test_a_body_that_may_hold_secrets_is_not_quoted():
    bwp.install()
    client = answering(boto3.client("sts"), b"<html>hidden")
    waiter = bwp.WaiterDefinition.from_states(
        "Given", "GetSessionToken", path="Credentials.AccessKeyId", success=["a"]
    )
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(client, waiter, max_wait=3)
    assert "ResponseParserError" in str(caught.value)
    assert "hidden" not in str(caught.value)


# --- messages -----------------------------------------------------------------------------------


def test_error_without_a_status_names_none(answers):
    bwp.install()
    client = boto3.client("iam")
    answers(client, ClientError({"Error": {"Code": "AccessDenied"}}, "GetUser"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_user_exists(UserName="me", max_wait=3)
    assert "AccessDenied" in str(caught.value)
    assert "HTTP" not in str(caught.value)


def test_failures_name_code_status_request_and_message(answers, error_answer):
    bwp.install()
    client = boto3.client("iam")
    answer = error_answer("AccessDenied", "User bob is not authorized", status=403)
    answer["ResponseMetadata"]["RequestId"] = "abc-123"
    answers(client, answer)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_user_exists(UserName="hidden-user", max_wait=3)
    for words in ("AccessDenied", "HTTP 403", "abc-123", "User bob is not authorized", "GetUser"):
        assert words in str(caught.value), words
    assert (caught.value.label, caught.value.attempts) == ("iam UserName=hidden-user", 1)
    assert caught.value.service_message == "User bob is not authorized"
    assert caught.value.last_response["Error"]["Code"] == "AccessDenied"


def test_names_do_not_need_the_class():
    """A replaced operation raises a plain ClientError."""
    described = boto3.client("rds").meta.service_model.operation_model("DescribeDBInstances")
    details = {"Code": "DBInstanceNotFound", "QueryErrorCode": "OldCode"}
    facts = error_facts(ClientError({"Error": details}, "DescribeDBInstances"), described)
    assert facts.names == {"DBInstanceNotFound", "DBInstanceNotFoundFault", "OldCode"}


def test_error_types_match_transport_error_classes(answers, waitable):
    document = waitable("Unreachable", "GetUser", on_error("EndpointConnectionError"))
    client = attached("iam", document)
    answers(client, EndpointConnectionError(endpoint_url="https://x"))
    assert isinstance(client.wait_until_unreachable(max_wait=3), bwp.ExceptionOutcome)
