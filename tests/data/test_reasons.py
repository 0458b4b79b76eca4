"""`data/reasons.json`: where the services put their own words for a failure."""

import json
import re
from pathlib import Path

import botocore
import jmespath
import pytest

from boto_waiters_plus.aws.find_reasons import reasons_of
from boto_waiters_plus.aws.reasons import EXPECTED, TRAIT, reason_beside
from boto_waiters_plus.aws.service_waiters import default_loader
from boto_waiters_plus.definitions.shipped import shipped_definitions

ROOT = Path(__file__).resolve().parents[2]
SHAPES = json.loads((ROOT / "data/reasons.json").read_text(encoding="utf-8"))["shapes"]
TRAITS = json.loads((ROOT / "data/traits.json").read_text(encoding="utf-8"))
WRITTEN_FROM = TRAITS["metadata"]["boto.waiters"]["botocore"]
NAMESPACES = sorted({shape_id.partition("#")[0] for shape_id in SHAPES})
REASON = "the reason"

each_namespace = pytest.mark.parametrize("namespace", NAMESPACES)


@pytest.fixture(scope="module")
def services(service_model):
    """The services of the installed botocore that have waiters, by namespace."""
    models = map(service_model, default_loader().list_available_services("waiters-2"))
    return {
        "com.amazonaws." + re.sub(r"[^a-z0-9]", "", model.service_id.lower()): model
        for model in models
    }


def test_stacks_tell_the_reason_of_the_stack_that_failed():
    [(path, expression)] = SHAPES["com.amazonaws.cloudformation#DescribeStacks"]["traits"][
        TRAIT
    ].items()
    assert path == "Stacks[].StackStatus"
    stacks = [
        {"StackStatus": "CREATE_COMPLETE", "StackStatusReason": "another"},
        {"StackStatus": "CREATE_FAILED", "StackStatusReason": REASON},
    ]
    expression = expression.replace(EXPECTED, "CREATE_FAILED")
    assert jmespath.search(expression, {"Stacks": stacks}) == REASON


@each_namespace
def test_every_expression_gives_the_text_of_the_failed_resource(namespace, services, full_sample):
    service = services.get(namespace)
    if service is None:
        pytest.skip("the installed botocore has no waiters of this service")
    wrong = {}
    for operation, path, expression in entries(namespace):
        if operation not in service.operation_names:
            continue
        output = full_sample(service.operation_model(operation).output_shape, REASON)
        if not set_state(output, path, "FAILED"):
            continue  # an older botocore
        value = jmespath.search(expression.replace(EXPECTED, "FAILED"), output)
        if value != REASON:
            wrong[operation, path] = value
    assert wrong == {}


@each_namespace
@pytest.mark.skipif(
    botocore.__version__ != WRITTEN_FROM, reason=f"the table was made from botocore {WRITTEN_FROM}"
)
def test_table_is_what_the_models_give(namespace, services):
    service = services[namespace]
    found = reasons_of(service, shipped_definitions(service.service_id.hyphenize()))
    assert found == {shape_id: shape for shape_id, shape in SHAPES.items() if shape_id in found}
    assert set(found) == {each for each in SHAPES if each.startswith(f"{namespace}#")}


@pytest.mark.parametrize(
    ("service", "operation", "path", "reason"),
    [
        ("lambda", "GetFunctionConfiguration", "State", "StateReason"),
        ("lambda", "GetFunctionConfiguration", "LastUpdateStatus", "LastUpdateStatusReason"),
        ("emr", "DescribeStep", "Step.Status.State", "Step.Status.StateChangeReason.Message"),
        ("signer", "DescribeSigningJob", "status", "statusReason"),
        (
            "ec2",
            "DescribeInstances",
            "Reservations[].Instances[].State.Name",
            (
                "Reservations[].Instances[?not_null(State.Name) == '{expected}'][]"
                ".StateReason.Message | [0]"
            ),
        ),
        ("lexv2-models", "DescribeBot", "botStatus", "failureReasons[] | [0]"),
        ("dynamodb", "DescribeTable", "Table.TableStatus", None),
        ("dynamodb", "DescribeTable", "length(Table.Replicas)", None),
        ("dynamodb", "DescribeTable", "Table.NoSuchMember", None),
        ("stepfunctions", "DescribeExecution", "status", None),  # its words are sensitive
    ],
)
def test_the_member_beside_the_state_is_found(service_model, service, operation, path, reason):
    output = service_model(service).operation_model(operation).output_shape
    assert reason_beside(output, path) == reason


def test_an_operation_without_output_has_no_reason():
    assert reason_beside(None, "Status") is None


def entries(namespace):
    for shape_id, shape in SHAPES.items():
        if shape_id.startswith(f"{namespace}#"):
            for path, expression in shape["traits"][TRAIT].items():
                yield shape_id.partition("#")[2], path, expression


def set_state(output, path, value):
    """Put a value at a path; False if the document has no such member."""
    *outer, last = re.findall(r"\w+", path)
    for name in outer:
        if name not in output:
            return False
        output = output[name][0] if isinstance(output[name], list) else output[name]
    if last in output:
        output[last] = value
    return last in output
