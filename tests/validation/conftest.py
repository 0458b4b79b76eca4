"""Models to check: a thing with a status, and one waiter on it."""

import copy

import pytest

from boto_waiters_plus.validation import Severity, check

THING = {
    "smithy": "2.0",
    "shapes": {
        "smithy.example#GetThing": {
            "type": "operation",
            "input": {"target": "smithy.example#GetThingInput"},
            "output": {"target": "smithy.example#GetThingOutput"},
            "errors": [{"target": "smithy.example#ThingNotFound"}],
            "traits": {"smithy.waiters#waitable": {}},
        },
        "smithy.example#GetThingInput": {
            "type": "structure",
            "members": {"name": {"target": "smithy.api#String"}},
        },
        "smithy.example#GetThingOutput": {
            "type": "structure",
            "members": {
                "name": {"target": "smithy.api#String"},
                "status": {"target": "smithy.example#Status"},
                "parts": {"target": "smithy.example#Parts"},
                "count": {"target": "smithy.api#Integer"},
                "labels": {"target": "smithy.example#Labels"},
            },
        },
        "smithy.example#Status": {
            "type": "enum",
            "members": {
                name: {
                    "target": "smithy.api#Unit",
                    "traits": {"smithy.api#enumValue": name.lower()},
                }
                for name in ("CREATING", "ACTIVE", "FAILED", "DELETED")
            },
        },
        "smithy.example#Parts": {
            "type": "list",
            "member": {"target": "smithy.example#Part"},
        },
        "smithy.example#Part": {
            "type": "structure",
            "members": {
                "status": {"target": "smithy.example#Status"},
                "weight": {"target": "smithy.api#Double"},
            },
        },
        "smithy.example#Labels": {
            "type": "map",
            "key": {"target": "smithy.api#String"},
            "value": {"target": "smithy.api#String"},
        },
        "smithy.example#ThingNotFound": {
            "type": "structure",
            "members": {},
            "traits": {"smithy.api#error": "client"},
        },
    },
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
    """Builders of models; `found` gives what the checker says, without notes."""

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
