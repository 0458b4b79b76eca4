"""The reads that tell why a wait failed, by `data/explains.json`, and their bounds."""

import datetime as dt
import json
import logging
import pickle
import threading
import time
from pathlib import Path

import boto3
import pytest
from service.ways import by_batch, by_method, by_task, in_background, in_store

import boto_waiters_plus as bwp

CASES = json.loads((Path(__file__).parents[1] / "cases" / "causes.json").read_text())
STACK, NESTED = (
    next(case for case in CASES if case["name"].startswith(words))
    for words in ("a stack of a botocore", "a nested stack, one")
)
EVENTS = STACK["reads"][0][2]
BROKEN = [ValueError("a handler"), {"Error": {"Code": "Denied"}}, {"StackEvents": 7}]
GOING = {"Stacks": [{"StackId": "arn:web", "StackStatus": "UPDATE_IN_PROGRESS"}]}
DONE = {"Stacks": [{"StackId": "arn:web", "StackStatus": "UPDATE_COMPLETE"}]}
WAYS = [by_method, by_task, by_batch, in_background]
RUNS = [pytest.param(by_method, case, id=case["name"]) for case in CASES]
RUNS += [(way, case) for way in [*WAYS[1:], in_store] for case in CASES[:6]]

pytestmark = pytest.mark.usefixtures("installed")


def failure(way, client, waiter="stack_update_complete", **keywords):
    """Return the error that a wait for a stack ends in."""
    with pytest.raises(bwp.WaiterFailedError) as caught:
        way(client, waiter, **{"max_wait": 300, "StackName": "web", **keywords})
    return caught.value


def with_start(parameters):
    """Return the parameters of a read with "started" for the start of the wait."""
    start = parameters.get("StartTime")
    is_of_wait = start is not None and time.time() - 120 < start < time.time()
    return {**parameters, "StartTime": "started"} if is_of_wait else parameters


@pytest.mark.models
@pytest.mark.parametrize(("way", "case"), RUNS)
def test_a_failure_names_its_cause(answers, case, way):
    client, sent = boto3.client(case["service"]), []
    client.meta.events.register(
        "provide-client-params", lambda params, model, **_: sent.append([model.name, params])
    )
    answers(client, case["poll"], *(read[2] for read in case["reads"]))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        way(client, case["waiter"], max_wait=300, **case["parameters"])
    reads = [[name, with_start(params)] for name, params in sent[1:]]
    assert reads == [read[:2] for read in case["reads"]]
    assert len(reads) <= 2
    error, cause = caught.value, case["cause"]
    assert error.cause_found == cause
    is_news = cause is not None and cause not in (error.service_message or "")
    assert str(error).endswith(f" Cause: {cause.rstrip('.')}." if is_news else " s).")


@pytest.mark.parametrize("way", WAYS)
def test_success_and_time_out_make_no_read(virtual_time, answers, cloudformation, way):
    script = answers(cloudformation, GOING, DONE)
    assert way(cloudformation, "stack_update_complete", StackName="web", max_wait=300).attempts == 2
    assert script.operations == ["DescribeStacks"] * 2
    client = boto3.client("cloudformation")
    late = answers(client, GOING)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        way(client, "stack_update_complete", StackName="web", max_wait=30)
    assert caught.value.cause_found is None
    assert set(late.operations) == {"DescribeStacks"}


def test_no_read_is_made_by_smithys_defaults(answers, cloudformation):
    bwp.install(defaults=bwp.SMITHY)
    script = answers(cloudformation, STACK["poll"], EVENTS)
    assert failure(by_method, cloudformation).cause_found is None
    assert script.operations == ["DescribeStacks"]


@pytest.mark.parametrize("way", [by_method, by_task, by_batch])
@pytest.mark.parametrize("reply", BROKEN, ids=str)
def test_a_read_that_fails_is_only_logged(answers, cloudformation, caplog, way, reply):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    answers(cloudformation, STACK["poll"], reply)
    error = failure(way, cloudformation)
    assert (error.cause_found, error.last_exception) == (None, None)
    assert any("cause of a failure" in each for each in caplog.messages)
    assert {each.levelno for each in caplog.records} == {logging.DEBUG, logging.INFO}


@pytest.mark.parametrize("way", [by_method, by_task, by_batch])
def test_slow_read_ends_with_its_time(virtual_time, answers, cloudformation, way):
    """The first read takes all of the two seconds."""
    first, second = (read[2] for read in NESTED["reads"])
    slow = lambda: time.sleep(2.5) or first  # noqa: E731
    script, began = answers(cloudformation, NESTED["poll"], slow, second), virtual_time.now
    failure(way, cloudformation, "stack_create_complete")
    assert script.operations == ["DescribeStacks", "DescribeStackEvents"]
    assert virtual_time.now - began == pytest.approx(2.5)


@pytest.mark.nightly(subject="wire")
def test_read_that_hangs_is_abandoned(answers, cloudformation, caplog):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    over = threading.Event()
    answers(cloudformation, STACK["poll"], lambda: over.wait(60) and EVENTS)
    error = failure(by_method, cloudformation, call_in_thread=True)
    over.set()
    assert error.cause_found is None
    assert "it was cut off" in caplog.text


def test_cancelled_during_a_read_the_wait_has_failed(answers, cloudformation):
    cancel, [first, _] = threading.Event(), (read[2] for read in NESTED["reads"])
    script = answers(cloudformation, NESTED["poll"], lambda: cancel.set() or first, {})
    failure(by_method, cloudformation, "stack_create_complete", cancel_event=cancel)
    assert script.operations == ["DescribeStacks", "DescribeStackEvents"]


def test_a_batch_makes_twenty_reads(virtual_time, answers, cloudformation):
    reads = {"DescribeStacks": STACK["poll"], "DescribeStackEvents": EVENTS}
    script = answers(cloudformation, lambda: reads[script.operations[-1]])
    stacks = [{"StackName": f"web-{number}"} for number in range(25)]
    waits = [bwp.Wait(cloudformation, "stack_update_complete", each) for each in stacks]
    results = bwp.wait_all(waits, max_wait=300, on_failure="collect", threads=1)
    assert script.operations.count("DescribeStackEvents") == 20
    assert sum(each.cause_found is not None for each in results) == 20
    assert sum("not asked for: other waits used up the reads" in str(each) for each in results) == 5


def test_waits_that_share_polls_read_each_on_its_own(virtual_time, ecs, answers):
    def deleted(name):
        events = [{"message": f"{name} was deleted"}]
        found = {"serviceName": name, "serviceArn": name, "clusterArn": "main"}
        return {**found, "status": "INACTIVE", "events": events}

    def answer():
        asked = json.loads(script.requests[-1]["body"]).get("services", ())
        return {"taskArns": [], "services": [deleted(name) for name in asked]}

    script = answers(ecs, answer)
    names = [f"web-{number}" for number in range(4)]
    waits = [bwp.Wait(ecs, "services_stable", {"services": [name]}) for name in names]
    results = bwp.wait_all(waits, max_wait=300, on_failure="collect", threads=1)
    assert [each.cause_found for each in results] == [f"{name} was deleted" for name in names]
    bodies = [json.loads(request["body"]) for request in script.requests]
    assert bodies[0]["services"] == names
    assert script.operations[1:] == ["ListTasks"] * 4
    assert sorted(each["serviceName"] for each in bodies[1:]) == names


MINE = {"id": "ecs-svc/2", "status": "PRIMARY", "createdAt": "2026-11-01T10:00:00Z"}


def deployment_failure(ecs, answers, events, *reads):
    """Return the cause of the failure of a deployment, and the names of what was read for it."""
    service = {"serviceName": "web", "serviceArn": "arn:web", "clusterArn": "arn:main"}
    service |= {"status": "ACTIVE"}
    going, failed = ({**MINE, "rolloutState": state} for state in ("IN_PROGRESS", "FAILED"))
    begun = {"service": {**service, "deployments": [going], "events": []}}
    polled = {"services": [{**service, "deployments": [failed], "events": events}]}
    script = answers(ecs, begun, polled, *reads)
    operation = bwp.begin(ecs.update_service, max_wait=900, cluster="main", service="web")
    return operation.exception().cause_found, script.operations[2:]


def test_the_cause_is_that_of_the_call(virtual_time, ecs, answers):
    """`begin` knows its deployment: tasks of others are not the cause."""
    tasks = [
        {"taskArn": f"arn:{n}", "startedBy": f"ecs-svc/{n}", "stoppedReason": f"reason {n}"}
        | {"stoppedAt": f"2026-11-0{4 - n}T10:00:00Z", "containers": [{"name": "app"}]}
        for n in (2, 1)
    ]
    reads = {"taskArns": ["arn:1", "arn:2"]}, {"tasks": tasks}
    found = deployment_failure(ecs, answers, [], *reads)
    assert found == ("reason 2", ["ListTasks", "DescribeTasks"])


TOLD = [
    ("10:09", "deployment failed: tasks failed to start."), ("10:05", "unable to assume the role"),
    ("10:01", "unable to place a task"), ("09:00", "unable to pull the image"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "cause"), [(TOLD, 1), (TOLD[::3], 0)], ids=["all", "few"])
def test_an_event_from_before_the_call_is_no_cause(virtual_time, ecs, answers, told, cause):
    events = [{"createdAt": f"2026-11-01T{at}:00Z", "message": text} for at, text in told]
    found, _ = deployment_failure(ecs, answers, events, {"taskArns": []})
    assert found == told[cause][1]


def test_an_upgrade_names_the_step_that_failed(virtual_time, answers):
    opensearch = boto3.client("opensearch")
    now = dt.datetime.now(dt.timezone.utc).isoformat()
    issue = {"UpgradeStep": "SNAPSHOT", "UpgradeStepStatus": "FAILED", "Issues": ["no space"]}
    upgrades = [
        {"UpgradeName": name, "UpgradeStatus": "FAILED", "StartTimestamp": at, "StepsList": [issue]}
        for name, at in (("to 2.9", "2020-01-01T00:00:00Z"), ("to 2.11", now))
    ]
    begun = {"DomainName": "dom", "ChangeProgressDetails": {"ChangeId": "c" * 36}}
    failed = {"ChangeProgressStatus": {"Status": "FAILED"}}
    script = answers(opensearch, begun, failed, {"UpgradeHistories": upgrades})
    target = {"DomainName": "dom", "TargetVersion": "OpenSearch_2.11"}
    operation = bwp.begin(opensearch.upgrade_domain, max_wait=900, **target)
    assert operation.exception().cause_found == "to 2.11: SNAPSHOT: no space"
    assert script.operations[2:] == ["GetUpgradeHistory"]


def test_a_database_of_lightsail_names_its_event(virtual_time, answers):
    lightsail, now = boto3.client("lightsail"), time.time()
    states = {"path": "relationalDatabase.state", "success": ["available"], "failure": ["failed"]}
    definition = bwp.WaiterDefinition.from_states("Up", "GetRelationalDatabase", **states)
    told = (-3600, "earlier", "failure"), (1, "no capacity", "failure"), (2, "up", "availability")
    events = [
        {"createdAt": now + after, "message": message, "eventCategories": [category]}
        for after, message, category in told
    ]
    database = {"relationalDatabase": {"name": "db", "state": "failed"}}
    answers(lightsail, database, {"relationalDatabaseEvents": events})
    with pytest.raises(bwp.WaiterFailedError) as caught:
        bwp.wait_until(lightsail, definition, relationalDatabaseName="db", max_wait=60)
    assert caught.value.cause_found == "no capacity"


def test_the_cause_is_kept_and_told(answers, cloudformation):
    seen = []
    bwp.enable(cloudformation, on_event=seen.append)
    answers(cloudformation, STACK["poll"], EVENTS)
    error = failure(by_method, cloudformation)
    assert seen[-1].message.endswith(" Cause: Queue: no such key.")
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.cause_found, str(copied)) == ("Queue: no such key", str(error))


@pytest.mark.models
def test_sensitive_text_is_no_cause(answers, models_read_once, monkeypatch):
    """In this model, the description of the error of a record is sensitive."""
    load = models_read_once.load_service_model
    shapes = load("servicecatalog", "service-2", api_version=None)["shapes"]
    monkeypatch.setitem(shapes["ErrorDescription"], "sensitive", True)
    client = boto3.client("servicecatalog")
    case = next(case for case in CASES if case["name"] == "the error of a record")
    script = answers(client, case["poll"], case["reads"][0][2])
    with pytest.raises(bwp.WaiterFailedError) as caught:
        by_method(client, case["waiter"], max_wait=60, **case["parameters"])
    assert caught.value.cause_found is None
    assert "DescribeRecord" not in script.operations
