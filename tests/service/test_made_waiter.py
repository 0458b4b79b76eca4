"""Waiters that are made for a state of an operation, and which members are states."""

import warnings

import boto3
import pytest
from installed_models import with_the_operations_of_today
from service.own_service import clients_of

import boto_waiters_plus as bwp
from boto_waiters_plus.service.on_the_spot import made_waiter

TABLE = "dynamodb.DescribeTable"
FUNCTION = "lambda.GetFunctionConfiguration State"
DATABASES = "rds.DescribeDBInstances DBInstances[].DBInstanceStatus"


def made(name, until):
    """Return the definition of a wait for states of a `service.Operation`, or of one and a path."""
    name, _, path = name.partition(" ")
    service, _, operation = name.partition(".")
    wait = bwp.Wait(
        boto3.client(service), operation, {}, until_state=until, state_path=path or None
    )
    return wait.bound_waiter.definition


@with_the_operations_of_today
@pytest.mark.parametrize(("name", "until", "expected"), [
    # Failures by the words of the states that the model lists.
    (TABLE, "ACTIVE",
     "Table.TableStatus stringEquals ACTIVE not INACCESSIBLE_ENCRYPTION_CREDENTIALS"),
    (FUNCTION, "Active", "State stringEquals Active not Failed Deactivated"),
    # Of a list, all: the model tells that it is one.
    ("ec2.DescribeVolumes", "available",
     "Volumes[].State allStringEquals available not deleted error"),
    # A state in a structure of that name.
    ("ec2.DescribeInstances", "terminated",
     "Reservations[].Instances[].State.Name allStringEquals terminated not "),
    # What the model lists no states for.
    ("ecs.DescribeServices", "ACTIVE", "services[].status allStringEquals ACTIVE not "),
    ("s3.GetBucketVersioning", ["Enabled", "Suspended"],
     "Status stringEquals Enabled Suspended not "),
    # One of a list is one state.
    ("ecs.DescribeTasks tasks[0].lastStatus", "RUNNING",
     "tasks[0].lastStatus stringEquals RUNNING not "),
    ("kms.DescribeKey", "Enabled", "KeyMetadata.KeyState stringEquals Enabled not "),
    ("workspaces.DescribeConnectionAliases", "CREATED",
     "ConnectionAliases[].State allStringEquals CREATED not "),
])  # fmt: skip
def test_states_become_acceptors(name, until, expected):
    matchers = {"success": [], "failure": []}
    for each in made(name, until).acceptors:
        matchers[each.state.value].append(each.to_json()["matcher"]["output"])
    [(found, comparator)] = {(each["path"], each["comparator"]) for each in matchers["success"]}
    states = [" ".join(each["expected"] for each in kind) for kind in matchers.values()]
    assert f"{found} {comparator} {' not '.join(states)}" == expected


def test_a_made_waiter_tells_how_states_were_sorted():
    waiter = made("kinesis.DescribeStream", ["ACTIVE", "UPDATING"])
    assert waiter.name == "DescribeStreamUntilActiveOrUpdating"
    for words in ("success: ACTIVE, UPDATING", "passing: CREATING, DELETING"):
        assert words in waiter.documentation


@pytest.mark.parametrize(("name", "until", "words"), [
    ("dynamodb.DeleteTable", "ACTIVE", "DeleteTable"),
    ("s3.GetObject", "COMPLETED", "GetObject is a stream"),
    ("s3.HeadBucket", "Enabled", "HeadBucket has no member .*state_path, the JMESPath for one"),
    ("ecs.DescribeTasks", "RUNNING", "one of 'tasks...healthStatus', 'tasks...lastStatus'"),
    (TABLE, "ACTVE", "'ACTVE' of Table.TableStatus .*did you mean 'ACTIVE'"),
    (TABLE, "active", "'active' of Table.TableStatus .*did you mean 'ACTIVE'"),
    ("s3.GetBucketVersioning", "xyz", "'xyz' of Status .*known: Enabled, Suspended"),
    (f"{TABLE} Table.TableState", "ACTIVE", "did you mean 'Table.TableStatus'"),
    (f"{TABLE} Table", "ACTIVE", "structure"),
    (f"{TABLE} Table.ItemCount", "5", "a long, .*give state_path: 'Table.to_string.ItemCount.'"),
    (f"{TABLE} Table.[", "ACTIVE", r"path 'Table.\[' is not a JMESPath"),
    (TABLE, [], "until_state is empty"),
    # The state of the resource itself comes before others beside it.
    ("ec2.DescribeFleets", "active", "state_path: one of 'Fleets...FleetState'"),
    ("secretsmanager.GetSecretValue", "x", "GetSecretValue has no member"),
])  # fmt: skip
def test_what_cannot_be_made_is_refused(name, until, words):
    with pytest.raises(ValueError, match=words):
        made(name, until)


@pytest.mark.parametrize("until", [True, 5, 1.5])
def test_a_boolean_or_number_is_refused(until):
    with pytest.raises(TypeError, match="until_state"):
        made("dynamodb.DescribeTable", until)


@pytest.mark.parametrize(("name", "until", "told"), [
    ("forecast.DescribeDatasetGroup", ["CREATE FAILED", "ACTIVE"],
     ["known: ACTIVE, CREATE_PENDING", "mean 'CREATE_FAILED'?"]),
    # Shipped waiters know states that no documentation has.
    (DATABASES, "avalable", ["known: ", "available", "mean 'available'?"]),
    # Any word of the documentation.
    (DATABASES, "current", ["known: ", "available"]),
    ("personalize.DescribeRecipe", "DONE", ["recipe.status", "'DONE' cannot be checked"]),
    # Nearest to the root, whatever lies deeper.
    ("autoscaling.DescribeAutoScalingGroups", "x", ["AutoScalingGroups[].Status"]),
])  # fmt: skip
def test_a_state_that_no_model_lists_is_warned_of(name, until, told):
    operation = name.partition(" ")[0].partition(".")[2]
    with pytest.warns(UserWarning, match=operation) as caught:
        made(name, until)
    [warning] = caught
    assert all(text in str(warning.message) for text in told)
    assert warning.filename == __file__


@pytest.mark.parametrize(("name", "until"), [
    ("forecast.DescribeDatasetGroup", "CREATE_FAILED"),
    ("personalize.DescribeCampaign", ["ACTIVE", "CREATE FAILED"]),
    ("rds.DescribeDBInstances DBInstances[0].DBInstanceStatus", "available"),
    (f"{TABLE} to_string(Table.ItemCount)", "5"),
    # The model lists 'Available'; a shipped waiter knows what the service answers.
    ("ec2.DescribeVpcEndpoints VpcEndpoints[].State", "available"),
])  # fmt: skip
def test_a_state_that_is_known_is_silent(name, until):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(name, until)


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
@pytest.mark.parametrize(("name", "expected"), [
    # The state of the resource, and a deletion that failed.
    ("cloudformation.DescribeStacks", "DELETE_COMPLETE not DELETE_FAILED"),
    ("efs.DescribeFileSystems", "deleted not error"),
    ("eks.DescribeNodegroup", " not DELETE_FAILED"),
    # The model lists no states: a shipped waiter knows one.
    ("elasticache.DescribeCacheClusters", "deleted not "),
    # States of a part of the resource.
    ("logs.DescribeLogGroups", " not "), ("secretsmanager.DescribeSecret", " not "),
    ("ec2.DescribeInstanceAttribute", " not "),
])  # fmt: skip
def test_states_in_which_a_resource_is_gone(name, expected):
    service, _, operation = name.partition(".")
    client = boto3.client(service)
    found = made_waiter(client.meta.service_model.operation_model(operation), "gone")
    compared = {"success": [], "failure": []}
    for each in (each.to_json() for each in found.acceptors):
        output = each["matcher"].get("output", {"comparator": ""})
        if "tring" in output["comparator"]:
            compared[each["state"]].append(output["expected"])
    assert " not ".join(map(" ".join, compared.values())) == expected
