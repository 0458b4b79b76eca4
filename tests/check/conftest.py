"""Models to check: a thing with a status, and one waiter on it."""

import copy

import pytest

from boto_waiters_plus.validation import Severity, check


def structure(**members):
    targets = {name: {"target": target} for name, target in members.items()}
    return {"type": "structure", "members": targets}


STATES = ("CREATING", "ACTIVE", "FAILED", "DELETED")
SHAPES = {
    "GetThing": {
        "type": "operation",
        "input": {"target": "smithy.example#GetThingInput"},
        "output": {"target": "smithy.example#GetThingOutput"},
        "errors": [{"target": "smithy.example#ThingNotFound"}],
        "traits": {"smithy.waiters#waitable": {}},
    },
    "GetThingInput": structure(name="smithy.api#String"),
    "GetThingOutput": structure(
        name="smithy.api#String",
        status="smithy.example#Status",
        parts="smithy.example#Parts",
        count="smithy.api#Integer",
        labels="smithy.example#Labels",
    ),
    "Status": {
        "type": "enum",
        "members": {name: {"traits": {"smithy.api#enumValue": name.lower()}} for name in STATES},
    },
    "Parts": {"type": "list", "member": {"target": "smithy.example#Part"}},
    "Part": structure(status="smithy.example#Status", weight="smithy.api#Double"),
    "Labels": {
        "type": "map",
        "key": {"target": "smithy.api#String"},
        "value": {"target": "smithy.api#String"},
    },
    "ThingNotFound": {**structure(), "traits": {"smithy.api#error": "client"}},
}
THING = {
    "smithy": "2.0",
    "shapes": {f"smithy.example#{name}": shape for name, shape in SHAPES.items()},
}
OPERATION = "smithy.example#GetThing"


def output(path, expected, state="success", comparator="stringEquals", **more):
    matcher = {"path": path, "expected": expected, "comparator": comparator}
    return {"state": state, "matcher": {"output": matcher}, **more}


def error(name, state="retry"):
    return {"state": state, "matcher": {"errorType": name}}


ACTIVE = output("status", "active")
FAILED = output("status", "failed", "failure")


class Models:
    """Builders of models; `found` returns the checker's events, without notes."""

    structure = staticmethod(structure)
    output = staticmethod(output)
    error = staticmethod(error)
    ACTIVE, FAILED, OPERATION = ACTIVE, FAILED, OPERATION

    @staticmethod
    def thing(*acceptors, name="ThingActive", **members):
        model = copy.deepcopy(THING)
        waiter = {"acceptors": list(acceptors) or [ACTIVE, FAILED], **members}
        model["shapes"][OPERATION]["traits"]["smithy.waiters#waitable"] = {name: waiter}
        return model

    @staticmethod
    def with_trait(value):
        model = copy.deepcopy(THING)
        model["shapes"][OPERATION]["traits"]["smithy.waiters#waitable"] = value
        return model

    @staticmethod
    def found(model, service=None, above=Severity.NOTE):
        return [
            (event.severity.value, event.id)
            for event in check(model, service)
            if event.severity > above
        ]


@pytest.fixture(scope="session")
def models():
    return Models
