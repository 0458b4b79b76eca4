"""Parsing, refusing and applying overlays."""

import json

import pytest
from case_tables import tabled

import boto_waiters_plus as bwp
from boto_waiters_plus.definitions.files import load_layers, parse_document
from boto_waiters_plus.definitions.overlays import MEMBERS, OVERLAY, WaiterOverlay
from boto_waiters_plus.definitions.smithy import WAITABLE, parse_waiter

NOT_FOUND = {"state": "retry", "matcher": {"errorType": "NotFound"}}
ANY = {"state": "success", "matcher": {"success": True}}
ANY_ERROR = {"state": "failure", "matcher": {"success": False}}
BASE = parse_waiter(
    "ThingActive",
    {"acceptors": [ANY], "minDelay": 10, "maxDelay": 20, "documentation": "old", "tags": ["a"]},
    operation="GetThing",
    source="base.json",
)


def document(*, trait=OVERLAY, shape_id="com.amazonaws.things#GetThing", kind="apply", **waiters):
    return {"smithy": "2.0", "shapes": {shape_id: {"type": kind, "traits": {trait: waiters}}}}


def overlay(body, name="ThingActive"):
    [found] = parse_document(document(**{name: body}), source="mine.json")
    return found


def test_acceptors_are_added_and_members_replaced():
    body = {
        "prepend": [NOT_FOUND],
        "append": [ANY_ERROR],
        "minDelay": 3,
        "maxDelay": 9,
        "documentation": "new",
        "deprecated": True,
        "tags": ["b"],
    }
    assert body.keys() == set(MEMBERS)
    changed = overlay(body).applied_to(BASE).to_json()
    assert changed == {
        "acceptors": [NOT_FOUND, ANY, ANY_ERROR],
        "minDelay": 3,
        "maxDelay": 9,
        "documentation": "new",
        "deprecated": True,
        "tags": ["b"],
    }


def test_other_members_stay_unchanged():
    changed = overlay({"prepend": [NOT_FOUND]}).applied_to(BASE)
    assert changed.acceptors[1:] == BASE.acceptors
    assert (changed.min_delay, changed.max_delay, changed.documentation) == (10, 20, "old")
    assert changed.tags == ("a",)
    assert not changed.deprecated
    assert changed.digest != BASE.digest


@tabled("malformed overlays are refused by place", "body", "acceptor", "says")
def test_malformed_overlays_are_refused_by_place(body, acceptor, says):
    with pytest.raises(bwp.WaiterDefinitionError) as caught:
        overlay(body)
    error = caught.value
    assert says in error.problem
    assert (error.source, error.waiter, error.acceptor) == ("mine.json", "ThingActive", acceptor)


@tabled("overlays are allowed where waitable is", "members", "says")
def test_overlays_are_allowed_where_waitable_is(members, says):
    with pytest.raises(bwp.WaiterDefinitionError, match=says):
        parse_document(document(**members), source="mine.json")


def test_an_overlay_must_not_cross_the_delays():
    with pytest.raises(bwp.WaiterDefinitionError, match=r"minDelay \(30\) would be more than") as e:
        overlay({"minDelay": 30}).applied_to(BASE)
    assert (e.value.source, e.value.waiter) == ("mine.json", "ThingActive")


def test_a_waiter_of_another_operation_is_not_changed():
    other = parse_waiter("ThingActive", {"acceptors": [ANY]}, operation="ListThings", source="b")
    with pytest.raises(bwp.WaiterDefinitionError, match="polls ListThings, not GetThing"):
        overlay({"minDelay": 3}).applied_to(other)


def test_overlays_come_before_definitions(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(document(trait=WAITABLE, A={"acceptors": [ANY]})))
    (tmp_path / "b.json").write_text(json.dumps(document(A={"minDelay": 3})))
    layers = load_layers(tmp_path)
    assert [type(layer) for layer in layers] == [WaiterOverlay, bwp.WaiterDefinition]


def test_load_definitions_refuses_overlays():
    with pytest.raises(bwp.WaiterDefinitionError, match="pass the file as definitions="):
        bwp.load_definitions(document(A={"minDelay": 3}))


def test_an_overlay_of_smithy_idl_is_read(tmp_path):
    pytest.importorskip("lark")
    file = tmp_path / "mine.smithy"
    file.write_text(
        '$version: "2"\n'
        "namespace com.amazonaws.things\n"
        "use boto.waiters#overlay\n"
        "apply GetThing @overlay(ThingActive: { minDelay: 3\n"
        '    prepend: [{ state: "retry", matcher: { errorType: "NotFound" } }] })\n'
    )
    [found] = load_layers(file)
    same = {"ThingActive": {"minDelay": 3, "prepend": [NOT_FOUND]}}
    [other] = parse_document(document(**same), source=str(file))
    assert found == other
