"""Calls that are kept before the first attempt, and go on in another process."""

import datetime as dt
import inspect
import json

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ParamValidationError
from changes.token_service import TokenService, Wire

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency, operations

POINTS = (
    "before save",
    "after save",
    "before request",
    "after request",
    "before finish",
    "after finish",
)
KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}


class KilledError(BaseException):
    """The process ends here."""


class FileStore:
    """Calls as lines of JSON.

    Args:
        path: the file.
        dies: called with the name of each point that is passed.
    """

    def __init__(self, path, dies=lambda point: None):
        self._path = path
        self._dies = dies

    def save_call(self, record):
        self._dies("before save")
        self._write({"record": record})
        self._dies("after save")
        return "calls/1"

    def finish_call(self, path, result):
        self._dies("before finish")
        self._write({"path": path, "result": result})
        self._dies("after finish")

    def _write(self, line):
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def lines(self):
        text = self._path.read_text() if self._path.exists() else ""
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calls"


@pytest.mark.parametrize("point", POINTS)
def test_killed_call_makes_at_most_one_resource(call_once, path, image, virtual_time, point):
    client = boto3.client("ec2", config=Config(retries={"total_max_attempts": 1}))
    service = TokenService()
    Wire(service).connect(client)

    def dies(here):
        if here == point:
            raise KilledError

    events = client.meta.events
    events.register_first("before-send.ec2", lambda **_: dies("before request"))
    events.register("response-received.ec2", lambda **_: dies("after request"))
    with pytest.raises(KilledError):
        call_once(client.run_instances, max_wait=60, in_store=FileStore(path, dies), **image)
    assert len(service.instances) == (POINTS.index(point) > 2)
    saved = [line["record"] for line in FileStore(path).lines() if "record" in line]
    assert len(saved) == (point != "before save")

    point = None
    for record in saved:
        call = idempotency.resume_call(client, record)
        assert call.response["Instances"][0]["InstanceId"] == "i-1"
        assert call.token == record["token"]
        assert len(service.instances) == 1


def test_call_is_kept_before_the_first_attempt(ec2, answers, lost, path, image, running):
    store = FileStore(path)
    kept = []

    def note():
        kept.append(store.lines())
        return lost if len(kept) == 1 else running

    answers(ec2, note)
    call = idempotency.call_once(ec2.run_instances, max_wait=60, in_store=store, **image)
    [[first], [second]] = kept
    assert first == second
    assert first["record"]["token"] == call.token == first["record"]["parameters"]["ClientToken"]
    assert store.lines()[1]["result"] == {"succeeded": True, "attempts": 2}


@pytest.mark.parametrize(("is_lost", "entries"), [(True, 1), (False, 2)])
def test_call_of_unknown_outcome_stays_open(
    ec2, answers, error_answer, lost, path, image, is_lost, entries
):
    store = FileStore(path)
    answers(ec2, lost if is_lost else error_answer("InvalidParameterValue"))
    with pytest.raises(idempotency.CallOnceError):
        idempotency.call_once(ec2.run_instances, max_wait=60, in_store=store, **image)
    assert len(store.lines()) == entries


def test_refused_parameters_are_no_open_call(ec2, answers, path, image, running):
    store = FileStore(path)
    answers(ec2, running)
    with pytest.raises(ParamValidationError):
        idempotency.call_once(ec2.run_instances, max_wait=60, in_store=store, Nothing=1, **image)
    assert store.lines()[1]["result"] == {"succeeded": False, "error": "ParamValidationError"}


def test_resource_of_a_resumed_call_may_be_ours(dynamodb, answers, error_answer, path, table, lost):
    store = FileStore(path)
    answers(dynamodb, lost)
    create = {"allow_repeat": True, "adopt_existing": True, "in_store": store, **table}
    with pytest.raises(idempotency.CallTimeoutError):
        idempotency.call_once(dynamodb.create_table, max_wait=60, **create)
    record = store.lines()[0]["record"]
    again = boto3.client("dynamodb")
    answers(again, error_answer("ResourceInUseException", "Table already exists"), {"Table": table})
    assert idempotency.resume_call(again, record, max_wait=60).adopted


def test_resumed_call_waits_and_may_arrive_late(ec2, answers, lost, path, image, running, polled):
    store = FileStore(path)
    answers(ec2, lost)
    options = {"then_wait": "InstanceRunning", "in_store": store}
    with pytest.raises(idempotency.CallTimeoutError):
        idempotency.call_once(ec2.run_instances, max_wait=60, **options, **image)
    again = boto3.client("ec2")
    answers(again, running, polled("terminated"))
    with pytest.raises(idempotency.LateArrivalError):
        idempotency.resume_call(again, store.lines()[0]["record"], max_wait=60)


@pytest.mark.parametrize(
    ("keywords", "error", "match"),
    [
        ({"in_store": object()}, TypeError, "in_store"),
        ({"then_wait": ("InstanceRunning", dict)}, TypeError, "then_wait"),
        ({"KeyName": object()}, TypeError, "KeyName"),
    ],
)
def test_what_cannot_be_stored_is_refused(ec2, answers, path, image, keywords, error, match):
    service = answers(ec2, AssertionError("a request was made"))
    keywords = {"in_store": FileStore(path), **keywords}
    with pytest.raises(error, match=match):
        idempotency.call_once(ec2.run_instances, max_wait=60, **image, **keywords)
    assert service.requests == []


def test_sensitive_parameters_are_not_stored(stock_botocore, answers, path):
    client = boto3.client("lambda")
    service = answers(client, {})
    options = {"max_wait": 60, "in_store": FileStore(path), "allow_repeat": True}
    code = {"ZipFile": b"\x00\xff"}
    with pytest.raises(ValueError, match=r"Code\.ZipFile"):
        idempotency.call_once(
            client.create_function, FunctionName="f", Role="arn:r", Code=code, **options
        )
    assert service.requests == FileStore(path).lines() == []


@pytest.mark.parametrize(
    ("service", "method", "parameters"),
    [
        ("kinesis", "put_record", {"StreamName": "s", "PartitionKey": "k", "Data": b"\x00\xff"}),
        (
            "rds",
            "restore_db_instance_to_point_in_time",
            {
                "TargetDBInstanceIdentifier": "b",
                "RestoreTime": dt.datetime(2026, 1, 2, tzinfo=dt.timezone.utc),
            },
        ),
    ],
)
def test_parameters_that_are_not_json_are_restored(
    stock_botocore, virtual_time, answers, lost, path, service, method, parameters
):
    store, client, again = FileStore(path), boto3.client(service), boto3.client(service)
    first, second = answers(client, lost), answers(again, {})
    options = {"max_wait": 5, "in_store": store, "allow_repeat": True}
    with pytest.raises(idempotency.CallTimeoutError):
        idempotency.call_once(getattr(client, method), **options, **parameters)
    idempotency.resume_call(again, store.lines()[0]["record"])
    assert first.requests[0]["body"] == second.requests[0]["body"]


@pytest.mark.parametrize("missing", ["in_store", "path"])
def test_store_and_path_belong_together(ec2, path, missing):
    given = {"in_store": FileStore(path), "path": "calls/1", missing: None}
    with pytest.raises(TypeError, match="in_store and path"):
        idempotency.resume_call(ec2, {"service": "ec2"}, **given)


# --- in a store of the package ------------------------------------------------------------------


@pytest.fixture
def store():
    pytest.importorskip("sqlalchemy")
    store = operations.Store(":memory:")
    yield store
    store.close()


def start(call_once, client, store, image, **options):
    """Make a call that gets no answer, and return what the store keeps."""
    with pytest.raises(idempotency.CallTimeoutError):
        call_once(client.run_instances, max_wait=60, in_store=store, **image, **options)
    [kept] = store.open_calls()
    return kept


def resume(client, store, kept):
    return idempotency.resume_call(client, kept["record"], in_store=store, path=kept["path"])


def test_resumed_call_is_finished_in_its_store(
    call_once, ec2, answers, lost, image, running, store
):
    answers(ec2, lost)
    kept = start(call_once, ec2, store, image)
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


@pytest.mark.parametrize(
    ("name", "service", "options"),
    [
        ("service", "sns", {}),
        ("region", "ec2", {"region_name": "eu-west-1"}),
        ("endpoint", "ec2", {"endpoint_url": "http://localhost:4566"}),
        ("account", "ec2", {"aws_account_id": "222222222222"}),
    ],
)
def test_client_for_elsewhere_is_refused(ec2, answers, lost, image, store, name, service, options):
    if "aws_account_id" not in inspect.signature(boto3.Session.client).parameters:
        pytest.skip("a client of this boto3 does not know its account")
    first = boto3.client("ec2", aws_account_id="111111111111", **KEYS)
    answers(first, lost)
    kept = start(idempotency.call_once, first, store, image)
    other = boto3.client(service, **KEYS, **options)
    made = answers(other, {})
    with pytest.raises(ValueError, match=name):
        resume(other, store, kept)
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
    assert call.token == kept["record"]["token"]
    assert call.outcome.observed == ["running"]
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
    start(idempotency.call_once, ec2, store, image)
    assert store.expire(0) == 1
    assert len(store.open_calls()) == 1


ROLE = {"RoleArn": "arn:aws:iam::12:role/r", "RoleSessionName": "me"}
CODE, TOKEN = {"ActivationCode": "secret"}, {"SessionToken": "secret"}
SECRET = {"SecretAccessKey": "secret"}


@pytest.mark.parametrize(
    ("name", "parameters", "answer"),
    [
        ("iam.create_access_key", {}, {"AccessKey": {"AccessKeyId": "mine", **SECRET}}),
        ("ssm.create_activation", {"IamRole": "r"}, {"ActivationId": "mine", **CODE}),
        ("sts.assume_role", ROLE, {"SourceIdentity": "mine", "Credentials": TOKEN}),
    ],
)
def test_secrets_of_a_response_are_not_kept(
    stock_botocore, virtual_time, answers, store, name, parameters, answer
):
    service, _, method = name.partition(".")
    client = boto3.client(service)
    made = answers(client, answer)
    seen = []
    note = store.note_call
    store.note_call = lambda path, phase, answer: seen.append(answer) or note(path, phase, answer)
    keywords = {"max_wait": 5, "allow_repeat": True, "in_store": store, **parameters}
    call = idempotency.call_once(getattr(client, method), **keywords)
    assert call.response.items() >= answer.items()
    assert "mine" in json.dumps(seen)
    assert "secret" not in json.dumps(seen)
    assert len(made.requests) == 1
