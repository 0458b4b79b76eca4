"""Options are checked where they are given."""

import fractions
import numbers
import pickle
import re
import sys
import threading
from datetime import timedelta
from decimal import Decimal

import boto3
import pytest

from boto_waiters_plus import WaiterTimeoutError, WaitOptions, enable, install, wait_until
from boto_waiters_plus.conditions import poll

ANY_RESPONSE = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}


class NumpyFloat(float):
    """As numpy.float64 is a float."""


class NumpyInteger:
    """As numpy.int64: no int, but registered as Integral."""

    def __init__(self, value):
        self._value = value

    def __int__(self):
        return self._value

    def __ge__(self, other):
        return self._value >= other

    def __lt__(self, other):
        return self._value < other


async def a_coroutine_function(_event):
    pass


numbers.Integral.register(NumpyInteger)

GOOD_TIMES = [
    *[(number, number) for number in (5, 5.5, 1e308, 5e-324)],
    *[(10**400, sys.float_info.max), (Decimal("1e400"), sys.float_info.max)],
    (fractions.Fraction(10**400), sys.float_info.max),
    *[(Decimal("2.5"), 2.5), (fractions.Fraction(1, 4), 0.25)],
    (timedelta(minutes=2), 120.0),
    (timedelta.max, timedelta.max.total_seconds()),
    (NumpyFloat(2.5), 2.5),
    (NumpyInteger(7), 7),
]


@pytest.mark.parametrize(("value", "exact"), GOOD_TIMES, ids=lambda value: str(value)[:12])
def test_time_becomes_a_plain_number(value, exact, virtual_time):
    taken = WaitOptions(max_delay=value).max_delay
    assert (taken, type(taken)) == (exact, type(exact))
    assert poll(dict, ANY_RESPONSE, max_wait=value, min_delay=1e-9).attempts == 1


def test_a_coroutine_function_handles_no_attempts():
    with pytest.raises(TypeError) as caught:
        WaitOptions(on_attempt=a_coroutine_function)
    assert (caught.value.argument, caught.value.value) == ("on_attempt", a_coroutine_function)


@pytest.mark.parametrize("value", [-1, threading.Lock()])
def test_error_about_an_option_can_be_pickled(value):
    with pytest.raises((TypeError, ValueError)) as caught:
        WaitOptions(min_delay=value)
    loaded = pickle.loads(pickle.dumps(caught.value))
    assert (type(loaded), str(loaded)) == (type(caught.value), str(caught.value))
    assert (loaded.argument, loaded.value) == ("min_delay", -1 if value == -1 else None)


@pytest.mark.parametrize(("given", "defaults", "argument", "words"), [
    ({"max_delay": 1}, {}, "max_delay", "the min_delay of the waiter StreamExists (3)"),
    ({"min_delay": 500}, {}, "min_delay", "the max_delay for the waiter StreamExists (120)"),
    ({"max_delay": 1}, {"min_delay": 5}, "max_delay", "the min_delay of the defaults (5)"),
    ({"min_delay": 9}, {"max_delay": 5}, "min_delay", "the max_delay of the defaults (5)"),
    ({}, {"max_delay": 1}, "max_delay", "the min_delay of the waiter StreamExists (3)"),
])  # fmt: skip
def test_a_delay_that_does_not_fit_is_named(given, defaults, argument, words):
    client = enable(boto3.client("kinesis"), defaults=defaults)
    client.meta.events.register("before-call", lambda **_: pytest.fail("a call was made"))
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        wait_until(client, "StreamExists", StreamName="s", max_wait=60, **given)
    told = (caught.value.argument, caught.value.value)
    assert told == (argument, {**defaults, **given}[argument])


@pytest.mark.parametrize(("given", "words"), [
    ({"max_wait": 5}, "max_wait"), ({"timeout": 5}, "timeout.* max_wait"),
    ({"on_timeout": "last"}, "on_timeout.* max_wait"), ({"pre_wait": 5}, "initial_delay"),
    ({"initialDelay": 5}, "initial_delay"), ({"maxAttempts": 5}, "max_attempts"),
    ({"min_dealy": 5}, "'min_delay'"),
])  # fmt: skip
def test_wrong_fields_are_answered_with_the_right(given, words):
    with pytest.raises(TypeError, match=f"^defaults.* {words}"):
        install(defaults=given)
    with pytest.raises(TypeError, match=f"^WaitOptions.* {words}") as caught:
        WaitOptions(**given)
    # The value may be that of a parameter, which is not to be shown.
    assert ([caught.value.argument], caught.value.value) == ([*given], None)


@pytest.mark.parametrize("name", ["success_for", "initial_delay"])
@pytest.mark.parametrize("max_wait", [0, -1])
def test_time_that_is_over_needs_no_room_for_delays(max_wait, name, virtual_time):
    with pytest.raises(WaiterTimeoutError):
        poll(lambda: None, ANY_RESPONSE, max_wait=max_wait, **{name: 30})
