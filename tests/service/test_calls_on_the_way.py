"""Errors of other calls: what fetches credentials, endpoints and sessions decides no wait."""

import _thread
import asyncio
import datetime as dt
import json
import logging
import queue
import traceback
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.exceptions as botocores
import pytest
from botocore.credentials import ProcessProvider, RefreshableCredentials
from botocore.exceptions import ClientError, WaiterError
from service.roles import EXISTS, GONE, KEYS, answering, profiles_in, sending, session_of
from service.ways import by_batch, by_method, by_task, by_waiter, in_background, in_store

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.idempotency import call_once

FORMS = [by_method, by_waiter, by_task, by_batch, in_background, in_store]
WAYS = pytest.mark.parametrize("way", FORMS)
STACK = {"StackName": "web", "max_wait": 60}


@pytest.fixture(autouse=True)
def _profiles(tmp_path, monkeypatch):
    profiles_in(tmp_path / "config", monkeypatch)
    bwp.install()


def refusal(code, message="no", status=400):
    return {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }


def raised(code, name, **answer):
    return ClientError(refusal(code, **answer), name)


def client_of_role(service, *sts_answers):
    session, called = session_of("role", *sts_answers)
    return session.client(service), called


# --- decides nothing --------------------------------------------------------------------------


@WAYS
def test_an_error_of_a_call_on_the_way_matches_no_acceptor(way):
    client, called = client_of_role("cloudformation", refusal("ValidationError", "bad role"))
    sent = sending(client, (400, GONE))
    with pytest.raises(WaiterError, match="AssumeRole failed with ValidationError") as caught:
        way(client, "stack_delete_complete", **STACK)
    assert "bad role" in str(caught.value)
    assert "DescribeStacks failed" not in str(caught.value)
    assert (called, sent) == (["AssumeRole"], [])


@pytest.mark.parametrize("state", ["success", "retry", "failure"])
@pytest.mark.parametrize("matcher", [{"success": False}, {"errorType": "ValidationError"}])
def test_no_matcher_of_a_definition_sees_it(waitable, matcher, state):
    acceptor = {"state": state, "matcher": matcher}
    other = {"state": "success", "matcher": {"success": True}}
    bwp.install(definitions=waitable("Mine", "DescribeStacks", acceptor, other))
    client, called = client_of_role("cloudformation", refusal("ValidationError"))
    sending(client, (400, GONE))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_mine(max_wait=60)
    assert caught.value.acceptor is None
    assert len(called) == 1


@pytest.mark.parametrize("way", [by_method, by_waiter, by_task, by_batch])
@pytest.mark.parametrize(
    "options", [{"missing_ok_for": 30}, {"retry_errors_for": {"NoSuchEntity": 30}}], ids=list
)
def test_options_that_retry_errors_do_not_retry_it(virtual_time, way, options):
    client, called = client_of_role("cloudformation", refusal("NoSuchEntity", status=404))
    bwp.enable(client, defaults=options)
    with pytest.raises(WaiterError):
        way(client, "stack_exists", **STACK)
    assert len(called) == 1


@WAYS
def test_a_throttle_of_it_is_transient(virtual_time, way):
    throttle = refusal("Throttling", "Rate exceeded")
    client, called = client_of_role("cloudformation", throttle, refusal("X", status=503), KEYS)
    sent = sending(client, (400, GONE))
    outcome = way(client, "stack_delete_complete", **{**STACK, "max_wait": 600})
    assert outcome.exception.response["Error"]["Message"] == "no such stack"
    assert (len(called), len(sent)) == (3, 1)


def test_a_wait_that_ran_out_of_time_names_the_call_that_was_throttled(virtual_time):
    client, _ = client_of_role("cloudformation", refusal("Throttling", "Rate exceeded"))
    with pytest.raises(bwp.WaiterTimeoutError, match="AssumeRole"):
        client.wait_until_stack_exists(**STACK)


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
    refused = botocores.EndpointConnectionError(endpoint_url="https://cloudformation")
    client.meta.events.register("before-send", mock.Mock(side_effect=refused))
    with pytest.raises(bwp.WaiterFailedError, match="EndpointConnectionError"):
        client.wait_until_stack_exists(**STACK)
    assert len(called) == 2


def test_an_error_of_s3_express_session_names_it():
    client = boto3.client("s3")
    answering(client.meta.events, "before-call.s3.CreateSession", refusal("404", status=404))
    for way in (by_method, by_waiter, by_task, by_batch):
        for waiter in ("bucket_not_exists", "bucket_exists"):
            with pytest.raises(WaiterError, match="CreateSession"):
                way(client, waiter, Bucket="b--use1-az4--x-s3", max_wait=60)


QUERY_GONE = bwp.WaiterDefinition.from_states(
    "QueryGone", "DescribeScheduledQuery", path="ScheduledQuery.State", success=["X"],
    success_on_error=["ResourceNotFoundException", "EndpointDiscoveryRefreshFailed"],
)  # fmt: skip


def test_an_error_of_endpoint_discovery_names_it():
    client = boto3.client("timestream-query")
    refused = refusal("ResourceNotFoundException", "no endpoint")
    answering(client.meta.events, "before-call.timestream-query.DescribeEndpoints", refused)
    with pytest.raises(bwp.WaiterFailedError, match="DescribeEndpoints"):
        bwp.wait_until(client, QUERY_GONE, max_wait=60, ScheduledQueryArn="arn:aws:x")


def test_an_endpoint_that_is_not_found_is_no_answer():
    client = boto3.client("timestream-query")
    refused = botocores.EndpointConnectionError(endpoint_url="https://x")
    client.meta.events.register("before-send", mock.Mock(side_effect=refused))
    with pytest.raises(bwp.WaiterFailedError, match="EndpointDiscoveryRefreshFailed"):
        bwp.wait_until(client, QUERY_GONE, max_wait=60, ScheduledQueryArn="arn:aws:x")


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
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_bucket_exists(Bucket="b", max_wait=60)
    assert "GetRoleCredentials failed with ForbiddenException" in str(caught.value)
    assert "No access" in str(caught.value)
    with pytest.raises(bwp.WaiterFailedError, match=r"GetRoleCredentials.*aws sso login"):
        client.wait_until_bucket_exists(Bucket="b", max_wait=60)


@pytest.mark.parametrize("name", ["AssumeRole", "GetRoleCredentials"])
def test_an_error_of_known_name_is_another_calls_wherever_it_was_raised(name):
    client = boto3.client("cloudformation")
    error = raised("ValidationError", name)
    client.meta.events.register("before-sign", mock.Mock(side_effect=error))
    with pytest.raises(bwp.WaiterFailedError, match=name):
        client.wait_until_stack_delete_complete(**STACK)


def test_a_call_inside_the_call_is_told_by_where_its_error_was_raised():
    # A role that is assumed by a role: both calls have one name.
    client, called = client_of_role("sts", refusal("ValidationError", "inner"))
    definition = bwp.WaiterDefinition.from_states(
        "Assumed", "AssumeRole", path="Credentials", success=["x"],
        success_on_error=["ValidationError"],
    )  # fmt: skip
    with pytest.raises(bwp.WaiterFailedError, match="AssumeRole"):
        bwp.wait_until(client, definition, max_wait=60, RoleArn="a" * 20, RoleSessionName="abc")
    assert called == ["AssumeRole"]


def describing(other):
    other.describe_stacks(StackName="of another account")


def listing(other):
    other.list_stack_resources(StackName="of another account")


def by_pages(other):
    list(other.get_paginator("list_stack_resources").paginate(StackName="of another account"))


def in_pool(other):
    with ThreadPoolExecutor() as pool:
        pool.submit(listing, other).result()


def of_double(other):
    error = raised("ValidationError", "DescribeStackEvents", message="no such stack")
    other.meta.events.register("before-call", mock.Mock(side_effect=error))
    other.describe_stack_events(StackName="of another account")


def of_double_in_pool(other):
    with ThreadPoolExecutor() as pool:
        pool.submit(of_double, other).result()


OF_OTHERS = [describing, listing, by_pages, in_pool, of_double, of_double_in_pool]


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
        way(client, "stack_delete_complete", **STACK)
    assert sent == []


@WAYS
def test_an_error_of_credentials_that_tell_when_they_are_due_matches_no_acceptor(way):
    # They are refreshed in a thread before the call.
    client, error = boto3.client("cloudformation"), raised("ValidationError", "GetSecretValue")
    fetch_by(client, mock.Mock(side_effect=error), own=True)
    client._request_signer._credentials.refresh_needed = lambda: True
    with pytest.raises((WaiterError, ClientError), match="GetSecretValue"):
        way(client, "stack_delete_complete", **STACK)


@pytest.mark.parametrize("way", [by_method, by_waiter, by_task, by_batch])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    "matcher", [{"success": False}, {"errorType": "UnauthorizedSSOTokenError"}], ids=str
)
def test_an_error_of_fetching_that_is_no_answer_matches_nothing(waitable, way, own, matcher):
    acceptor = {"state": "success", "matcher": matcher}
    bwp.install(definitions=waitable("Mine", "DescribeStacks", acceptor))
    client, error = boto3.client("cloudformation"), botocores.UnauthorizedSSOTokenError()
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


def by_hand(error):
    raise error


def by_thread(error):
    with ThreadPoolExecutor() as pool:
        pool.submit(by_hand, error).result()


def by_another_client(error):
    other = boto3.client("secretsmanager")
    with mock.patch.object(other, "_make_api_call", side_effect=error):
        other.get_secret_value(SecretId="s")


def of_a_script(error):
    """Raise an error that was raised before, by a call and its hook."""
    other = boto3.client("secretsmanager")
    other.meta.events.register("before-call", mock.Mock(side_effect=error))
    with pytest.raises(ClientError):
        other.get_secret_value(SecretId="s")
    raise error


HOOKS = [by_hand, by_thread, by_another_client, of_a_script]


def hooked(service, event, run, *errors):
    """A client, and the mock that runs in its hooks, which raises these errors and no more."""
    client, left = boto3.client(service), list(errors)
    client_hook = mock.Mock(side_effect=lambda **_: run(left.pop(0)) if left else None)
    client.meta.events.register_first(event, client_hook)
    return client, client_hook


def of_secret(code="ValidationError", **answer):
    return raised(code, "GetSecretValue", **answer)


@WAYS
@pytest.mark.parametrize("event", EVENTS + AFTER)
def test_an_error_that_a_hook_raises_for_another_call_matches_nothing(way, event):
    error = of_secret(message="no secret")
    client, hook = hooked("cloudformation", f"{event}.cloudformation", by_hand, error)
    sending(client, (200, EXISTS))
    with pytest.raises((WaiterError, ClientError), match="GetSecretValue") as caught:
        way(client, "stack_delete_complete", **STACK)
    assert "no secret" in str(caught.value)
    assert hook.call_count == 1


@pytest.mark.parametrize("way", [by_method, by_waiter, by_task, by_batch])
@pytest.mark.parametrize("event", ["before-call", "before-send", "needs-retry", "after-call"])
@pytest.mark.parametrize("run", HOOKS)
def test_however_a_hook_came_by_the_error_it_matches_nothing(way, event, run):
    client, _ = hooked("cloudformation", event, run, of_secret())
    sending(client, (200, EXISTS))
    with pytest.raises((WaiterError, ClientError), match="GetSecretValue"):
        way(client, "stack_delete_complete", **STACK)


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
@pytest.mark.parametrize("event", ["before-send", "needs-retry"])
def test_a_hook_is_told_in_each_retry_mode(virtual_time, monkeypatch, mode, event):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    monkeypatch.setenv("AWS_RETRY_MODE", mode)
    client, _ = hooked("cloudformation", event, by_hand, *[of_secret()] * 9)
    sending(client, (200, EXISTS))
    with pytest.raises(bwp.WaiterFailedError, match="GetSecretValue failed with ValidationError"):
        client.wait_until_stack_delete_complete(**STACK)


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize(
    "matcher", [{"success": False}, {"errorType": "ResourceNotFoundException"}], ids=str
)
def test_no_matcher_sees_the_error_of_a_hook(waitable, matcher, in_thread):
    bwp.install(
        definitions=waitable("Mine", "DescribeStacks", {"state": "success", "matcher": matcher})
    )
    error = of_secret("ResourceNotFoundException")
    client, _ = hooked("cloudformation", "before-call", by_hand, error)
    with pytest.raises(bwp.WaiterFailedError, match="GetSecretValue") as caught:
        client.wait_until_mine(max_wait=60, missing_ok_for=30, call_in_thread=in_thread)
    assert (caught.value.acceptor, caught.value.__cause__) == (None, error)


@WAYS
def test_a_throttle_that_a_hook_raises_is_transient(virtual_time, way):
    errors = of_secret("Throttling"), of_secret("X", status=503)
    client, hook = hooked("cloudformation", "before-call", by_hand, *errors)
    sending(client, (400, GONE))
    outcome = way(client, "stack_delete_complete", **{**STACK, "max_wait": 600})
    assert outcome.exception.operation_name == "DescribeStacks"
    assert hook.call_count == 3


def test_a_hook_is_told_in_a_condition():
    client, _ = hooked("cloudformation", "before-call", by_hand, of_secret(), of_secret())
    definition = client.wait_until_stack_delete_complete.definition
    for function in (client.describe_stacks, lambda **_: client.describe_stacks(StackName="web")):
        with pytest.raises(bwp.WaiterFailedError, match="GetSecretValue"):
            conditions.poll(function, definition, input={"StackName": "web"}, max_wait=60)


# --- test doubles go on matching --------------------------------------------------------------


REPLACED = [
    "botocore.client.BaseClient._make_api_call", "botocore.endpoint.Endpoint.make_request",
    "botocore.httpsession.URLLib3Session.send",
]  # fmt: skip


@pytest.mark.parametrize("name", ["op", "DescribeStack", "describe_stacks", "DeleteStack", ""])
@pytest.mark.parametrize("way", [by_method, by_waiter, by_task, by_batch])
def test_a_double_of_the_polled_call_may_have_any_name(name, way):
    client, error = boto3.client("cloudformation"), raised("ValidationError", name)
    for replaced in REPLACED:
        with mock.patch(replaced, side_effect=error):
            assert way(client, "stack_delete_complete", **STACK).exception is error
    if way is not by_waiter:
        with mock.patch.object(client, "describe_stacks", side_effect=error):
            assert way(client, "stack_delete_complete", **STACK).exception is error


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_a_double_that_the_sdk_tries_again_matches(virtual_time, monkeypatch, mode):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setenv("AWS_RETRY_MODE", mode)
    client, error = boto3.client("cloudformation"), raised("ValidationError", "DeleteStack")
    with mock.patch("botocore.httpsession.URLLib3Session.send", side_effect=error):
        assert client.wait_until_stack_delete_complete(**STACK).exception is error


@pytest.mark.parametrize("name", ["op", "DescribeStacks", "describe_stacks", ""])
@pytest.mark.parametrize("event", ["before-call", "before-send", "needs-retry", "after-call"])
@pytest.mark.parametrize("way", [by_method, by_waiter, by_task, by_batch])
def test_a_hook_that_stands_for_the_service_matches(way, event, name):
    client, error = boto3.client("cloudformation"), raised("ValidationError", name)
    sending(client, (200, EXISTS))
    client.meta.events.register_first(event, mock.Mock(side_effect=error))
    assert way(client, "stack_delete_complete", **STACK).exception is error


def test_a_double_that_raises_one_error_for_all_calls_of_a_script_matches():
    client, error = boto3.client("cloudformation"), raised("ValidationError", "op")
    client.meta.events.register("before-call", mock.Mock(side_effect=error))
    ends = queue.SimpleQueue()

    def script():
        try:
            client.delete_stack(StackName="web")
        except ClientError:
            ends.put(by_batch(client, "stack_delete_complete", **STACK))

    # Its frame has no caller, as that of a module that is run.
    _thread.start_new_thread(script, ())
    assert ends.get(timeout=60).exception is error


@pytest.mark.parametrize("way", [by_method, by_waiter, by_task, by_batch])
def test_a_double_that_raises_one_error_to_all_clients_matches(way):
    error = raised("ValidationError", "DescribeStacks")
    for client in (boto3.client("cloudformation"), boto3.client("cloudformation")):
        client.meta.events.register("before-call", mock.Mock(side_effect=error))
        assert way(client, "stack_delete_complete", **STACK).exception is error


@pytest.mark.parametrize("event", ["before-call", "before-send", "before-sign", "needs-retry"])
@pytest.mark.parametrize("is_cleared", [False, True])
@pytest.mark.parametrize("way", [by_method, by_waiter, by_task, by_batch])
def test_an_error_of_a_real_call_may_be_raised_again_by_a_double(way, event, is_cleared):
    other, client = boto3.client("cloudformation"), boto3.client("cloudformation")
    for each in (other, client):
        sending(each, (400, GONE))
    with pytest.raises(ClientError) as captured:
        other.describe_stacks(StackName="web")
    if is_cleared:
        traceback.clear_frames(captured.value.__traceback__)
    client.meta.events.register_first(event, mock.Mock(side_effect=captured.value))
    assert way(client, "stack_delete_complete", **STACK).exception is captured.value


def test_a_double_that_raises_one_error_for_all_calls_matches():
    client, error = boto3.client("cloudformation"), raised("ValidationError", "op")
    client.meta.events.register("before-call", mock.Mock(side_effect=error))
    with pytest.raises(ClientError):
        client.delete_stack(StackName="web")
    assert client.wait_until_stack_delete_complete(**STACK).exception is error


# --- shared and screened calls ----------------------------------------------------------------


def instances(client, number):
    ids = [f"i-{index}" for index in range(number)]
    return [bwp.Wait(client, "instance_running", {"InstanceIds": [i]}, max_wait=60) for i in ids]


def jobs(client, number):
    names = [{"TrainingJobName": f"job-{index}"} for index in range(number)]
    return [bwp.Wait(client, "training_job_completed_or_stopped", n, max_wait=900) for n in names]


BATCHES = pytest.mark.parametrize(
    "run",
    [
        lambda waits: bwp.wait_all(waits, on_failure="collect"),
        lambda waits: asyncio.run(bwp.wait_all_async(waits, on_failure="collect")),
        lambda waits: [result for _, result in bwp.as_completed(waits)],
    ],
    ids=["all", "in a task", "as completed"],
)


@BATCHES
@pytest.mark.parametrize(("service", "waits_of"), [("ec2", instances), ("sagemaker", jobs)])
def test_waits_that_share_a_call_share_its_end(run, service, waits_of):
    client, called = client_of_role(service, refusal("AccessDenied", "not yours", 403))
    results = run(waits_of(client, 40))
    assert len(results) == 40
    for error in results:
        assert isinstance(error, bwp.WaiterFailedError)
        assert "AssumeRole failed with AccessDenied" in str(error)
    assert called == ["AssumeRole"]


RAISED = [
    *(LookupError("mine"), KeyError("AccessKeyId"), botocores.NoCredentialsError()),
    *(botocores.ParamValidationError(report="RoleArn"), botocores.UnauthorizedSSOTokenError()),
]


@BATCHES
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(("service", "waits_of"), [("ec2", instances), ("sagemaker", jobs)])
def test_what_a_refresh_raises_ends_all_waits_that_share_it_as_one(run, service, waits_of, error):
    client = boto3.client(service)
    refresh = with_refresh(client, *[error] * 99)
    for result in run(waits_of(client, 40)):
        assert result is error or result.__cause__ is error
    assert refresh.call_count == 1


@BATCHES
@pytest.mark.parametrize(
    ("service", "waits_of", "calls"), [("ec2", instances, 1), ("sagemaker", jobs, 41)]
)
def test_an_error_of_a_hook_ends_all_waits_that_share_it(run, service, waits_of, calls):
    errors = [of_secret("InvalidInstanceID.NotFound")] * 99
    client, hook = hooked(service, "before-call", by_hand, *errors)
    for error in run(waits_of(client, 40)):
        assert "GetSecretValue failed with InvalidInstanceID.NotFound" in str(error)
    assert hook.call_count == calls


@BATCHES
def test_a_hook_of_the_list_alone_ends_no_wait(run):
    client = boto3.client("sagemaker")

    def answer(model, **_):
        if model.name == "ListTrainingJobs":
            raise of_secret("AccessDenied")
        return SimpleNamespace(status_code=200), {
            "TrainingJobStatus": "Completed",
            "ResponseMetadata": {"HTTPStatusCode": 200},
        }

    client.meta.events.register("before-call", answer)
    outcomes = run(jobs(client, 30))
    assert all(isinstance(each, bwp.ResponseOutcome) for each in outcomes)


@BATCHES
def test_what_a_hook_raises_in_a_shared_call_ends_all_of_its_waits(run):
    client, error = boto3.client("ec2"), LookupError("of a hook")
    hook = mock.Mock(side_effect=error)
    client.meta.events.register("before-call", hook)
    assert run(instances(client, 40)) == [error] * 40
    assert hook.call_count == 1


def test_a_list_is_not_given_up_for_what_happened_on_the_way(virtual_time, caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    client, called = client_of_role("sagemaker", refusal("Throttling"), KEYS)
    jobs_there = [
        {"TrainingJobName": f"job-{index}", "TrainingJobStatus": "InProgress"}
        for index in range(12)
    ]
    body = json.dumps({"TrainingJobSummaries": jobs_there}).encode()
    sent = sending(client, (200, body))
    results = bwp.wait_all(jobs(client, 12), on_failure="collect")
    assert all(isinstance(each, bwp.WaiterTimeoutError) for each in results)
    assert len(called) == 2
    assert not any("one by one" in line for line in caplog.messages)
    assert sent


# --- calls that change something --------------------------------------------------------------


@pytest.mark.parametrize("code", ["ValidationError", "IdempotentParameterMismatch", "AccessDenied"])
def test_call_once_is_refused_by_another_call(code):
    client, called = client_of_role("ec2", refusal(code, "no client token, it expired"))
    with pytest.raises(Exception, match="AssumeRole") as caught:
        call_once(client.run_instances, max_wait=60, ImageId="a", MinCount=1, MaxCount=1)
    assert type(caught.value).__name__ == "CallRefusedError"
    assert not caught.value.outcome_unknown
    assert len(called) == 1


IMAGE = {"ImageId": "a", "MinCount": 1, "MaxCount": 1}


@pytest.mark.parametrize("event", EVENTS + AFTER)
@pytest.mark.parametrize("code", ["IdempotentParameterMismatch", "InvalidClientToken"])
def test_call_once_is_refused_by_a_hook(event, code):
    error = of_secret(code, message="no client token, it expired")
    client, hook = hooked("ec2", f"{event}.ec2", by_hand, error)
    sending(client, (200, b"<RunInstancesResponse/>"))
    with pytest.raises(Exception, match="GetSecretValue") as caught:
        call_once(client.run_instances, max_wait=60, **IMAGE)
    assert type(caught.value).__name__ == "CallRefusedError"
    # The request is on its way before these run.
    assert caught.value.outcome_unknown is (event in AFTER)
    assert hook.call_count == 1


@pytest.mark.parametrize("event", ["before-call", "after-call"])
def test_call_once_repeats_the_throttle_of_a_hook(virtual_time, event):
    client, hook = hooked("ec2", event, by_hand, of_secret("Throttling"))
    sending(client, (200, b"<RunInstancesResponse/>"))
    assert call_once(client.run_instances, max_wait=60, **IMAGE).attempts == 2
    assert hook.call_count == 2


def test_what_another_call_says_about_a_new_role_is_not_repeated(virtual_time):
    told = refusal(
        "InvalidParameterValueException",
        "The role defined for the function cannot be assumed by Lambda.",
    )
    client, called = client_of_role("lambda", told)
    code = {"Code": {"ZipFile": b"x"}, "Runtime": "python3.12", "Handler": "a.b"}
    role = {"Role": "arn:aws:iam::123456789012:role/role"}
    with pytest.raises(ClientError):
        bwp.begin(client.create_function, max_wait=60, FunctionName="f", **role, **code)
    assert len(called) == 1


def test_call_once_repeats_its_throttle_and_knows_that_nothing_was_sent(virtual_time):
    client, called = client_of_role("ec2", refusal("Throttling"), refusal("ValidationError"))
    with pytest.raises(Exception, match="AssumeRole") as caught:
        call_once(client.run_instances, max_wait=60, ImageId="a", MinCount=1, MaxCount=1)
    assert not caught.value.outcome_unknown
    assert len(called) == 2


def test_credentials_that_expire_between_two_requests_leave_the_outcome_unknown(
    monkeypatch, virtual_time
):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    client, now = boto3.client("ec2"), [dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)]
    refresh = mock.Mock(side_effect=raised("AccessDenied", "AssumeRole"))
    client._request_signer._credentials = RefreshableCredentials(
        "a", "b", "c", now[0] + dt.timedelta(hours=1), refresh, "test", lambda: now[0]
    )
    sending(client, (503, b"<Response/>"))
    later = dt.timedelta(hours=1)
    client.meta.events.register("needs-retry", lambda **_: now.__setitem__(0, now[0] + later))
    with pytest.raises(Exception, match="AssumeRole") as caught:
        call_once(client.run_instances, max_wait=60, ImageId="a", MinCount=1, MaxCount=1)
    assert caught.value.outcome_unknown


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


HICCUPS = [
    botocores.MetadataRetrievalError(error_msg="timed out"),
    botocores.CredentialRetrievalError(provider="custom-process", error_msg="exit 1"),
    botocores.TokenRetrievalError(provider="sso", error_msg="refresh failed"),
]


@pytest.mark.parametrize("hiccup", HICCUPS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("way", [by_method, by_waiter, by_task, by_batch, in_background])
def test_a_hiccup_of_the_credentials_is_transient_once_the_service_has_answered(
    virtual_time, hiccup, way
):
    client = boto3.client("cloudformation")
    refresh = with_refresh(client, None, hiccup, None)
    sending(client, (200, EXISTS), (400, GONE))
    assert way(client, "stack_delete_complete", **{**STACK, "max_wait": 600}).attempts == 3
    assert refresh.call_count == 3


@pytest.mark.parametrize("hiccup", HICCUPS, ids=lambda each: type(each).__name__)
def test_before_that_it_ends_the_wait_with_its_text(virtual_time, hiccup):
    client = boto3.client("cloudformation")
    with_refresh(client, hiccup, hiccup)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        client.wait_until_stack_delete_complete(**STACK)
    assert str(hiccup) in str(caught.value)
    assert "https://" not in str(caught.value)
    with pytest.raises(type(hiccup)) as caught:
        client.get_waiter("stack_delete_complete").wait(StackName="web")
    assert caught.value is hiccup


def test_credentials_that_are_expired_when_they_come_are_a_hiccup(virtual_time):
    client = boto3.client("cloudformation")
    expired = {"access_key": "a", "secret_key": "b", "token": "c", "expiry_time": "2020-01-01T00Z"}
    refresh = with_refresh(client, None, expired, None)
    sending(client, (200, EXISTS), (400, GONE))
    assert client.wait_until_stack_delete_complete(**{**STACK, "max_wait": 600}).attempts == 3
    assert refresh.call_count == 3


def test_a_process_that_writes_something_else_is_a_hiccup(virtual_time):
    client, cuts = boto3.client("cloudformation"), [3]
    sent = sending(client, (200, EXISTS), (400, GONE))
    soon = dt.datetime.now(dt.timezone.utc) + dt.timedelta(minutes=1)
    good = {"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "Expiration": str(soon)}
    provider = ProcessProvider("p", lambda: {"profiles": {"p": {"credential_process": "get"}}})
    process = mock.Mock(returncode=0)

    def communicate():
        end = cuts.pop() if sent and cuts else None
        return json.dumps(good).encode()[:end], b""

    process.communicate = communicate
    provider._popen = lambda *_, **__: process
    client._request_signer._credentials = provider.load()
    assert client.wait_until_stack_delete_complete(**{**STACK, "max_wait": 600}).attempts == 3


def test_an_error_that_was_handled_before_names_no_call():
    client, error = boto3.client("cloudformation"), botocores.UnauthorizedSSOTokenError()
    with_refresh(client, error)
    try:
        raise raised("ValidationError", "DeleteStack")
    except ClientError:
        with pytest.raises(bwp.WaiterFailedError, match=r"DescribeStacks .*SSOToken"):
            client.wait_until_stack_exists(**STACK)


@pytest.mark.parametrize("way", [by_method, by_waiter])
def test_a_login_that_is_needed_ends_the_wait_at_once(virtual_time, way):
    client, error = boto3.client("cloudformation"), botocores.UnauthorizedSSOTokenError()
    with_refresh(client, None, error)
    sending(client, (200, EXISTS))
    with pytest.raises((bwp.WaiterFailedError, type(error)), match="aws sso login"):
        way(client, "stack_delete_complete", **STACK)


def test_the_text_of_an_error_has_no_credentials(virtual_time):
    secrets = ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AKIAIOSFODNN7EXAMPLE", "hunter2", "q=1"]
    key, access, password, query = secrets
    text = f"bad {key} of {access} (SessionToken={password}) at https://u:{password}@x/y?{query}"
    client = boto3.client("cloudformation")
    process = botocores.CredentialRetrievalError(provider="custom-process", error_msg=text)
    with_refresh(client, process)
    with pytest.raises(bwp.WaiterFailedError, match="custom-process: bad ") as caught:
        client.wait_until_stack_delete_complete(**STACK)
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


def test_a_condition_of_a_clients_method_is_no_exception(virtual_time):
    client, called = client_of_role("cloudformation", refusal("ValidationError"))
    definition = client.wait_until_stack_delete_complete.definition
    for function in (client.describe_stacks, lambda **_: client.describe_stacks(StackName="web")):
        with pytest.raises(bwp.WaiterFailedError, match="AssumeRole"):
            conditions.poll(function, definition, input={"StackName": "web"}, max_wait=60)
    assert len(called) == 2


def test_it_tells_nothing_of_a_resource_that_an_earlier_attempt_made(virtual_time):
    # A repeated call whose wait fails at once is otherwise taken to have made what is gone by now.
    client = boto3.client("dynamodb")
    made = {"TableDescription": {"TableName": "table", "TableStatus": "CREATING"}}
    refused = raised("AccessDenied", "AssumeRole")
    with_refresh(client, None, None, refused)
    sending(client, (500, b"{}"), (200, json.dumps(made).encode()))
    key = [{"AttributeName": "k", "KeyType": "HASH"}]
    types = [{"AttributeName": "k", "AttributeType": "S"}]
    with pytest.raises(bwp.WaiterFailedError, match="AssumeRole") as caught:
        call_once(
            client.create_table, allow_repeat=True, then_wait=True, max_wait=60, TableName="table",
            KeySchema=key, AttributeDefinitions=types, BillingMode="PAY_PER_REQUEST",
        )  # fmt: skip
    assert type(caught.value) is bwp.WaiterFailedError
