"""`data/screens.json`: the operations whose sibling tells the states of many resources."""

import json
from pathlib import Path

import botocore
import botocore.session
import pytest
from botocore.stub import Stubber

from boto_waiters_plus.check.botocore_services import service_by_namespace
from boto_waiters_plus.definitions.coalescing_trait import shipped_coalescing
from boto_waiters_plus.definitions.screen_trait import shipped_screens, with_value_at
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.service.bound_waiter import BoundWaiter
from boto_waiters_plus.service.pollable import only_reads
from boto_waiters_plus.service.screens import reads_only

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "data/screens.json"
SHAPES = json.loads(FILE.read_text(encoding="utf-8"))["shapes"]
CASES = json.loads((ROOT / "tests/cases/screens.json").read_text(encoding="utf-8"))
SESSION = botocore.session.get_session()

each_operation = pytest.mark.parametrize("shape_id", SHAPES)


def operation_of(shape_id):
    namespace, _, name = shape_id.partition("#")
    service = service_by_namespace(namespace)
    sibling = shipped_screens()[shape_id].operation
    if service is None or not {name, sibling} <= {*service.operation_names}:
        pytest.skip("the installed botocore has no such operation")
    return service.model.operation_model(name)


def test_no_operation_shares_its_calls_too():
    assert not SHAPES.keys() & shipped_coalescing().keys()


@each_operation
def test_a_waiter_reads_the_state_and_nothing_else(shape_id):
    operation = operation_of(shape_id)
    definitions = shipped_definitions(operation.service_model.service_id.hyphenize())
    waiters = [each for each in definitions if each.operation == operation.name]
    screen = shipped_screens()[shape_id]
    assert any(reads_only(each, screen) for each in waiters)
    case = CASES[shape_id.removeprefix("com.amazonaws.")]
    assert sorted(each.name for each in waiters if reads_only(each, screen)) == case["waiters"]


@each_operation
def test_a_state_in_progress_leaves_a_waiter_open(shape_id):
    """A filter selects what at least one waiter waits for the end of."""
    operation = operation_of(shape_id)
    screen = shipped_screens()[shape_id]
    definitions = shipped_definitions(operation.service_model.service_id.hyphenize())
    waiters = [
        BoundWaiter(each, operation) for each in definitions if each.operation == operation.name
    ]
    for state in screen.filter_values:
        matches = [
            each.matching.match_response(with_value_at(screen.path, state)) for each in waiters
        ]
        states = [
            None if match.index is None else each.definition.acceptors[match.index].state.value
            for each, match in zip(waiters, matches, strict=True)
        ]
        assert {None, "retry"} & {*states}, state


@pytest.mark.models
@each_operation
def test_request_and_answer_are_those_of_the_sibling(shape_id):
    """Botocore takes the request and reads the answer; the state is found by each identifier."""
    operation = operation_of(shape_id)
    screen = shipped_screens()[shape_id]
    case = CASES[shape_id.removeprefix("com.amazonaws.")]
    scope = screen.scope_of(case["parameters"])
    requests = list(screen.requests(scope, [case["parameters"][screen.id]]))
    assert requests == case["requests"]
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    client = SESSION.create_client(
        operation.service_model.service_name, region_name="us-east-1", **keys
    )
    method = getattr(client, botocore.xform_name(screen.operation))
    with Stubber(client) as stubber:
        stubber.add_response(botocore.xform_name(screen.operation), case["answer"], requests[0])
        answer = method(**requests[0])
    assert screen.states(answer) == {name: set(states) for name, states in case["states"].items()}
    assert case["parameters"][screen.id] in case["states"]
    following = screen.next_request(requests[0], answer)
    assert following == ({**requests[0], **case["next"]} if "next" in case else None)
    sibling = operation.service_model.operation_model(screen.operation)
    assert only_reads(sibling)
    member = sibling.input_shape.members.get(screen.batch or screen.page_member)
    assert member is None or screen.page_size <= member.metadata.get("max", screen.page_size)


@pytest.mark.parametrize("parameters", [
    {}, {"executionArn": ""}, {"executionArn": 7},
    {"executionArn": "arn:aws:states:us-east-1:1:express:m:e:u"},
    {"executionArn": "arn:aws:states:us-east-1:1:execution:m/label:e"},
    {"executionArn": "arn:aws:states:us-east-1:1:execution:m:e", "includedData": "ALL_DATA"},
])  # fmt: skip
def test_wait_that_the_sibling_cannot_be_asked_for(parameters):
    assert shipped_screens()["com.amazonaws.sfn#DescribeExecution"].scope_of(parameters) is None


IMAGE = "arn:aws:imagebuilder:eu-west-1:1:image/base/1.0.0"


@pytest.mark.parametrize(("identifier", "screened"), [(f"{IMAGE}/1", True), (IMAGE, False)])
def test_image_is_listed_by_its_build_version_only(identifier, screened):
    screen = shipped_screens()["com.amazonaws.imagebuilder#GetImage"]
    assert (screen.scope_of({"imageBuildVersionArn": identifier}) is not None) is screened
