"""Waiters that are made for a state of an operation, and which operations may be polled."""

import contextlib
import json
import warnings

import boto3
import pytest
from case_tables import CASES, experiments
from installed_models import installed_operation, with_the_operations_of_today
from service.own_service import clients_of

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.service.on_the_spot import made_waiter

ROWS = json.loads((CASES / "made-waiters.json").read_text("utf-8"))


def rows_of(kind):
    return pytest.mark.parametrize("row", ROWS[kind], ids=lambda row: row["wait"])


def made(name, until):
    """Return the definition of a wait for states of a `service.Operation`, or of one and a path."""
    name, _, path = name.partition(" ")
    service, _, operation = name.partition(".")
    wait = bwp.Wait(
        boto3.client(service), operation, {}, until_state=until, state_path=path or None
    )
    return wait.bound_waiter.definition


def compared(definition):
    """Return what the acceptors of each state compare, in their order."""
    found = {"success": [], "failure": []}
    for each in definition.acceptors:
        output = each.to_json()["matcher"].get("output", {"comparator": ""})
        if "tring" in output["comparator"]:
            found[each.state.value].append(output)
    return found


def states(outputs):
    return [each["expected"] for each in outputs]


@with_the_operations_of_today
@rows_of("acceptors")
def test_states_become_acceptors(row):
    found = compared(made(row["wait"], row["until"]))
    [how] = {(each["path"], each["comparator"]) for each in found["success"]}
    assert how == (row["path"], row["comparator"])
    assert states(found["success"]) == row["success"]
    assert states(found["failure"]) == row["failure"]


def test_a_made_waiter_tells_how_states_were_sorted():
    waiter = made("kinesis.DescribeStream", ["ACTIVE", "UPDATING"])
    assert waiter.name == "DescribeStreamUntilActiveOrUpdating"
    for words in ("success: ACTIVE, UPDATING", "passing: CREATING, DELETING"):
        assert words in waiter.documentation


@rows_of("refused")
def test_what_cannot_be_made_is_refused(row):
    with pytest.raises(ValueError, match=row["words"]):
        made(row["wait"], row["until"])


@pytest.mark.parametrize("until", [True, 5, 1.5])
def test_a_boolean_or_number_is_refused(until):
    with pytest.raises(TypeError, match="until_state"):
        made("dynamodb.DescribeTable", until)


@rows_of("warned")
def test_a_state_that_no_model_lists_is_warned_of(row):
    operation = row["wait"].partition(" ")[0].partition(".")[2]
    with pytest.warns(UserWarning, match=operation) as caught:
        made(row["wait"], row["until"])
    [warning] = caught
    assert all(text in str(warning.message) for text in row["words"])
    assert warning.filename == __file__


@rows_of("known")
def test_a_state_that_is_known_is_silent(row):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(row["wait"], row["until"])


def test_state_is_that_of_the_list_that_a_path_counts(answers, waitable, virtual_time):
    seen, path = [], "length(AutoScalingGroups[].Instances[]) == `2`"
    matcher = {"output": {"path": path, "comparator": "booleanEquals", "expected": "true"}}
    acceptor = {"state": "success", "matcher": matcher}
    document = waitable("Full", "DescribeAutoScalingGroups", acceptor)
    client = bwp.enable(boto3.client("autoscaling"), definitions=document)
    group = {"Status": "x", "Instances": [{"LifecycleState": "Pending", "HealthStatus": "y"}]}
    answers(client, {"AutoScalingGroups": [group]}, {"AutoScalingGroups": [group, group]})
    client.wait_until_full(max_wait=60, on_attempt=lambda event: seen.append(event.state))
    assert "Pending" in seen[0]


def test_gone_may_be_the_name_of_a_state(tmp_path):
    shapes = {
        "Thing": {"type": "structure", "members": {"status": {"shape": "Status"}}},
        "Status": {"type": "string", "enum": ["there", "gone"]},
    }
    client = clients_of(tmp_path, "DescribeThing", shapes=shapes, output={"shape": "Thing"})()
    wait = bwp.Wait(client, "DescribeThing", {}, until_state="gone")
    [acceptor] = wait.definition.acceptors
    assert acceptor.describe() == "success when status is 'gone'"


@with_the_operations_of_today
@rows_of("gone")
def test_states_in_which_a_resource_is_gone(row):
    service, _, operation = row["wait"].partition(".")
    model = boto3.client(service).meta.service_model.operation_model(operation)
    found = compared(made_waiter(model, "gone"))
    assert states(found["success"]) == row["success"]
    assert states(found["failure"]) == row["failure"]


# --- which operations a definition of somebody else may poll -----------------------------------


def reason_of_its_caller(client, name):
    try:
        _ = bwp.Wait(client, name, {}, until_state="x", state_path="to_string(@)").bound_waiter
    except ValueError as error:
        return str(error)
    return ""


def reason_from_outside(client, definition):
    """Return the reason that a start by HTTP is refused for."""
    testclient = pytest.importorskip("starlette.testclient")
    service = client.meta.service_model.service_name
    body = {"service": service, "waiter": "Mine", "max_wait": 9, "definition": definition}
    with contextlib.closing(operations.Store(":memory:")) as store:
        web = operations.asgi(store, token="word", make_client=lambda *_: client)
        headers = {"Authorization": "Bearer word"}
        answer = testclient.TestClient(web, headers=headers).post("/operations", json=body)
    detail = answer.json().get("detail", "")
    _, is_about_it, reason = detail.partition("Mine: ")
    return reason if is_about_it else ""


@experiments("polls", "operation", "outside", "own")
def test_reason_not_to_poll(waitable, operation, outside, own):
    """From outside, what is shown counts; the caller of a wait may poll what is sensitive."""
    name = installed_operation(operation).name
    client = boto3.client(operation.partition(".")[0])
    definition = waitable("Mine", name, {"state": "success", "matcher": {"success": True}})
    assert reason_of_its_caller(client, name) == own.replace("{name}", name)
    assert reason_from_outside(client, definition) == outside.replace("{name}", name)


@pytest.mark.parametrize(("name", "mark", "reads"), [
    ("SuggestPlaces", {"readonly": True}, True), ("SuggestPlaces", {}, False),
    ("StartRevocation", {"readonly": True}, False),
])  # fmt: skip
def test_a_mark_of_the_model_counts_unless_the_verb_contradicts(tmp_path, name, mark, reads):
    shapes = {"Output": {"type": "structure", "members": {}}}
    client = clients_of(tmp_path, name, shapes=shapes, output={"shape": "Output"}, **mark)()
    assert (reason_of_its_caller(client, name) == "") is reads


def test_what_left_the_list_is_waited_for_from_python(answers, virtual_time):
    client = boto3.client("redshift-data")
    answers(client, {"TotalNumRows": 0}, {"TotalNumRows": 1})
    made = {"until_state": "1", "state_path": "to_string(TotalNumRows)"}
    assert bwp.wait_until(client, "GetStatementResult", max_wait=60, Id="s", **made).attempts == 2


def test_what_people_hide_is_not_observed(answers, virtual_time, waitable):
    client = boto3.client("codebuild")
    path = "builds[0].environment.environmentVariables[0].value"
    output = {"path": path, "expected": "old", "comparator": "stringEquals"}
    acceptor = {"state": "success", "matcher": {"output": output}}
    (definition,) = bwp.load_definitions(waitable("Mine", "BatchGetBuilds", acceptor))
    variables = {"environmentVariables": [{"name": "DB_PASSWORD", "value": "old"}]}
    answers(client, {"builds": [{"environment": variables}]})
    assert bwp.wait_until(client, definition, max_wait=60, ids=["b"]).observed is None
