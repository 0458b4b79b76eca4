"""States sorted by their names, and those that documentation names."""

from case_tables import tabled

from boto_waiters_plus.definitions.words import documented_states, sort_states


def sorted_as(values, success=""):
    return [" ".join(group) for group in sort_states(values.split(), success.split())]


@tabled("states are sorted by their words", "success", "failure", "passing")
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


@tabled("states are read from documentation", "documentation", "states")
def test_states_are_read_from_documentation(documentation, states):
    found = documented_states(documentation)
    assert found == tuple(state.replace("+", " ") for state in states.split())
