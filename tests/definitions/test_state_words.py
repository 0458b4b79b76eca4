"""States sorted by their names, and definitions made from them for every enumeration at hand."""

import json
import re
from dataclasses import replace

from beside import beside
from case_tables import tabled
from installed_models import with_the_operations_of_today

from boto_waiters_plus import WaiterDefinition
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.definitions.state_words import documented_states, sort_states
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.validation import Severity, check

GAPS, needs_enumerations = beside("reference/enum-gaps.json")
ROWS = [
    (service, operation, row)
    for service, operations in (json.loads(GAPS.read_text()) if GAPS.exists() else {}).items()
    if not service.startswith("_")
    for operation, row in operations.items()
]
WITHOUT_SUCCESS = [("mpa", "GetApprovalTeam")]
"""Enumerations of what is pending or failed only; another member says that all is well."""


def sorted_as(values, success=""):
    return [" ".join(group) for group in sort_states(values.split(), success.split())]


@tabled("success", "failure", "passing")
def test_states_are_sorted_by_their_words(success, failure, passing):
    mixed = sorted(f"{success} {failure} {passing}".split())
    found = sort_states(mixed)
    assert [sorted(group) for group in found] == [
        sorted(group.split()) for group in (success, failure, passing)
    ]


def test_the_callers_success_decides_what_fails():
    states = "CREATING CREATE_FAILED ACTIVE DELETING DELETE_FAILED DELETED STOPPED"
    assert sorted_as(states, "DELETED") == [
        "DELETED",
        "DELETE_FAILED",
        "CREATING CREATE_FAILED ACTIVE DELETING STOPPED",
    ]
    assert sorted_as(states, "STOPPED") == [
        "STOPPED",
        "CREATE_FAILED DELETE_FAILED DELETED",
        "CREATING ACTIVE DELETING",
    ]


@needs_enumerations
def test_every_state_is_in_one_group():
    for service, operation, row in ROWS:
        groups = sort_states(row["values"])
        assert sorted(state for group in groups for state in group) == sorted(row["values"])
        assert bool(groups.success) == ((service, operation) not in WITHOUT_SUCCESS)


def made(service, operation, row):
    success, failure, _ = sort_states(row["values"])
    if (service, operation) in WITHOUT_SUCCESS:
        row, success = row | {"member": f"{row['member']} || Status"}, ["ACTIVE"]
    definition = WaiterDefinition.from_states(
        f"{operation}State", operation, path=row["member"], success=success, failure=failure
    )
    return replace(definition, service=service)


@tabled("documentation", "states")
def test_states_are_read_from_documentation(documentation, states):
    found = documented_states(documentation)
    assert found == tuple(state.replace("+", " ") for state in states.split())


@needs_enumerations
def test_every_row_gives_a_definition_that_parses():
    for service, operation, row in ROWS:
        definition = made(service, operation, row)
        body = definition.to_json()
        assert definition == parse_waiter(
            definition.name, body | {"minDelay": 2}, operation=operation, source="", service=service
        )


@needs_enumerations
@with_the_operations_of_today
def test_every_row_gives_a_definition_that_passes_check():
    events = check([made(*row) for row in ROWS])
    # What a request can name does not depend on words.
    of_lists = (
        "WaiterPaginatedPath.",
        "WaiterFailsOnEndedItem.",
        "WaiterNamedNotReturned.",
        "WaiterUnreadFailures.",
    )
    events = [event for event in events if not event.id.startswith(of_lists)]
    assert [str(e) for e in events if e.severity > Severity.NOTE] == []


@needs_enumerations
def test_every_row_gives_each_state_its_verdict():
    for row in ROWS:
        definition = made(*row)
        matching = Matching(definition.acceptors)
        groups = sort_states(row[2]["values"])
        for group, verdict in zip(groups, ("success", "failure", None), strict=True):
            for state in group:
                match = matching.match_response(with_state(row[2]["member"], state))
                found = None if match.index is None else definition.states[match.index].value
                assert (row[:2], state, found) == (row[:2], state, verdict)


def with_state(path, state):
    for member in reversed(re.findall(r"\w+|\[", path)):
        state = [state] if member == "[" else {member: state}
    return state
