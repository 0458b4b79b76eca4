"""Which operations a definition of somebody else's may poll."""

import contextlib

import boto3
import pytest
from case_tables import experiments
from installed_models import installed_operation
from service.own_service import clients_of

import boto_waiters_plus as bwp
from boto_waiters_plus import operations


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
