"""Waiters that mistake an answer without items or resource, or overlook a second state."""

import pytest
from installed_models import with_the_operations_of_today

from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.validation import check

RULES = (
    "WaiterEmptyList",
    "WaiterEmptyPage",
    "WaiterFailsWhen",
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


@pytest.mark.parametrize(
    ("name", "path", "rules"),
    [
        ("ThingActive", NONE_LEFT, ["EmptyList", "EmptyPage"]),
        ("ThingActive", f"{NONE_LEFT} && !nextToken", ["EmptyList"]),
        ("ThingActive", f"length(parts) > `0` && {NONE_LEFT}", []),
        ("ThingNotExists", "length(parts) == `0`", ["EmptyPage"]),
        ("ThingDeleted", "length(parts) == `0` && !nextToken", []),
        ("ThingInactive", "length(parts) == `0` && nextToken == `null`", []),
        # Not the list makes this succeed.
        ("ThingActive", "name == `null`", []),
        ("ThingActive", "parts[", []),
    ],
)
def test_success_on_nothing_is_a_warning(models, name, path, rules):
    gone = models.error("ThingNotFound", "success")
    model = with_token(models.thing(boolean(path), gone, name=name))
    assert found(model) == [("WARNING", f"Waiter{rule}.{name}.0") for rule in rules]


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


@pytest.mark.parametrize(
    ("name", "error", "warned"),
    [
        ("ThingDeleted", ("Busy", "retry"), True),
        ("ThingTerminated", None, True),
        ("ThingDeleted", ("ThingNotFound", "success"), False),
        ("ThingDeleted", ("smithy.example#ThingNotFound", "retry"), False),
        # The deletion is a process with a result of its own.
        ("ThingDeletionSucceeded", None, False),
        ("ThingActive", None, False),
    ],
)
def test_gone_resource_must_not_fail_its_deletion(models, name, error, warned):
    deleted = models.output("status", "deleted")
    acceptors = [deleted, *([models.error(*error)] if error else [])]
    expected = [("WARNING", f"WaiterFailsWhenGone.{name}")] if warned else []
    assert found(models.thing(*acceptors, name=name)) == expected


def test_any_error_as_success_covers_the_gone_resource(models):
    any_error = {"state": "success", "matcher": {"success": False}}
    assert found(models.thing(any_error, name="ThingDeleted")) == []


@with_the_operations_of_today
@pytest.mark.parametrize(
    ("name", "operation", "path", "errors", "rule"),
    [
        ("RouteServerUp", "DescribeRouteServers", "RouteServers[].State", [], "New"),
        ("RouteServerUp", "DescribeRouteServers", "RouteServers[].State",
         ["InvalidRouteServerId.NotFound"], None),
        # The model of EC2 has no errors: one has to be known.
        ("RouteServerDeleted", "DescribeRouteServers", "RouteServers[].State", [], "Gone"),
        # Only filters: nothing to be not found.
        ("RestoreUp", "DescribeFastSnapshotRestores", "FastSnapshotRestores[].State", [], None),
        ("RestoreDeleted", "DescribeFastSnapshotRestores", "FastSnapshotRestores[].State",
         [], None),
    ],
)  # fmt: skip
def test_new_or_gone_resource_of_ec2_must_not_fail(name, operation, path, errors, rule):
    definition = WaiterDefinition.from_states(
        name, operation, path=path, success=["available"], retry_on_error=errors
    )
    events = check(definition, "ec2")
    ids = [event.id for event in events if event.id.startswith("WaiterFailsWhen")]
    assert ids == ([f"WaiterFailsWhen{rule}.{name}"] if rule else [])


@with_the_operations_of_today
@pytest.mark.parametrize(
    ("service", "operation", "path", "error", "warned"),
    [
        ("workspaces", "DescribeWorkspaceBundles", "Bundles[].State", None, True),
        ("workspaces", "DescribeWorkspaceBundles", "Bundles[].State",
         "ResourceNotFoundException", False),
        # The answer lists what was not found.
        ("codebuild", "BatchGetFleets", "fleets[].status.statusCode", None, False),
        # The request names a parent only.
        ("guardduty", "ListOrganizationAdminAccounts", "AdminAccounts[].AdminStatus", None, False),
    ],
)  # fmt: skip
def test_siblings_error_for_what_is_gone_ends_a_deletion(service, operation, path, error, warned):
    definition = WaiterDefinition.from_states(
        "ThingDeleted", operation, path=path, success=["GONE"],
        success_on_error=[error] if error else [],
    )  # fmt: skip
    ids = [event.id for event in check(definition, service)]
    assert ("WaiterFailsWhenGone.ThingDeleted" in ids) is warned


@pytest.mark.parametrize(
    ("member", "acceptor", "noted"),
    [
        ("health", None, True),
        ("healthState", None, True),
        ("desiredState", None, False),
        ("healthState", ("healthState", "DEAD"), False),
    ],
)
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


@pytest.mark.parametrize(
    ("path", "noted"),
    [
        ("NetworkInterfaces[].Attachment.Status", True),
        ("NetworkInterfaces[*].Attachment.Status", True),
        ("NetworkInterfaces[].Groups[].GroupName", True),
        ("NetworkInterfaces[].Status", False),
        ("NetworkInterfaces[?Status == 'x'].Status", False),
    ],
)
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
