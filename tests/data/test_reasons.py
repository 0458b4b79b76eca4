"""The expressions for the services' own reasons, as found in the models."""

import jmespath
import pytest
from data.shared import CATALOG, full_sample, json_of, put, service_model

from boto_waiters_plus.definitions.shipped import shipped_traits
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.engine.acceptors import AcceptorState, OutputMatcher
from boto_waiters_plus.service.places import default_loader
from boto_waiters_plus.service.reasons import EXPECTED, expressions_of, reason_beside
from boto_waiters_plus.service.service_waiters import ServiceWaiters

CASES = json_of("tests/cases/reasons.json")
REASON = "the reason"


@pytest.mark.parametrize("case", CASES, ids="{service} {path}".format_map)
def test_the_reason_is_found_beside_the_state(case):
    operation = service_model(case["service"]).operation_model(case["operation"])
    assert reason_beside(operation.output_shape, case["path"]) == case["reason"]
    assert reason_beside(None, case["path"]) is None


@CATALOG
def test_every_expression_gives_the_failed_resources_reason():
    wrong, count = {}, 0
    for service in default_loader().list_available_services("waiters-2"):
        for (_, path), operation in states(ServiceWaiters(service_model(service), None)).items():
            expression = reason_beside(operation.output_shape, path)
            output = full_sample(operation.output_shape, REASON)
            if expression is not None and put(output, path, "FAILED"):
                count += 1
                value = jmespath.search(expression.replace(EXPECTED, "FAILED"), output)
                if value != REASON:
                    wrong[operation.name, path] = value
    assert wrong == {}
    assert count


@CATALOG
@pytest.mark.models
def test_every_listed_part_of_a_reason_gives_a_text():
    """Of a response in which every text is FAILED, and every number 1."""
    reasons = shipped_traits("boto.waiters#reason").items()
    unused = {(shape_id, part) for shape_id, parts in reasons for part in parts}
    for service in default_loader().list_available_services("service-2"):
        model = service_model(service)
        namespace = aws_namespace(str(model.service_id)) + "#"
        listed = {each for each in unused if each[0].startswith(namespace)}
        waiters = ServiceWaiters(model, None) if listed else {}
        for (_, path), operation in states(waiters).items():
            output = full_sample(operation.output_shape, "FAILED")
            for expression in expressions_of(operation, path):
                value = str(jmespath.search(expression.replace(EXPECTED, "FAILED"), output))
                if "FAILED" in value or "exit code 1" in value:
                    unused -= {each for each in listed if f"[{each[1]}]" in expression}
    assert unused == set()


def states(waiters):
    """The operations and paths of the failure acceptors that have no message."""
    return {
        (waiter.operation.name, acceptor.matcher.matcher.path): waiter.operation
        for waiter in waiters.values()
        for acceptor in waiter.definition.acceptors
        if acceptor.state is AcceptorState.FAILURE and acceptor.message is None
        if isinstance(acceptor.matcher, OutputMatcher)
    }
