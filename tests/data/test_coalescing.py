"""`data/coalescing.json`: the operations whose calls several waits can share."""

import pytest
from data.shared import full_sample, operation_of

from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions.shipped import shipped_json
from boto_waiters_plus.service.sharing import coalescing_of, shares_of, shipped_coalescing

each_operation = pytest.mark.parametrize("shape_id", shipped_json("coalescing.json")["shapes"])


@pytest.mark.models
@each_operation
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


@each_operation
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
        if items.path[0] in answer:  # not in an older botocore
            assert others[items.path[0]] == []


@each_operation
def test_no_other_member_of_the_output_is_a_list_of_resources(shape_id):
    """What is not cut goes to all: of other things that belong to one there must be none."""
    operation = operation_of(shape_id)
    cut = {items.path[0] for items in coalescing_of(operation).items}
    members = operation.output_shape.members.items()
    assert {name for name, shape in members if shape.type_name in ("list", "map")} <= cut
