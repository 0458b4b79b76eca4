"""A model to check, of `tests/cases/check-rules.json`: a thing with a status."""

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases"
THING = json.loads((CASES / "check-rules.json").read_text(encoding="utf-8"))["thing"]
WAITABLE = "smithy.waiters#waitable"


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


def _thing(waiters=None, *, shapes=None, states=None, **more):
    """A model of `GetThing`, with changes to its shapes and the states in place of its own."""
    changed = _merged(THING, shapes or {})
    if waiters is not None:
        changed["GetThing"]["traits"][WAITABLE] = _waiters(waiters)
    if states is not None:
        values = [{"value": state} for state in states]
        changed["Status"] = {"type": "string", "traits": {"smithy.api#enum": values}}
    named = {f"smithy.example#{name}": shape for name, shape in changed.items()}
    return {"smithy": "2.0", "shapes": named, **more}


def _applied(on, waiters, **more):
    """A document that applies waiters to an operation."""
    shape = {"type": "apply", "traits": {WAITABLE: _waiters(waiters)}}
    return {"smithy": "2.0", "shapes": {on: shape}, **more}


@pytest.fixture(scope="session")
def thing():
    """`thing(waiters, shapes=, states=)`: a model of an operation with a status."""
    return _thing


@pytest.fixture(scope="session")
def applied():
    """`applied(on, waiters)`: a document for an operation of another model."""
    return _applied
