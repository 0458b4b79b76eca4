"""The public conformance vectors of the other SDKs, run through this engine.

Every vector passes, or is listed in `DIFFERENCES` with what comes of it here and why. The table
is exact: an entry that no vector has, or that no longer differs, fails.
"""

import json
from itertools import count
from threading import Event

import pytest
from beside import beside
from engine.delays import next_delay, run

from boto_waiters_plus import WaiterCancelledError, WaitOptions
from boto_waiters_plus.conditions import poll
from boto_waiters_plus.deadlines import effective_max_wait
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine import machine as m
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.matching import Matching

VECTORS, pytestmark = beside("conformance/vectors.json")
ALL = json.loads(VECTORS.read_text(encoding="utf-8")) if VECTORS.exists() else {}

_ONE_POLL_LESS = "smithy-rs polls once more, without a delay, when the time is up"
_NO_MAX_WAIT_RULE = "a max_wait below min_delay is allowed: it gives two looks"

DIFFERENCES = {
    "2": (None, "jmespath.py gives the expression up where an element of a projection raises"),
    "exceed_max_wait_time": ({"polls": 11}, _ONE_POLL_LESS),
    "waiters_exceed_max_wait_time": ({"polls": 2}, _ONE_POLL_LESS),
    "poller.spec:8": (
        {"sleeps": [2, 3, 5, 9, 16, 16, 16]},
        "smithy-typescript drops the jitter past the attempt ceiling, the specification does not",
    ),
    "validate.spec:200:1200:150": (None, _NO_MAX_WAIT_RULE),
    "validate.spec:200:1200:200": (None, _NO_MAX_WAIT_RULE),
}


def vectors(key, name):
    """The cases under a key of the data as parameters, named by `name(vector)`."""
    found = ALL
    for part in key.split(".") if ALL else ():
        found = found[part]
    return [pytest.param(vector, id=name(vector)) for vector in found]


def expected(request, theirs):
    """What a vector has to give here: what it gives in the other SDK, or what the table says."""
    vector_id = request.node.callspec.id
    if vector_id not in DIFFERENCES:
        return theirs
    ours, _ = DIFFERENCES[vector_id]
    assert ours != theirs, f"{vector_id} does not differ any more"
    return ours


def by_source(vector):
    return f"{vector['source'].split()[-1]}:{vector['name']}"


def by_options(vector):
    options = (vector["minDelay"], vector["maxDelay"], vector["maxWait"])
    return ":".join(["validate.spec", *map(str, options)])


def by_course(vector):
    last = vector["source"].split()[-1]
    return f"{last}:{vector.get('polls', vector['state'])}" if last == "poller.spec" else last


def test_table_of_differences_names_only_vectors_that_exist():
    names = {vector["name"] for vector in ALL["expressionVectors"]}
    names |= {by_course(vector) for vector in ALL["stateVectors"]}
    names |= {by_options(vector) for vector in ALL["optionValidation"]}
    assert set(DIFFERENCES) <= names


def definition(matcher, state="success", **members):
    never = {"state": "success", "matcher": {"errorType": "NeverSeen"}}
    acceptors = [{"state": state, "matcher": matcher, **members}, never]
    return parse_waiter("Case", {"acceptors": acceptors}, operation="Call", source="vector")


@pytest.mark.parametrize("vector", vectors("pathVectors", by_source))
def test_path_matches_as_in_the_other_sdk(vector):
    members = {name: vector[name] for name in ("path", "comparator", "expected")}
    matching = Matching(definition({vector["kind"]: members}, vector["state"]).acceptors)
    matched = matching.match_response(vector["document"], {}).index == 0
    # keys() sees the members that are there, smithy-kotlin's all that are modelled.
    is_about_model = vector.get("note", "").startswith("modelled keys()")
    assert matched == (vector["result"] and not is_about_model)


@pytest.mark.parametrize("vector", vectors("matcherVectors", by_source))
def test_matcher_matches_as_in_the_other_sdk(vector):
    matching = Matching(definition(vector["matcher"]).acceptors)
    if "error" in vector:
        error = vector["error"]
        match = matching.match_error({error["code"] or error["type"]})
    else:
        match = matching.match_response(vector["output"], vector.get("input"))
    assert (match.index == 0) == vector["result"]


@pytest.mark.parametrize("vector", vectors("expressionVectors", lambda vector: vector["name"]))
def test_expression_gives_the_value_of_the_other_sdk(vector, request):
    documents = ALL["documents"]
    document = documents["output"] if vector["document"] == "output" else documents
    # The message of an acceptor is the one place where the engine hands out a path's whole value.
    shown = definition({"success": True}, "failure", message=vector["expression"])
    value = Matching(shown.acceptors).match_response(document).message
    result = expected(request, vector["result"])
    if isinstance(result, dict) and set(result) == {"sorted"}:
        value = {"sorted": sorted(value)}
    assert value == result
    assert type(value) is type(result)


STATES = {"plain": [], "timed": [], "clock": [], "aborted": []}
for case in vectors("stateVectors", by_course):
    [vector] = case.values
    members = {"maxWait", "random"} & set(vector)
    kinds = [kind for kind in ("clock", "aborted") if kind in vector]
    STATES[kinds[0] if kinds else "timed" if members else "plain"].append(case)


@pytest.mark.parametrize("vector", STATES["plain"])
def test_one_attempt_leads_to_the_state_of_the_other_sdk(vector):
    pairs = vector["acceptors"]
    if pairs == "not consulted":
        pairs = [["success", False]]
    states = tuple(AcceptorState(state) for state, _ in pairs)
    matched = next((index for index, (_, matches) in enumerate(pairs) if matches), None)
    machine = m.Machine(states, m.Policy.of(min_delay=2, max_delay=120, max_wait=300))
    machine.step(m.Begin(), 0, min)
    event = m.Responded if vector["attempt"] == "success" else m.Raised
    decision = machine.step(event(m.Facts(acceptor=matched)), 0, min)
    kinds = {"success": m.Succeeded, "retry": m.Pause}
    kind = kinds.get(vector["state"].split()[0], m.Failed)
    assert isinstance(decision, kind)
    if kind is not m.Pause:
        assert decision.acceptor == matched
    assert machine.state.attempts == vector.get("polls", 1)


def half(low, high):
    """The draw of smithy-rs and smithy-typescript in their tests."""
    return (low + high) // 2


@pytest.mark.parametrize("vector", STATES["timed"])
def test_timed_course_is_that_of_the_other_sdk(vector, request):
    given = {"minDelay": 15, "maxDelay": 120, "maxWait": 10_000, **vector}
    bounds = {"min_delay": given["minDelay"], "max_delay": given["maxDelay"]}
    bounds |= {"max_wait": given["maxWait"], "last_attempt": m.LastAttempt.DEADLINE}
    ready = vector.get("polls") if vector["state"] == "success" else None
    attempts, machine = count(1), m.Machine((AcceptorState.SUCCESS,), m.Policy.of(**bounds))

    def facts_at(_):
        return m.Facts(acceptor=0 if next(attempts) == ready else None)

    end, ends, sleeps = run(machine, facts_at, half, given.get("callSeconds", 0))
    state = {m.Succeeded: "success", m.TimedOut: "ExceededMaxWait"}[type(end)]
    found = {"state": state, "polls": machine.state.attempts, "elapsed": machine.state.elapsed}
    found |= {"sleeps": sleeps, "pollEndTimes": ends}
    theirs = {name: vector[name] for name in found if name in vector}
    ours = {name: found[name] for name in theirs}
    assert ours == {**theirs, **expected(request, theirs)}


@pytest.mark.parametrize("vector", STATES["clock"])
def test_wait_on_a_clock_that_runs_at_each_reading_times_out(vector):
    bounds = {"min_delay": vector["minDelay"], "max_delay": vector["maxDelay"]}
    policy = m.Policy.of(**bounds, max_wait=vector["maxWait"])
    machine, clock = m.Machine((AcceptorState.SUCCESS,), policy), count(0, 2)
    decision = machine.step(m.Begin(), next(clock), half)
    while isinstance(decision, (m.Poll, m.Pause)):
        event = m.Responded(m.Facts(acceptor=None)) if isinstance(decision, m.Poll) else m.Woken()
        decision = machine.step(event, next(clock), half)
    assert isinstance(decision, m.TimedOut)


@pytest.mark.parametrize("vector", STATES["aborted"])
def test_abort_ends_the_wait_before_it_sleeps(vector, virtual_time):
    cancel = Event()
    waiter = {"acceptors": [{"state": "success", "matcher": {"errorType": "Never"}}]}
    with pytest.raises(WaiterCancelledError) as caught:
        poll(lambda: cancel.set() or {}, waiter, max_wait=300, cancel_event=cancel)
    assert (caught.value.attempts, virtual_time.now) == (1, sum(vector["sleeps"]))


def delays_of(rows, table, random, reserve=None):
    bounds = {"min_delay": table["minDelay"], "max_delay": table["maxDelay"], "random": random}
    bounds["reserve"], left = reserve, table["maxWait"]
    return [next_delay(row["attempt"], **bounds, remaining=left - row["elapsed"]) for row in rows]


@pytest.mark.parametrize(
    "table", vectors("delayVectors.rust", lambda vector: vector["source"].split()[-1])
)
def test_delays_are_those_of_smithy_rs(table):
    rows = table["rows"]
    if "seed" in table["random"]:
        ends = (delays_of(rows, table, end, reserve=0) for end in (min, max))
        assert all(low <= row["delay"] <= high for row, low, high in zip(rows, *ends, strict=True))
        return
    # smithy-rs takes all that is left for the last delay; the specification keeps minDelay free.
    assert delays_of(rows, table, half, reserve=0) == [row["delay"] for row in rows]
    assert delays_of(rows, table, half) == [max(0, row["specDelay"]) for row in rows]


@pytest.mark.parametrize("vector", vectors("delayVectors.go", lambda vector: vector["name"]))
def test_delays_are_those_of_smithy_go(vector):
    delays = {"min_delay": vector["minDelay"], "max_delay": vector["maxDelay"]}
    if "error" in vector:
        with pytest.raises(ValueError, match="_delay"):
            WaitOptions(**delays)
        return
    remaining, drawn = vector["maxWait"], []
    while len(drawn) < vector["totalAttempts"]:
        drawn.append(next_delay(len(drawn) + 1, **delays, remaining=remaining, random=max))
        remaining -= drawn[-1]
        if remaining <= delays["min_delay"]:
            break
    assert len(drawn) >= vector["minAttempts"]
    bounds = vector.get("delayUpperBounds", drawn)
    assert all(0 <= delay <= bound for delay, bound in zip(drawn, bounds, strict=False))


@pytest.mark.parametrize("vector", vectors("optionValidation", by_options))
def test_options_are_refused_as_in_smithy_typescript(vector, request):
    refusal = expected(request, vector["error"])

    def check():
        WaitOptions(min_delay=vector["minDelay"], max_delay=vector["maxDelay"])
        effective_max_wait("waiter", vector["maxWait"])

    if refusal is None:
        check()
    else:
        with pytest.raises(ValueError, match=r"^(min_delay|max_delay|max_wait) "):
            check()
