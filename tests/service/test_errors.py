"""Errors of a call: their names, which end a wait, which are raised raw, and what is shown."""

import contextlib
import json
import logging
import socket
import ssl
import traceback
from functools import partial
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.exceptions as botocores
import botocore.waiter
import pytest
import urllib3.exceptions
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError, WaiterError
from botocore.parsers import ResponseParserError
from case_tables import experiments

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.service.errors import says_absent, says_not_found

ANY_RESPONSE = {"state": "success", "matcher": {"success": True}}
URL = {"endpoint_url": "https://x"}
WAYS = pytest.mark.parametrize("way", ["wait_until", "get_waiter"])


def attached(service, document):
    bwp.install(definitions=document)
    return boto3.client(service)


def way_to_wait(way, client, **options):
    """Return a function that waits for a user."""
    if way == "get_waiter":
        return partial(client.get_waiter("user_exists").wait, **options)
    return partial(client.wait_until_user_exists, **{"max_wait": 60, **options})


SQS = "AWS.SimpleQueueService"


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "error_type", "matches"),
    [
        # the code on the wire
        ("dynamodb.ListTables", "InternalServerError", "InternalServerError", True),
        ("dynamodb.ListTables", "InternalServerError", "internalservererror", False),
        ("dynamodb.ListTables", "InternalServerError", "ServerError", False),
        # the name of an absolute shape id
        ("dynamodb.ListTables", "Gone", "com.amazonaws.dynamodb#Gone", True),
        ("dynamodb.ListTables", "Gone", "com.example#Gone", True),
        # the shape that has this code (rds: DBInstanceNotFound -> DBInstanceNotFoundFault)
        ("rds.DescribeDBInstances", "DBInstanceNotFound", "DBInstanceNotFound", True),
        ("rds.DescribeDBInstances", "DBInstanceNotFound", "DBInstanceNotFoundFault", True),
        ("iam.ListUsers", "NoSuchEntity", "NoSuchEntity", True),
        ("iam.ListUsers", "NoSuchEntity", "NoSuchEntityException", True),
        # the former code of a query-compatible service
        ("sqs.ListQueues", f"{SQS}.NonExistentQueue", "QueueDoesNotExist", True),
        ("sqs.ListQueues", f"{SQS}.NonExistentQueue", f"{SQS}.NonExistentQueue", True),
        # the dotted codes of ec2, not shortened
        ("sts.GetCallerIdentity", "InvalidVolume.NotFound", "InvalidVolume.NotFound", True),
        ("sts.GetCallerIdentity", "InvalidVolume.NotFound", "NotFound", False),
        # other names
        ("sts.GetCallerIdentity", "X", "ClientError", False),
        ("sts.GetCallerIdentity", "X", "Y", False),
        # a bare 404 is NotFound for HEAD only: other responses name the error in their body
        ("s3.HeadBucket", "404", "NotFound", True),
        ("s3.HeadBucket", "404", "404", True),
        ("s3.ListBuckets", "404", "NotFound", False),
        ("s3.HeadBucket", "403", "NotFound", False),
    ],
)
def test_error_types_match_every_name(
    answers, error_answer, waitable, name, code, error_type, matches
):
    service, _, operation = name.partition(".")
    on_error = {"state": "success", "matcher": {"errorType": error_type}}
    client = attached(service, waitable("Seen", operation, on_error))
    answers(client, error_answer(code, Message="Y", QueryErrorCode="QueueDoesNotExist"))
    parameters = {"Bucket": "b"} if operation == "HeadBucket" else {}
    if matches:
        outcome = client.wait_until_seen(max_wait=60, **parameters)
        assert outcome.exception.response["Error"]["Code"] == code
    else:
        with pytest.raises(bwp.WaiterFailedError):
            client.wait_until_seen(max_wait=60, **parameters)


def test_error_types_match_classes_and_shapes_of_errors(answers, waitable):
    modelled = boto3.client("rds").exceptions.DBInstanceNotFoundFault
    plain = ClientError({"Error": {"Code": "DBInstanceNotFound"}}, "DescribeDBInstances")
    for raised, name in (
        (modelled({"Error": {"Code": "X"}}, "DescribeDBInstances"), "DBInstanceNotFoundFault"),
        # A replaced operation raises the error without its class.
        (plain, "DBInstanceNotFoundFault"),
        (EndpointConnectionError(**URL), "EndpointConnectionError"),
    ):
        on_error = {"state": "success", "matcher": {"errorType": name}}
        client = attached("rds", waitable("Seen", "DescribeDBInstances", on_error))
        answers(client, raised)
        assert client.wait_until_seen(max_wait=60).exception is raised


@pytest.mark.parametrize(
    "response", [{}, {"Error": {}}, {"Error": None}, {"Error": {"Code": 404}}], ids=str
)
def test_an_almost_empty_error_response_is_a_failure(answers, response):
    bwp.install()
    client, raised = boto3.client("iam"), ClientError({"Error": {}}, "GetUser")
    raised.response = response
    answers(client, raised)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_user_exists(max_wait=60)
    assert caught.value.last_response == response
    assert "HTTP" not in str(caught.value)


MISSING = (
    "DBInstanceNotFound InvalidVolume.NotFound ResourceNotFoundException DBClusterNotFoundFault "
    "QueueDoesNotExist NoSuchBucket NoSuchEntity NotFound"
)
NOT_MISSING = "ResourceNotFoundExceptions NotFoundish ThereIsNoSuchBucket AccessDenied 404"


@pytest.mark.parametrize(
    ("code", "status", "is_missing"),
    [
        ("Whatever", 404, True),
        *((code, 400, True) for code in MISSING.split()),
        *((code, 400, False) for code in (*NOT_MISSING.split(), "")),
    ],
)
def test_missing_ok_for_retries_not_found(
    answers, error_answer, waitable, virtual_time, code, status, is_missing
):
    client = attached("iam", waitable("UserThere", "GetUser", ANY_RESPONSE))
    error = error_answer(code, "no user bob", status=status)
    asked = answers(client, lambda: {} if 5 <= virtual_time.now < 50 else error)
    wait = partial(client.wait_until_user_there, max_wait=60, missing_ok_for=10, max_delay=3)
    if not is_missing:
        with pytest.raises(bwp.WaiterFailedError):
            wait()
        assert len(asked.requests) == 1
        return
    wait()
    virtual_time.advance(50)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        wait()
    assert caught.value.service_message == "no user bob"
    assert 10 <= caught.value.elapsed <= 14


# --- transient ----------------------------------------------------------------------------------

UNTRUSTED = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed")
UNTRUSTED_BY_PROXY = urllib3.exceptions.ProxyError("no", UNTRUSTED)


def of_service(code, status=400):
    return {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}


@WAYS
@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (of_service("ThrottlingException"), "transient"),
        (of_service("Whatever", 429), "transient"),
        (of_service("RequestTimeout"), "transient"),
        (of_service("InternalFailure", 500), "transient"),
        (of_service("NotImplemented", 501), "answer"),
        (of_service("HTTPVersionNotSupported", 505), "answer"),
        (of_service("AccessDenied", 403), "answer"),
        (of_service("ValidationError"), "answer"),
        (botocores.ReadTimeoutError(**URL), "transient"),
        (botocores.ConnectionClosedError(**URL), "transient"),
        (botocores.ResponseStreamingError(error="x"), "transient"),
        (EndpointConnectionError(**URL), "unconnected"),
        (botocores.ConnectTimeoutError(**URL), "unconnected"),
        (botocores.ProxyConnectionError(proxy_url="http://p"), "unconnected"),
        (botocores.SSLError(**URL, error="record layer failure"), "unconnected"),
        (botocores.HTTPClientError(error="?"), "unconnected"),
        (botocores.SSLError(**URL, error=UNTRUSTED), "answer"),
        (botocores.SSLError(**URL, error=urllib3.exceptions.SSLError(UNTRUSTED)), "answer"),
        (botocores.ProxyConnectionError(proxy_url="p", error=UNTRUSTED_BY_PROXY), "answer"),
        (botocores.InvalidS3AddressingStyleError(s3_addressing_style="x"), "answer"),
        (ResponseParserError("<html>"), "answer"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_which_errors_end_a_wait(answers, error_answer, virtual_time, way, raised, kind):
    """A missing connection may be a wrong endpoint, until the service has answered."""
    bwp.install()
    client, replies = boto3.client("iam"), []
    answers(client, lambda: replies.pop(0))

    def attempts(*script, **options):
        replies[:] = [*script, {"User": {}}]
        with contextlib.suppress(WaiterError, botocores.BotoCoreError, ResponseParserError):
            way_to_wait(way, client, **options)()
        return len(script) + 1 - len(replies)

    missing, is_answer = error_answer("NoSuchEntity"), kind == "answer"
    assert attempts(raised, raised) == (3 if kind == "transient" else 1)
    assert attempts(missing, raised) == (2 if is_answer else 3)
    assert attempts(error_answer("Unavailable", status=503), raised) == (2 if is_answer else 3)
    assert attempts(raised, retry_transient=True) == (1 if is_answer else 2)
    assert attempts(raised, retry_transient=False) == 1


@pytest.mark.parametrize(
    ("service", "operation", "code", "status", "transient", "throttled"),
    [
        # What the model says of the error decides, not the status.
        ("mediaconvert", "GetJob", "TooManyRequestsException", 429, True, True),
        ("kinesis", "DescribeStream", "LimitExceededException", 400, True, True),
        ("iam", "GetUser", "LimitExceeded", 429, False, False),
        ("lambda", "GetFunction", "Unknown", 429, True, True),
        # Retryable by the model, and no throttle.
        ("accessanalyzer", "GetAnalyzer", "UnprocessableEntityException", 422, True, False),
        ("iam", "GetUser", "NoSuchEntity", 404, False, False),
        # Throttles of every service.
        ("iam", "GetUser", "ThrottlingException", 400, True, True),
        ("iam", "GetUser", "SlowDown", 503, True, True),
        ("iam", "GetUser", "InternalFailure", 500, True, False),
    ],
)
def test_the_model_tells_what_an_error_means(
    answers, waitable, virtual_time, service, operation, code, status, transient, throttled
):
    """A transient error is no end; after a throttle, the longest delay follows."""
    client, delays = attached(service, waitable("Seen", operation, ANY_RESPONSE)), []
    required = client.meta.service_model.operation_model(operation).input_shape.required_members
    answers(client, of_service(code, status), {})
    with contextlib.nullcontext() if transient else pytest.raises(bwp.WaiterFailedError):
        client.wait_until_seen(
            max_wait=300,
            min_delay=1,
            max_delay=99,
            on_attempt=lambda event: delays.append(event.next_delay),
            **dict.fromkeys(required, "a"),
        )
    assert (delays[0] == 99) is throttled


def quoting(message, code="InvalidParameterException", status=400):
    return {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }


ECS = "Error retrieving subnet information for [subnet-1]: "
SDK = "(Service: AmazonCloudWatch; Status Code: 400; Error Code: "
QUOTES = [
    f"{ECS}Rate exceeded (ErrorCode: Throttling)",
    f"{ECS}Request limit exceeded. (ErrorCode: RequestLimitExceeded)",
    "Throttled by EC2. EC2 Error Code: RequestLimitExceeded. EC2 Error Message: Slower.",
    f"Unable to create alarms due to reason: Rate exceeded {SDK}Throttling; Request ID: 1)",
    f"Reduce the frequency of your calls. {SDK}ThrottlingException; Request ID: 1)",
    "Rate exceeded for operation 'Rate exceeded (Service: Lambda, Status Code: 429)'.",
    "An error occurred (TooManyRequestsException) when calling the GetFunction operation: wait",
    "ThrottlingException: slow down",
    "Call failed. (ErrorCode: Client.RequestLimitExceeded)",
    "Request limit exceeded.",
    "EC2 Request limit exceeded.",
    "Rate Exceeded.",
    "Too Many Requests",
    "Too many requests, please wait before trying again.",
    "Failed: Throttling: Rate exceeded\n\tstatus code: 400, request id: 1",
    '{"message": "Rate exceeded"}',
    "AWS service call failed. SlowDown: Please reduce your request rate.",
    "Transaction cancelled, specific reasons [None, ThrottlingError, None]",
]
MENTIONS = [
    f"{ECS}The subnet ID 'subnet-1' does not exist (ErrorCode: InvalidSubnetID.NotFound)",
    f"{ECS}An internal error has occurred (ErrorCode: InternalError)",
    f"Quota {SDK}LimitExceededException; Request ID: 1)",
    "The rate must be between 1 and 5",
    "The rate expression is invalid",
    "Rate exceeded the maximum of 100",
    "Maximum sampling rate exceeded.",
    "Provisioned rate exceeded",
    "The request limit exceeded 10 items",
    "Too many requests in the batch: 30",
    "read throttling settings invalid",
    "Throttling: burst must be positive",
    "Resource throttling-test does not exist",
    "Alarm ThrottlingException does not exist",
    "Role RequestLimitExceeded not found",
    "Rule with name 'Rate exceeded' not found",
    "Too many requests (max 25) in the batch",
    "BatchSize: Too many requests, expected at most 10",
    "Quota exceeded: Too many requests",
    "Invalid error code: ThrottlingException is not a valid value for RetryOn",
    "Transaction cancelled, specific reasons [ThrottlingError, ConditionalCheckFailed]",
    "",
]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ResourceNotFoundException", 400),
        ("NoSuchThing", 400),
        ("Gone", 404),
        ("AccessDenied", 403),
    ],
)
def test_what_is_certain_is_no_throttle_whatever_it_quotes(answers, virtual_time, code, status):
    client = boto3.client("iam")
    answers(client, quoting(QUOTES[0], code, status))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(client, "RoleExists", max_wait=300, retry_transient=True, RoleName="r")
    assert caught.value.attempts == 1


@WAYS
@pytest.mark.parametrize(
    ("message", "throttled"),
    [*((each, True) for each in QUOTES), *((each, False) for each in MENTIONS)],
)
def test_a_throttle_that_another_error_quotes_is_one(
    answers, virtual_time, way, message, throttled
):
    bwp.install()
    client, delays = boto3.client("iam"), []
    asked = answers(client, quoting(message), {"User": {}})
    options = {"max_wait": 300, "min_delay": 1, "max_delay": 99}
    wait = way_to_wait(way, client, **options, on_attempt=lambda e: delays.append(e.next_delay))
    with contextlib.nullcontext() if throttled else pytest.raises(WaiterError):
        wait(UserName="u")
    assert len(asked.requests) == 1 + throttled
    assert delays[0] == (99 if throttled else None)


@pytest.mark.parametrize(("code", "status"), [("InternalFailure", 500), ("Busy", 429)])
def test_the_delay_after_it_is_long_whatever_its_status(answers, virtual_time, code, status):
    bwp.install()
    client, delays = boto3.client("iam"), []
    answers(client, quoting(QUOTES[0], code, status), {"User": {}})
    options = {"max_wait": 300, "min_delay": 1, "max_delay": 99}
    wait = way_to_wait("wait_until", client, **options)
    wait(UserName="u", on_attempt=lambda event: delays.append(event.next_delay))
    assert delays[0] == 99


def test_an_acceptor_decides_before_a_throttle_that_is_quoted(answers, waitable):
    acceptor = {"state": "success", "matcher": {"errorType": "InvalidParameterException"}}
    client = attached("ecs", waitable("Mine", "DescribeServices", acceptor))
    answers(client, quoting(QUOTES[0]))
    assert client.wait_until_mine(services=["s"], max_wait=60).attempts == 1


def test_the_specification_ends_at_a_throttle_that_is_quoted(answers):
    bwp.install()
    client = boto3.client("iam")
    answers(client, quoting(QUOTES[0]))
    with pytest.raises(bwp.WaiterFailedError, match="Rate exceeded"):
        client.wait_until_user_exists(UserName="u", max_wait=60, retry_transient=False)


def test_a_shared_call_is_not_split_for_a_throttle_that_is_quoted(answers, virtual_time):
    client = boto3.client("ec2")
    ready = {"InstanceId": "i-1", "State": {"Name": "running"}}
    instances = [{**ready, "InstanceId": f"i-{index}"} for index in range(40)]
    listed = {"Reservations": [{"Instances": instances}]}
    asked = answers(client, quoting(QUOTES[0], "InvalidParameterValue"), listed)
    waits = [
        bwp.Wait(client, "instance_running", {"InstanceIds": [each["InstanceId"]]})
        for each in instances
    ]
    assert len(bwp.wait_all(waits, max_wait=600)) == 40
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
    answers(client, botocores.ReadTimeoutError(**URL), {"User": {}})
    waiter = botocore.waiter.create_waiter_with_client("Any", model, client)
    waiter.wait()
    assert waiter.outcome.attempts == 2


# --- raw ----------------------------------------------------------------------------------------


class Own(Exception):  # noqa: N818 - its author's choice
    """An exception of a user's handler."""


RAW = [
    botocores.ParamValidationError(report="bad"),
    botocores.NoCredentialsError(),
    botocores.PartialCredentialsError(provider="env", cred_var="x"),
    botocores.NoRegionError(),
    botocores.UnStubbedResponseError(operation_name="X", reason="dry"),
    *(Own("mine"), ValueError("mine"), AttributeError("mine"), TimeoutError("mine")),
    *(OSError("mine"), KeyboardInterrupt(), SystemExit(3)),
]


@WAYS
@pytest.mark.parametrize("raised", RAW, ids=lambda raised: type(raised).__name__)
@pytest.mark.parametrize("at", [1, 3])
def test_raw_errors_are_raised_unchanged(answers, error_answer, virtual_time, raised, way, at):
    bwp.install()
    client, options = boto3.client("iam"), {"retry_transient": True, "missing_ok_for": 30}
    asked = answers(client, *[error_answer("NoSuchEntity", status=404)] * (at - 1), raised)
    wait = way_to_wait(way, client, **(options if way == "wait_until" else {}))
    with pytest.raises(type(raised)) as caught:
        wait()
    assert caught.value is raised
    assert len(asked.requests) == at


# --- transport ----------------------------------------------------------------------------------


def raised_from(error, cause):
    error.__cause__ = cause
    return error


SECRET = {"endpoint_url": "https://b.example/secret"}
CUT = urllib3.exceptions.NewConnectionError(None, "secret")
UNKNOWN = raised_from(CUT, socket.gaierror(-2, "Name or service not known"))
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
    bwp.install()
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
    bwp.install()
    client = boto3.client("iam", endpoint_url=f"{endpoint}/?token=hunter2")
    answers(client, kind(endpoint_url=f"{endpoint}/"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_user_exists(max_wait=60, retry_transient=False)
    printed = "".join(traceback.format_exception(caught.value))
    assert "https://service.example:8080/" in printed
    assert "hunter2" not in printed + repr(caught.value.__cause__)
    assert caught.value.last_exception.kwargs["endpoint_url"] == "https://service.example:8080/"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(5, "Input/output error"), "OSError: Input/output error"),
        (json.JSONDecodeError("Expecting value", "<secret", 0), "JSONDecodeError: Expecting value"),
        (KeyError("password=secret"), r"KeyError \("),
    ],
)
def test_a_condition_tells_what_is_behind_an_error(virtual_time, error, words):
    call = mock.Mock(side_effect=error)
    with pytest.raises(bwp.WaiterTimeoutError, match=words) as caught:
        conditions.wait_for(call, max_wait=1, retry_on=type(error))
    assert "secret" not in str(caught.value)


# --- bodies -------------------------------------------------------------------------------------

CASES_OF_BODIES = {
    "ec2": ("instance_running", {"InstanceIds": ["i"]}),
    "cloudformation": ("stack_exists", {"StackName": "web"}),
    "dynamodb": ("table_exists", {"TableName": "orders"}),
    "codebuild": ("builds_succeeded", {"ids": ["a"]}),
}


def wait_for_body(service, body, status=200, **options):
    """Return the error of a wait whose requests are all answered with this body, unparsed."""
    client = boto3.client(service, config=Config(retries={"total_max_attempts": 1}))
    raw = SimpleNamespace(stream=lambda **_: iter([body]))
    client.meta.events.register("before-send", lambda **_: AWSResponse("x", status, {}, raw))
    waiter, parameters = CASES_OF_BODIES[service]
    with pytest.raises(bwp.WaiterError) as caught:
        bwp.wait_until(client, waiter, max_wait=9, **parameters, **options)
    return caught.value


@experiments("is answered", "service", "status", "body", "transient", "words")
def test_what_a_body_decides_and_shows(virtual_time, service, status, body, transient, words):
    error = wait_for_body(service, body.encode("latin-1"), status=status, max_attempts=2)
    kind = bwp.WaiterAttemptsError if transient else bwp.WaiterFailedError
    assert (type(error), error.transient_errors) == (kind, transient or 0)
    assert (f"the body begins with {words}" in str(error)) is (words is not None)
    assert ("the body begins" in str(error)) is (words is not None)
    assert len(str(error)) < 600
    assert "hidden" not in f"{error} {error!r} {error.service_message}"
    if not (words or transient) and body:
        assert body not in "".join(traceback.format_exception(error))


def test_an_unreadable_error_of_a_server_ends_no_waiter_object(answers, virtual_time):
    client = bwp.enable(boto3.client("ec2", config=Config(retries={"total_max_attempts": 1})))
    bodies = [(502, b"Bad Gateway"), (200, b"<a><reservationSet/></a>")]

    def send(**_):
        status, body = bodies.pop(0)
        return AWSResponse("x", status, {}, SimpleNamespace(stream=lambda **_: iter([body])))

    client.meta.events.register("before-send", send)
    with pytest.raises(bwp.WaiterAttemptsError):
        client.get_waiter("instance_running").wait(WaiterConfig={"MaxAttempts": 2})
    assert bodies == []


def by_wait_all(client, **options):
    bwp.wait_all([bwp.Wait(client, "instance_running", {"InstanceIds": ["i"]}, **options)])


def by_poll(client, **options):
    acceptor = {"state": "success", "matcher": {"success": False}}
    conditions.poll(client.describe_instances, {"acceptors": [acceptor]}, **options)


def by_wait_for(_, **options):
    conditions.wait_for(lambda: None, **options)


@pytest.mark.parametrize("way", [by_wait_all, by_poll, by_wait_for])
def test_a_label_of_the_caller_is_escaped(way, answers, virtual_time):
    client = boto3.client("ec2")
    answers(client, {"Reservations": []})
    with pytest.raises((bwp.WaiterTimeoutError, bwp.WaitersError)) as caught:
        way(client, label="web\nINFO \x1b[31m", max_wait=1)
    (error,) = getattr(caught.value, "errors", {0: caught.value}).values()
    assert (error.label, str(error).isprintable()) == (r"web\nINFO \x1b[31m", True)


def test_a_body_that_may_hold_secrets_is_not_quoted(monkeypatch):
    waiter = bwp.WaiterDefinition.from_states(
        "Given", "GetSessionToken", path="Credentials.AccessKeyId", success=["a"]
    )
    monkeypatch.setitem(CASES_OF_BODIES, "sts", (waiter, {}))
    assert "hidden" not in str(wait_for_body("sts", b"<html>hidden"))


def test_an_endless_redirect_is_a_failure_of_the_call():
    """botocore follows it until Python's limit."""
    client = bwp.enable(boto3.client("ec2"))
    for name in ("before-call", "redirect"):
        client.meta.events.register(name, lambda **_: client.meta.events.emit("redirect") and None)
    with pytest.raises(bwp.WaiterFailedError, match="RecursionError"):
        client.wait_until_instance_running(InstanceIds=["i"], max_wait=60)


# --- texts of the service -----------------------------------------------------------------------


@WAYS
@experiments("is told", "place", "text")
def test_texts_of_a_service_are_escaped(way, answers, error_answer, caplog, place, text):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    told = dict.fromkeys(("code", "message", "state", "reason", "parameter"), "web") | {place: text}
    stack = {"StackName": told["parameter"], "StackStatusReason": told["reason"]}
    states = ["ROLLBACK_COMPLETE"] if place != "state" else [text, "ROLLBACK_COMPLETE"]
    replies = [{"Stacks": [{**stack, "StackStatus": each}]} for each in states]
    if place in ("code", "message"):
        replies = [error_answer(told["code"], told["message"])]
    client = bwp.enable(boto3.client("cloudformation"))
    answers(client, *replies)
    waiter = client.get_waiter("stack_create_complete")
    wait = waiter.wait if way == "get_waiter" else client.wait_until_stack_create_complete
    with pytest.raises(bwp.WaiterFailedError) as caught:
        wait(StackName=told["parameter"], max_wait=60)
    shown = [str(caught.value), repr(caught.value), *caplog.messages]
    assert any(ascii(text)[1:10] in each for each in shown)
    assert [each for each in shown if not each.isprintable()] == []


@WAYS
def test_the_words_of_a_head_request_are_told(way, answers, error_answer):
    client = bwp.enable(boto3.client("s3"))
    answers(client, error_answer("403", "Forbidden", status=403))
    wait = client.get_waiter("object_exists").wait
    wait = wait if way == "get_waiter" else client.wait_until_object_exists
    with pytest.raises(WaiterError, match=r"403.*Forbidden"):
        wait(Bucket="b", Key="k", max_wait=60)


def test_failures_name_code_status_request_and_message(answers, error_answer):
    bwp.install()
    client = boto3.client("iam")
    answer = error_answer("AccessDenied", "User bob is not authorized", status=403)
    answer["ResponseMetadata"]["RequestId"] = "abc-123"
    answers(client, answer)
    with pytest.raises(
        bwp.WaiterFailedError, match=r"AccessDenied \(HTTP 403, .*abc-123"
    ) as caught:
        client.wait_until_user_exists(UserName="me", max_wait=60)
    error = caught.value
    assert (error.label, error.attempts) == ("iam UserName=me", 1)
    assert error.service_message == "User bob is not authorized"
    assert error.last_response["Error"]["Code"] == "AccessDenied"


@pytest.mark.parametrize(
    ("code", "is_told"), [("AccessDeniedException", True), ("ValidationException", False)]
)
def test_a_denied_deletion_tells_that_the_resource_may_be_gone(
    answers, error_answer, code, is_told
):
    bwp.install()
    backup = boto3.client("backup")
    answers(backup, error_answer(code, "Insufficient privileges"))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        backup.wait_until_backup_vault_deleted(BackupVaultName="v", max_wait=60)
    assert ("when the resource is gone" in str(caught.value)) is is_told


@pytest.mark.parametrize(
    "code",
    ["EntityDoesNotExistException", "IdcApplicationNotExistsFault", "WAFNonexistentItemException"],
)
def test_other_words_mean_that_something_is_gone(code):
    assert says_absent(code)
    assert not says_not_found(code)
