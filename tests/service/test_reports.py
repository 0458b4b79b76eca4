"""The state seen that a definition reports: one text, and its values, wherever a wait is told."""

import asyncio
import contextlib
import json
import logging
from dataclasses import replace
from pathlib import Path

import boto3
import pytest
from service.ways import by_batch, by_method, by_task, by_waiter, in_background, in_store

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_traits
from boto_waiters_plus.definitions.smithy import REPORTS

ROWS = json.loads((Path(__file__).parents[1] / "cases" / "reports.json").read_text("utf-8"))
WAITERS = [pytest.param(row, id=row["name"]) for row in ROWS if "waiter" in row]
EFFECTS = [pytest.param(row, id=row["name"]) for row in ROWS if "begin" in row]


@pytest.fixture
def client(answers, virtual_time):
    """`client(row)`: a client whose polls are answered as the row has it."""
    bwp.install()

    def make(row):
        made = boto3.client(row["service"])
        replies = [row["call"]] if "call" in row else []
        answers(made, *replies, row["answer"])
        return made

    return make


def check(error, row, events=()):
    assert f"last state seen: {row['state']}" in str(error)
    assert error.reported == row["reported"]
    assert {each.state for each in error.timeline} == {row["state"]}
    assert {each.state for each in events} <= {row["state"]}
    assert all(each.reported == row["reported"] for each in events)


@pytest.mark.parametrize("row", WAITERS)
@pytest.mark.parametrize("way", [by_method, by_task, by_batch, in_background])
def test_a_wait_tells_what_its_waiter_reports(way, row, client):
    events = []
    keywords = {**row["parameters"], "max_wait": 60, "on_attempt": events.append}
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        way(client(row), row["waiter"], **keywords)
    assert events
    check(caught.value, row, events)


@pytest.mark.parametrize("row", WAITERS)
@pytest.mark.parametrize("way", [by_waiter, in_store])
def test_waiter_objects_and_stores_tell_what_is_reported(way, row, client):
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        way(client(row), row["waiter"], max_wait=60, **row["parameters"])
    check(caught.value, row)


@pytest.mark.parametrize("row", EFFECTS)
@pytest.mark.parametrize("is_task", [False, True], ids=["blocking", "task"])
def test_begin_tells_what_its_effect_reports(is_task, row, client, caplog):
    caplog.set_level(logging.INFO, logger="boto_waiters_plus")
    method = getattr(client(row), row["begin"])
    options = {**row["parameters"], "max_wait": 60}
    if is_task:
        operation = asyncio.run(bwp.begin_async(method, **options))
    else:
        operation = bwp.begin(method, **options)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        operation.result()
    check(caught.value, row)
    body = json.loads(json.dumps(operation.to_json()))
    assert body["metadata"]["state_seen"] == row["state"]
    assert body["metadata"]["reported"] == body["error"]["reported"] == row["reported"]
    assert any(f"is waiting: {row['state']} (" in each for each in caplog.messages)


@pytest.mark.parametrize("row", EFFECTS)
def test_a_row_keeps_what_is_reported(row, client):
    made = client(row)
    with contextlib.closing(operations.Store(":memory:")) as store:
        method = getattr(made, row["begin"])
        operation = bwp.begin(method, in_store=store, max_wait=60, **row["parameters"])
        store.work(until_idle=True, make_client=lambda _: made)
        operation = store.get(operation.path)
        body = operation.to_json()
    assert body["metadata"]["reported"] == row["reported"]
    check(operation.exception(), row)


def test_progress_and_the_table_of_an_error_have_the_state(client):
    [row] = [each.values[0] for each in WAITERS if each.id == "a target whose health checks fail"]
    progress = []
    wait = bwp.Wait(client(row), row["waiter"], row["parameters"], max_wait=60)
    [error] = bwp.wait_all([wait], on_failure="collect", progress=progress.append)
    assert {each.observed for each in progress} == {row["state"]}
    assert progress[-1].reported == row["reported"]
    assert f"<th>state</th><td>{row['state']}</td>" in error._repr_html_()


def test_a_success_tells_what_is_reported(answers):
    bwp.install()
    ecs = boto3.client("ecs")
    deployment = {"id": "d", "status": "PRIMARY", "rolloutState": "COMPLETED"}
    counts = {"runningCount": 2, "desiredCount": 2, "deployments": [deployment]}
    answers(ecs, {"services": [{"serviceName": "web", "status": "ACTIVE", **counts}]})
    outcome = ecs.wait_until_services_stable(services=["web"], max_wait=60)
    assert outcome.reported == {"rollout": "COMPLETED", "running": "2 of 2"}
    assert outcome.timeline[-1].state == "rollout COMPLETED, 2 of 2 running"
    assert outcome.observed is True


# --- definitions of the caller's ----------------------------------------------------------------


def job(**reports):
    return bwp.WaiterDefinition.from_states(
        "JobDone",
        "GetJobRun",
        path="JobRun.JobRunState",
        success=["SUCCEEDED"],
        failure=["FAILED"],
        reports=reports or None,
    )


RUNNING = {"JobRun": {"JobRunState": "RUNNING", "ExecutionTime": 12, "WorkerType": "G.1X"}}
GLUE = {"JobName": "j", "RunId": "r"}


@pytest.mark.parametrize("way", ["blocking", "batch", "store"])
def test_a_definition_of_the_callers_reports(way, answers, virtual_time):
    glue = boto3.client("glue")
    answers(glue, RUNNING)
    definition = job(seconds="JobRun.ExecutionTime", on="JobRun.WorkerType")
    wait = {"blocking": bwp.wait_until, "batch": by_batch, "store": in_store}[way]
    with pytest.raises(
        bwp.WaiterTimeoutError, match=r"seen: RUNNING, 12 seconds, on G.1X"
    ) as caught:
        wait(glue, definition, max_wait=60, **GLUE)
    assert caught.value.reported == {"state": "RUNNING", "seconds": 12, "on": "G.1X"}


def test_a_failure_says_what_failed_and_what_is_reported(answers):
    glue = boto3.client("glue")
    answers(glue, {"JobRun": {"JobRunState": "FAILED", "ExecutionTime": 3}})
    definition = job(seconds="JobRun.ExecutionTime")
    with pytest.raises(bwp.WaiterFailedError, match="is 'FAILED': FAILED, 3 seconds"):
        bwp.wait_until(glue, definition, max_wait=60, **GLUE)


def test_a_file_names_what_is_reported(tmp_path, waitable, answers, virtual_time):
    success = {"state": "success", "matcher": {"success": True}}
    document = waitable("Done", "GetJobRun", success, namespace="com.amazonaws.glue")
    [shape] = document["shapes"].values()
    shape["traits"][REPORTS] = {"Other": {"x": "y"}, "*": {"worker": "JobRun.WorkerType"}}
    file = tmp_path / "waiters.json"
    file.write_text(json.dumps(document))
    [definition] = bwp.load_definitions(file)
    assert definition.reports == (("worker", "JobRun.WorkerType"),)
    glue = boto3.client("glue")
    answers(glue, RUNNING)
    outcome = bwp.wait_until(glue, definition, max_wait=60, **GLUE)
    assert outcome.reported == {"worker": "G.1X"}


@pytest.mark.parametrize(
    "reports", [{"*": {"x": "a["}}, {"*": {"": "a"}}, {"*": 5}, [], {"*": {"x": 5}}]
)
def test_a_file_with_a_wrong_report_is_refused_by_name(reports, waitable):
    success = {"state": "success", "matcher": {"success": True}}
    document = waitable("Done", "GetJobRun", success, namespace="com.amazonaws.glue")
    [shape] = document["shapes"].values()
    shape["traits"][REPORTS] = reports
    with pytest.raises(bwp.WaiterDefinitionError, match=r"reports|expression|path|x"):
        bwp.load_definitions(document)


@pytest.mark.parametrize("reports", [{"x": "a["}, {"": "a"}, {"x": 5}, ["a"], "a", {5: "a"}])
def test_a_wrong_report_is_an_error_of_that_argument(reports):
    with pytest.raises((TypeError, ValueError), match=r"^reports") as caught:
        bwp.WaiterDefinition.from_states("A", "B", path="C", success=["D"], reports=reports)
    assert not isinstance(caught.value, bwp.WaiterDefinitionError)


def test_a_definition_of_the_callers_has_not_the_shipped_reports(answers, virtual_time):
    ecs = boto3.client("ecs")
    answers(ecs, ROWS[0]["answer"])
    assert "com.amazonaws.ecs#DescribeServices" in shipped_traits(REPORTS)
    own = {"path": "services[].status", "success": ["INACTIVE"]}
    definition = bwp.WaiterDefinition.from_states("Gone", "DescribeServices", **own)
    with pytest.raises(bwp.WaiterTimeoutError, match="last state seen: ACTIVE "):
        bwp.wait_until(ecs, definition, services=["web"], max_wait=60)


def test_a_copy_of_a_shipped_waiter_reports_as_it_does(answers, virtual_time):
    ecs = boto3.client("ecs")
    answers(ecs, ROWS[0]["answer"])
    [shipped] = [each for each in shipped_definitions("ecs") if each.name == "ServicesStable"]
    with pytest.raises(bwp.WaiterTimeoutError, match=r"seen: rollout IN_PROGRESS"):
        bwp.wait_until(ecs, replace(shipped, min_delay=1), services=["web"], max_wait=60)


def test_what_is_sensitive_is_never_reported(answers, virtual_time):
    rds = boto3.client("secretsmanager")
    answers(rds, {"Name": "n", "SecretString": "hidden-1"})
    own = {
        "path": "Name",
        "success": ["other"],
        "reports": {"value": "SecretString", "name": "Name"},
    }
    definition = bwp.WaiterDefinition.from_states("Never", "GetSecretValue", **own)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        bwp.wait_until(rds, definition, SecretId="s", max_wait=10)
    assert caught.value.reported == {"state": "n", "name": "n"}
    assert "hidden-1" not in str(caught.value)


def test_the_states_of_many_are_counted(answers, virtual_time):
    rds, states = boto3.client("rds"), ["available"] * 7 + ["modifying"]
    answers(rds, {"DBInstances": [{"DBInstanceStatus": each} for each in states]})
    with pytest.raises(bwp.WaiterTimeoutError, match="seen: 7 available, 1 modifying ") as caught:
        bwp.wait_until(rds, "db_instance_available", max_wait=60)
    assert caught.value.reported == {"state": "7 available, 1 modifying"}


def test_two_numbers_of_two_items_are_no_part(answers, virtual_time):
    codebuild = boto3.client("codebuild")
    build = {"buildStatus": "IN_PROGRESS", "timeoutInMinutes": 60}
    answers(codebuild, {"builds": [{**build, "buildNumber": each} for each in (40, 60)]})
    reports = {
        "number": "builds[].buildNumber",
        "minutes": "builds[0].[buildNumber, timeoutInMinutes]",
    }
    own = {"path": "builds[].buildStatus", "success": ["SUCCEEDED"], "reports": reports}
    definition = bwp.WaiterDefinition.from_states("Built", "BatchGetBuilds", **own)
    with pytest.raises(bwp.WaiterTimeoutError, match=", number 40, 60, 40 of 60 minutes") as caught:
        bwp.wait_until(codebuild, definition, ids=["a", "b"], max_wait=60)
    assert caught.value.reported["number"] == [40, 60]


def test_a_reason_of_several_is_said_once(answers, virtual_time):
    elb, reason = boto3.client("elbv2"), "Health checks failed"
    health = {"State": "unhealthy", "Description": reason}
    targets = [{"Target": {"Id": each}, "TargetHealth": health} for each in ("i-1", "i-2")]
    answers(elb, {"TargetHealthDescriptions": targets})
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        bwp.wait_until(elb, "target_in_service", TargetGroupArn="arn:t", max_wait=60)
    assert str(caught.value).count(reason) == 1
    assert caught.value.reported["because"] == [reason, reason]


def test_a_word_of_the_callers_is_escaped(answers, virtual_time):
    glue = boto3.client("glue")
    answers(glue, RUNNING)
    definition = job(**{"a\nb": "JobRun.WorkerType"})
    with pytest.raises(bwp.WaiterTimeoutError, match=r"RUNNING, a\\nb G.1X"):
        bwp.wait_until(glue, definition, max_wait=60, **GLUE)
