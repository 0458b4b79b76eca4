"""The state seen: what the acceptors compare, else the model's state, else what is missing."""

import pytest

from boto_waiters_plus.engine import acceptors as a
from boto_waiters_plus.engine.matching import Matching

BOOLEAN, STRING = a.PathComparator.BOOLEAN_EQUALS, a.PathComparator.STRING_EQUALS
ANY, ALL = a.PathComparator.ANY_STRING_EQUALS, a.PathComparator.ALL_STRING_EQUALS


def acceptor(path, comparator=BOOLEAN, state="success", expected=None, kind=a.OutputMatcher):
    expected = expected or ("true" if comparator is BOOLEAN else "never")
    matcher = a.PathMatcher(path=path, expected=expected, comparator=comparator)
    return a.Acceptor(state=a.AcceptorState(state), matcher=kind(matcher))


def match(*acceptors, output, input=None, by_model=lambda _: None):
    return Matching(acceptors, state_by_model=by_model).match_response(output, input or {})


def seen(*acceptors, output, **more):
    found = match(*acceptors, output=output, **more)
    assert found.index is None
    return found.state or found.observed


PART = {"State": "pending", "Name": "a", "Health": {"Status": "bad"}}
PARTS = {"Parts": [PART, {"State": "up"}]}
DOWN, PLACES = {"Status": "down"}, {"Places": {"a": {"status": "down"}}}
RACKS = {"Places": {"a": {"parts": [{"status": "down"}]}}}
COUNTS = {
    "DBParts": "2 DB parts", "Policies": "1 policy", "Addresses": "2 addresses", "Part": "2 parts",
    "GlobalSecondaryIndexes": "1 global secondary index", "Indices": "1 index",
    "Batches": "1 batch", "Meshes": "2 meshes", "Caches": "1 cache", "Devices": "1 device",
    "Classes": "1 class", "Statuses": "1 status", "Access": "1 access", "Analysis": "1 analysis",
}  # fmt: skip


@pytest.mark.parametrize(("path", "output", "state"), [
    ("Status == 'up'", DOWN, "down"),
    ("'up' == Status", DOWN, "down"),
    ("Thing.Status == 'up' && Thing.Ok", {"Thing": DOWN}, "down"),
    ("length(Parts[?State != 'up']) == `0`", PARTS, ["pending", "up"]),
    ("length(Parts) > `0` && length(Parts[?State != 'up']) == `0`", PARTS, ["pending", "up"]),
    ("length(Parts[?Health.Status != 'ok']) == `5`", PARTS, ["bad"]),
    # Of two strings, the one that is called a state.
    ("length(Parts[?Name == 'a' && State == 'up']) == `1`", PARTS, ["pending", "up"]),
    ("length(Groups[].Parts[?State != 'up'][]) == `0`", {"Groups": [PARTS]}, ["pending", "up"]),
    ("length(values(Places)[?status != 'up']) == `0`", PLACES, ["down"]),
    ("contains(['up', 'ready'], Status)", DOWN, "down"),
    ("contains(Parts[].State, 'ready')", PARTS, ["pending", "up"]),
    ("(Parts[?State != 'up'] | length(@)) == `0`", PARTS, ["pending", "up"]),
    # Without a string, numbers and flags.
    ("Running == Desired", {"Running": 2, "Desired": 3}, "running 2, desired 3"),
    ("length(Parts[?Lag > `9`]) == `0`", {"Parts": [{"Lag": 20}, {"Lag": 1}]}, "lag 20, 1"),
    ("UnreadCount == `0`", {"UnreadCount": 4}, "unread count 4"),
    ("Enabled", {"Enabled": False}, "not enabled"),
    ("Enabled == `true`", {"Enabled": False}, "not enabled"),
    ("!Locked", {"Locked": True}, "locked"),
    ("Link == `null`", {"Link": "a"}, "a link"),
    ("length(Aliases) == `0` && !NextToken", {"Aliases": [{}]}, "1 alias"),
    *((f"length({each}) == `9`", {each: [1] * int(n[0])}, n) for each, n in COUNTS.items()),
    ("Alias != `null`", {}, "no alias"),
    ("Links == `null`", {"Links": [1, 2]}, "2 links"),
    ("Link == `null`", {"Link": {"a": 1}}, "a link"),
    ("Enabled", {"Enabled": None}, "no enabled"),
    ('contains(`["up", "ready"]`, Status)', DOWN, "down"),
    ("not_null(Thing.Status == 'up', `false`)", {"Thing": DOWN}, "down"),
    ("length(Parts || Others || `[]`) > `0`", {}, "no part"),
    ("length(Places.* | [?status != 'up']) == `0`", PLACES, ["down"]),
    ("length(Places.*.parts[?status != 'up'][]) == `0`", RACKS, ["down"]),
])  # fmt: skip
def test_what_an_expression_compares_is_the_state(path, output, state):
    assert seen(acceptor(path), output=output) == state


def test_an_expression_of_many_parts_is_not_looked_into():
    for parts, text in ((20, "a 1"), (600, None)):
        path = f"[{','.join(['a < `2`'] * parts)}]"
        assert seen(acceptor(path), output={"a": 1}) == text


@pytest.mark.parametrize(("paths", "output", "text"), [
    ([("Ways[].Attachments[].State", ALL)], {"Ways": [{"Attachments": []}]}, "no attachment"),
    ([("Ways[].Attachments[].State", ALL)], {"Ways": []}, "no way"),
    ([("Thing.VpcLink.Status", STRING)], {"Thing": {}}, "no vpc link"),
    ([("Thing.Status", STRING)], {"Thing": {"Id": "a"}}, "no status"),
    ([("length(Parts) > `0`", BOOLEAN)], {"Parts": []}, "no part"),
    ([("length(Parts || `[]`) > `0`", BOOLEAN)], {}, "no part"),
    ([("Parts[?Name == 'b'].State", ANY)], PARTS, "no state that the wait is about"),
    # The list is not empty, what the wait is about is missing.
    ([("length(Parts) == `0`", BOOLEAN), ("Parts[].Link.Status", ANY)], PARTS, "no link"),
])  # fmt: skip
def test_what_is_missing_is_named(paths, output, text):
    acceptors = [acceptor(path, comparator) for path, comparator in paths]
    assert seen(*acceptors, output=output) == text


def test_parameters_are_no_state():
    path = "length(output.Parts[?State == 'up']) == length(input.Names)"
    both = acceptor(path, kind=a.InputOutputMatcher)
    assert seen(both, output=PARTS, input={"Names": ["a", "b"]}) == ["pending", "up"]


def test_state_of_the_model_serves_where_none_is_compared():
    gone = a.Acceptor(state=a.AcceptorState.SUCCESS, matcher=a.ErrorTypeMatcher("NotFound"))
    asked = []

    def by_model(members):
        asked.append(members)
        return "Thing.Status"

    assert seen(gone, output={"Thing": {"Status": "deleting"}}, by_model=by_model) == "deleting"
    count = acceptor("length(Parts) == `0`")
    found = seen(count, output={"Parts": [1], "Thing": {"Status": "x"}}, by_model=by_model)
    assert found == "x"
    assert asked == [[], ["Parts"]]
    both = acceptor("length(output.Parts) == length(input.Names)", kind=a.InputOutputMatcher)
    assert match(both, output={"Parts": [1]}, by_model=by_model).state == "1 part"
    assert asked[2] == ["Parts"]
    compared = acceptor("Status", STRING)
    assert seen(compared, output={"Status": "up"}, by_model=lambda _: 1 / 0) == "up"


def test_more_states_than_may_be_listed_are_counted():
    parts = [{"State": state} for state in ["up"] * 28 + ["down"] * 2 + list("abcd")]
    counts = "28 up, 2 down, 1 a, 1 b, 1 c"
    assert seen(acceptor("Parts[].State", ANY), output={"Parts": parts}) == counts
    assert seen(acceptor("Code", STRING), output={"Code": 16}) == 16


@pytest.mark.parametrize("state", ["success", "failure"])
def test_match_by_an_expression_says_the_state_beside_its_value(state):
    found = match(acceptor("length(Parts[?State == 'up']) > `0`", state=state), output=PARTS)
    assert (found.index, found.observed, found.state) == (0, True, "pending, up")


@pytest.mark.parametrize("output", [None, "text", 5, [], {}, {"Parts": "text"}])
def test_any_response_can_be_read(output):
    paths = ("length(Parts[?State != 'up']) == `0`", "Parts[].State", "Parts == `null`")
    found = match(*(acceptor(path, state="retry") for path in paths), output=output)
    assert found.observed in (None, [], True)
