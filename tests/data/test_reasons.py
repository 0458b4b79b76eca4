"""The expressions for the services' own reasons, as found in the models."""

import json
import re
from pathlib import Path

import jmespath
import pytest

from boto_waiters_plus.aws.definition_places import default_loader
from boto_waiters_plus.aws.reasons import EXPECTED, reason_beside
from boto_waiters_plus.aws.service_waiters import ServiceWaiters
from boto_waiters_plus.engine.model import AcceptorState, OutputMatcher

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
    assert count >= 40  # botocore 1.44.5 has 119


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
