"""Traits on models, on services of botocore, and definitions in other forms."""

import json
from dataclasses import replace

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from case_tables import tabled

from boto_waiters_plus import load_definitions
from boto_waiters_plus.validation import check

WAITABLE = "smithy.waiters#waitable"
CLUSTER = {"ClusterActive": {"acceptors": [
    {"state": "success", "matcher": {"output": {
        "path": "cluster.status", "expected": "ACTIVE", "comparator": "stringEquals"}}},
    {"state": "failure", "matcher": {"output": {
        "path": "cluster.status", "expected": "FAILED", "comparator": "stringEquals"}}},
    {"state": "retry", "matcher": {"errorType": "ResourceNotFoundException"}},
]}}  # fmt: skip


def applied(shape, waitable=CLUSTER, **more):
    return {"smithy": "2.0", "shapes": {shape: {"type": "apply", "traits": {WAITABLE: waitable}}},
            **more}  # fmt: skip


def warnings_of(events):
    return [(event.severity.value, event.id) for event in events if event.severity > "NOTE"]


def changed(find, replacement):
    return json.loads(json.dumps(CLUSTER).replace(find, replacement))


def test_namespace_names_the_botocore_service():
    assert warnings_of(check(applied("com.amazonaws.eks#DescribeCluster"))) == []
    broken = applied(
        "com.amazonaws.eks#DescribeCluster", changed("cluster.status", "cluster.state")
    )
    [first, *_] = check(broken)
    assert (first.severity, first.shape) == ("DANGER", "com.amazonaws.eks#DescribeCluster")
    assert "Object field 'state' does not exist" in first.message


@pytest.mark.parametrize("as_model", [False, True])
def test_caller_may_name_the_service(as_model):
    service = "eks"
    if as_model:
        description = Loader().load_service_model("eks", "service-2")
        service = ServiceModel(description, service_name="eks")
    document = applied("my.own#DescribeCluster", changed("ACTIVE", "ACTVE"))
    ids = [event_id for _, event_id in warnings_of(check(document, service))]
    assert ids == ["WaiterUnknownEnumValue.ClusterActive.0", "WaiterNeverSucceeds.ClusterActive"]


def test_botocore_error_may_be_named_by_code():
    """IAM's shape NoSuchEntityException has the code NoSuchEntity."""
    exists = {"RoleExists": {"acceptors": [
        {"state": "success", "matcher": {"success": True}},
        {"state": "retry", "matcher": {"errorType": "NoSuchEntity"}},
        {"state": "retry", "matcher": {"errorType": "NoSuchEntityException"}},
        {"state": "retry", "matcher": {"errorType": "NoSuchEntityy"}},
    ]}}  # fmt: skip
    [event] = [
        e for e in check(applied("com.amazonaws.iam#GetRole", exists)) if e.severity > "NOTE"
    ]
    assert event.id == "WaitableTraitInvalidErrorType.RoleExists.3"
    assert event.message.endswith("Did you mean 'NoSuchEntity'?")


def test_error_of_another_operation_is_mentioned():
    waitable = changed("ResourceNotFoundException", "ResourceLimitExceededException")
    [event] = [
        event
        for event in check(applied("com.amazonaws.eks#DescribeCluster", waitable))
        if event.severity > "NOTE"
    ]
    assert event.message.endswith("Another operation of the service defines it")


def test_paginated_member_of_botocore_is_noted():
    waitable = changed("cluster.status", "clusters[0]")
    ids = [event.id for event in check(applied("com.amazonaws.eks#ListClusters", waitable))]
    assert "WaiterPaginatedPath.ClusterActive.0" in ids


@tabled("shape", "severity", "text")
def test_operation_that_botocore_lacks_is_ignored(shape, severity, text):
    [event] = check(applied(shape))
    assert (event.severity, event.id, event.shape) == (severity, "WaiterUnknownOperation", shape)
    assert event.message.endswith(text)


def test_trait_on_unknown_shape_is_an_error():
    [event] = check(applied("smithy.example#Nothing"))
    assert (event.severity, event.id) == ("ERROR", "Model")
    assert event.message == "Trait applied to unknown shape `smithy.example#Nothing`"


def test_botocore_operation_with_event_stream_is_no_target():
    [event] = check(applied("com.amazonaws.kinesis#SubscribeToShard"))
    assert (event.severity, event.id) == ("ERROR", "TraitTarget")


def test_suppressions_apply_to_botocore_operations():
    waitable = changed("ResourceNotFoundException", "Nope")
    document = applied("com.amazonaws.eks#DescribeCluster", waitable)
    document["shapes"]["com.amazonaws.eks#DescribeCluster"]["traits"]["smithy.api#suppress"] = [
        "WaitableTraitInvalidErrorType"
    ]
    assert [e.id for e in check(document) if e.severity == "SUPPRESSED"] == [
        "WaitableTraitInvalidErrorType.ClusterActive.2"
    ]


WAITERS_2 = {"version": 2, "waiters": {"TaskDone": {
    "delay": 5, "maxAttempts": 3, "operation": "DescribeTasks", "acceptors": [
        {"matcher": "pathAll", "argument": "tasks[].lastStatus", "state": "success",
         "expected": "STOPPED"},
        {"matcher": "path", "argument": "length(tasks)", "state": "retry", "expected": 0},
        {"matcher": "path", "argument": "tasks[0].nope", "state": "failure", "expected": "x"},
        {"matcher": "status", "expected": 500, "state": "retry"},
    ]}}}  # fmt: skip


def test_waiters_2_are_checked_against_the_service_given():
    events = check(WAITERS_2, "ecs")
    assert [event.shape for event in events] == ["com.amazonaws.ecs#DescribeTasks"] * len(events)
    ids = [event.id for event in events]
    assert "WaitableTraitJmespathProblem.JmespathEventDanger.TaskDone.2" in ids
    assert "WaiterStatusMatcher.TaskDone.3" in ids


def test_path_of_waiters_2_names_the_service(tmp_path):
    file = tmp_path / "ecs" / "2014-11-13" / "waiters-2.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(WAITERS_2, indent=1))
    [event] = [e for e in check(file) if ".JmespathEventDanger." in e.id]
    lines = file.read_text().splitlines()
    assert event.source == str(file)
    assert lines[event.line - 1][event.column - 1 :] == "{"
    assert '"argument": "tasks[0].nope"' in lines[event.line + 1]


def test_waiters_2_without_service_are_an_error():
    [event] = check(WAITERS_2)
    assert (event.severity, event.id, event.shape) == ("ERROR", "Model", None)
    assert "the service is not known" in event.message


@pytest.mark.parametrize("name", ["describeTasks", "describe_tasks"])
def test_waiters_2_may_name_the_method(name):
    body = {**WAITERS_2["waiters"]["TaskDone"], "operation": name}
    events = check({"waiters": {"TaskDone": body}}, "ecs")
    assert {event.shape for event in events} == {"com.amazonaws.ecs#DescribeTasks"}


def test_tolerated_problems_of_waiters_2_are_reported(tmp_path):
    body = WAITERS_2["waiters"]["TaskDone"]
    success, *_ = body["acceptors"]
    unknown = {"matcher": "error", "expected": "ServerException", "state": "error"}
    template = {name: value for name, value in body.items() if name != "acceptors"}
    waiters = {"TaskDone": {**body, "acceptors": [success, unknown]}, "Template": template}
    file = tmp_path / "waiters.json"
    file.write_text(json.dumps({"waiters": waiters}, indent=1))
    found = {event.id: event for event in check(file, "ecs")}
    state, acceptors = (
        found["WaiterUnknownState.TaskDone.1"],
        found["WaiterWithoutAcceptors.Template"],
    )
    assert (state.severity, acceptors.severity) == ("DANGER", "WARNING")
    lines = file.read_text().splitlines()
    assert lines[acceptors.line - 1].strip() == '"Template": {'
    assert '"error"' in lines[state.line]


def test_definitions_can_be_checked():
    definitions = load_definitions(
        applied("com.amazonaws.eks#DescribeCluster", changed("ACTIVE", "A"))
    )
    ids = [event_id for _, event_id in warnings_of(check(definitions))]
    assert ids == ["WaiterUnknownEnumValue.ClusterActive.0", "WaiterNeverSucceeds.ClusterActive"]
    assert warnings_of(check(definitions[0], "eks")) == warnings_of(check(definitions))


def test_waiter_names_are_unique_in_a_service():
    document = applied("com.amazonaws.eks#DescribeCluster")
    twin = {"clusterACTIVE": {"acceptors": [{"state": "success", "matcher": {"success": True}}]}}
    document["shapes"]["com.amazonaws.eks#ListClusters"] = {
        "type": "apply",
        "traits": {WAITABLE: {"ClusterACTIVE": twin["clusterACTIVE"]}},
    }
    events = [event for event in check(document) if event.id == "UniqueWaiterNames"]
    assert [event.shape.partition("#")[2] for event in events] == [
        "DescribeCluster",
        "ListClusters",
    ]
    assert "`com.amazonaws.eks#eks`: [com.amazonaws.eks#ListClusters]" in events[0].message


def test_applied_traits_are_checked_with_the_model(models):
    model = models.thing()
    waiters = model["shapes"][models.OPERATION]["traits"].pop(WAITABLE)
    separate = applied(models.OPERATION, waiters)
    assert models.found([model, separate]) == []
    waiters["ThingActive"]["acceptors"].append(models.error("Nope"))
    assert models.found([separate, model]) == [
        ("WARNING", "WaitableTraitInvalidErrorType.ThingActive.2")
    ]


def test_conflicting_traits_are_an_error(models):
    model = models.thing()
    same = applied(models.OPERATION, model["shapes"][models.OPERATION]["traits"][WAITABLE])
    assert models.found([model, same]) == []
    other = applied(models.OPERATION, {"Other": {"acceptors": [models.ACTIVE, models.FAILED]}})
    assert models.found([model, other]) == [("ERROR", "Model")]


def test_conflicting_shapes_are_an_error(models):
    other = models.thing()
    other["shapes"]["smithy.example#Part"]["members"] = {}
    assert models.found([models.thing(), models.thing()]) == []
    assert ("ERROR", "Model") in models.found([models.thing(), other])


def test_botocore_documents_do_not_conflict():
    one, other = applied("com.amazonaws.eks#DescribeCluster"), changed("ACTIVE", "CREATING")
    assert warnings_of(check([one, applied("com.amazonaws.eks#DescribeCluster", other)])) == []


def test_other_traits_may_be_applied_to_models(models):
    model = models.thing(models.ACTIVE)
    model["shapes"][models.OPERATION]["traits"]["smithy.api#suppress"] = ["Something"]
    more = {
        "smithy": "2.0",
        "shapes": {
            "smithy.example#Part$weight": {"type": "apply", "traits": {"smithy.api#required": {}}},
        },
    }
    assert models.found([model, more]) == [
        ("WARNING", "WaiterUnhandledState.Failed.ThingActive"),
    ]
    more["shapes"] = {
        models.OPERATION: {
            "type": "apply",
            "traits": {"smithy.api#suppress": ["WaiterUnhandledState"]},
        }
    }
    assert models.found([model, more]) == []


def test_other_traits_may_be_applied_to_botocore():
    document = applied("com.amazonaws.eks#DescribeCluster")
    document["shapes"]["com.amazonaws.eks#Cluster"] = {
        "type": "apply",
        "traits": {"smithy.api#documentation": "!"},
    }
    assert warnings_of(check(document)) == []


def test_definition_of_unknown_service_or_operation_is_reported():
    [known] = load_definitions(applied("com.amazonaws.eks#DescribeCluster"))
    [event] = check(replace(known, service="nosuch"))
    assert (event.severity, event.id) == ("ERROR", "Model")
    assert "botocore has no service 'nosuch'" in event.message
    [event] = check(replace(known, operation="FrobnicateEverything"))
    assert (event.severity, event.id) == ("NOTE", "WaiterUnknownOperation")
