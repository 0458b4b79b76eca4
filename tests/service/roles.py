"""Clients of a role: what their calls on the way to an operation are answered."""

from types import SimpleNamespace

import boto3
import botocore.session
from botocore.awsrequest import AWSResponse

PROFILES = """
[profile base]
aws_access_key_id = base
aws_secret_access_key = base
[profile role]
role_arn = arn:aws:iam::123456789012:role/r
source_profile = base
[profile person]
role_arn = arn:aws:iam::123456789012:role/r
source_profile = base
mfa_serial = arn:aws:iam::123456789012:mfa/me
"""

SECRETS = {"AccessKeyId": "key", "SecretAccessKey": "secret", "SessionToken": "token"}
KEYS = {"Credentials": {**SECRETS, "Expiration": "2100-01-01T00:00:00Z"}}
EXISTS = (
    b"<DescribeStacksResponse><DescribeStacksResult><Stacks><member>"
    b"<StackStatus>DELETE_IN_PROGRESS</StackStatus></member></Stacks></DescribeStacksResult>"
    b"</DescribeStacksResponse>"
)
"""The answer on which `stack_delete_complete` retries."""

GONE = (
    b"<ErrorResponse><Error><Code>ValidationError</Code><Message>no such stack</Message></Error>"
    b"</ErrorResponse>"
)
"""The answer, with status 400, on which `stack_delete_complete` succeeds."""


def profiles_in(path, patch):
    """Let sessions have these profiles; no client retries by itself."""
    path.write_text(PROFILES)
    patch.setenv("AWS_CONFIG_FILE", str(path))
    patch.setenv("AWS_MAX_ATTEMPTS", "1")


def parsed(answer):
    """What `before-call` returns for a parsed response or error response."""
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 200)
    metadata = {"HTTPStatusCode": status, "RequestId": "request-1", "RetryAttempts": 0}
    return SimpleNamespace(status_code=status), {**answer, "ResponseMetadata": metadata}


def answering(events, event, *answers):
    """Answer calls with parsed responses, the last again and again; return what was called.

    Args:
        events: of a session or a client; a client's calls of this kind are then not sent.
        event: `before-call`, with the service and the operation.
    """
    called = []

    def answer(model, **_):
        one = answers[min(len(called), len(answers) - 1)]
        called.append(model.name)
        if isinstance(one, BaseException):
            raise one
        return parsed(one)

    events.register(event, answer)
    return called


def sending(client, *bodies):
    """Answer requests of a client after they were signed; return what ran when they were sent.

    Args:
        bodies: the status and the body of each answer, or a function that is called before.
    """
    sent = []

    def send(request, **_):
        status, body = bodies[min(len(sent), len(bodies) - 1)]
        sent.append(request)
        response = AWSResponse(request.url, status, {}, None)
        response._content = body
        return response

    client.meta.events.register("before-send", send)
    return sent


def session_of(profile, *sts_answers, **options):
    """A session of a profile, and the calls of STS that it has made."""
    session = botocore.session.Session(profile=profile)
    called = answering(session.get_component("event_emitter"), "before-call.sts", *sts_answers)
    return boto3.Session(botocore_session=session, region_name="us-east-1", **options), called


def refusal(code, message="no", status=400, **details):
    """The error response of a service, parsed."""
    error = {"Code": code, "Message": message, **details}
    return {"Error": error, "ResponseMetadata": {"HTTPStatusCode": status}}
