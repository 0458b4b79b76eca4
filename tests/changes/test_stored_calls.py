"""Calls that are kept before the first attempt, and go on in another process."""

import datetime as dt
import inspect
import json

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ParamValidationError
from changes.conftest import SmallStore
from changes.token_service import TokenService, Wire

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency, operations

WITH_INSTANCE = ["after request", "before finish", "after finish"]
POINTS = ["before save", "after save", "before request", *WITH_INSTANCE]
KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}


class KilledError(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("point", POINTS)
def test_killed_call_makes_at_most_one_resource(call_once, image, virtual_time, point):
    client = boto3.client("ec2", config=Config(retries={"total_max_attempts": 1}))
    service = TokenService()
    Wire(service).connect(client)

    def pass_point(here):
        if here == point:
            raise KilledError

    events, store = client.meta.events, SmallStore(pass_point)
    events.register_first("before-send.ec2", lambda **_: pass_point("before request"))
    events.register("response-received.ec2", lambda **_: pass_point("after request"))
    with pytest.raises(KilledError):
        call_once(client.run_instances, max_wait=60, in_store=store, **image)
    assert len(service.instances) == (point in WITH_INSTANCE)
    assert len(store.records) == (point != "before save")

    point = None
    for record in store.records:
        call = idempotency.resume_call(client, record)
        assert call.response["Instances"][0]["InstanceId"] == "i-1"
        assert call.token == record["token"]
        assert len(service.instances) == 1


def test_call_is_kept_before_the_first_attempt(ec2, answers, lost, small_store, image, running):
    kept = []

    def note():
        kept.append(json.dumps(small_store.records))
        return lost if len(kept) == 1 else running

    answers(ec2, note)
    call = idempotency.call_once(ec2.run_instances, max_wait=60, in_store=small_store, **image)
    [record] = small_store.records
    assert kept == [json.dumps([record])] * 2
    assert record["token"] == call.token == record["parameters"]["ClientToken"]
    assert small_store.results == [{"succeeded": True, "attempts": 2}]


REFUSED = {"succeeded": False, "error": "CallRefusedError"}
INVALID = {"succeeded": False, "error": "ParamValidationError"}


@pytest.mark.parametrize(
    ("parameters", "code", "results"),
    [({}, None, []), ({}, "InvalidParameterValue", [REFUSED]), ({"Nothing": 1}, None, [INVALID])],
)
def test_only_a_call_of_unknown_outcome_stays_open(
    ec2, answers, error_answer, lost, small_store, image, parameters, code, results
):
    answers(ec2, error_answer(code) if code else lost)
    given = {"max_wait": 60, "in_store": small_store, **image, **parameters}
    with pytest.raises((idempotency.CallOnceError, ParamValidationError)):
        idempotency.call_once(ec2.run_instances, **given)
    assert small_store.results == results


def times_out(method, **options):
    """Make a call that gets no answer."""
    with pytest.raises(idempotency.CallTimeoutError):
        idempotency.call_once(method, max_wait=60, **options)


def test_resource_of_a_resumed_call_may_be_ours(
    dynamodb, answers, error_answer, small_store, table, lost
):
    answers(dynamodb, lost)
    create = {"allow_repeat": True, "adopt_existing": True, "in_store": small_store, **table}
    times_out(dynamodb.create_table, **create)
    again = boto3.client("dynamodb")
    answers(again, error_answer("ResourceInUseException", "Table already exists"), {"Table": table})
    [record] = small_store.records
    assert idempotency.resume_call(again, record, max_wait=60).adopted


def test_resumed_call_waits_and_may_arrive_late(
    ec2, answers, lost, small_store, image, running, polled
):
    answers(ec2, lost)
    times_out(ec2.run_instances, then_wait="InstanceRunning", in_store=small_store, **image)
    again = boto3.client("ec2")
    answers(again, running, polled("terminated"))
    with pytest.raises(idempotency.LateArrivalError):
        idempotency.resume_call(again, small_store.records[0], max_wait=60)


FUNCTION = {"FunctionName": "f", "Role": "arn:r", "Code": {"ZipFile": b"\x00\xff"}}


@pytest.mark.parametrize(("method", "keywords", "error", "match"), [
    ("ec2.run_instances", {"then_wait": ("InstanceRunning", dict)}, TypeError, "then_wait"),
    ("ec2.run_instances", {"KeyName": object()}, TypeError, "KeyName"),
    ("lambda.create_function", FUNCTION, ValueError, r"Code\.ZipFile"),
])  # fmt: skip
def test_what_cannot_be_stored_is_refused(
    stock_botocore, answers, small_store, method, keywords, error, match
):
    service, _, method = method.partition(".")
    client = boto3.client(service)
    made = answers(client, AssertionError("a request was made"))
    given = {"in_store": small_store, "max_wait": 60, "allow_repeat": True, **keywords}
    with pytest.raises(error, match=match):
        idempotency.call_once(getattr(client, method), **given)
    assert made.requests == small_store.records == []


BYTES = {"StreamName": "s", "PartitionKey": "k", "Data": b"\x00\xff"}
UTC = dt.timezone.utc
TIME = {"TargetDBInstanceIdentifier": "b", "RestoreTime": dt.datetime(2026, 1, 2, tzinfo=UTC)}


@pytest.mark.parametrize(
    ("service", "method", "parameters"),
    [("kinesis", "put_record", BYTES), ("rds", "restore_db_instance_to_point_in_time", TIME)],
)
def test_parameters_that_are_not_json_are_restored(
    stock_botocore, virtual_time, answers, lost, small_store, service, method, parameters
):
    client, again = boto3.client(service), boto3.client(service)
    first, second = answers(client, lost), answers(again, {})
    options = {"in_store": small_store, "allow_repeat": True}
    times_out(getattr(client, method), **options, **parameters)
    idempotency.resume_call(again, small_store.records[0])
    assert first.requests[0]["body"] == second.requests[0]["body"]


@pytest.mark.parametrize("missing", ["in_store", "path"])
def test_store_and_path_belong_together(ec2, small_store, missing):
    given = {"in_store": small_store, "path": "calls/1", missing: None}
    with pytest.raises(TypeError, match="in_store and path"):
        idempotency.resume_call(ec2, {"service": "ec2"}, **given)


# --- in a store of the package ------------------------------------------------------------------


@pytest.fixture
def store():
    pytest.importorskip("sqlalchemy")
    store = operations.Store(":memory:")
    yield store
    store.close()


def resume(client, store, kept):
    return idempotency.resume_call(client, kept["record"], in_store=store, path=kept["path"])


def test_resumed_call_is_finished_in_its_store(ec2, answers, lost, image, running, store):
    answers(ec2, lost)
    times_out(ec2.run_instances, in_store=store, **image)
    [kept] = store.open_calls()
    assert (kept["done"], kept["phase"], 0 <= kept["age"] < 60) == (False, "started", True)
    target = {"service": "ec2", "region": ec2.meta.region_name, "endpoint": ec2.meta.endpoint_url}
    assert target.items() <= kept["target"].items()
    again = boto3.client("ec2")
    service = answers(again, running)
    call = resume(again, store, kept)
    assert service.requests[0]["body"]["ClientToken"] == call.token == kept["record"]["token"]
    assert store.open_calls() == []
    assert store.get_json(kept["path"])["result"] == {"succeeded": True, "attempts": 1}
    with pytest.raises(LookupError, match="calls/1"):
        store.get_call("calls/1")


@pytest.mark.parametrize(("name", "service", "options"), [
    ("service", "sns", {}),
    ("region", "ec2", {"region_name": "eu-west-1"}),
    ("endpoint", "ec2", {"endpoint_url": "http://localhost:4566"}),
    ("account", "ec2", {"aws_account_id": "222222222222"}),
])  # fmt: skip
def test_client_for_elsewhere_is_refused(
    virtual_time, answers, lost, image, store, name, service, options
):
    if "aws_account_id" not in inspect.signature(boto3.Session.client).parameters:
        pytest.skip("a client of this boto3 does not know its account")
    first = boto3.client("ec2", aws_account_id="111111111111", **KEYS)
    answers(first, lost)
    times_out(first.run_instances, in_store=store, **image)
    made = answers(other := boto3.client(service, **KEYS, **options), {})
    with pytest.raises(ValueError, match=name):
        resume(other, store, *store.open_calls())
    assert made.requests == []


def test_wait_that_ran_out_of_time_goes_on(call_once, ec2, answers, image, running, polled, store):
    answers(ec2, running, polled("pending"))
    options = {"max_wait": 5, "then_wait": "InstanceRunning", "in_store": store}
    with pytest.raises(bwp.WaiterTimeoutError):
        call_once(ec2.run_instances, **options, **image)
    [kept] = store.open_calls()
    assert (kept["phase"], kept["answer"]["attempts"]) == ("waiting", 1)
    again = boto3.client("ec2")
    service = answers(again, polled("running"))
    call = resume(again, store, kept)
    assert service.operations == ["DescribeInstances"]
    assert call.response["Instances"] == running["Instances"]
    assert (call.token, call.outcome.observed) == (kept["record"]["token"], ["running"])
    assert store.open_calls() == []
    with pytest.raises(ValueError, match="has ended"):
        resume(again, store, kept)


def test_wait_that_failed_is_finished(call_once, ec2, answers, image, running, polled, store):
    answers(ec2, running, polled("terminated"))
    options = {"max_wait": 5, "then_wait": "InstanceRunning", "in_store": store}
    with pytest.raises(bwp.WaiterFailedError):
        call_once(ec2.run_instances, **options, **image)
    assert store.open_calls() == []


@pytest.mark.parametrize("method", ["note_call", "finish_call"])
def test_store_that_fails_loses_no_response(
    call_once, ec2, answers, image, running, store, monkeypatch, method
):
    def fail(*_):
        raise operations.StoreError("the disk is full")

    monkeypatch.setattr(store, method, fail)
    answers(ec2, running)
    with pytest.raises(operations.StoreError, match="the disk is full") as caught:
        call_once(ec2.run_instances, max_wait=60, in_store=store, **image)
    call = caught.value.call
    assert call.response["Instances"] == running["Instances"]
    assert call.token is not None


def test_expired_calls_are_deleted(ec2, answers, image, running, lost, store):
    answers(ec2, running, lost)
    idempotency.call_once(ec2.run_instances, max_wait=60, in_store=store, **image)
    times_out(ec2.run_instances, in_store=store, **image)
    assert store.expire(0) == 1
    assert len(store.open_calls()) == 1


ROLE = {"RoleArn": "arn:aws:iam::12:role/r", "RoleSessionName": "me"}
CODE, TOKEN = {"ActivationCode": "secret"}, {"SessionToken": "secret"}
SECRET = {"SecretAccessKey": "secret"}


@pytest.mark.parametrize(("name", "parameters", "answer"), [
    ("iam.create_access_key", {}, {"AccessKey": {"AccessKeyId": "mine", **SECRET}}),
    ("ssm.create_activation", {"IamRole": "r"}, {"ActivationId": "mine", **CODE}),
    ("sts.assume_role", ROLE, {"SourceIdentity": "mine", "Credentials": TOKEN}),
])  # fmt: skip
def test_secrets_of_a_response_are_not_kept(
    stock_botocore, virtual_time, answers, store, name, parameters, answer
):
    service, _, method = name.partition(".")
    client = boto3.client(service)
    made, seen, note = answers(client, answer), [], store.note_call
    store.note_call = lambda path, phase, answer: seen.append(answer) or note(path, phase, answer)
    keywords = {"max_wait": 5, "allow_repeat": True, "in_store": store, **parameters}
    call = idempotency.call_once(getattr(client, method), **keywords)
    assert call.response.items() >= answer.items()
    assert "mine" in json.dumps(seen)
    assert "secret" not in json.dumps(seen)
    assert len(made.requests) == 1
