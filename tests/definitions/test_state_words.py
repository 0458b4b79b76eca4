"""States sorted by their names, and those that documentation names."""

import pytest

from boto_waiters_plus.definitions.state_words import documented_states, sort_states


def sorted_as(values, success=""):
    return [" ".join(group) for group in sort_states(values.split(), success.split())]


@pytest.mark.parametrize(("success", "failure", "passing"), [
    ("ACTIVE", "CREATE_FAILED DELETED", "CREATING DELETING"),
    ("Available", "Failed Deleted Stopped", "Processing Deleting Stopping"),
    ("SUCCEEDED", "FAILED CANCELLED TIMED_OUT", "QUEUED RUNNING CANCELLING"),
    ("RUNNING", "STOPPED", "STARTING STOPPING"),
    ("CREATE_COMPLETE", "CREATE_FAILED DELETE_COMPLETE", "CREATE_IN_PROGRESS"),
    ("UPDATE_COMPLETE", "ROLLBACK_COMPLETE", "ROLLBACK_IN_PROGRESS"),
    ("COMPLETED", "COMPLETED_WITH_ERRORS PARTIAL_SUCCESS", "NOT_STARTED IN_PROGRESS"),
    ("ENABLED", "PAUSING_FAILED", "DISABLED ENABLING FAILED_RETRYING TEMPORARY_FAILURE"),
    ("CREATED", "DELETE_FAILED", "CREATING"),
    ("deleted", "error", "deleting"),
    ("in-use", "access-denied", "not-available"),
])  # fmt: skip
def test_states_are_sorted_by_their_words(success, failure, passing):
    mixed = sorted(f"{success} {failure} {passing}".split())
    groups = [sorted(group.split()) for group in (success, failure, passing)]
    assert [sorted(group) for group in sort_states(mixed)] == groups


def test_the_callers_success_decides_what_fails():
    states = "CREATING CREATE_FAILED ACTIVE DELETING DELETE_FAILED DELETED STOPPED"
    success, *others = sorted_as(states, "DELETED")
    assert (success, others[0]) == ("DELETED", "DELETE_FAILED")
    assert others[1] == "CREATING CREATE_FAILED ACTIVE DELETING STOPPED"
    success, *others = sorted_as(states, "STOPPED")
    assert (success, others[0]) == ("STOPPED", "CREATE_FAILED DELETE_FAILED DELETED")
    assert others[1] == "CREATING ACTIVE DELETING"


@pytest.mark.parametrize(("documentation", "states"), [
    ("<p>Either <code>ENABLED</code> or <code>DISABLED</code>.</p>", "ENABLED DISABLED"),
    ("<ul><li><p>Available - It is.</p></li><li>Failed: not</li></ul>", "Available Failed"),
    ("<li><p>NOT READY &gt; ACTIVE -or- CREATE FAILED</p> </li>", "NOT+READY ACTIVE CREATE+FAILED"),
    ("The statuses are: <code>CREATED | RUNNING</code>", "CREATED RUNNING"),
    ("The state (pending | available | deleting).", "pending available deleting"),
    ("Possible values: ACTIVE, messages are sent; and, INACTIVE.", "ACTIVE INACTIVE"),
    ("<p>See <code>Status</code> of <code>DescribeTable</code> in the AWS API.</p>", ""),
    ("", ""),
])  # fmt: skip
def test_states_are_read_from_documentation(documentation, states):
    found = documented_states(documentation)
    assert found == tuple(state.replace("+", " ") for state in states.split())
