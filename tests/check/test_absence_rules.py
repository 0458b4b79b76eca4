"""Waiters that mistake an answer without items or resource, or overlook a second state."""

import pytest
from case_tables import tabled
from installed_models import with_the_operations_of_today

from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.validation import check

RULES = (
    "WaiterEmptyList",
    "WaiterEmptyPage",
    "WaiterFailsWhen",
    "WaiterGoneBesideErrors",
    "WaiterSecondState",
    "WaiterDroppedItems",
)


def boolean(path, **members):
    return {
        "state": "success",
        "matcher": {"output": {"path": path, "expected": "true", "comparator": "booleanEquals"}},
        **members,
    }


def found(model):
    return [
        (event.severity.value, event.id) for event in check(model) if event.id.startswith(RULES)
    ]


def with_token(model):
    members = model["shapes"]["smithy.example#GetThingOutput"]["members"]
    members["nextToken"] = {"target": "smithy.api#String"}
    return model


NONE_LEFT = "length(parts[?status != 'active']) == `0`"


@tabled("name", "path", "rules")
def test_success_on_nothing_is_a_warning(models, name, path, rules):
    gone = models.error("ThingNotFound", "success")
    model = with_token(models.thing(boolean(path), gone, name=name))
    assert found(model) == [("WARNING", f"Waiter{rule}.{name}.0") for rule in rules]


@tabled("path", "shape", "warned")
def test_error_beside_an_empty_list_is_no_end(models, path, shape, warned):
    gone = models.error("ThingNotFound", "success")
    model = models.thing(boolean(path), gone, name="ThingDeleted")
    shapes = model["shapes"]
    shapes["smithy.example#Names"] = {"type": "list", "member": {"target": "smithy.api#String"}}
    shapes["smithy.example#GetThingOutput"]["members"]["failures"] = {"target": shape}
    expected = [("WARNING", "WaiterGoneBesideErrors.ThingDeleted.0")] if warned else []
    assert found(model) == expected


@tabled("name", "acceptors", "warned")
def test_failed_deletion_ends_a_wait_for_it(models, name, acceptors, warned):
    gone = models.error("ThingNotFound", "success")
    model = models.thing(gone, *(models.output(*each) for each in acceptors), name=name)
    states = model["shapes"]["smithy.example#Status"]["members"]
    states["DELETE_FAILED"] = {"traits": {"smithy.api#enumValue": "delete_failed"}}
    rule = f"WaiterUnhandledState.Failed.{name}"
    assert (("WARNING", rule) in models.found(model)) is warned


def test_list_without_pages_has_no_empty_page(models):
    model = models.thing(boolean("length(parts) == `0`"), name="ThingReady")
    assert found(model) == [("WARNING", "WaiterEmptyList.ThingReady.0")]


def test_success_on_any_response_reads_no_list(models):
    exists = {"state": "success", "matcher": {"success": True}}
    assert found(with_token(models.thing(exists, name="ThingExists"))) == []


def test_messages_say_what_the_wait_does(models):
    model = with_token(models.thing(boolean(NONE_LEFT)))
    texts = [event.message for event in check(model) if event.id.startswith(RULES)]
    start = "Waiter `ThingActive`, acceptor 0: succeeds on an empty "
    assert texts == [
        start + "list, that is, for a resource that does not exist",
        start + "page although `nextToken` says that more pages follow",
    ]


@tabled("name", "error", "warned")
def test_gone_resource_must_not_fail_its_deletion(models, name, error, warned):
    deleted = models.output("status", "deleted")
    acceptors = [deleted, *([models.error(*error)] if error else [])]
    expected = [("WARNING", f"WaiterFailsWhenGone.{name}")] if warned else []
    assert found(models.thing(*acceptors, name=name)) == expected


def test_any_error_as_success_covers_the_gone_resource(models):
    any_error = {"state": "success", "matcher": {"success": False}}
    assert found(models.thing(any_error, name="ThingDeleted")) == []


@with_the_operations_of_today
@tabled("name", "operation", "path", "errors", "rule")
def test_new_or_gone_resource_of_ec2_must_not_fail(name, operation, path, errors, rule):
    definition = WaiterDefinition.from_states(
        name, operation, path=path, success=["available"], retry_on_error=errors
    )
    events = check(definition, "ec2")
    ids = [event.id for event in events if event.id.startswith("WaiterFailsWhen")]
    assert ids == ([f"WaiterFailsWhen{rule}.{name}"] if rule else [])


@with_the_operations_of_today
@tabled("service", "operation", "path", "error", "warned")
def test_siblings_error_for_what_is_gone_ends_a_deletion(service, operation, path, error, warned):
    definition = WaiterDefinition.from_states(
        "ThingDeleted", operation, path=path, success=["GONE"],
        success_on_error=[error] if error else [],
    )  # fmt: skip
    ids = [event.id for event in check(definition, service)]
    assert ("WaiterFailsWhenGone.ThingDeleted" in ids) is warned


@tabled("member", "acceptor", "noted")
def test_second_state_is_noted(models, member, acceptor, noted):
    acceptors = [models.ACTIVE, models.FAILED]
    acceptors += [models.output(*acceptor, "failure")] if acceptor else []
    model = models.thing(*acceptors)
    shapes = model["shapes"]
    shapes["smithy.example#Health"] = {"type": "enum", "members": {"FAILED": {}, "DEAD": {}}}
    name = member if member != "health" else "healthStatus"
    shapes["smithy.example#GetThingOutput"]["members"][name] = {"target": "smithy.example#Health"}
    assert found(model) == ([("NOTE", "WaiterSecondState.ThingActive")] if noted else [])


def test_second_state_names_both_members():
    definition = WaiterDefinition.from_states(
        "FleetUp", "DescribeFleets", path="Fleets[].ActivityStatus", success=["fulfilled"]
    )
    [event] = [e for e in check(definition, "ec2") if e.id.startswith("WaiterSecondState")]
    assert event.message == (
        "Waiter `FleetUp`: no acceptor reads `FleetState` beside `ActivityStatus`, which may be "
        "deleted"
    )


@tabled("path", "noted")
def test_items_without_the_member_are_noted(path, noted):
    definition = WaiterDefinition.from_states(
        "InterfaceUp",
        "DescribeNetworkInterfaces",
        path=path,
        success=["up"],
        failure=["down"],
        retry_on_error=["InvalidNetworkInterfaceID.NotFound"],
    )
    ids = [e.id for e in check(definition, "ec2") if e.id.startswith("WaiterDropped")]
    assert ids == (["WaiterDroppedItems.InterfaceUp.0"] if noted else [])


@pytest.mark.parametrize(("value", "noted"), [("DELETE_FAILED", True), ("FAILED", False)])
def test_second_state_of_a_deletion_must_be_about_it(models, value, noted):
    deleted = models.output("status", "deleted")
    gone = models.error("ThingNotFound", "success")
    model = models.thing(deleted, gone, name="ThingDeleted")
    shapes = model["shapes"]
    shapes["smithy.example#Update"] = {"type": "enum", "members": {value: {}}}
    members = shapes["smithy.example#GetThingOutput"]["members"]
    members["updateStatus"] = {"target": "smithy.example#Update"}
    assert found(model) == ([("NOTE", "WaiterSecondState.ThingDeleted")] if noted else [])
