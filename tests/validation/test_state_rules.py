"""Which states of a resource a waiter should mention."""

import pytest

from boto_waiters_plus.validation import check


def with_states(models, *acceptors, states, name="ThingActive"):
    model = models.thing(*acceptors, name=name)
    model["shapes"]["smithy.example#Status"] = {
        "type": "string",
        "traits": {"smithy.api#enum": [{"value": state} for state in states]},
    }
    return model


def unhandled(model):
    """What the rule says: WARNING or NOTE to the values it names."""
    prefix = "WaiterUnhandledState."
    return {
        event.severity.value: event.message.partition(" mentions ")[2].partition(" of ")[0]
        for event in check(model)
        if event.id.startswith(prefix)
    }


@pytest.mark.parametrize(
    "state",
    [
        "FAILED",
        "failed",
        "CREATE_FAILED",
        "CreateFailed",
        "create-failed",
        "ERROR",
        "in-error",
        "TIMED_OUT",
        "TimedOut",
        "timeout",
        "CompletedWithErrors",
        "REJECTED",
        "failed-no-capacity",
    ],
)
def test_a_failure_that_no_acceptor_mentions_is_a_warning(models, state):
    active = models.output("status", "ACTIVE")
    creating = models.output("status", "CREATING", "retry")
    model = with_states(models, active, creating, states=["CREATING", "ACTIVE", state])
    assert unhandled(model) == {"WARNING": state}


@pytest.mark.parametrize("state", ["DELETED", "STOPPED", "Cancelled", "expired", "shut-down"])
def test_another_end_that_no_acceptor_mentions_is_a_note(models, state):
    active = models.output("status", "ACTIVE")
    model = with_states(models, active, states=["CREATING", "ACTIVE", state])
    assert unhandled(model) == {"NOTE": state}


@pytest.mark.parametrize(
    "state",
    [
        "CREATING",
        "PENDING",
        "ROLLBACK_IN_PROGRESS",
        "FAILED_RETRYING",
        "STOPPING",
        "UPDATED",
        "ERROR_PENDING",
        "TEMPORARY_FAILURE",
        "Available",
        "failing",
    ],
)
def test_a_state_that_something_follows_is_not_asked_for(models, state):
    active = models.output("status", "ACTIVE")
    assert unhandled(with_states(models, active, states=["ACTIVE", state])) == {}


@pytest.mark.parametrize(
    "mention",
    [
        ("status", "FAILED", "failure", "stringEquals"),
        ("status", "FAILED", "retry", "stringEquals"),
        ("status == 'FAILED'", "true", "failure", "booleanEquals"),
        ("parts[].status", "FAILED", "failure", "anyStringEquals"),
        ("length(parts[?status == 'FAILED']) > `0`", "true", "failure", "booleanEquals"),
    ],
)
def test_a_state_may_be_mentioned_in_any_way(models, mention):
    path, expected, state, comparator = mention
    other = models.output(path, expected, state, comparator)
    active = models.output("status", "ACTIVE")
    assert unhandled(with_states(models, active, other, states=["ACTIVE", "FAILED"])) == {}


def test_a_failure_of_a_process_that_the_waiter_does_not_speak_of_is_a_note(models):
    states = ["CREATING", "ACTIVE", "CREATE_FAILED", "UPDATE_FAILED"]
    creating = models.output("status", "CREATING", "retry")
    active = models.output("status", "ACTIVE")
    model = with_states(models, active, creating, states=states)
    assert unhandled(model) == {"WARNING": "CREATE_FAILED", "NOTE": "UPDATE_FAILED"}
    # The waiter's name speaks as well.
    model = with_states(models, active, states=states, name="ThingUpdated")
    assert unhandled(model) == {"WARNING": "UPDATE_FAILED", "NOTE": "CREATE_FAILED"}


def test_to_wait_for_a_deletion_only_failures_to_delete_matter(models):
    states = ["CREATE_FAILED", "FAILED", "DELETING", "DELETED", "DELETE_FAILED"]
    deleting = models.output("status", "DELETING", "retry")
    gone = models.error("ThingNotFound", "success")
    model = with_states(models, gone, deleting, states=states, name="ThingDeleted")
    assert unhandled(model) == {"WARNING": "DELETE_FAILED", "NOTE": "CREATE_FAILED, FAILED"}
    deleted = models.output("status", "DELETED")
    model = with_states(models, deleted, states=states, name="ThingDeleted")
    assert unhandled(model) == {"WARNING": "DELETE_FAILED", "NOTE": "CREATE_FAILED, FAILED"}


def test_a_waiter_that_tells_failure_by_another_member_is_not_warned_of(models):
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


def test_the_event_names_waiter_values_and_enumeration(models):
    [event] = [
        event
        for event in check(models.thing(models.ACTIVE))
        if event.id == "WaiterUnhandledState.Failed.ThingActive"
    ]
    assert event.message == (
        "Waiter `ThingActive`: no acceptor mentions failed of Status; a resource in that state "
        "would use up the wait's whole budget"
    )


def test_a_waiter_for_existence_is_asked_for_no_state(models):
    exists = {"state": "success", "matcher": {"success": True}}
    assert unhandled(models.thing(exists, models.error("ThingNotFound"))) == {}
