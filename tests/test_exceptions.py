"""Errors of waits: what they carry, how they read, and that they survive copying."""

import copy
import copyreg
import pickle
import threading

import botocore.exceptions
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import WaiterDefinitionError, WaiterFailedError

KINDS = [bwp.WaiterError, bwp.WaiterFailedError, bwp.WaiterAttemptsError]
KINDS += [bwp.WaiterTimeoutError, bwp.WaiterCancelledError]
THING_UP = bwp.WaiterDefinition.from_states("ThingUp", "GetThing", path="state", success=["up"])
FACTS = {
    "attempts": 7,
    "elapsed": 12.5,
    "max_wait": 60,
    "acceptor": THING_UP.matched(0),
    "observed": "broken",
    "service_message": "no quota",
    "last_exception": ValueError("why"),
}
RESPONSE = {"state": "broken", "ResponseMetadata": {"HTTPStatusCode": 200}}
COPIES = {
    "pickled": lambda error: pickle.loads(pickle.dumps(error)),
    "pickled by protocol 2": lambda error: pickle.loads(pickle.dumps(error, protocol=2)),
    "copied": copy.copy,
    "copied deep": copy.deepcopy,
}


@pytest.fixture(autouse=True)
def without_tblib(monkeypatch):
    """Dask, which other tests import, lets tblib pickle exceptions, with their causes."""
    for kind in KINDS:
        monkeypatch.delitem(copyreg.dispatch_table, kind, raising=False)


def made(kind=WaiterFailedError, **facts):
    return kind("ThingUp", "it broke", RESPONSE, **{**FACTS, **facts})


def facts_of(error):
    return {name: getattr(error, name) for name in FACTS if name != "last_exception"}


@pytest.mark.parametrize("kind", KINDS)
def test_error_is_botocores_with_the_facts_as_attributes(kind):
    error = made(kind)
    assert isinstance(error, botocore.exceptions.WaiterError)
    assert isinstance(error, bwp.WaiterError)
    assert error.kwargs == {"name": "ThingUp", "reason": "it broke"}
    assert str(error) == "Waiter ThingUp failed: it broke"
    assert (error.waiter, error.last_response) == ("ThingUp", RESPONSE)
    assert {name: getattr(error, name) for name in FACTS} == FACTS
    assert kind("ThingUp", "it broke", None).last_response == {}
    assert getattr(error, "errno", None) is None


def test_only_the_timeout_is_a_timeout():
    assert [kind for kind in KINDS if issubclass(kind, TimeoutError)] == [bwp.WaiterTimeoutError]


@pytest.mark.parametrize("way", COPIES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_copy_has_everything(kind, way):
    error = made(kind)
    error.__cause__ = error.last_exception
    copied = COPIES[way](error)
    assert type(copied) is kind
    assert (str(copied), copied.kwargs) == (str(error), error.kwargs)
    assert (copied.last_response, copied.waiter) == (RESPONSE, "ThingUp")
    assert facts_of(copied) == facts_of(error)
    assert repr(copied.last_exception) == repr(copied.__cause__) == "ValueError('why')"


@pytest.mark.parametrize("way", COPIES, ids=str)
def test_what_cannot_be_pickled_is_left_behind(way):
    """Such as a cause, an observed value, and the body of an S3 object, which is a socket."""
    error = WaiterFailedError("ThingUp", "it broke", {"Body": threading.Lock()})
    error.last_exception = error.__cause__ = ValueError(threading.Lock())
    error.observed = [threading.Lock()]
    copied = COPIES[way](error)
    assert (str(copied), copied.waiter) == (str(error), "ThingUp")
    if way == "copied":
        assert copied.last_exception is copied.__cause__ is error.last_exception
    else:
        assert (copied.last_exception, copied.__cause__) == (None, None)
        assert (copied.last_response, copied.observed) == ({}, None)


# --- definitions ---


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({}, ""),
        ({"waiter": "ThingUp"}, "waiter ThingUp: "),
        ({"waiter": "ThingUp", "acceptor": 0}, "waiter ThingUp, acceptor 0: "),
    ],
)
@pytest.mark.parametrize("way", COPIES, ids=str)
def test_definition_error_names_its_place_and_can_be_copied(place, words, way):
    error = WaiterDefinitionError("it is wrong", source="a.json", **place)
    for one in (error, COPIES[way](error)):
        assert isinstance(one, ValueError)
        assert str(one) == f"a.json: {words}it is wrong"
        assert (one.problem, one.source) == ("it is wrong", "a.json")
        assert (one.waiter, one.acceptor) == (place.get("waiter"), place.get("acceptor"))


def test_pickling_is_linear_in_the_depth_of_causes():
    """Of a chain of 60 causes: what doubles with each would never end."""
    error = None
    for level in range(60):
        outer = WaiterFailedError(f"Level{level}", "failed", last_exception=error)
        outer.__cause__ = error
        error = outer
    copied, names = pickle.loads(pickle.dumps(error)), []
    while copied is not None:
        names.append(copied.waiter)
        copied = copied.__cause__
    assert names == [f"Level{level}" for level in range(59, -1, -1)]
