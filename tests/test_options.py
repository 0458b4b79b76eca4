"""Options are checked where they are given, and merged by precedence."""

import dataclasses
import fractions
import math
import numbers
import re
import sys
import threading
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from case_tables import tabled

from boto_waiters_plus import SMITHY, WaiterTimeoutError, WaitOptions
from boto_waiters_plus.common.arguments import seconds
from boto_waiters_plus.conditions import poll
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.machine import LastAttempt
from boto_waiters_plus.option_checks import OPTION_NAMES
from boto_waiters_plus.options import (
    NO_OPTIONS,
    as_options,
    policy_for,
    split_options,
)

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


numbers.Integral.register(NumpyInteger)

TIMES = ["max_wait", "min_delay", "max_delay", "initial_delay", "missing_ok_for", "settle_for"]
ZERO_IS_FINE = ["initial_delay", "missing_ok_for", "settle_for"]

NO_TIMES = [
    *[(value, TypeError) for value in ("5", "", b"5", [5], (5,), {}, {5}, True, False, 5j)],
    *[(value, TypeError) for value in (object(), int, lambda: 5)],
    *[(value, ValueError) for value in (math.nan, math.inf, -math.inf)],
    *[(Decimal(text), ValueError) for text in ("NaN", "sNaN", "Infinity", "-Infinity")],
]
NEGATIVE_TIMES = [
    *(-1, -0.001, Decimal(-1), fractions.Fraction(-1, 2), timedelta(seconds=-1), -(10**400)),
]
GOOD_TIMES = [
    (5, 5),
    (5.5, 5.5),
    (1e308, 1e308),
    (5e-324, 5e-324),
    (10**400, sys.float_info.max),
    (fractions.Fraction(10**400), sys.float_info.max),
    (Decimal("1e400"), sys.float_info.max),
    (Decimal("2.5"), 2.5),
    (fractions.Fraction(1, 4), 0.25),
    (timedelta(minutes=2), 120.0),
    (timedelta.max, timedelta.max.total_seconds()),
    (NumpyFloat(2.5), 2.5),
    (NumpyInteger(7), 7),
]


def short(value):
    """The name of a case: without addresses, and without 400 digits."""
    return str(value)[:12]


def no_call():
    pytest.fail("called though an option is bad")


def wait_with(**options):
    return poll(no_call, ANY_RESPONSE, **{"max_wait": 60, **options})


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize(("value", "kind"), NO_TIMES, ids=short)
def test_bad_time_is_refused_before_any_call(name, value, kind):
    with pytest.raises(kind, match=name):
        wait_with(**{name: value})


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("value", NEGATIVE_TIMES, ids=short)
def test_negative_time_makes_no_call(name, value):
    if name == "max_wait":
        with pytest.raises(WaiterTimeoutError, match="before its first attempt"):
            wait_with(**{name: value})
    else:
        with pytest.raises(ValueError, match=name):
            wait_with(**{name: value})


@pytest.mark.parametrize("name", [name for name in TIMES if name != "max_wait"])
def test_zero_seconds_are_fine_only_where_they_mean_something(name):
    for zero in (0, 0.0, -0.0, Decimal(0), timedelta(0)):
        if name in ZERO_IS_FINE:
            assert getattr(WaitOptions(**{name: zero}), name) == 0
        else:
            with pytest.raises(ValueError, match=f"{name} must be greater than 0"):
                wait_with(**{name: zero})


@pytest.mark.parametrize(("value", "exact"), GOOD_TIMES, ids=short)
def test_time_becomes_a_plain_number(value, exact):
    taken = seconds("name", value)
    assert taken == exact
    assert type(taken) in (int, float)


def test_whole_seconds_stay_whole():
    assert type(seconds("name", 5)) is int
    assert type(seconds("name", NumpyInteger(5))) is int
    assert type(WaitOptions(min_delay=5).min_delay) is int


@pytest.mark.parametrize("value", [1e308, 10**400, sys.float_info.max], ids=short)
def test_largest_max_wait_works(value, virtual_time):
    answers = iter([KeyError, KeyError, dict])
    waiter = {"acceptors": [*ANY_RESPONSE["acceptors"]]}
    waiter["acceptors"].append({"state": "retry", "matcher": {"errorType": "KeyError"}})

    def call():
        answer = next(answers)
        if answer is KeyError:
            raise KeyError
        return {}

    assert poll(call, waiter, max_wait=value).attempts == 3


def test_missing_max_wait_is_asked_for_before_any_call():
    with pytest.raises(TypeError, match="needs max_wait"):
        poll(no_call, ANY_RESPONSE)
    with pytest.raises(TypeError, match="needs max_wait"):
        poll(no_call, ANY_RESPONSE, max_wait=None)


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        *[
            (name, value, TypeError)
            for name in ("max_attempts", "success_count")
            for value in (True, "3", 2.0, 2.5, [3], math.nan, math.inf, Decimal(3), timedelta(3))
        ],
        *[
            (name, value, ValueError)
            for name in ("max_attempts", "success_count")
            for value in (0, -1)
        ],
        ("delay_pace", 5, TypeError),
        ("delay_pace", True, TypeError),
        ("delay_pace", ["fixed"], TypeError),
        ("delay_pace", int, TypeError),
        ("delay_pace", "fast", ValueError),
        ("delay_pace", "FIXED", ValueError),
        ("delay_pace", "", ValueError),
        ("last_attempt", 5, TypeError),
        ("last_attempt", True, TypeError),
        ("last_attempt", "early", ValueError),
        ("converted_delays", 5, TypeError),
        ("converted_delays", "long", ValueError),
        ("retry_transient", 1, TypeError),
        ("retry_transient", "yes", ValueError),
        ("retry_transient", ["answered"], TypeError),
        ("on_attempt", 5, TypeError),
        ("on_attempt", "print", TypeError),
        ("call_in_thread", 1, TypeError),
        ("cancel_event", True, TypeError),
        ("cancel_event", threading.Lock(), TypeError),
        ("wake_signal", object(), TypeError),
        ("wake_signal", threading.Condition(), TypeError),
    ],
    ids=short,
)
def test_bad_option_is_refused_before_any_call(name, value, kind):
    with pytest.raises(kind, match=name):
        wait_with(**{name: value})
    with pytest.raises(kind, match=name):
        WaitOptions(**{name: value})


@pytest.mark.parametrize("name", ["spec", "eager"])
def test_removed_pace_says_what_to_write_instead(name):
    with pytest.raises(
        ValueError, match=rf"delay_pace: '{name}' was removed; leave delay_pace out"
    ):
        WaitOptions(delay_pace=name)


def test_coroutine_function_is_no_observer():
    async def hook(_event):
        pass

    with pytest.raises(TypeError, match="on_attempt must be a plain function"):
        wait_with(on_attempt=hook)


def test_min_over_max_is_refused():
    with pytest.raises(ValueError, match=r"min_delay \(10\) is more than max_delay \(5\)"):
        WaitOptions(min_delay=10, max_delay=5)
    with pytest.raises(ValueError, match=r"min_delay \(500\) is more than max_delay \(120\)"):
        wait_with(min_delay=500)
    with pytest.raises(ValueError, match=r"min_delay \(2\) is more than max_delay \(1\)"):
        wait_with(max_delay=1)


@tabled("keyword", "hint")
def test_misspelt_option_is_refused_with_the_nearest(keyword, hint):
    with pytest.raises(TypeError, match=f"unknown option '{keyword}'; did you mean '{hint}'"):
        split_options({keyword: 5})


def test_unlike_any_option_is_refused_without_a_hint():
    with pytest.raises(TypeError, match=r"unknown option 'q_q'$"):
        split_options({"q_q": 5})


def test_options_are_told_from_parameters():
    options, parameters = split_options({"Bucket": "b", "min_delay": 3, "maxResults": 5})
    assert options == WaitOptions(min_delay=3)
    assert parameters == {"Bucket": "b", "maxResults": 5}


def test_options_are_frozen_and_given_by_name():
    with pytest.raises(dataclasses.FrozenInstanceError):
        NO_OPTIONS.min_delay = 5
    with pytest.raises(TypeError):
        WaitOptions(5)


@pytest.mark.parametrize("value", [WaitOptions(min_delay=3), {"min_delay": 3}])
def test_options_may_be_given_as_a_mapping(value):
    assert as_options(value, "defaults") == WaitOptions(min_delay=3)


@pytest.mark.parametrize("value", [5, "min_delay", [("min_delay", 3)], {"min_dealy": 3}, {5: 3}])
def test_what_are_no_options_is_refused(value):
    with pytest.raises(
        TypeError, match=r"^defaults(: unknown option| must be WaitOptions or a mapping)"
    ):
        as_options(value, "defaults")


def test_higher_precedence_wins_field_by_field():
    call = WaitOptions(min_delay=1, retry_transient=False)
    session = WaitOptions(min_delay=2, max_delay=9, retry_transient=True)
    install = WaitOptions(max_delay=8, initial_delay=0, success_count=3)
    assert call.merged_over(session).merged_over(install) == WaitOptions(
        min_delay=1, max_delay=9, retry_transient=False, initial_delay=0, success_count=3
    )


def test_every_option_can_be_merged():
    event = threading.Event()
    given = WaitOptions(
        min_delay=1,
        max_delay=2,
        converted_delays="aws",
        max_attempts=3,
        delay_pace="fixed",
        last_attempt="spec",
        initial_delay=4,
        success_count=5,
        success_for=7,
        missing_ok_for=6,
        settle_for=8,
        retry_transient=True,
        wake_signal=event,
        cancel_event=event,
        on_attempt=print,
        call_in_thread=True,
        explain_failure=True,
        delay_history=False,
        delay_kind="small",
        show_parameters=False,
    )
    assert NO_OPTIONS.merged_over(given) == given
    assert given.merged_over(NO_OPTIONS) == given
    assert given.merged_over(None) is given
    assert all(getattr(given, name) is not None for name in OPTION_NAMES)
    assert [field.name for field in fields(given)] == list(OPTION_NAMES)


# --- policies ---

DEFINITION = parse_waiter(
    "ThingUp", {**ANY_RESPONSE, "minDelay": 5, "maxDelay": 60}, operation="GetThing", source="t"
)


def test_policy_takes_the_definitions_delays_and_the_built_in_rest():
    policy = policy_for(DEFINITION, NO_OPTIONS, 300)
    assert (policy.min_delay, policy.max_delay, policy.max_wait) == (5, 60, 300)
    assert (policy.pace, policy.last_attempt) == (None, LastAttempt.LATE)
    assert (policy.initial_delay, policy.success_count, policy.missing_ok_for) == (0, 1, 0)
    assert (policy.max_attempts, policy.count_requests, policy.success_for) == (None, True, 0)
    assert policy.retry_transient == "answered"


@pytest.mark.parametrize(("delay", "bounds"), [(3, (3, 15)), (60, (60, 60)), (120, (120, 120))])
def test_min_delay_alone_may_exceed_the_definitions_max_delay(delay, bounds):
    definition = replace(DEFINITION, min_delay=4, max_delay=15)
    policy = policy_for(definition, WaitOptions(min_delay=delay), 300)
    assert (policy.min_delay, policy.max_delay) == bounds


def test_max_delay_gives_the_patient_schedule_back():
    definition = replace(DEFINITION, min_delay=4, max_delay=15)
    merged = WaitOptions().merged_over(WaitOptions(max_delay=120))
    policy = policy_for(definition, merged, 300)
    assert (policy.min_delay, policy.max_delay, policy.pace) == (4, 120, None)


def test_policy_takes_what_is_given():
    def pace(_attempt):
        return 1

    options = WaitOptions(
        min_delay=timedelta(seconds=1),
        max_delay=2,
        max_attempts=3,
        delay_pace=pace,
        last_attempt="deadline",
        initial_delay=4,
        success_count=5,
        success_for=timedelta(minutes=1),
        missing_ok_for=6,
        retry_transient=True,
    )
    policy = policy_for(DEFINITION, options, 300)
    assert (policy.min_delay, policy.max_delay, policy.max_attempts) == (1.0, 2, 3)
    assert (policy.pace, policy.last_attempt) == (pace, LastAttempt.DEADLINE)
    assert (policy.initial_delay, policy.success_count, policy.missing_ok_for) == (4, 5, 6)
    assert (policy.success_for, policy.retry_transient) == (60, True)


@pytest.mark.parametrize(("value", "explains"), [(None, True), (True, True), (False, False)])
def test_failures_are_explained_unless_that_is_turned_off(value, explains):
    assert policy_for(DEFINITION, WaitOptions(explain_failure=value), 300).explain is explains
    assert not policy_for(DEFINITION, SMITHY, 300).explain


@pytest.mark.parametrize("value", [True, False, "answered"])
def test_retry_transient_has_three_values(value):
    assert policy_for(DEFINITION, WaitOptions(retry_transient=value), 300).retry_transient is value


@pytest.mark.parametrize("name", ["max_wait", "timeout", "MaxWait"])
def test_defaults_name_where_max_wait_is_given(name):
    text = rf"^defaults cannot have {name}: give max_wait to each wait, or put deadline\(seconds\)"
    with pytest.raises(TypeError, match=text):
        as_options({name: 60}, "defaults")


@pytest.mark.parametrize("name", ["success_for", "initial_delay"])
@pytest.mark.parametrize(
    ("max_wait", "kind"),
    [
        (30, ValueError),
        (timedelta(seconds=20), ValueError),
        (30.5, None),
        (0, WaiterTimeoutError),
        (-1, WaiterTimeoutError),
    ],
)
def test_max_wait_is_longer_than_what_it_has_room_for(max_wait, kind, name, virtual_time):
    wait = partial(poll, lambda: None, ANY_RESPONSE, **{name: 30})
    if kind is None:
        wait(max_wait=max_wait)
        return
    with pytest.raises(kind) as caught:
        wait(max_wait=max_wait)
    told = rf"{name} \(30 s\) must be less than max_wait \("
    assert kind is not ValueError or re.search(told, str(caught.value))
