"""The expressions for the services' own reasons, as found in the models."""

import json
import re
from pathlib import Path

import jmespath
import pytest

from boto_waiters_plus.definitions.shipped import shipped_traits
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.engine.acceptors import AcceptorState, OutputMatcher
from boto_waiters_plus.service.places import default_loader
from boto_waiters_plus.service.reasons import (
    EXPECTED,
    expressions_of,
    reason_beside,
)
from boto_waiters_plus.service.service_waiters import ServiceWaiters

CASES = json.loads((Path(__file__).parents[1] / "cases" / "reasons.json").read_text())
REASON = "the reason"


@pytest.mark.parametrize("case", CASES, ids="{service} {path}".format_map)
def test_the_reason_is_found_beside_the_state(service_model, case):
    model = service_model(case["service"])
    output = model.operation_model(case["operation"]).output_shape
    assert reason_beside(output, case["path"]) == case["reason"]


def test_an_operation_without_output_has_no_reason():
    assert reason_beside(None, "Status") is None


def test_the_reason_is_that_of_the_failed_stack():
    [expression] = [case["reason"] for case in CASES if case["path"] == "Stacks[].StackStatus"]
    stacks = [
        {"StackStatus": "CREATE_COMPLETE", "StackStatusReason": "another"},
        {"StackStatus": "CREATE_FAILED", "StackStatusReason": REASON},
    ]
    expression = expression.replace(EXPECTED, "CREATE_FAILED")
    assert jmespath.search(expression, {"Stacks": stacks}) == REASON


@pytest.mark.nightly(subject="catalog")
def test_every_expression_gives_the_failed_resources_reason(service_model, full_sample):
    wrong, count = {}, 0
    for service in default_loader().list_available_services("waiters-2"):
        for operation, path in states(ServiceWaiters(service_model(service), None)):
            expression = reason_beside(operation.output_shape, path)
            output = full_sample(operation.output_shape, REASON)
            if expression is not None and set_state(output, path, "FAILED"):
                count += 1
                value = jmespath.search(expression.replace(EXPECTED, "FAILED"), output)
                if value != REASON:
                    wrong[operation.name, path] = value
    assert wrong == {}
    assert count


@pytest.mark.nightly(subject="catalog")
@pytest.mark.models
def test_every_listed_part_of_a_reason_gives_a_text(service_model, full_sample):
    """Of a response in which every text is FAILED, and every number 1."""
    unused = {
        (shape_id, part)
        for shape_id, parts in shipped_traits("boto.waiters#reason").items()
        for part in parts
    }
    for service in default_loader().list_available_services("service-2"):
        model = service_model(service)
        namespace = aws_namespace(str(model.service_id)) + "#"
        listed = {each for each in unused if each[0].startswith(namespace)}
        for operation, path in states(ServiceWaiters(model, None)) if listed else ():
            output = full_sample(operation.output_shape, "FAILED")
            for expression in expressions_of(operation, path):
                value = str(jmespath.search(expression.replace(EXPECTED, "FAILED"), output))
                if "FAILED" in value or "exit code 1" in value:
                    unused -= {each for each in listed if f"[{each[1]}]" in expression}
    assert unused == set()


def states(waiters):
    """The operations and paths of the failure acceptors that have no message."""
    return {
        (waiter.operation.name, acceptor.matcher.matcher.path): (
            waiter.operation,
            acceptor.matcher.matcher.path,
        )
        for waiter in waiters.values()
        for acceptor in waiter.definition.acceptors
        if acceptor.state is AcceptorState.FAILURE and acceptor.message is None
        if isinstance(acceptor.matcher, OutputMatcher)
    }.values()


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
