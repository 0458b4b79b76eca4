"""Names of waiters are unique in a service, by one rule for the loader, clients and `check`."""

import json
import logging
from pathlib import Path

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.validation import check

CASES = json.loads((Path(__file__).parents[1] / "cases" / "unique-names.json").read_text())["cases"]
WAITER = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}


def document(names, services=None):
    kind = "apply" if services is None else "operation"
    shapes = {
        shape_id: {
            "type": kind,
            "traits": {"smithy.waiters#waitable": dict.fromkeys(waiters, WAITER)},
        }
        for shape_id, waiters in names.items()
    }
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
        with pytest.raises(bwp.WaiterDefinitionError, match="name already taken by"):
            load(documents)


def test_conflict_of_two_files_names_both(tmp_path):
    for file, name in (("a.json", "ThingReady"), ("b.json", "Thingready")):
        (tmp_path / file).write_text(json.dumps(s3(HeadBucket=name)))
    with pytest.raises(bwp.WaiterDefinitionError) as caught:
        bwp.load_definitions(tmp_path)
    assert f"{tmp_path / 'b.json'}: waiter Thingready: name already taken by ThingReady" in str(
        caught.value
    )
    assert f"of HeadBucket in {tmp_path / 'a.json'}" in str(caught.value)


@pytest.mark.parametrize("asked", ["bucket_exists", "bucketexists"])
def test_other_case_of_a_shipped_name_is_refused(client, asked):
    definition = s3(HeadBucket="Bucketexists")
    bwp.enable(client, definitions=definition)
    problem = "dict: waiter Bucketexists: name already taken by BucketExists of HeadBucket in data/"
    with pytest.raises(bwp.WaiterDefinitionError, match=problem):
        bwp.wait_until(client, asked, Bucket="b", max_wait=1)
    assert not hasattr(client, f"wait_until_{asked}")
    [event] = [event for event in check(definition) if event.severity == "ERROR"]
    assert event.id == "UniqueWaiterNames"
    assert "`BucketExists` of HeadBucket in data/s3.json" in event.message


def test_a_refused_name_leaves_other_waiters(client, caplog):
    bwp.enable(client, definitions=s3(HeadBucket="Bucketexists", HeadObject="Mine"))
    with caplog.at_level(logging.WARNING):
        methods = {name for name in dir(client) if name.startswith("wait_until_bucket")}
    assert {"wait_until_mine", "wait_until_bucket_not_exists"} <= {*dir(client)}
    assert not methods & {"wait_until_bucket_exists", "wait_until_bucketexists"}
    assert "name already taken by BucketExists" in caplog.text
    assert client.wait_until_mine.definition.operation == "HeadObject"


def test_same_name_replaces_the_shipped_waiter(client):
    bwp.enable(client, definitions=s3(HeadObject="BucketExists"))
    assert client.wait_until_bucket_exists.definition.operation == "HeadObject"
    assert [e for e in check(s3(HeadBucket="BucketExists")) if e.severity == "ERROR"] == []


def test_conflicts_across_calls_and_search_path_are_refused(client, tmp_path, monkeypatch):
    bwp.install(definitions=s3(HeadBucket="ThingReady"))
    bwp.install(definitions=s3(HeadObject="Thingready"))
    with pytest.raises(bwp.WaiterDefinitionError, match="waiter Thingready: name already taken"):
        bwp.wait_until(boto3.client("s3"), "ThingReady", max_wait=1)
    folder = tmp_path / "s3" / "2006-03-01"
    folder.mkdir(parents=True)
    (folder / "smithy-waiters-1.json").write_text(json.dumps(s3(HeadBucket="BUcketExists")))
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    with pytest.raises(bwp.WaiterDefinitionError, match="waiter BUcketExists: name already taken"):
        bwp.wait_until(boto3.Session().client("s3"), "BucketExists", Bucket="b", max_wait=1)
