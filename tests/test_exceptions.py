"""Errors of waits: what they carry, how they read, and that they survive copying."""

import copy
import copyreg
import pickle
import threading
import traceback

import botocore.exceptions
import pytest
from case_tables import tabled

from boto_waiters_plus import (
    WaiterAttemptsError,
    WaiterCancelledError,
    WaiterDefinitionError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
)
from boto_waiters_plus.conditions import poll
from boto_waiters_plus.engine.acceptors import MatchedAcceptor

KINDS = [
    WaiterError,
    WaiterFailedError,
    WaiterAttemptsError,
    WaiterTimeoutError,
    WaiterCancelledError,
]
FACTS = {
    "attempts": 7,
    "elapsed": 12.5,
    "max_wait": 60,
    "acceptor": MatchedAcceptor(1, "failure when state is 'broken'"),
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


class UnpicklableError(Exception):
    """As a transport error that holds its socket."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def made(kind=WaiterFailedError, **facts):
    return kind("ThingUp", "it broke", RESPONSE, **{**FACTS, **facts})


def facts_of(error):
    return {name: getattr(error, name) for name in FACTS if name != "last_exception"}


@pytest.mark.parametrize("kind", KINDS)
def test_error_is_botocores_with_the_facts_as_attributes(kind):
    error = made(kind)
    assert isinstance(error, botocore.exceptions.WaiterError)
    assert isinstance(error, WaiterError)
    assert error.kwargs == {"name": "ThingUp", "reason": "it broke"}
    assert str(error) == "Waiter ThingUp failed: it broke"
    assert error.last_response == RESPONSE
    assert error.waiter == "ThingUp"
    assert {name: getattr(error, name) for name in FACTS} == FACTS


def test_only_the_timeout_is_a_timeout():
    assert [kind for kind in KINDS if issubclass(kind, TimeoutError)] == [WaiterTimeoutError]


def test_timeout_has_the_surface_of_both_its_bases():
    error = made(WaiterTimeoutError)
    assert error.errno is None
    assert str(error) == "Waiter ThingUp failed: it broke"


@pytest.mark.parametrize("response", [None, {}])
def test_last_response_is_always_a_dict(response):
    assert WaiterError("ThingUp", "it broke", response).last_response == {}
    assert WaiterError("ThingUp", "it broke").last_response == {}


def test_waiter_may_differ_from_the_name_in_the_message():
    error = WaiterError("thing_up", "it broke", waiter="ThingUp")
    assert (error.kwargs["name"], error.waiter) == ("thing_up", "ThingUp")


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


@pytest.mark.parametrize("way", ["pickled", "copied deep"])
def test_cause_that_cannot_be_pickled_is_left_behind(way):
    error = made(last_exception=UnpicklableError())
    error.__cause__ = error.last_exception
    copied = COPIES[way](error)
    assert (copied.last_exception, copied.__cause__) == (None, None)
    assert facts_of(copied) == facts_of(error)


def test_cause_that_cannot_be_pickled_stays_with_a_copy():
    error = made(last_exception=UnpicklableError())
    error.__cause__ = error.last_exception
    copied = copy.copy(error)
    assert copied.last_exception is error.last_exception
    assert copied.__cause__ is error.__cause__


@pytest.mark.parametrize("way", ["pickled", "copied deep"])
def test_response_that_cannot_be_pickled_is_left_behind(way):
    """The body of an S3 object is a socket."""
    error = WaiterFailedError("ThingUp", "it broke", {"Body": threading.Lock()}, **FACTS)
    copied = COPIES[way](error)
    assert copied.last_response == {}
    assert facts_of(copied) == facts_of(error)


def test_observed_value_that_cannot_be_pickled_is_left_behind():
    copied = COPIES["pickled"](made(observed=[threading.Lock()]))
    assert copied.observed is None
    assert copied.last_response == RESPONSE


def test_error_of_a_wait_can_be_pickled_with_what_the_wait_gave(virtual_time):
    def call():
        raise botocore.exceptions.ClientError(
            {"Error": {"Code": "Oops", "Message": "no"}}, "GetThing"
        )

    waiter = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}
    with pytest.raises(WaiterFailedError) as caught:
        poll(call, waiter, max_wait=60)
    error, copied = caught.value, COPIES["pickled"](caught.value)
    assert error.__cause__ is error.last_exception
    assert (
        copied.last_response == error.last_response == {"Error": {"Code": "Oops", "Message": "no"}}
    )
    assert str(copied.last_exception) == str(error.last_exception)
    assert facts_of(copied) == facts_of(error)


def test_error_of_a_wait_holds_the_response_once(virtual_time):
    """Frames in the traceback must not keep a page of answers alive."""
    waiter = {"acceptors": [{"state": "success", "matcher": {"errorType": "Never"}}]}
    with pytest.raises(WaiterTimeoutError) as caught:
        poll(lambda: {"state": "x"}, waiter, max_wait=60)
    text = "".join(traceback.format_exception(caught.value))
    assert "WaiterTimeoutError: Waiter Poll timed out" in text
    assert caught.value.__cause__ is None


# --- definitions ---


@tabled("place", "words")
@pytest.mark.parametrize("way", COPIES, ids=str)
def test_definition_error_names_its_place_and_can_be_copied(place, words, way):
    error = WaiterDefinitionError("it is wrong", source="a.json", **place)
    for one in (error, COPIES[way](error)):
        assert isinstance(one, ValueError)
        assert str(one) == words
        assert (one.problem, one.source) == ("it is wrong", "a.json")
        assert (one.waiter, one.acceptor) == (place.get("waiter"), place.get("acceptor"))


def nested(depth):
    error = None
    for level in range(depth):
        outer = WaiterFailedError(f"Level{level}", "failed", last_exception=error)
        outer.__cause__ = error
        error = outer
    return error


def test_pickling_is_linear_in_the_depth_of_causes():
    tried = []

    class Counting(str):
        __slots__ = ()

        def __reduce__(self):
            tried.append(self)
            return str, (str(self),)

    counts = []
    for depth in (6, 12):
        error = nested(depth)
        innermost = error
        while innermost.__cause__ is not None:
            innermost = innermost.__cause__
        innermost.observed = Counting("seen")
        tried.clear()
        assert pickle.loads(pickle.dumps(error)).waiter == error.waiter
        counts.append(len(tried))
    assert counts[0] == counts[1]


def test_deep_causes_survive_pickling():
    error = pickle.loads(pickle.dumps(nested(30)))
    depth = 0
    while error is not None:
        error, depth = error.__cause__, depth + 1
    assert depth == 30
