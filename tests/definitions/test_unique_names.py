"""Names of waiters are unique in a service: in one load by refusal, between places by hiding."""

import json

import boto3
import pytest
from case_tables import cases

import boto_waiters_plus as bwp
from boto_waiters_plus.validation import check

CASES = cases("unique-names")["cases"]
WAITER = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}


def document(names, services=None):
    kind = "apply" if services is None else "operation"
    shapes = {}
    for shape_id, waiters in names.items():
        traits = {"smithy.waiters#waitable": dict.fromkeys(waiters, WAITER)}
        shapes[shape_id] = {"type": kind, "traits": traits}
    for service, operations in (services or {}).items():
        targets = [{"target": operation} for operation in operations]
        shapes[service] = {"type": "service", "operations": targets}
    return {"smithy": "2.0", "shapes": shapes}


def s3(**names):
    return document({f"com.amazonaws.s3#{operation}": [name] for operation, name in names.items()})


@pytest.fixture
def client():
    return boto3.client("s3")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_loader_and_check_refuse_the_same_names(case):
    documents = [document(names, case.get("services")) for names in case["documents"]]
    found = [event.id for event in check(documents) if event.severity == "ERROR"]
    assert set(found) == ({"UniqueWaiterNames"} if case["refused"] else set())
    if not case["refused"]:
        bwp.load_definitions(documents)
        return
    for load in (bwp.load_definitions, lambda source: bwp.install(definitions=source)):
        with pytest.raises(bwp.WaiterDefinitionError, match="taken"):
            load(documents)


def test_conflict_of_two_files_names_both(tmp_path):
    for file, name in (("a.json", "ThingReady"), ("b.json", "Thingready")):
        (tmp_path / file).write_text(json.dumps(s3(HeadBucket=name)))
    with pytest.raises(bwp.WaiterDefinitionError) as caught:
        bwp.load_definitions(tmp_path)
    assert (caught.value.source, caught.value.waiter) == (str(tmp_path / "b.json"), "Thingready")
    assert f"ThingReady of HeadBucket in {tmp_path / 'a.json'}" in caught.value.problem


def test_other_case_of_a_name_hides_the_shipped_waiter(client):
    other_case = bwp.enable(client, definitions=s3(HeadObject="Bucketexists"))
    names = {"wait_until_bucketexists", "wait_until_bucket_exists", "wait_until_bucket_not_exists"}
    assert names - {*dir(other_case)} == {"wait_until_bucket_exists"}
    assert "bucket_exists" in other_case.waiter_names
    assert other_case.wait_until_bucketexists.definition.operation == "HeadObject"
    assert not hasattr(other_case, "wait_until_bucket_exists")
    with pytest.raises(ValueError, match="'Bucketexists'"):
        bwp.wait_until(other_case, "BucketExists", Bucket="b", max_wait=1)


def test_the_nearer_place_wins_in_any_case(client, tmp_path, monkeypatch):
    folder = tmp_path / "s3" / "2006-03-01"
    folder.mkdir(parents=True)
    (folder / "smithy-waiters-1.json").write_text(json.dumps(s3(HeadBucket="THingReady")))
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))

    def found(**options):
        bwp.install(**options)
        client = boto3.Session().client("s3")
        names = [name for name in dir(client) if "ready" in name]
        return [getattr(client, name).definition.name for name in names]

    assert found() == ["THingReady"]
    assert found(definitions=s3(HeadBucket="ThingReady")) == ["ThingReady"]
    assert found(definitions=s3(HeadObject="Thingready")) == ["Thingready"]
