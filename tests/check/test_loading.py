"""What can be checked: files of each form, definitions, several together; where events are."""

import json
from dataclasses import replace

import pytest
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from check.models import applied, thing

from boto_waiters_plus import WaiterDefinition, load_definitions
from boto_waiters_plus.validation import check

CLUSTER = "com.amazonaws.eks#DescribeCluster"
ACCEPTORS = [
    ["success", "output", "cluster.status", "stringEquals", "ACTVE"],
    ["failure", "output", "cluster.status", "stringEquals", "FAILED"],
]
WRONG = {"ClusterActive": {"acceptors": ACCEPTORS}}
WRONG_IDS = ["WaiterUnknownEnumValue.ClusterActive.0", "WaiterNeverSucceeds.ClusterActive"]


def ids(events):
    return [event.id for event in events if event.severity > "NOTE"]


def text_at(event, file):
    """The line of a file that an event points to, from its column."""
    assert event.source == str(file)
    return file.read_text().splitlines()[event.line - 1][event.column - 1 :]


@pytest.mark.parametrize("path", [f"{'a||' * 3000}a", f"{'a|' * 4500}a", f"a{'[]' * 4500}"])
def test_an_expression_that_is_too_deep_is_a_finding(path):
    acceptors = [["success", "output", path, "stringEquals", "ACTIVE"]]
    events = check(applied(CLUSTER, {"ClusterActive": {"acceptors": acceptors}}))
    assert "ERROR" in [event.severity for event in events]


def test_definitions_can_be_checked():
    [definition] = load_definitions(applied(CLUSTER, WRONG))
    assert ids(check(definition)) == ids(check([definition], "eks")) == WRONG_IDS
    [event] = check(replace(definition, service="nosuch"))
    assert (event.severity, event.id) == ("ERROR", "Model")
    assert "'nosuch'" in event.message
    [event] = check(replace(definition, operation="FrobnicateEverything"))
    assert (event.severity, event.id) == ("NOTE", "WaiterUnknownOperation")


@pytest.mark.parametrize("name", ["logs", "CloudWatch Logs", "cloudwatch-logs"])
def test_definition_may_use_any_name_of_its_service(name):
    definition = WaiterDefinition.from_states("Done", "DescribeQueries", path="x", success=["a"])
    assert "WaitableTraitJmespathProblem" in ids(check(replace(definition, service=name)))[0]


def test_unknown_service_of_the_caller_raises():
    with pytest.raises(UnknownServiceError):
        check({"smithy": "2.0"}, "nosuch")


def test_the_caller_may_give_the_model_of_the_service():
    description = Loader().load_service_model("eks", "service-2")
    service = ServiceModel(description, service_name="eks")
    assert ids(check(applied("my.own#DescribeCluster", WRONG), service)) == WRONG_IDS


def test_the_path_of_waiters_2_names_the_service_and_events_their_place(tmp_path):
    file = tmp_path / "ecs" / "2014-11-13" / "waiters-2.json"
    file.parent.mkdir(parents=True)
    template = {"delay": 5, "maxAttempts": 3, "operation": "DescribeTasks"}
    status = {"matcher": "path", "argument": "x[0].nope", "state": "success", "expected": "y"}
    error = {"matcher": "error", "expected": "ServerException", "state": "error"}
    waiters = {"TaskDone": {**template, "acceptors": [status, error]}, "Template": template}
    file.write_text(json.dumps({"version": 2, "waiters": waiters}, indent=1))
    found = {event.id: event for event in check(file)}
    path = found["WaitableTraitJmespathProblem.JmespathEventDanger.TaskDone.0"]
    assert text_at(path, file) == "{"
    [place] = [n for n, line in enumerate(file.read_text().splitlines()) if "nope" in line]
    assert path.line == place - 1
    event = found["WaiterWithoutAcceptors.Template"]
    assert (event.severity, text_at(event, file)) == ("WARNING", '"Template": {')
    assert found["WaiterUnknownState.TaskDone.1"].severity == "DANGER"


def test_metadata_hold_for_all_files_checked_together(tmp_path):
    done = ["success", "output", "QueryExecution.Status.State", "stringEquals", "SUCCEEDED"]
    waiters = {"Done": {"acceptors": [done, ["retry", "errorType", "NoSuchError"]]}}
    suppression = {"id": "WaitableTraitInvalidErrorType", "namespace": "com.amazonaws.athena"}
    suppression["reason"] = "it is so"
    metadata = {"smithy": "2.0", "metadata": {"suppressions": [suppression]}}
    document = applied("com.amazonaws.athena#GetQueryExecution", waiters)
    for name, content in {"a.json": document, "b.json": metadata}.items():
        (tmp_path / name).write_text(json.dumps(content))
    events = check(tmp_path)
    assert events == check(sorted(tmp_path.iterdir()))
    [event] = [each for each in events if each.id == "WaitableTraitInvalidErrorType.Done.1"]
    assert (event.severity, event.suppression_reason) == ("SUPPRESSED", "it is so")


def test_an_expression_of_any_depth_is_survived():
    paths = ["[" * depth + "name" + "]" * depth for depth in range(50, 1000, 50)]
    acceptors = [["success", "output", path, "stringEquals", "x"] for path in paths]
    events = check(thing({"ThingActive": {"acceptors": acceptors}}))
    assert any("nested too deeply" in event.message for event in events)


@pytest.mark.parametrize("as_file", [True, False])
def test_an_operation_that_is_ignored_needs_a_wellformed_trait(tmp_path, as_file):
    model = applied("com.amazonaws.eks#Frobnicate", {"Ready": {}})
    if as_file:
        (tmp_path / "a.json").write_text(json.dumps(model))
    events = check(tmp_path / "a.json" if as_file else model)
    found = [(event.severity.value, event.id) for event in events]
    assert found == [("NOTE", "WaiterUnknownOperation"), ("ERROR", "Model")]
