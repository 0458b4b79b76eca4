"""`data/coalescing.json`: the operations whose calls several waits can share."""

import json
import re
from pathlib import Path

import botocore
import pytest
from data_rules import check

from boto_waiters_plus.check.botocore_services import service_by_namespace
from boto_waiters_plus.definitions.coalescing_trait import COALESCING, shipped_coalescing
from boto_waiters_plus.definitions.shipped import WRITTEN_FOR
from boto_waiters_plus.service.response_split import coalescing_of, shares_of
from boto_waiters_plus.validation import Severity

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "data/coalescing.json"
SHAPES = json.loads(FILE.read_text(encoding="utf-8"))["shapes"]

each_operation = pytest.mark.parametrize("shape_id", SHAPES)


def operation_of(shape_id):
    namespace, _, name = shape_id.partition("#")
    model = service_by_namespace(namespace)
    if model is None or name not in model.operation_names:
        pytest.skip("the installed botocore has no such operation")
    return model.model.operation_model(name)


def test_the_checker_finds_nothing():
    events = check(FILE)
    if botocore.__version__ == WRITTEN_FOR:
        assert events == []
    # An older botocore may lack operations, and members of those it has.
    kinds = {event.id for event in events if event.severity > Severity.NOTE}
    assert kinds <= {"Coalescing.Items", "Coalescing.Id", "Coalescing.Ids"}


def test_the_checker_looks_at_every_one_of_them():
    broken = {
        shape_id: {"type": "apply", "traits": {COALESCING: {}}}
        for shape_id in SHAPES
        if service_by_namespace(shape_id.partition("#")[0]) is not None
    }
    events = check({"smithy": "2.0", "shapes": broken})
    if botocore.__version__ == WRITTEN_FOR:
        assert {event.shape for event in events} == set(SHAPES)
    assert {event.id for event in events} == {"Coalescing.Form"}


@each_operation
def test_an_answer_with_all_members_is_told_apart(shape_id, full_sample):
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
    lists = {
        name
        for name, shape in operation.output_shape.members.items()
        if shape.type_name in ("list", "map")
    }
    assert lists <= cut


def test_limits_are_those_that_the_models_word():
    pattern = re.compile(r"(?:up to|maximum of|Maximum)\D{0,30}(\d+)\D")
    checked = 0
    for shape_id in SHAPES:
        namespace, _, name = shape_id.partition("#")
        model = service_by_namespace(namespace)
        if model is None or name not in model.operation_names:
            continue
        operation = model.model.operation_model(name)
        for member in shipped_coalescing()[shape_id].ids:
            text = re.sub("<[^>]+>", " ", operation.input_shape.members[member].documentation)
            found = pattern.search(text)
            if found is not None:
                checked += 1
                assert shipped_coalescing()[shape_id].limit <= int(found[1]), shape_id
    assert checked >= 10
