"""Real waiters against moto: each kind of end, by each way to wait.

Later changes are planned on the virtual clock. What moto cannot produce (a status it never sets,
an error it never raises) is set on its backend, or answered by a handler.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest
from docs.page_setups import make_table
from moto import mock_aws
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

import boto_waiters_plus as bwp

NIGHTLY = pytest.mark.nightly(subject="catalog")
WAYS = ("wait_until", "get_waiter", "resource")
ENDS = {
    "response": bwp.ResponseOutcome, "exception": bwp.ExceptionOutcome,
    "failure": bwp.WaiterFailedError, "timeout": bwp.WaiterTimeoutError,
}  # fmt: skip


def client(service):
    """A client without `wait_until_*`, for what happens beside the wait."""
    return boto3.Session().client(service)


def backend(service):
    return get_backend(service)[DEFAULT_ACCOUNT_ID]["us-east-1"]


# --- worlds: what there is at first, then `change(...)` at some second --------------------------


def nothing(_):
    pass


def buckets(clock, at=None, change="create_bucket"):
    s3 = client("s3")
    if change != "create_bucket":
        s3.create_bucket(Bucket="photos")
    more = {"Key": "a", "Body": b"a"} if change == "put_object" else {}
    if at is not None:
        clock.call_at(at, lambda: getattr(s3, change)(Bucket="photos", **more))


def tables(clock, at=None, change="create_table"):
    if at is not None and change == "create_table":
        clock.call_at(at, lambda: make_table("orders"))
        return
    make_table("orders")
    if at is not None:
        clock.call_at(at, lambda: client("dynamodb").delete_table(TableName="orders"))


def instances(clock, at=None, change="run"):
    """An instance; moto's run at once, so one that changes is put back to pending."""
    ec2 = client("ec2")
    [made] = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)["Instances"]
    ids = {"InstanceIds": [made["InstanceId"]]}
    if at is not None:
        state = backend("ec2").get_instance(made["InstanceId"])._state
        state.name, state.code = "pending", 0
        run, end = lambda: setattr(state, "name", "running"), lambda: ec2.terminate_instances(**ids)
        clock.call_at(at, run if change == "run" else end)
    return ids


# --- cases --------------------------------------------------------------------------------------


CASES = json.loads((Path(__file__).parents[1] / "cases/ends-on-moto.json").read_text())
WORLDS = {None: nothing, "buckets": buckets, "tables": tables, "instances": instances}
RUNS = [
    # A table has all of botocore's forms; what else there is runs at night.
    pytest.param(
        *(case, way),
        id=f"{case['service']}-{case['kind']}-{case['waiter']}-{way}",
        marks=[] if case["service"] == "dynamodb" else NIGHTLY,
    )
    for case in CASES
    for way in WAYS
    if way != "resource" or "resource" in case
]


def begin(case, way, parameters):
    """Return the call that waits."""
    bwp.install()
    session = boto3.Session()
    resource = session.resource(case["service"]) if way == "resource" else None
    attached = resource.meta.client if resource else session.client(case["service"])
    if case.get("denied") is not None:
        deny_later(attached, case.get("seen"), case.get("denied"))
    if way == "get_waiter":
        return lambda: attached.get_waiter(case["waiter"]).wait(**parameters)
    if way == "wait_until":
        method = getattr(attached, f"wait_until_{case['waiter']}")
        return lambda: method(**parameters, max_wait=600)
    values = [v[0] if isinstance(v, list) else v for v in parameters.values()]
    bound = getattr(resource, case.get("resource"))(*values)
    _, _, state = case["waiter"].partition("_")
    return lambda: getattr(bound, f"wait_until_{state}")(max_wait=600)


def deny_later(attached, code, status):
    calls, metadata = [], {"HTTPStatusCode": status}
    error = {"Error": {"Code": code, "Message": "denied"}, "ResponseMetadata": metadata}

    def handle(**_):
        calls.append(1)
        return None if len(calls) < 3 else (SimpleNamespace(status_code=status), error)

    attached.meta.events.register("before-call", handle)


@pytest.mark.parametrize(("case", "way"), RUNS)
def test_waiter_ends_as_the_table_has_it(case, way, virtual_time):
    with mock_aws():
        found = WORLDS[case.get("world")](virtual_time, *case.get("change", ()))
        wait = begin(case, way, {**case["parameters"], **(found or {})})
        try:
            ended = wait()
        except bwp.WaiterError as error:
            ended = error
    is_by_count = case["kind"] == "timeout" and way == "get_waiter"
    assert isinstance(ended, bwp.WaiterAttemptsError if is_by_count else ENDS[case["kind"]])
    assert ended.attempts > 1 or case["kind"] == "failure"
    if case["kind"] == "timeout" and not is_by_count:
        assert ended.elapsed == pytest.approx(600, abs=1)
    exception, response = told_by(ended)
    if exception is None:
        assert case.get("seen") in (None, ended.observed)
        assert response["ResponseMetadata"]["HTTPStatusCode"] == 200
    else:
        assert case.get("seen") in (None, response["Error"]["Code"])
        assert response["Error"] == exception.response["Error"]


def told_by(ended):
    """Return the error and the response that a wait has ended with."""
    match ended:
        case bwp.WaiterError():
            assert ended.__cause__ is ended.last_exception
            return ended.last_exception, ended.last_response
        case bwp.ExceptionOutcome():
            return ended.exception, ended.exception.response
    return None, ended.response


@mock_aws
def test_object_that_is_written_anew(virtual_time):
    s3 = client("s3")
    s3.create_bucket(Bucket="photos")
    named = {"Bucket": "photos", "Key": "a"}
    etag = s3.put_object(**named, Body=b"old")["ETag"]
    unchanged = {**named, "IfNoneMatch": etag, "max_wait": 600}
    virtual_time.call_at(90, lambda: s3.put_object(**named, Body=b"new"))
    with pytest.raises(bwp.WaiterFailedError, match="304"):
        bwp.wait_until(s3, "object_exists", **unchanged)
    outcome = bwp.wait_until(s3, "object_exists", **unchanged, retry_errors_for={"304": 600})
    assert virtual_time.now >= 90
    assert outcome.response["ETag"] != etag
