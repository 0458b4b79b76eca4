"""A model to check, of `tests/cases/check-rules.json`: a thing with a status."""

import re

from case_tables import cases

from boto_waiters_plus.validation import check

THING = cases("check-rules")["thing"]
WAITABLE = "smithy.waiters#waitable"
RETURN_TYPE = re.compile(r"determined to return a `(\w+)` type")


def _merged(value, change):
    """A JSON merge patch: null takes a member away."""
    if not isinstance(value, dict) or not isinstance(change, dict):
        return change
    both = value | {name: _merged(value.get(name), each) for name, each in change.items()}
    return {name: each for name, each in both.items() if each is not None}


def _acceptor(row):
    """An acceptor, from a row of its state, its kind of matcher and what that has."""
    if not isinstance(row, list):
        return row
    state, kind, *value = row
    if len(value) == 1:
        return {"state": state, "matcher": {kind: value[0]}}
    path, comparator, expected, *message = value
    matcher = {"path": path, "comparator": comparator, "expected": expected}
    found = {"state": state, "matcher": {kind: matcher}}
    return found | ({"message": message[0]} if message else {})


def _waiters(bodies):
    """A trait, from bodies whose acceptors may be rows."""
    if not isinstance(bodies, dict):
        return bodies
    trait = {}
    for name, body in bodies.items():
        trait[name] = body
        if isinstance(body, dict) and isinstance(body.get("acceptors"), list):
            trait[name] = {**body, "acceptors": [_acceptor(row) for row in body["acceptors"]]}
    return trait


def thing(waiters=None, *, shapes=None, states=None, **more):
    """A model of `GetThing`, with changes to its shapes and the states in place of its own."""
    changed = _merged(THING, shapes or {})
    if waiters is not None:
        changed["GetThing"]["traits"][WAITABLE] = _waiters(waiters)
    if states is not None:
        values = [{"value": state} for state in states]
        changed["Status"] = {"type": "string", "traits": {"smithy.api#enum": values}}
    named = {f"smithy.example#{name}": shape for name, shape in changed.items()}
    return {"smithy": "2.0", "shapes": named, **more}


def applied(on, waiters, **more):
    """A document that applies waiters to an operation."""
    shape = {"type": "apply", "traits": {WAITABLE: _waiters(waiters)}}
    return {"smithy": "2.0", "shapes": {on: shape}, **more}


def path_events(path, output=None, **shapes):
    """The events of a waiter of `x#Get` that compares a path with a string and a boolean."""
    rows = [["retry", "output", path, kind, "true"] for kind in ("stringEquals", "booleanEquals")]
    waitable = {WAITABLE: _waiters({"Ready": {"acceptors": rows}})}
    shapes["Get"] = {"type": "operation", "output": {"target": "x#Out"}, "traits": waitable}
    shapes["Out"] = output or {"type": "document"}
    named = {f"x#{name}": shape for name, shape in shapes.items()}
    return check({"smithy": "2.0", "shapes": named})


def linted(path, output=None, **shapes):
    """The type of a path, and its problems."""
    messages = [(each.severity, each.message) for each in path_events(path, output, **shapes)]
    types = {found[1] for _, each in messages if (found := RETURN_TYPE.search(each))}
    start = f"Waiter `Ready`, acceptor 0: Problem found in JMESPath expression ({path}): "
    problems = [f"{severity} {each}" for severity, each in messages if each.startswith(start)]
    return (*types, "any")[0], [each.replace(start, "", 1) for each in problems]
