"""Splitting a response into shares, and which errors of a shared call may be about one wait."""

import copy
import json
import pickle
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from service.roles import refusal

import boto_waiters_plus as bwp

pytestmark = pytest.mark.usefixtures("virtual_time")
ARN = "arn:aws:ecs:eu-west-1:123456789012:service/cluster/"


def reservation(*names):
    instances = [{"InstanceId": name, "State": {"Name": "running"}} for name in names]
    return {"ReservationId": f"r-{names[0]}", "Instances": instances, "OwnerId": "me"}


def service(name):
    found = {"serviceName": name, "serviceArn": ARN + name, "status": "ACTIVE"}
    return {**found, "deployments": [{}], "runningCount": 1, "desiredCount": 1}


CASES = {
    "ec2": ("instance_running", "InstanceIds"),
    "ecs": ("services_stable", "services"),
    "codebuild": ("builds_succeeded", "ids"),
}


@pytest.fixture
def shared(answers):
    """`shared(service, asked, *answers)`: the results of waits that share a call, and requests."""

    def wait(name, asked, *replies):
        client, (waiter, parameter) = bwp.enable(boto3.client(name)), CASES[name]
        script = answers(client, *replies)
        waits = [bwp.Wait(client, waiter, {parameter: ids}, max_wait=9) for ids in asked]
        return bwp.wait_all(waits, on_failure="collect"), script.requests

    return wait


def ids_in(response):
    return [[each["InstanceId"] for each in one["Instances"]] for one in response["Reservations"]]


def test_each_share_has_its_items_in_their_place(shared):
    found = [reservation("a", "b", "c"), reservation("d"), reservation("e", "f")]
    answer = {"Reservations": found, "NextToken": ""}
    whole, asked = copy.deepcopy(found[0]), [["b"], ["f", "a"], ["e", "d"], ["c"]]
    outcomes, requests = shared("ec2", asked, answer)
    assert len(requests) == 1
    assert all(outcome.coalesced for outcome in outcomes)
    shares = [outcome.response for outcome in outcomes]
    assert [ids_in(share) for share in shares[:3]] == [[["b"]], [["a"], ["f"]], [["d"], ["e"]]]
    [first] = shares[0]["Reservations"]
    assert first == {**whole, "Instances": [whole["Instances"][1]]}
    assert list(first) == list(whole)


def test_changing_one_share_changes_no_other(shared):
    answer = {"Reservations": [reservation("a", "b")]}
    outcomes, _ = shared("ec2", [["a"], ["b"], ["a", "b"]], answer)
    one, *others = [outcome.response for outcome in outcomes]
    before = copy.deepcopy(others)
    one["Reservations"][0]["Instances"][0]["State"].clear()
    one["Reservations"][0]["Instances"].clear()
    one["ResponseMetadata"].clear()
    assert others == before


@pytest.mark.parametrize("answer", [
    {"Reservations": [reservation("a")], "NextToken": "more"},
    {"Reservations": [reservation("a", "stranger")]},
    {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]},
    {"Reservations": [{"Instances": ["a"]}]},
], ids=["next page", "stranger", "item without id", "item of another kind"])  # fmt: skip
def test_response_that_cannot_be_split_is_no_ones(shared, answer):
    _, requests = shared("ec2", [["a"], ["b"]], answer, {"Reservations": [reservation("a")]})
    alone = [request["body"] for request in requests[1:3]]
    assert "InstanceId.2" in requests[0]["body"]
    assert sorted(body["InstanceId.1"] for body in alone) == ["a", "b"]
    assert not any("InstanceId.2" in body for body in alone)


def test_names_arns_and_failures_find_their_shares(shared):
    gone = {"arn": ARN + "gone", "reason": "MISSING"}
    answer = {"services": [service("web"), service("api"), service("web-2")], "failures": [gone]}
    asked = [["web"], [ARN + "api"], ["gone"], ["arn:aws:ecs:eu-west-1:123456789012:service/web-2"]]
    results, requests = shared("ecs", asked, answer)
    assert len(requests) == 1
    web, api, failed, second = results
    names = [[s["serviceName"] for s in each.response["services"]] for each in (web, api, second)]
    assert names == [["web"], ["api"], ["web-2"]]
    assert [each.response["failures"] for each in (web, api, second)] == [[], [], []]
    assert isinstance(failed, bwp.WaiterFailedError)
    assert failed.last_response["failures"] == [gone]


@pytest.mark.parametrize(("found", "asked"), [("project:1", "1"), ("1", "project:1")])
def test_only_an_arn_matches_by_its_end(shared, found, asked):
    _, requests = shared("codebuild", [[asked], ["x"]], {"builds": [{"id": found}]})
    assert json.loads(requests[1]["body"])["ids"] in (["x"], [asked])


def test_items_may_be_the_identifiers_themselves(shared):
    build = {"id": "p:1", "buildStatus": "SUCCEEDED"}
    answer = {"builds": [build], "buildsNotFound": ["p:2", "p:3"]}
    results, _ = shared("codebuild", [["p:1", "p:3"], ["p:2"]], answer)
    answered = [getattr(each, "response", None) or each.last_response for each in results]
    assert [each["buildsNotFound"] for each in answered] == [["p:3"], ["p:2"]]
    assert [each["builds"] for each in answered] == [[build], []]


ROWS = json.loads((Path(__file__).parents[1] / "cases/errors.json").read_text("utf-8"))
QUOTED = refusal("InvalidParameterValue", ROWS["texts"][0]["message"])
ERRORS = [(refusal(r["code"], status=r["status"]), r["is_about_one"]) for r in ROWS["shared"]]
ERRORS.append((ClientError({"Error": {"Code": "InvalidVolume.NotFound"}}, "op"), True))
ERRORS += [(EndpointConnectionError(endpoint_url="https://ec2"), False), (QUOTED, False)]


@pytest.mark.parametrize(("error", "is_about_one"), ERRORS, ids=lambda value: str(value)[:50])
def test_an_error_about_one_identifier_is_told_by_its_kind(shared, error, is_about_one):
    _, requests = shared("ec2", [["a"], ["b"]], error)
    assert any("InstanceId.2" not in each["body"] for each in requests) is is_about_one


@pytest.mark.parametrize(("parameters", "is_shared"), [
    ({"InstanceIds": ["i-1", "i-2"], "Filters": []}, True), ({"InstanceIds": ("i-1",)}, True),
    ({"InstanceIds": ["i-1", ""]}, False), ({"InstanceIds": ["i-1", "i-1"]}, False),
])  # fmt: skip
def test_only_lists_of_distinct_strings_are_shared(answers, parameters, is_shared):
    client = bwp.enable(boto3.client("ec2"))
    script = answers(client, {"Reservations": [reservation(*parameters["InstanceIds"], "i-9")]})
    wanted = [parameters, {**parameters, "InstanceIds": ["i-9"]}]
    waits = [bwp.Wait(client, "instance_running", each, max_wait=9) for each in wanted]
    bwp.wait_all(waits, on_failure="collect")
    assert (len(script.requests) == 1) is is_shared


def test_ids_in_two_parameters_are_not_shared(answers):
    client = bwp.enable(boto3.client("elbv2"))
    script, both = answers(client, {}), {"Names": ["a"], "LoadBalancerArns": ["arn:aws:x"]}
    waits = [bwp.Wait(client, "load_balancer_exists", both, max_wait=9) for _ in range(2)]
    assert not any(each.coalesced for each in bwp.wait_all(waits))
    assert len(script.requests) == 2


def test_items_by_identifier_are_pickled_but_not_shown(shared):
    answer = {"Reservations": [reservation("i-secret", "b"), reservation("c")]}
    [outcome], _ = shared("ec2", [["c", "unknown", "i-secret"]], answer)
    found = outcome.by_id
    assert (list(found), "unknown" in found) == (["c", "i-secret"], False)
    assert found["c"]["InstanceId"] == "c"
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == dict(found)
    assert "secret" not in repr(found)
