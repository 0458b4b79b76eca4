"""The state seen that a definition reports: one text, and its values, wherever a wait is told."""

import asyncio
import contextlib
import json
import logging
from dataclasses import replace
from pathlib import Path

import boto3
import pytest
from service import ways
from service.ways import by_batch, in_store

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_traits
from boto_waiters_plus.definitions.smithy import REPORTS

ROWS = json.loads((Path(__file__).parents[1] / "cases" / "reports.json").read_text("utf-8"))
WAITERS = [pytest.param(row, id=row["name"]) for row in ROWS if "waiter" in row]
EFFECTS = [pytest.param(row, id=row["name"]) for row in ROWS if "begin" in row]


pytestmark = pytest.mark.usefixtures("virtual_time")


@pytest.fixture
def client(answers, installed):
    """`client(row)`: a client whose polls are answered as the row has it."""

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


def timed_out(client, definition, way=bwp.wait_until, **parameters):
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        way(client, definition, max_wait=60, **parameters)
    return caught.value


@pytest.mark.parametrize("row", WAITERS)
@pytest.mark.parametrize("way", ways.ALL)
def test_a_wait_tells_what_its_waiter_reports(way, row, client):
    events = []
    observed = {} if way is in_store else {"on_attempt": events.append}
    error = timed_out(client(row), row["waiter"], way, **row["parameters"], **observed)
    assert bool(events) is (way is not in_store)
    check(error, row, events)


def begun_in_a_task(method, **options):
    return asyncio.run(bwp.begin_async(method, **options))


@pytest.mark.parametrize("row", EFFECTS)
@pytest.mark.parametrize("begin", [bwp.begin, begun_in_a_task])
def test_begin_tells_what_its_effect_reports(begin, row, client, caplog):
    caplog.set_level(logging.INFO, logger="boto_waiters_plus")
    operation = begin(getattr(client(row), row["begin"]), max_wait=60, **row["parameters"])
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


def test_a_success_tells_what_is_reported(ecs, answers):
    deployment = {"id": "d", "status": "PRIMARY", "rolloutState": "COMPLETED"}
    counts = {"runningCount": 2, "desiredCount": 2, "deployments": [deployment]}
    answers(ecs, {"services": [{"serviceName": "web", "status": "ACTIVE", **counts}]})
    outcome = ecs.wait_until_services_stable(services=["web"], max_wait=60)
    assert outcome.reported == {"rollout": "COMPLETED", "running": "2 of 2"}
    assert outcome.timeline[-1].state == "rollout COMPLETED, 2 of 2 running"
    assert outcome.observed is True


# --- definitions of the caller's ----------------------------------------------------------------


defined = bwp.WaiterDefinition.from_states
RUNNING = {"JobRun": {"JobRunState": "RUNNING", "ExecutionTime": 12, "WorkerType": "G.1X"}}
GLUE = {"JobName": "j", "RunId": "r"}


def job(**reports):
    states = {"path": "JobRun.JobRunState", "success": ["SUCCEEDED"], "failure": ["FAILED"]}
    return defined("JobDone", "GetJobRun", **states, reports=reports or None)


@pytest.fixture
def glue(answers):
    """`glue(answer)`: a client that is always answered so."""

    def make(answer=RUNNING):
        client = boto3.client("glue")
        answers(client, answer)
        return client

    return make


@pytest.fixture
def reporting(waitable):
    """`reporting(reports)`: a document of a waiter that has these in its trait."""

    def make(reports):
        success = {"state": "success", "matcher": {"success": True}}
        document = waitable("Done", "GetJobRun", success, namespace="com.amazonaws.glue")
        [shape] = document["shapes"].values()
        shape["traits"][REPORTS] = reports
        return document

    return make


@pytest.mark.parametrize("way", [bwp.wait_until, by_batch, in_store])
def test_a_definition_of_the_callers_reports(way, glue):
    definition = job(seconds="JobRun.ExecutionTime", on="JobRun.WorkerType", **{"a\nb": "'x'"})
    error = timed_out(glue(), definition, way, **GLUE)
    assert r"seen: RUNNING, 12 seconds, on G.1X, a\nb x" in str(error)
    assert error.reported == {"state": "RUNNING", "seconds": 12, "on": "G.1X", "a\nb": "x"}


@pytest.mark.parametrize("reports", [{"on": "JobRun.WorkerType"}, {"of": "['3', '4']"}])
def test_what_is_done_to_a_report_changes_no_other(reports, glue):
    client, one, other = glue(), [], []
    for told in (one, other):
        told.append(timed_out(client, job(**reports), on_attempt=told.append, **GLUE))
    before = str([each.reported for each in other])
    for each in one:
        for value in each.reported.values():
            getattr(value, "clear", str)()
        each.reported.clear()
    assert str([each.reported for each in other]) == before


def test_a_failure_says_what_failed_and_what_is_reported(glue):
    client = glue({"JobRun": {"JobRunState": "FAILED", "ExecutionTime": 3}})
    definition = job(seconds="JobRun.ExecutionTime")
    with pytest.raises(bwp.WaiterFailedError, match="is 'FAILED': FAILED, 3 seconds"):
        bwp.wait_until(client, definition, max_wait=60, **GLUE)


def test_a_document_names_what_is_reported(reporting, glue):
    document = reporting({"Other": {"x": "y"}, "*": {"worker": "JobRun.WorkerType"}})
    [definition] = bwp.load_definitions(document)
    assert definition.reports == (("worker", "JobRun.WorkerType"),)
    outcome = bwp.wait_until(glue(), definition, max_wait=60, **GLUE)
    assert outcome.reported == {"worker": "G.1X"}


WRONG = [{"x": "a["}, {"": "a"}, {"x": 5}]


@pytest.mark.parametrize("reports", [*({"*": each} for each in WRONG), {"*": 5}, []])
def test_a_file_with_a_wrong_report_is_refused_by_name(reports, reporting):
    with pytest.raises(bwp.WaiterDefinitionError, match=r"reports|expression|path|x"):
        bwp.load_definitions(reporting(reports))


@pytest.mark.parametrize("reports", [*WRONG, ["a"], "a", {5: "a"}])
def test_a_wrong_report_is_an_error_of_that_argument(reports):
    with pytest.raises((TypeError, ValueError), match=r"^reports") as caught:
        defined("A", "B", path="C", success=["D"], reports=reports)
    assert not isinstance(caught.value, bwp.WaiterDefinitionError)


def test_only_a_copy_of_a_shipped_waiter_has_its_reports(answers):
    ecs, services = boto3.client("ecs"), {"services": ["web"]}
    answers(ecs, ROWS[0]["answer"])
    [shipped] = [each for each in shipped_definitions("ecs") if each.name == "ServicesStable"]
    copied = timed_out(ecs, replace(shipped, min_delay=1), **services)
    assert "seen: rollout IN_PROGRESS" in str(copied)
    assert "com.amazonaws.ecs#DescribeServices" in shipped_traits(REPORTS)
    own = defined("Gone", "DescribeServices", path="services[].status", success=["INACTIVE"])
    assert "last state seen: ACTIVE " in str(timed_out(ecs, own, **services))


def test_what_is_sensitive_is_never_reported(answers):
    client, reports = boto3.client("secretsmanager"), {"value": "SecretString", "name": "Name"}
    answers(client, {"Name": "n", "SecretString": "hidden-1"})
    definition = defined("Never", "GetSecretValue", path="Name", success=["x"], reports=reports)
    error = timed_out(client, definition, SecretId="s")
    assert error.reported == {"state": "n", "name": "n"}
    assert "hidden-1" not in str(error)


def test_the_states_of_many_are_counted(answers):
    rds, states = boto3.client("rds"), ["available"] * 7 + ["modifying"]
    answers(rds, {"DBInstances": [{"DBInstanceStatus": each} for each in states]})
    error = timed_out(rds, "db_instance_available")
    assert "seen: 7 available, 1 modifying " in str(error)
    assert error.reported == {"state": "7 available, 1 modifying"}


def test_two_numbers_of_two_items_are_no_part(answers):
    codebuild = boto3.client("codebuild")
    build = {"buildStatus": "IN_PROGRESS", "timeoutInMinutes": 60}
    answers(codebuild, {"builds": [{**build, "buildNumber": each} for each in (40, 60)]})
    minutes = "builds[0].[buildNumber, timeoutInMinutes]"
    reports = {"number": "builds[].buildNumber", "minutes": minutes}
    own = {"path": "builds[].buildStatus", "success": ["SUCCEEDED"], "reports": reports}
    error = timed_out(codebuild, defined("Built", "BatchGetBuilds", **own), ids=["a", "b"])
    assert ", number 40, 60, 40 of 60 minutes" in str(error)
    assert error.reported["number"] == [40, 60]


def test_a_reason_of_several_is_said_once(answers):
    elb, reason = boto3.client("elbv2"), "Health checks failed"
    health = {"State": "unhealthy", "Description": reason}
    targets = [{"Target": {"Id": each}, "TargetHealth": health} for each in ("i-1", "i-2")]
    answers(elb, {"TargetHealthDescriptions": targets})
    error = timed_out(elb, "target_in_service", TargetGroupArn="arn:t")
    assert str(error).count(reason) == 1
    assert error.reported["because"] == [reason, reason]
