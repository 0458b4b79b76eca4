"""`data/coalescing.json` and `data/screens.json`: how many waits share a call, or a sibling's.

Of the first, a call names several resources; of the second, a sibling lists the states of many.

Botocore's models tell what a row may say: one that names another operation, path or member, or
gives a state to another resource, differs from them.
"""

import re

import botocore.session
import pytest
from botocore.exceptions import UnknownServiceError
from botocore.validate import validate_parameters
from data.shared import full_sample, json_of, operation_of

from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_json
from boto_waiters_plus.engine.acceptors import OutputMatcher
from boto_waiters_plus.service.bound_waiter import BoundWaiter
from boto_waiters_plus.service.on_the_spot import only_reads
from boto_waiters_plus.service.screens import reads_only, shipped_screens, with_value_at
from boto_waiters_plus.service.sharing import coalescing_of, shares_of, shipped_coalescing

SHAPES = shipped_json("screens.json")["shapes"]
FACTS = json_of("tests/cases/screens.json")
ARNS = FACTS["arns"]

each_shared = pytest.mark.parametrize("shape_id", shipped_json("coalescing.json")["shapes"])
each_operation = pytest.mark.parametrize("shape_id", SHAPES)


@pytest.mark.models
@each_shared
def test_a_call_may_name_as_many_resources_as_the_limit_says(shape_id):
    operation, coalescing = operation_of(shape_id), shipped_coalescing()[shape_id]
    for name in coalescing.ids:
        shape = operation.input_shape.members[name]
        assert shape.member.type_name == "string"
        assert coalescing.limit <= shape.metadata.get("max", coalescing.limit)
    page = coalescing.page
    if page is not None and page.member is not None:
        size = operation.input_shape.members[page.member]
        assert page.size <= size.metadata.get("max", page.size)
    if coalescing.token is None:
        assert not service_by_namespace(shape_id.partition("#")[0]).operation(operation.name).pages


@each_shared
def test_an_answer_with_all_members_is_told_apart(shape_id):
    operation = operation_of(shape_id)
    coalescing = coalescing_of(operation)
    assert coalescing == shipped_coalescing()[shape_id]
    answer = full_sample(operation.output_shape, "x-1")
    if coalescing.token is not None:
        assert shares_of(answer, [["x-1"], ["x-2"]], coalescing) is None
        answer[coalescing.token] = None
    assert shares_of(answer, [["x-2"]], coalescing) is None
    mine, others = shares_of(answer, [["x-1"], ["x-2"]], coalescing)
    assert mine == answer
    for items in coalescing.items:
        assert others[items.path[0]] == []
    # What is not cut goes to all: of other things that belong to one there must be none.
    members = operation.output_shape.members.items()
    of_many = {name for name, shape in members if shape.type_name in ("list", "map")}
    assert of_many <= {each.path[0] for each in coalescing.items}


# --- screens ------------------------------------------------------------------------------------


def test_no_operation_shares_its_calls_too():
    assert not SHAPES.keys() & shipped_coalescing().keys()


def waiters_of(operation):
    shipped = shipped_definitions(operation.service_model.service_id.hyphenize())
    return [BoundWaiter(each, operation) for each in shipped if each.operation == operation.name]


def verdict(waiter, path, state):
    """What a waiter makes of an answer that has a state at a path; None: no acceptor matches."""
    index = waiter.polling.matching.match_response(with_value_at(path, state)).index
    return None if index is None else waiter.definition.acceptors[index].state.value


@each_operation
def test_a_waiter_reads_the_state_and_stays_open_in_progress(shape_id):
    operation, screen = operation_of(shape_id), shipped_screens()[shape_id]
    waiters, unknown = waiters_of(operation), "a state that no waiter knows"
    assert any(
        verdict(each, screen.path, acceptor.matcher.matcher.expected)
        != verdict(each, screen.path, unknown)
        for each in waiters
        if reads_only(each.definition, screen)
        for acceptor in each.definition.acceptors
        if isinstance(acceptor.matcher, OutputMatcher)
    )
    # A filter selects what at least one waiter waits for the end of.
    for state in screen.filter_values:
        assert {None, "retry"} & {verdict(each, screen.path, state) for each in waiters}, state


def shape_at(shape, path):
    """The shape that a path leads to, past the items of lists."""
    for name in re.sub(r"\[\d*\]", "", path).split("."):
        shape = shape.members[name]
        shape = shape.member if shape.type_name == "list" else shape
    return shape


def resource_of(operation):
    """`Job` of `ListJobs`."""
    name = re.sub("^(BatchGet|Describe|Get|List)", "", operation.name)
    return re.sub("(?<=x)es$|s$", "", re.sub("ies$", "y", name))


def kind_of(member, resource):
    """`arn` of `jobArn` and of `arn`, for a job; None for what identifies something else."""
    found = re.fullmatch("(.*?)(identifier|name|arn|id)", member.lower())
    return found[2] if found and resource.lower().endswith(found[1]) else None


def sample(shape, path=""):
    """An output of a shape; each text is the path to it, and each list has two items."""
    if shape.type_name == "structure" and path.count(".") < 3:
        members = shape.members.items()
        return {name: sample(each, f"{path}.{name}".strip(".")) for name, each in members}
    if shape.type_name == "list":
        return [sample(shape.member, f"{path}[{number}]") for number in range(2)]
    return path if shape.type_name == "string" else None


@pytest.mark.models
@each_operation
def test_each_state_is_that_of_the_resource_beside_it(shape_id):
    operation, screen = operation_of(shape_id), shipped_screens()[shape_id]
    sibling = operation.service_model.operation_model(screen.operation)
    resource = FACTS["resources"].get(shape_id, resource_of(operation))
    assert resource_of(sibling) in {resource, resource_of(operation)}
    polled = shape_at(operation.output_shape, screen.path)
    item = shape_at(sibling.output_shape, screen.items)
    own = kind_of(screen.id, resource)
    kinds = {"identifier", "name", "id", "arn"} if own == "identifier" else {own, "arn"}
    assert own in kinds - {None}
    ids = [name for name in item.members if kind_of(name, resource) in kinds]
    ids = FACTS["identifiers"].get(shape_id, ids)
    found = screen.states(sample(sibling.output_shape))
    assert found.keys() == {f"{screen.items}[{n}].{name}" for n in range(2) for name in ids}
    for identifier, states in found.items():
        (state,) = states
        assert state.startswith(f"{identifier.rpartition('.')[0]}.")
        listed = shape_at(sibling.output_shape, state)
        assert (listed.name, state.split(".")[-1]) == (polled.name, screen.path.split(".")[-1])
        if screen.filter_member is not None:
            assert {*shape_at(sibling.input_shape, screen.filter_member).enum} == {*listed.enum}
            assert {*screen.filter_values} <= {*listed.enum}


def paginator_of(operation):
    """Botocore's paginator; of an operation without one, what is usual."""
    try:
        session, service = botocore.session.get_session(), operation.service_model.service_name
        return session.get_paginator_model(service).get_paginator(operation.name)
    except (UnknownServiceError, ValueError):
        return {"input_token": "NextToken", "output_token": "NextToken"}


@pytest.mark.models
@each_operation
def test_the_sibling_takes_each_request_and_has_further_pages(shape_id):
    operation, screen = operation_of(shape_id), shipped_screens()[shape_id]
    sibling = operation.service_model.operation_model(screen.operation)
    assert only_reads(sibling)
    names = {screen.id, *operation.input_shape.required_members}
    parameters = {name: ARNS.get(name, name.ljust(36, "1")) for name in names}
    validate_parameters(parameters, operation.input_shape)
    scope = screen.scope_of(parameters)
    parents = parameters | {f"{name}Equals": value for name, value in parameters.items()}
    parents |= FACTS["parents"]
    assert scope == {name: parents[name] for name in screen.scope}
    requests = list(screen.requests(scope, [parameters[screen.id]]))
    following = screen.next_request(requests[0], sample(sibling.output_shape))
    for request in filter(None, [*requests, following]):
        validate_parameters(request, sibling.input_shape)
    # What is in progress has begun lately, and is on the first pages of a list that is sorted so.
    orders = {x for x in sibling.input_shape.members if x.lower() in {"sortby", "sortorder"}}
    others = {name: value for name, value in screen.parameters.items() if name not in orders}
    assert others == FACTS["parameters"].get(shape_id, {})
    for name in orders:
        assert re.search("time|started_at|descending", str(screen.parameters[name]).lower())
    pages = paginator_of(sibling)
    if screen.batch is None:
        assert following is not None
        assert pages["input_token"] == screen.token_input
        assert pages["output_token"] == screen.token_output
    assert screen.page_member in {None, pages.get("limit_key", screen.page_member)}
    size = sibling.input_shape.members.get(screen.batch or screen.page_member)
    if size is not None:
        assert size.type_name in {"integer", "list"}
        assert screen.page_size <= size.metadata.get("max", FACTS["sizes"].get(sibling.name, 100))


@pytest.mark.parametrize(("operation", "parameters"), FACTS["unasked"])
def test_wait_that_the_sibling_cannot_be_asked_for(operation, parameters):
    assert shipped_screens()[f"com.amazonaws.{operation}"].scope_of(parameters) is None
