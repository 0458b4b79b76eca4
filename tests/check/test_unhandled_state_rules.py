"""Final states that no acceptor mentions."""

import pytest
from case_tables import tabled

from boto_waiters_plus.validation import check


def with_states(models, *acceptors, states, name="ThingActive"):
    model = models.thing(*acceptors, name=name)
    model["shapes"]["smithy.example#Status"] = {
        "type": "string",
        "traits": {"smithy.api#enum": [{"value": state} for state in states]},
    }
    return model


def unhandled(model):
    """The values that events name, by severity."""
    prefix = "WaiterUnhandledState."
    return {
        event.severity.value: event.message.partition(" mentions ")[2].partition(" of ")[0]
        for event in check(model)
        if event.id.startswith(prefix)
    }


@pytest.mark.parametrize("state", [
    "FAILED", "failed", "CREATE_FAILED", "CreateFailed", "create-failed", "ERROR", "in-error",
    "TIMED_OUT", "TimedOut", "timeout", "CompletedWithErrors", "REJECTED", "failed-no-capacity",
])  # fmt: skip
def test_unmentioned_failure_is_a_warning(models, state):
    active = models.output("status", "ACTIVE")
    creating = models.output("status", "CREATING", "retry")
    model = with_states(models, active, creating, states=["CREATING", "ACTIVE", state])
    assert unhandled(model) == {"WARNING": state}


@pytest.mark.parametrize("state", [
    "DELETED", "STOPPED", "Cancelled", "expired", "shut-down",
])  # fmt: skip
def test_other_unmentioned_end_is_a_note(models, state):
    active = models.output("status", "ACTIVE")
    model = with_states(models, active, states=["CREATING", "ACTIVE", state])
    assert unhandled(model) == {"NOTE": state}


@pytest.mark.parametrize("state", [
    "CREATING", "PENDING", "ROLLBACK_IN_PROGRESS", "FAILED_RETRYING", "STOPPING", "UPDATED",
    "ERROR_PENDING", "TEMPORARY_FAILURE", "Available", "failing",
])  # fmt: skip
def test_intermediate_state_need_not_be_mentioned(models, state):
    active = models.output("status", "ACTIVE")
    assert unhandled(with_states(models, active, states=["ACTIVE", state])) == {}


@tabled("mention")
def test_state_may_be_mentioned_in_any_way(models, mention):
    path, expected, state, comparator = mention
    other = models.output(path, expected, state, comparator)
    active = models.output("status", "ACTIVE")
    assert unhandled(with_states(models, active, other, states=["ACTIVE", "FAILED"])) == {}


def test_failure_of_another_process_is_a_note(models):
    states = ["CREATING", "ACTIVE", "CREATE_FAILED", "UPDATE_FAILED"]
    creating = models.output("status", "CREATING", "retry")
    active = models.output("status", "ACTIVE")
    model = with_states(models, active, creating, states=states)
    assert unhandled(model) == {"WARNING": "CREATE_FAILED", "NOTE": "UPDATE_FAILED"}
    # The name of the waiter counts as well.
    model = with_states(models, active, states=states, name="ThingUpdated")
    assert unhandled(model) == {"WARNING": "UPDATE_FAILED", "NOTE": "CREATE_FAILED"}


def test_waiter_for_deletion_needs_only_failures_to_delete(models):
    states = ["CREATE_FAILED", "FAILED", "DELETING", "DELETED", "DELETE_FAILED"]
    deleting = models.output("status", "DELETING", "retry")
    gone = models.error("ThingNotFound", "success")
    model = with_states(models, gone, deleting, states=states, name="ThingDeleted")
    assert unhandled(model) == {"WARNING": "DELETE_FAILED"}
    deleted = models.output("status", "DELETED")
    model = with_states(models, deleted, states=states, name="ThingDeleted")
    assert unhandled(model) == {"WARNING": "DELETE_FAILED"}


def test_failure_by_another_member_makes_it_a_note(models):
    model = with_states(
        models,
        models.output("status", "ACTIVE"),
        models.output("health", "DEAD", "failure"),
        states=["ACTIVE", "FAILED"],
    )
    shapes = model["shapes"]
    shapes["smithy.example#Health"] = {"type": "enum", "members": {"DEAD": {}, "WELL": {}}}
    output = shapes["smithy.example#GetThingOutput"]
    output["members"]["health"] = {"target": "smithy.example#Health"}
    assert unhandled(model) == {"NOTE": "FAILED"}


def test_event_names_waiter_values_and_enumeration(models):
    [event] = [
        event
        for event in check(models.thing(models.ACTIVE))
        if event.id == "WaiterUnhandledState.Failed.ThingActive"
    ]
    assert event.message == (
        "Waiter `ThingActive`: no acceptor mentions failed of Status; with a resource in that "
        "state the wait times out"
    )


def test_waiter_for_existence_needs_no_states(models):
    exists = {"state": "success", "matcher": {"success": True}}
    assert unhandled(models.thing(exists, models.error("ThingNotFound"))) == {}
