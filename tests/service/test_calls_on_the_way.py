"""Errors of other calls: what fetches credentials, endpoints and sessions decides no wait."""

import _thread
import asyncio
import datetime as dt
import json
import logging
import queue
import traceback
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.exceptions as botocores
import pytest
from botocore.credentials import ProcessProvider, RefreshableCredentials
from botocore.exceptions import ClientError, WaiterError
from service import ways
from service.roles import EXISTS, GONE, KEYS, answering, profiles_in, refusal, sending, session_of
from service.ways import by_method, by_waiter

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.idempotency import call_once

WAYS = pytest.mark.parametrize("way", ways.ALL)
CALLS = pytest.mark.parametrize("way", ways.CALLS)
STACK = {"StackName": "web", "max_wait": 60}
IMAGE = {"ImageId": "a", "MinCount": 1, "MaxCount": 1, "max_wait": 60}


@pytest.fixture(autouse=True)
def _profiles(installed, tmp_path, monkeypatch):
    profiles_in(tmp_path / "config", monkeypatch)


@pytest.fixture
def client(cloudformation):
    return cloudformation


def deleted(way, client, **options):
    """Wait until a stack is deleted, for which the answer GONE is a success."""
    return way(client, "stack_delete_complete", **{**STACK, **options})


def raised(code, name, **answer):
    return ClientError(refusal(code, **answer), name)


def of_secret(code="ValidationError", **answer):
    return raised(code, "GetSecretValue", **answer)


def client_of_role(service, *sts_answers):
    session, called = session_of("role", *sts_answers)
    return session.client(service), called


def raising(client, event, error):
    """Let a client raise this error at each event of a name; return what raises it."""
    hook = mock.Mock(side_effect=error)
    client.meta.events.register_first(event, hook)
    return hook


def by_hand(error):
    raise error


def hooked(service, event, run, *errors):
    """A client, and the calls of its hook, which raises these errors and no more."""
    client, left, called = boto3.client(service), list(errors), []

    def hook(**_):
        called.append(event)
        if left:
            run(left.pop(0))

    client.meta.events.register_first(event, hook)
    return client, called


ORIGINS = pytest.mark.parametrize("origin", ["AssumeRole", "GetSecretValue"])


def on_the_way(origin, service, *refusals):
    """A client whose calls need another, which is refused so before it succeeds, and its calls.

    Args:
        origin: a call for the role of the client, or one that a hook makes.
    """
    if origin == "AssumeRole":
        return client_of_role(service, *refusals, KEYS)
    errors = [ClientError(each, origin) for each in refusals]
    return hooked(service, "before-call", by_hand, *errors)


# --- decides nothing --------------------------------------------------------------------------


@ORIGINS
@pytest.mark.parametrize("state", ["success", "retry", "failure"])
@pytest.mark.parametrize("matcher", [{"success": False}, {"errorType": "ResourceNotFound"}])
@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize("way", [by_method, ways.by_batch])
def test_no_matcher_of_a_definition_sees_it(waitable, way, origin, state, matcher, in_thread):
    acceptor = {"state": state, "matcher": matcher}
    other = {"state": "success", "matcher": {"success": True}}
    bwp.install(definitions=waitable("Mine", "DescribeStacks", acceptor, other))
    client, called = on_the_way(origin, "cloudformation", refusal("ResourceNotFound"))
    sending(client, (400, GONE))
    options = {"missing_ok_for": 30, "retry_errors_for": {"ResourceNotFound": 30}}
    with pytest.raises(bwp.WaiterFailedError, match=origin) as caught:
        way(client, "mine", max_wait=60, call_in_thread=in_thread, **options)
    assert caught.value.acceptor is None
    assert caught.value.__cause__.operation_name == origin
    assert len(called) == 1


@WAYS
@ORIGINS
def test_a_throttle_of_it_is_transient(virtual_time, way, origin):
    throttles = refusal("Throttling", "Rate exceeded"), refusal("X", status=503)
    client, called = on_the_way(origin, "cloudformation", *throttles)
    sent = sending(client, (400, GONE))
    outcome = deleted(way, client, max_wait=600)
    assert outcome.exception.response["Error"]["Message"] == "no such stack"
    assert (len(called), len(sent)) == (3, 1)


@ORIGINS
@pytest.mark.parametrize("is_method", [True, False])
def test_a_condition_of_a_clients_method_is_no_exception(origin, is_method):
    client, called = on_the_way(origin, "cloudformation", refusal("ValidationError"))
    definition = client.wait_until_stack_delete_complete.definition
    method = client.describe_stacks
    function = method if is_method else lambda **_: method(StackName="web")
    with pytest.raises(bwp.WaiterFailedError, match=origin):
        conditions.poll(function, definition, input={"StackName": "web"}, max_wait=60)
    assert len(called) == 1


def test_events_and_lines_of_the_log_name_it(virtual_time, caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    client, _ = client_of_role("cloudformation", refusal("Throttling"), refusal("AccessDenied"))
    told = []
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_stack_exists(**STACK, on_attempt=told.append)
    codes = ["AssumeRole failed with Throttling", "AssumeRole failed with AccessDenied"]
    assert [event.error for event in told] == codes
    assert any(f"a transient error: {codes[0]} " in line for line in caplog.messages)
    assert [each.state for each in caught.value.timeline] == codes


def test_its_answer_is_none_of_the_service(virtual_time):
    # A connection error is transient once the service has answered: STS is another one.
    client, called = client_of_role("cloudformation", refusal("Throttling"), KEYS)
    raising(client, "before-send", botocores.EndpointConnectionError(endpoint_url="https://x"))
    with pytest.raises(bwp.WaiterFailedError, match="EndpointConnectionError"):
        client.wait_until_stack_exists(**STACK)
    assert len(called) == 2


@CALLS
@pytest.mark.parametrize("waiter", ["bucket_not_exists", "bucket_exists"])
def test_an_error_of_s3_express_session_names_it(way, waiter):
    client = boto3.client("s3")
    answering(client.meta.events, "before-call.s3.CreateSession", refusal("404", status=404))
    with pytest.raises(WaiterError, match="CreateSession"):
        way(client, waiter, Bucket="b--use1-az4--x-s3", max_wait=60)


@pytest.mark.parametrize("is_connected", [True, False])
def test_an_error_of_endpoint_discovery_names_it(is_connected):
    client = boto3.client("timestream-query")
    if is_connected:
        refused = refusal("ResourceNotFoundException", "no endpoint")
        answering(client.meta.events, "before-call.timestream-query.DescribeEndpoints", refused)
    else:
        raising(client, "before-send", botocores.EndpointConnectionError(endpoint_url="https://x"))
    codes = ["ResourceNotFoundException", "EndpointDiscoveryRefreshFailed"]
    states = {"path": "ScheduledQuery.State", "success": ["X"], "success_on_error": codes}
    definition = bwp.WaiterDefinition.from_states("Gone", "DescribeScheduledQuery", **states)
    words = "DescribeEndpoints" if is_connected else "EndpointDiscoveryRefreshFailed"
    with pytest.raises(bwp.WaiterFailedError, match=words):
        bwp.wait_until(client, definition, max_wait=60, ScheduledQueryArn="arn:aws:x")


def test_an_error_of_single_sign_on_names_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    config = tmp_path / "sso"
    config.write_text(
        "[profile sso]\nsso_start_url=https://x/start\nsso_region=us-east-1\n"
        "sso_account_id=123456789012\nsso_role_name=r\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    session = boto3.Session(profile_name="sso", region_name="us-east-1")
    fetched = refusal("ForbiddenException", "No access", 403)
    expired = refusal("UnauthorizedException", status=401)
    answering(session.events, "before-call.sso.GetRoleCredentials", fetched, expired)
    client = session.client("s3")
    fetcher = client._request_signer._credentials._refresh_using.__self__
    token = {"accessToken": "t", "expiresAt": "2100-01-01T00:00:00Z"}
    fetcher._token_loader = lambda *_, **__: token
    for words in ("GetRoleCredentials failed with Forbidden.*No access", "GetRole.*aws sso login"):
        with pytest.raises(bwp.WaiterFailedError, match=words):
            client.wait_until_bucket_exists(Bucket="b", max_wait=60)


@pytest.mark.parametrize("name", ["AssumeRole", "GetRoleCredentials"])
def test_an_error_of_known_name_is_another_calls(client, name):
    raising(client, "before-sign", raised("ValidationError", name))
    with pytest.raises(bwp.WaiterFailedError, match=name):
        deleted(by_method, client)


def test_a_call_inside_the_call_is_told_apart():
    # A role that is assumed by a role: both calls have one name.
    client, called = client_of_role("sts", refusal("ValidationError", "inner"))
    states = {"path": "Credentials", "success": ["x"], "success_on_error": ["ValidationError"]}
    definition = bwp.WaiterDefinition.from_states("Assumed", "AssumeRole", **states)
    with pytest.raises(bwp.WaiterFailedError, match="AssumeRole"):
        bwp.wait_until(client, definition, max_wait=60, RoleArn="a" * 20, RoleSessionName="abc")
    assert called == ["AssumeRole"]


def describing(other):
    other.describe_stacks(StackName="of another account")


def by_pages(other):
    list(other.get_paginator("list_stack_resources").paginate(StackName="of another account"))


def of_double(other):
    error = raised("ValidationError", "DescribeStackEvents", message="no such stack")
    raising(other, "before-call", error)
    other.describe_stack_events(StackName="of another account")


def in_pool(call):
    def run(argument):
        with ThreadPoolExecutor() as pool:
            pool.submit(call, argument).result()

    return run


OF_OTHERS = [describing, by_pages, in_pool(by_pages), of_double, in_pool(of_double)]


class OwnCredentials:
    """Credentials of no class of botocore's, which are fetched by a call or otherwise."""

    def __init__(self, fetch):
        self.get_frozen_credentials = fetch


def fetch_by(client, fetch, *, own):
    """Let a client get its credentials so: at a refresh, or from an object of its own class."""
    with_refresh(client)
    credentials = client._request_signer._credentials
    credentials._refresh_using = fetch
    if own:
        client._request_signer._credentials = OwnCredentials(fetch)


@WAYS
@pytest.mark.parametrize("call", OF_OTHERS)
@pytest.mark.parametrize("place", ["before-sign", "before-send", "refresh", "own credentials"])
def test_an_error_of_another_client_matches_no_acceptor(way, call, place):
    other, client = boto3.client("cloudformation"), boto3.client("cloudformation")
    sending(other, (400, GONE))
    sent = sending(client, (400, GONE))
    if place.startswith("before"):
        client.meta.events.register_first(place, lambda **_: call(other))
    else:
        fetch_by(client, lambda: call(other), own=place == "own credentials")
    with pytest.raises((WaiterError, ClientError), match="no such stack"):
        deleted(way, client)
    assert sent == []


@WAYS
def test_an_error_of_due_credentials_matches_nothing(client, way):
    # They are refreshed in a thread before the call.
    fetch_by(client, mock.Mock(side_effect=of_secret()), own=True)
    client._request_signer._credentials.refresh_needed = lambda: True
    with pytest.raises((WaiterError, ClientError), match="GetSecretValue"):
        deleted(way, client)


NO_ANSWER = [{"success": False}, {"errorType": "UnauthorizedSSOTokenError"}]


@CALLS
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("matcher", NO_ANSWER, ids=str)
def test_an_error_of_fetching_matches_nothing(client, waitable, way, own, matcher):
    acceptor = {"state": "success", "matcher": matcher}
    bwp.install(definitions=waitable("Mine", "DescribeStacks", acceptor))
    error = botocores.UnauthorizedSSOTokenError()
    fetch_by(client, mock.Mock(side_effect=error), own=own)
    with pytest.raises((bwp.WaiterFailedError, type(error)), match="aws sso login"):
        way(client, "mine", max_wait=60)


def test_a_refused_role_says_nothing_of_a_deletion():
    # Where the service itself answers so when the resource is gone, the message says that.
    client, _ = client_of_role("backup", refusal("AccessDeniedException", "no", 403))
    with pytest.raises(bwp.WaiterFailedError, match="AssumeRole") as caught:
        client.wait_until_backup_vault_deleted(BackupVaultName="v", max_wait=60)
    assert "is gone" not in str(caught.value)


# --- hooks that raise an error of another call ------------------------------------------------

EVENTS = [
    "provide-client-params", "before-parameter-build", "before-endpoint-resolution", "before-call",
    "request-created", "choose-signer", "before-sign", "before-send",
]  # fmt: skip
AFTER = ["needs-retry", "response-received", "after-call"]


def by_another_client(error):
    other = boto3.client("secretsmanager")
    with mock.patch.object(other, "_make_api_call", side_effect=error):
        other.get_secret_value(SecretId="s")


def of_a_script(error):
    """Raise an error that was raised before, by a call and its hook."""
    other = boto3.client("secretsmanager")
    raising(other, "before-call", error)
    with pytest.raises(ClientError):
        other.get_secret_value(SecretId="s")
    raise error


OTHERS = [in_pool(by_hand), by_another_client, of_a_script]
RUNS = [*product(ways.ALL, [by_hand]), *product(ways.CALLS, OTHERS)]


@pytest.mark.parametrize("event", EVENTS + AFTER)
@pytest.mark.parametrize(("way", "run"), RUNS)
def test_however_a_hook_came_by_the_error_it_matches_nothing(way, event, run):
    error = of_secret(message="no secret")
    client, called = hooked("cloudformation", f"{event}.cloudformation", run, error)
    sending(client, (200, EXISTS))
    with pytest.raises((WaiterError, ClientError), match="GetSecretValue") as caught:
        deleted(way, client)
    assert "no secret" in str(caught.value)
    assert len(called) == 1


@pytest.fixture(params=["legacy", "standard", "adaptive"])
def retry_mode(request, virtual_time, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    monkeypatch.setenv("AWS_RETRY_MODE", request.param)


@pytest.mark.parametrize("event", ["before-send", "needs-retry"])
def test_a_hook_is_told_in_each_retry_mode(retry_mode, event):
    client, _ = hooked("cloudformation", event, by_hand, *[of_secret()] * 9)
    sending(client, (200, EXISTS))
    with pytest.raises(bwp.WaiterFailedError, match="GetSecretValue failed with ValidationError"):
        deleted(by_method, client)


# --- test doubles go on matching --------------------------------------------------------------


REPLACED = [
    "botocore.client.BaseClient._make_api_call", "botocore.endpoint.Endpoint.make_request",
    "botocore.httpsession.URLLib3Session.send",
]  # fmt: skip


@CALLS
@pytest.mark.parametrize("name", ["op", "DescribeStack", "describe_stacks", "DeleteStack", ""])
def test_a_double_of_the_polled_call_may_have_any_name(client, name, way):
    error = raised("ValidationError", name)
    doubles = [mock.patch(replaced, side_effect=error) for replaced in REPLACED]
    if way is not by_waiter:
        doubles.append(mock.patch.object(client, "describe_stacks", side_effect=error))
    for double in doubles:
        with double:
            assert deleted(way, client).exception is error


def test_a_double_that_the_sdk_tries_again_matches(retry_mode, client):
    error = raised("ValidationError", "DeleteStack")
    with mock.patch("botocore.httpsession.URLLib3Session.send", side_effect=error):
        assert deleted(by_method, client).exception is error


@CALLS
@pytest.mark.parametrize("name", ["op", "DescribeStacks", "describe_stacks", ""])
@pytest.mark.parametrize("event", ["before-call", "before-send", "needs-retry", "after-call"])
def test_a_hook_that_stands_for_the_service_matches(way, event, name):
    error = raised("ValidationError", name)
    for _ in range(2):  # One double may stand for all clients.
        client = boto3.client("cloudformation")
        sending(client, (200, EXISTS))
        raising(client, event, error)
        assert deleted(way, client).exception is error


@pytest.mark.parametrize("is_module", [False, True])
def test_a_double_may_raise_one_error_twice(client, is_module):
    error = raised("ValidationError", "op")
    raising(client, "before-call", error)
    ends = queue.SimpleQueue()

    def script():
        try:
            client.delete_stack(StackName="web")
        except ClientError:
            ends.put(deleted(ways.by_batch if is_module else by_method, client))

    if is_module:  # Its frame has no caller, as that of a module that is run.
        _thread.start_new_thread(script, ())
    else:
        script()
    assert ends.get(timeout=60).exception is error


@CALLS
@pytest.mark.parametrize("event", ["before-call", "before-send", "before-sign", "needs-retry"])
@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_double_may_raise_an_error_again(way, event, is_cleared):
    other, client = boto3.client("cloudformation"), boto3.client("cloudformation")
    for each in (other, client):
        sending(each, (400, GONE))
    with pytest.raises(ClientError) as captured:
        other.describe_stacks(StackName="web")
    if is_cleared:
        traceback.clear_frames(captured.value.__traceback__)
    raising(client, event, captured.value)
    assert deleted(way, client).exception is captured.value


# --- shared and screened calls ----------------------------------------------------------------


def instances(client, number):
    ids = [f"i-{index}" for index in range(number)]
    return [bwp.Wait(client, "instance_running", {"InstanceIds": [i]}, max_wait=60) for i in ids]


def jobs(client, number):
    names = [{"TrainingJobName": f"job-{index}"} for index in range(number)]
    return [bwp.Wait(client, "training_job_completed_or_stopped", n, max_wait=900) for n in names]


def as_completed(waits):
    return [result for _, result in bwp.as_completed(waits)]


def together(waits):
    return bwp.wait_all(waits, on_failure="collect")


def in_task(waits):
    return asyncio.run(bwp.wait_all_async(waits, on_failure="collect"))


BATCHES = pytest.mark.parametrize("run", [together, in_task, as_completed])


@BATCHES
@pytest.mark.parametrize(("origin", "service", "waits_of", "calls"), [
    ("AssumeRole", "ec2", instances, 1), ("AssumeRole", "sagemaker", jobs, 1),
    ("GetSecretValue", "ec2", instances, 1), ("GetSecretValue", "sagemaker", jobs, 41),
])  # fmt: skip
def test_waits_that_share_a_call_share_its_end(run, origin, service, waits_of, calls):
    refused = [refusal("InvalidInstanceID.NotFound", "not yours", 403)] * 99
    client, called = on_the_way(origin, service, *refused)
    results = run(waits_of(client, 40))
    assert len(results) == 40
    for error in results:
        assert isinstance(error, bwp.WaiterFailedError)
        assert f"{origin} failed with InvalidInstanceID.NotFound" in str(error)
    assert len(called) == calls


RAISED = [
    *(LookupError("mine"), KeyError("AccessKeyId"), botocores.NoCredentialsError()),
    *(botocores.ParamValidationError(report="RoleArn"), botocores.UnauthorizedSSOTokenError()),
]


@BATCHES
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(("service", "waits_of"), [("ec2", instances), ("sagemaker", jobs)])
def test_what_a_refresh_raises_ends_all_its_waits(run, service, waits_of, error):
    client = boto3.client(service)
    refresh = with_refresh(client, *[error] * 99)
    for result in run(waits_of(client, 40)):
        assert result is error or result.__cause__ is error
    assert refresh.call_count == 1


@BATCHES
def test_a_hook_of_the_list_alone_ends_no_wait(run):
    client = boto3.client("sagemaker")
    answering(client.meta.events, "before-call", {"TrainingJobStatus": "Completed"})
    raising(client, "before-call.sagemaker.ListTrainingJobs", of_secret("AccessDenied"))
    assert all(isinstance(each, bwp.ResponseOutcome) for each in run(jobs(client, 30)))


def test_a_list_is_not_given_up_for_what_happened_on_the_way(virtual_time, caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    client, called = client_of_role("sagemaker", refusal("Throttling"), KEYS)
    names = [f"job-{index}" for index in range(12)]
    there = [{"TrainingJobName": name, "TrainingJobStatus": "InProgress"} for name in names]
    sent = sending(client, (200, json.dumps({"TrainingJobSummaries": there}).encode()))
    results = together(jobs(client, 12))
    assert all(isinstance(each, bwp.WaiterTimeoutError) for each in results)
    assert len(called) == 2
    assert not any("one by one" in line for line in caplog.messages)
    assert sent


# --- calls that change something --------------------------------------------------------------


def refused_by(client, words):
    """Return the error of a change that another call has refused."""
    with pytest.raises(Exception, match=words) as caught:
        call_once(client.run_instances, **IMAGE)
    assert type(caught.value).__name__ == "CallRefusedError"
    return caught.value


@pytest.mark.parametrize("code", ["ValidationError", "IdempotentParameterMismatch", "AccessDenied"])
@pytest.mark.parametrize("is_throttled", [False, True])
def test_call_once_is_refused_by_another_call(virtual_time, code, is_throttled):
    throttles = [refusal("Throttling")] * is_throttled
    answers = *throttles, refusal(code, "no client token, it expired")
    client, called = client_of_role("ec2", *answers)
    assert not refused_by(client, "AssumeRole").outcome_unknown
    assert called == ["AssumeRole"] * len(answers)


@pytest.mark.parametrize("event", EVENTS + AFTER)
@pytest.mark.parametrize("code", ["IdempotentParameterMismatch", "InvalidClientToken"])
def test_call_once_is_refused_by_a_hook(event, code):
    error = of_secret(code, message="no client token, it expired")
    client, called = hooked("ec2", f"{event}.ec2", by_hand, error)
    sending(client, (200, b"<RunInstancesResponse/>"))
    # The request is on its way before these run.
    assert refused_by(client, "GetSecretValue").outcome_unknown is (event in AFTER)
    assert len(called) == 1


def test_what_another_call_says_about_a_new_role_is_not_repeated(virtual_time):
    text = "The role defined for the function cannot be assumed by Lambda."
    client, called = client_of_role("lambda", refusal("InvalidParameterValueException", text))
    code = {"Code": {"ZipFile": b"x"}, "Runtime": "python3.12", "Handler": "a.b"}
    role = {"Role": "arn:aws:iam::123456789012:role/role"}
    with pytest.raises(ClientError):
        bwp.begin(client.create_function, max_wait=60, FunctionName="f", **role, **code)
    assert len(called) == 1


def test_credentials_that_expire_leave_the_outcome_unknown(monkeypatch, virtual_time):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    client, now = boto3.client("ec2"), [dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)]
    refresh = mock.Mock(side_effect=raised("AccessDenied", "AssumeRole"))
    later = now[0] + dt.timedelta(hours=1)
    client._request_signer._credentials = RefreshableCredentials(
        "a", "b", "c", later, refresh, "test", lambda: now[0]
    )
    sending(client, (503, b"<Response/>"))
    client.meta.events.register("needs-retry", lambda **_: now.__setitem__(0, later))
    assert refused_by(client, "AssumeRole").outcome_unknown


# --- credentials that cannot be fetched -------------------------------------------------------


def with_refresh(client, *results):
    """Let a client refresh its credentials before each request; return what does it."""
    now = dt.datetime.now(dt.timezone.utc)
    later, soon = now + dt.timedelta(hours=1), now + dt.timedelta(minutes=1)
    fresh = {"access_key": "a", "secret_key": "b", "token": "c", "expiry_time": later.isoformat()}
    refresh = mock.Mock(side_effect=[fresh if each is None else each for each in results])
    credentials = RefreshableCredentials("a", "b", "c", soon, refresh, "test")
    client._request_signer._credentials = credentials
    client.meta.events.register_first(
        "before-send", lambda **_: setattr(credentials, "_expiry_time", soon)
    )
    return refresh


EXPIRED = {"access_key": "a", "secret_key": "b", "token": "c", "expiry_time": "2020-01-01T00Z"}
HICCUPS = [
    botocores.MetadataRetrievalError(error_msg="timed out"),
    botocores.CredentialRetrievalError(provider="custom-process", error_msg="exit 1"),
    botocores.TokenRetrievalError(provider="sso", error_msg="refresh failed"),
]


@pytest.mark.parametrize("hiccup", [*HICCUPS, EXPIRED], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("way", [*ways.CALLS, ways.in_background])
def test_a_hiccup_after_an_answer_is_transient(client, virtual_time, hiccup, way):
    refresh = with_refresh(client, None, hiccup, None)
    sending(client, (200, EXISTS), (400, GONE))
    assert deleted(way, client, max_wait=600).attempts == 3
    assert refresh.call_count == 3


@pytest.mark.parametrize("hiccup", HICCUPS, ids=lambda each: type(each).__name__)
def test_a_hiccup_before_any_answer_ends_the_wait(client, virtual_time, hiccup):
    with_refresh(client, hiccup, hiccup)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        deleted(by_method, client)
    assert str(hiccup) in str(caught.value)
    assert "https://" not in str(caught.value)
    with pytest.raises(type(hiccup)) as caught:
        client.get_waiter("stack_delete_complete").wait(StackName="web")
    assert caught.value is hiccup


def test_a_process_that_writes_something_else_is_a_hiccup(client, virtual_time):
    cuts = [3]
    sent = sending(client, (200, EXISTS), (400, GONE))
    soon = dt.datetime.now(dt.timezone.utc) + dt.timedelta(minutes=1)
    good = {"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "Expiration": str(soon)}
    provider = ProcessProvider("p", lambda: {"profiles": {"p": {"credential_process": "get"}}})

    def communicate():
        end = cuts.pop() if sent and cuts else None
        return json.dumps(good).encode()[:end], b""

    provider._popen = lambda *_, **__: SimpleNamespace(returncode=0, communicate=communicate)
    client._request_signer._credentials = provider.load()
    assert deleted(by_method, client, max_wait=600).attempts == 3


def test_an_error_that_was_handled_before_names_no_call(client):
    error = botocores.UnauthorizedSSOTokenError()
    with_refresh(client, error)
    try:
        raise raised("ValidationError", "DeleteStack")
    except ClientError:
        with pytest.raises(bwp.WaiterFailedError, match=r"DescribeStacks .*SSOToken"):
            client.wait_until_stack_exists(**STACK)


@pytest.mark.parametrize("way", [by_method, by_waiter])
def test_a_login_that_is_needed_ends_the_wait_at_once(client, virtual_time, way):
    error = botocores.UnauthorizedSSOTokenError()
    with_refresh(client, None, error)
    sending(client, (200, EXISTS))
    with pytest.raises((bwp.WaiterFailedError, type(error)), match="aws sso login"):
        deleted(way, client)


def test_the_text_of_an_error_has_no_credentials(client, virtual_time):
    secrets = ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AKIAIOSFODNN7EXAMPLE", "hunter2", "q=1"]
    key, access, password, query = secrets
    text = f"bad {key} of {access} (SessionToken={password}) at https://u:{password}@x/y?{query}"
    process = botocores.CredentialRetrievalError(provider="custom-process", error_msg=text)
    with_refresh(client, process)
    with pytest.raises(bwp.WaiterFailedError, match="custom-process: bad ") as caught:
        deleted(by_method, client)
    assert not any(secret in str(caught.value) for secret in secrets)


def test_an_error_of_a_connection_names_the_endpoint_that_was_called(virtual_time):
    session, _ = session_of("role", botocores.ReadTimeoutError(endpoint_url="https://sts.example/"))
    client = session.client("cloudformation")
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        client.wait_until_stack_exists(**STACK)
    assert "AssumeRole failed with ReadTimeoutError at https://sts.example" in str(caught.value)
    assert "cloudformation." not in str(caught.value)


def test_no_traceback_has_the_password_of_another_endpoint(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "http://user:hunter2@127.0.0.1:9")
    session = boto3.Session(profile_name="role", region_name="us-east-1")
    with pytest.raises(bwp.WaiterFailedError, match="AssumeRole") as caught:
        session.client("cloudformation").wait_until_stack_exists(**STACK)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_it_tells_nothing_of_what_was_made(virtual_time):
    # A repeated call whose wait fails at once is otherwise taken to have made what is gone by now.
    client = boto3.client("dynamodb")
    made = {"TableDescription": {"TableName": "table", "TableStatus": "CREATING"}}
    with_refresh(client, None, None, raised("AccessDenied", "AssumeRole"))
    sending(client, (500, b"{}"), (200, json.dumps(made).encode()))
    key = [{"AttributeName": "k", "KeyType": "HASH"}]
    types = [{"AttributeName": "k", "AttributeType": "S"}]
    table = {"TableName": "table", "KeySchema": key, "AttributeDefinitions": types}
    table["BillingMode"] = "PAY_PER_REQUEST"
    options = {"allow_repeat": True, "then_wait": True, "max_wait": 60}
    with pytest.raises(bwp.WaiterFailedError, match="AssumeRole") as caught:
        call_once(client.create_table, **options, **table)
    assert type(caught.value) is bwp.WaiterFailedError
