"""The general forms, each scenario blocking, in a task, and with a callable that is awaited."""

import asyncio
import logging
import pickle
import threading
import warnings

import botocore.exceptions
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.conditions import (
    First,
    failure,
    fixed,
    like,
    retry,
    success,
    wait_for,
    wait_for_async,
)
from boto_waiters_plus.testing import virtual_time as open_virtual_time


class Looks:
    """A callable that gives one value after the other, then the last for ever."""

    def __init__(self, clock, *values):
        self._clock = clock
        self._values = list(values)
        self.times = []

    def __call__(self):
        self.times.append(round(self._clock.now, 3))
        value = self._values.pop(0) if len(self._values) > 1 else self._values[0]
        if isinstance(value, Exception):
            raise value
        return value


def throttled():
    response = {"Error": {"Code": "ThrottlingException", "Message": "slow down"}}
    return botocore.exceptions.ClientError(response, "DescribeThings")


# --- wait_for ----------------------------------------------------------------


def test_the_first_true_value_is_returned(forms, virtual_time):
    looks = Looks(virtual_time, None, 0, "", [], "ready", "later")
    assert forms.wait_for(looks, max_wait=5) == "ready"


def test_a_value_that_is_true_at_once_needs_one_look(forms, virtual_time):
    looks = Looks(virtual_time, [1])
    assert forms.wait_for(looks, max_wait=5) == [1]
    assert looks.times == [0.0]


def test_looks_are_a_tenth_of_a_second_apart_unless_told_otherwise(forms, virtual_time):
    looks = Looks(virtual_time, 0, 0, 0, 1)
    forms.wait_for(looks, max_wait=5)
    assert looks.times == [0.0, 0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("options", "times"),
    [
        ({"interval": 2}, [0, 2, 4, 6]),
        ({"delay_pace": fixed(3)}, [0, 3, 6, 9]),
        ({"delay_pace": lambda attempt: attempt}, [0, 1, 3, 6]),
        ({"interval": 2, "initial_delay": 5}, [5, 7, 9, 11]),
        ({"min_delay": 4, "max_delay": 4}, [0, 4, 8, 12]),
    ],
)
def test_the_pace_is_the_callers(forms, virtual_time, options, times):
    looks = Looks(virtual_time, 0, 0, 0, 1)
    forms.wait_for(looks, max_wait=60, **options)
    assert looks.times == times


def test_min_and_max_delay_alone_ask_for_the_specifications_backoff(forms, virtual_time):
    looks = Looks(virtual_time, *[0] * 30, 1)
    forms.wait_for(looks, max_wait=600, min_delay=1, max_delay=8)
    pauses = {b - a for a, b in zip(looks.times, looks.times[1:], strict=False)}
    assert pauses <= set(range(1, 9))
    assert len(pauses) > 1


def test_time_used_up_raises_with_what_was_seen_last(forms, virtual_time):
    looks = Looks(virtual_time, None, 0)
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for(looks, max_wait=3, interval=1)
    error = raised.value
    assert (error.waiter, error.attempts, error.max_wait) == ("wait_for", 4, 3)
    assert (error.observed, error.last_value) == (0, 0)
    assert error.elapsed <= 3
    assert virtual_time.now == error.elapsed


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "last seen: None;"),
        (False, "last seen: False;"),
        ("", "last seen: '';"),
        ([], "last seen: [];"),
        ({}, "last seen: a value of type dict of 0;"),
        ((), "last seen: a value of type tuple of 0;"),
    ],
)
def test_the_message_says_what_was_seen_last(forms, virtual_time, value, words):
    with pytest.raises(bwp.WaiterTimeoutError, match="waited for: a true value") as raised:
        forms.wait_for(Looks(virtual_time, value), max_wait=1)
    assert words in str(raised.value)


def test_a_value_that_may_not_be_shown_is_an_attribute_only(forms, virtual_time):
    secret = {"Password": "hunter2"}
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for_match(Looks(virtual_time, secret), {"State": "ready"}, max_wait=1)
    assert raised.value.last_value is secret
    assert raised.value.observed is None
    assert "hunter2" not in f"{raised.value}{raised.value!r}"


def test_the_error_can_be_pickled_whatever_the_last_value_is(virtual_time):
    lock = threading.Lock()
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        conditions.wait_for_match(lambda: lock, 3, max_wait=1)
    assert raised.value.last_value is lock
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (copy.last_value, str(copy)) == (None, str(raised.value))


def test_a_lambda_is_named_by_where_it_stands(virtual_time):
    with pytest.raises(bwp.WaiterTimeoutError, match=r"at lambda in test_forms\.py:\d+ in"):
        wait_for(lambda: 0, max_wait=1)


def test_the_last_look_is_as_late_as_an_answer_allows(forms, virtual_time):
    looks = Looks(virtual_time, 0)
    with pytest.raises(bwp.WaiterTimeoutError):
        forms.wait_for(looks, max_wait=10, interval=4)
    assert looks.times == [0, 4, 8, 9.75]


def test_a_value_that_comes_too_late_is_a_timeout(forms, virtual_time):
    def slow():
        virtual_time.advance(7)
        return "ready"

    with pytest.raises(bwp.WaiterTimeoutError):
        forms.wait_for(slow, max_wait=5)


def test_a_wait_is_bounded_by_the_deadline_around_it(forms, virtual_time):
    with bwp.deadline(4), pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for(Looks(virtual_time, 0))
    assert raised.value.max_wait == 4


def test_nothing_is_called_after_the_deadline_around_it(forms, virtual_time):
    looks = Looks(virtual_time, 1)
    with bwp.deadline(4):
        virtual_time.advance(5)
        with pytest.raises(bwp.WaiterTimeoutError):
            forms.wait_for(looks, max_wait=3, on_timeout="last")
    assert looks.times == []


def test_successes_in_a_row_can_be_asked_for(forms, virtual_time):
    looks = Looks(virtual_time, 1, 0, 1, 1, 1, 0)
    assert forms.wait_for(looks, max_wait=9, success_count=3) == 1
    assert len(looks.times) == 5


def test_attempts_used_up_have_an_error_of_their_own(forms, virtual_time):
    with pytest.raises(bwp.WaiterAttemptsError, match="Max attempts exceeded: 3"):
        forms.wait_for(Looks(virtual_time, 0), max_wait=9, max_attempts=3)


def test_a_cancelled_wait_says_so(forms, virtual_time):
    stop = threading.Event()
    virtual_time.call_at(2, stop.set)
    with pytest.raises(bwp.WaiterCancelledError):
        forms.wait_for(Looks(virtual_time, 0), max_wait=9, cancel_event=stop, on_timeout="last")
    assert virtual_time.now == pytest.approx(2, abs=0.06)


def test_observers_get_every_attempt(forms, virtual_time):
    events = []
    looks = Looks(virtual_time, 0, KeyError("x"), "ready")
    forms.wait_for(looks, max_wait=9, retry_on=KeyError, on_attempt=events.append)
    assert [(e.waiter, e.attempts, e.observed, e.error) for e in events] == [
        ("wait_for", 1, "0", None),
        ("wait_for", 2, None, "KeyError"),
        ("wait_for", 3, "ready", None),
    ]
    assert [event.next_delay for event in events] == [0.1, 0.1, None]


@given(
    ready=st.floats(0, 30),
    interval=st.floats(0.01, 20),
    max_wait=st.floats(0.02, 20),
)
def test_what_is_ready_is_seen_within_an_interval_and_only_the_last_one_can_be_missed(
    ready, interval, max_wait
):
    with open_virtual_time() as clock:
        looks = 0

        def look():
            nonlocal looks
            looks += 1
            return clock.now >= ready

        try:
            wait_for(look, max_wait=max_wait, interval=interval)
        except bwp.WaiterTimeoutError:
            assert ready > max_wait - interval - 1e-6
        else:
            assert clock.now - ready <= max(interval, 0.001) + 1e-6 or looks == 1
        assert clock.now <= max_wait + 1e-6
        assert looks <= max_wait / interval + 2


# --- when time is used up ----------------------------------------------------


def test_the_last_value_can_be_returned_instead(forms, virtual_time):
    looks = Looks(virtual_time, None, 0)
    assert forms.wait_for(looks, max_wait=3, on_timeout="last") == 0


def test_the_last_value_is_that_of_a_look_that_gave_one(forms, virtual_time):
    looks = Looks(virtual_time, 0, KeyError("x"))
    result = forms.wait_for(looks, max_wait=3, retry_on=KeyError, on_timeout="last")
    assert result == 0


def test_without_any_value_the_timeout_is_raised_after_all(forms, virtual_time):
    looks = Looks(virtual_time, KeyError("x"))
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for(looks, max_wait=3, retry_on=KeyError, on_timeout="last")
    assert isinstance(raised.value.__cause__, KeyError)
    assert "last seen: error KeyError" in str(raised.value)


def test_attempts_used_up_are_a_timeout_to_the_else(forms, virtual_time):
    looks = Looks(virtual_time, 0)
    assert forms.wait_for(looks, max_wait=9, max_attempts=2, on_timeout="last") == 0
    assert forms.wait_for(looks, max_wait=9, max_attempts=2, else_=repr) == "0"


def test_else_is_called_with_the_last_value(forms, virtual_time):
    looks = Looks(virtual_time, 0)
    assert forms.wait_for(looks, max_wait=3, else_=lambda last: ("gave up", last)) == ("gave up", 0)


def test_an_exception_that_else_returns_is_raised(forms, virtual_time):
    with pytest.raises(LookupError, match="nothing") as raised:
        forms.wait_for(Looks(virtual_time, 0), max_wait=3, else_=lambda _: LookupError("nothing"))
    assert isinstance(raised.value.__cause__, bwp.WaiterTimeoutError)


def test_a_last_value_that_is_an_exception_is_returned_like_any_other(forms, virtual_time):
    problem = ValueError("kept")
    looks = Looks(virtual_time, [problem])

    def ending_of(**options):
        return forms.wait_for_match(lambda: looks()[0], "ready", max_wait=2, **options)

    assert ending_of(on_timeout="last") is problem
    assert ending_of(else_=[success(ValueError)]) is problem
    assert ending_of(else_=[success(..., lambda value: value)]) is problem


def test_else_cases_are_matched_on_the_last_value(forms, virtual_time):
    def ending_of(last):
        return forms.wait_for_match(
            Looks(virtual_time, last),
            "ready",
            max_wait=2,
            else_=[success(int), success(str, str.upper), failure(None, lambda _: ValueError())],
        )

    assert ending_of(7) == 7
    assert ending_of("busy") == "BUSY"
    with pytest.raises(ValueError):
        ending_of(None)
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        ending_of(2.5)
    assert raised.value.last_value == 2.5


def test_one_else_case_needs_no_list(forms, virtual_time):
    looks = Looks(virtual_time, 0)
    assert forms.wait_for(looks, max_wait=2, else_=success(int, lambda last: [last])) == [0]


def test_an_else_failure_without_a_handler_raises_the_timeout(forms, virtual_time):
    with pytest.raises(bwp.WaiterTimeoutError):
        forms.wait_for(Looks(virtual_time, 0), max_wait=2, else_=[failure(0), success(...)])


def test_an_awaitable_that_a_handler_returns_is_awaited_in_a_task(virtual_time):
    async def later(value):
        await asyncio.sleep(0)
        return [value]

    def ending_of(value, **options):
        wait = conditions.wait_for_case_async
        cases = [success("done", later), failure("broken", later), retry("busy", later)]
        return asyncio.run(wait(lambda: value, cases, max_wait=1, **options))

    assert ending_of("done") == ["done"]
    assert ending_of("broken") == ["broken"]
    assert ending_of("busy", else_=later) == ["busy"]


# --- errors ------------------------------------------------------------------


def test_what_the_callable_raises_passes_as_it_is(forms, virtual_time):
    problem = KeyError("x")
    with pytest.raises(KeyError) as raised:
        forms.wait_for(Looks(virtual_time, 0, problem), max_wait=3, else_=lambda _: "never")
    assert raised.value is problem


def test_what_a_predicate_raises_passes_too(forms, virtual_time):
    with pytest.raises(ZeroDivisionError):
        forms.wait_for_match(Looks(virtual_time, 0), lambda value: 1 / value, max_wait=3)


def test_errors_that_are_named_are_waited_through(forms, virtual_time):
    looks = Looks(virtual_time, KeyError("x"), OSError(), 0, "ready")
    assert forms.wait_for(looks, max_wait=3, retry_on=(LookupError, OSError)) == "ready"


def test_errors_that_the_sdk_retries_are_waited_through_where_asked_for(forms, virtual_time):
    with pytest.raises(botocore.exceptions.ClientError):
        forms.wait_for(Looks(virtual_time, throttled(), "ready"), max_wait=3)
    looks = Looks(virtual_time, throttled(), "ready")
    assert forms.wait_for(looks, max_wait=3, retry_transient=True) == "ready"


def test_an_error_of_a_wait_inside_the_callable_is_the_callables(forms, virtual_time):
    def inner():
        return wait_for(lambda: 0, max_wait=1)

    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for(inner, max_wait=60, else_=lambda _: "never")
    assert raised.value.max_wait == 1


def test_the_callables_own_timeout_error_is_not_ours(forms, virtual_time):
    problem = TimeoutError("theirs")
    with pytest.raises(TimeoutError) as raised:
        forms.wait_for(Looks(virtual_time, problem), max_wait=3)
    assert raised.value is problem


def test_ctrl_c_passes(virtual_time):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait_for(interrupted, max_wait=3, retry_on=Exception)


def test_nothing_but_what_may_be_shown_is_logged(forms, virtual_time, caplog):
    caplog.set_level(logging.DEBUG)
    looks = Looks(virtual_time, {"Password": "hunter2"})
    forms.wait_for(looks, max_wait=3)
    assert "wait_for: attempt 1" in caplog.text
    assert "hunter2" not in caplog.text


# --- wait_for_match ----------------------------------------------------------


def test_the_value_that_matches_is_returned(forms, virtual_time):
    looks = Looks(virtual_time, ("error", None), ("ok", 3), ("ok", 7))
    assert forms.wait_for_match(looks, ("ok", lambda n: n > 5), max_wait=3) == ("ok", 7)


def test_a_false_value_can_be_waited_for(forms, virtual_time):
    assert forms.wait_for_match(Looks(virtual_time, 3, 0), 0, max_wait=3) == 0
    assert forms.wait_for_match(Looks(virtual_time, 3, None), None, max_wait=3) is None


def test_the_message_says_what_pattern_was_waited_for(forms, virtual_time):
    with pytest.raises(bwp.WaiterTimeoutError, match=r"waited for: \{'state': 'ready'\}"):
        forms.wait_for_match(Looks(virtual_time, {}), {"state": "ready"}, max_wait=1)


# --- wait_for_case -----------------------------------------------------------


JOB = [
    success("DONE", lambda _: "result"),
    failure("FAILED"),
    failure("BROKEN", RuntimeError),
    failure("LOST", lambda value: ("recovered", value)),
    retry("DONE?"),
    success(like(startswith=...)),
]


@pytest.mark.parametrize(
    ("values", "result"),
    [
        (["DONE"], "result"),
        (["DONE?", "DONE?", "DONE"], "result"),
        ([1, None, "DONE"], "result"),
        (["LOST"], ("recovered", "LOST")),
        (["other"], "other"),
    ],
)
def test_the_first_case_that_matches_decides(forms, virtual_time, values, result):
    assert forms.wait_for_case(Looks(virtual_time, *values), JOB, max_wait=5) == result


def test_a_failure_case_raises_and_names_itself(forms, virtual_time):
    with pytest.raises(bwp.WaiterFailedError, match="terminal failure state: 'FAILED'") as raised:
        forms.wait_for_case(Looks(virtual_time, 1, "FAILED"), JOB, max_wait=5)
    assert raised.value.acceptor.index == 1
    assert (raised.value.last_value, raised.value.attempts) == ("FAILED", 2)


def test_an_exception_that_a_failure_handler_returns_is_raised(forms, virtual_time):
    with pytest.raises(RuntimeError, match="BROKEN") as raised:
        forms.wait_for_case(Looks(virtual_time, "BROKEN"), JOB, max_wait=5)
    assert isinstance(raised.value.__cause__, bwp.WaiterFailedError)


def test_an_exception_that_a_success_handler_returns_is_a_value(forms, virtual_time):
    result = forms.wait_for_case(
        Looks(virtual_time, 1), [success(1, lambda _: ValueError("kept"))], max_wait=5
    )
    assert isinstance(result, ValueError)


def test_a_retry_handler_is_called_at_each_look_it_takes(forms, virtual_time):
    seen = []
    looks = Looks(virtual_time, "busy", "idle", "busy", "done")
    cases = [retry("busy", seen.append), success("done")]
    assert forms.wait_for_case(looks, cases, max_wait=5) == "done"
    assert seen == ["busy", "busy"]


def test_a_handler_is_called_once(forms, virtual_time):
    calls = []
    for value in ("good", "bad"):
        cases = [success("good", calls.append), failure("bad", calls.append)]
        forms.wait_for_case(Looks(virtual_time, 0, value), cases, max_wait=5)
    assert calls == ["good", "bad"]


def test_what_a_handler_raises_passes(forms, virtual_time):
    def refuse(value):
        raise LookupError(value)

    for case in (success("x", refuse), failure("x", refuse), retry("x", refuse)):
        with pytest.raises(LookupError):
            forms.wait_for_case(Looks(virtual_time, "x"), [case], max_wait=5, retry_on=LookupError)


def test_a_thermostat_can_be_read_off_the_seed(forms, virtual_time):
    def thermostat(*temperatures):
        return forms.wait_for_case(
            Looks(virtual_time, *temperatures),
            [
                success(lambda t: t > 22, lambda _: "cool"),
                success(lambda t: t < 18, lambda _: "heat"),
            ],
            max_wait=60,
        )

    assert thermostat(20, 21, 23) == "cool"
    assert thermostat(20, 19, 17) == "heat"


# --- wait_for_first ----------------------------------------------------------


def test_the_first_condition_that_is_true_is_told(forms, virtual_time):
    three = {"a": Looks(virtual_time, 0), "b": Looks(virtual_time, 0, 0, "b!"), "c": lambda: 0}
    assert forms.wait_for_first(three, max_wait=5) == First("b", "b!")


def test_conditions_in_a_list_are_told_by_index(forms, virtual_time):
    index, value = forms.wait_for_first([lambda: 0, lambda: "x"], max_wait=5)
    assert (index, value) == (1, "x")


def test_a_look_stops_at_the_first_that_is_true(forms, virtual_time):
    behind = Looks(virtual_time, 1)
    assert forms.wait_for_first([lambda: 1, behind], max_wait=5).key == 0
    assert behind.times == []


@pytest.mark.parametrize(
    ("conditions_", "values"),
    [
        ([lambda: 0, lambda: ""], [0, ""]),
        ({"a": lambda: None, "b": lambda: 0}, {"a": None, "b": 0}),
    ],
    ids=["list", "mapping"],
)
def test_where_none_comes_true_all_values_are_told(forms, virtual_time, conditions_, values):
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for_first(conditions_, max_wait=2)
    assert raised.value.last_value == First(None, values)
    assert forms.wait_for_first(conditions_, max_wait=2, on_timeout="last") == First(None, values)
    assert forms.wait_for_first(conditions_, max_wait=2, else_=lambda f: f.value) == values


def test_observers_are_told_which_came_first(forms, virtual_time):
    events = []
    forms.wait_for_first(
        {"a": lambda: 0, "b": Looks(virtual_time, 0, 1)}, max_wait=2, on_attempt=events.append
    )
    assert [event.observed for event in events] == ["[0, 0]", "b"]


# --- tasks -------------------------------------------------------------------


def test_a_task_that_is_cancelled_leaves_nothing_behind():
    started, cancelled = asyncio.Event, []

    async def main():
        begun = started()

        async def look():
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        task = asyncio.ensure_future(wait_for_async(look, max_wait=60))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(main()) == set()
    assert cancelled == [True]


def test_a_callable_that_hangs_is_cancelled_at_max_wait():
    cancelled = []

    async def look():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def main():
        with pytest.raises(bwp.WaiterTimeoutError):
            await wait_for_async(look, max_wait=0.05)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(main()) == set()
    assert cancelled == [True]


def test_waits_of_several_tasks_run_side_by_side(virtual_time):
    async def main():
        ready = {3: "a", 1: "b", 2: "c"}
        return await asyncio.gather(
            *(
                wait_for_async(lambda at=at, name=name: virtual_time.now >= at and name, max_wait=9)
                for at, name in ready.items()
            )
        )

    assert asyncio.run(main()) == ["a", "b", "c"]
    assert virtual_time.now == pytest.approx(3, abs=0.11)


# --- bad input ---------------------------------------------------------------


ANY_RESPONSE = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}


async def a_coroutine_function():
    raise AssertionError("never called")


def ok():
    return 1


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda f: f.wait_for(3, max_wait=1), TypeError, "something to call, not int"),
        (lambda f: f.poll(3, ANY_RESPONSE, max_wait=1), TypeError, "callable, not int"),
        (lambda f: f.wait_for(ok), TypeError, "needs max_wait"),
        (lambda f: f.wait_for(ok, max_wait=0), ValueError, "max_wait"),
        (lambda f: f.wait_for(ok, max_wait="5"), TypeError, "max_wait"),
        (lambda f: f.wait_for(ok, max_wait=1, intervall=3), TypeError, "mean 'interval'"),
        (lambda f: f.wait_for(ok, max_wait=1, interval=0), ValueError, "interval"),
        (lambda f: f.wait_for(ok, max_wait=1, interval=fixed(1)), TypeError, "interval"),
        (
            lambda f: f.wait_for(ok, max_wait=1, interval=1, delay_pace=fixed(1)),
            TypeError,
            "interval and delay_pace",
        ),
        (
            lambda f: f.wait_for(ok, max_wait=1, interval=1, min_delay=1),
            TypeError,
            "interval and min_delay",
        ),
        (
            lambda f: f.wait_for(ok, max_wait=1, signal="x", wake_signal=threading.Event()),
            TypeError,
            "signal and wake_signal",
        ),
        (lambda f: f.wait_for(ok, max_wait=1, polling=False), TypeError, "needs a signal"),
        (lambda f: f.wait_for(ok, max_wait=1, polling=0), TypeError, "True or False"),
        (
            lambda f: f.wait_for(ok, max_wait=1, polling=False, signal="x", interval=1),
            TypeError,
            "leaves no delays",
        ),
        (lambda f: f.wait_for(ok, max_wait=1, signal=[]), TypeError, "unhashable"),
        (lambda f: f.wait_for(ok, max_wait=1, missing_ok_for=3), TypeError, "retry_on"),
        (lambda f: f.wait_for(ok, max_wait=1, retry_on="KeyError"), TypeError, "exceptions"),
        (lambda f: f.wait_for(ok, max_wait=1, retry_on=KeyboardInterrupt), TypeError, "exceptions"),
        (lambda f: f.wait_for(ok, max_wait=1, on_timeout="return"), ValueError, "on_timeout"),
        (
            lambda f: f.wait_for(ok, max_wait=1, on_timeout="last", else_=repr),
            TypeError,
            "give one of them",
        ),
        (lambda f: f.wait_for(ok, max_wait=1, else_=3), TypeError, "else_"),
        (lambda f: f.wait_for(ok, max_wait=1, else_=[retry(1)]), ValueError, "nothing to retry"),
        (lambda f: f.wait_for_case(ok, [], max_wait=1), ValueError, "empty"),
        (lambda f: f.wait_for_case(ok, "DONE", max_wait=1), TypeError, "list of cases"),
        (lambda f: f.wait_for_case(ok, ["DONE"], max_wait=1), TypeError, "success"),
        (lambda f: f.wait_for_case(ok, [success(1, 2)], max_wait=1), TypeError, "handler"),
        (lambda f: f.wait_for_first({}, max_wait=1), ValueError, "empty"),
        (lambda f: f.wait_for_first({None: ok}, max_wait=1), ValueError, "None"),
        (lambda f: f.wait_for_first([ok, 3], max_wait=1), TypeError, "condition 1"),
        (lambda f: f.wait_for_first("ab", max_wait=1), TypeError, "mapping or a list"),
    ],
)
def test_bad_input_is_refused_before_the_first_look(forms, virtual_time, call, error, words):
    with pytest.raises(error, match=words):
        call(forms)
    assert virtual_time.now == 0


@pytest.mark.parametrize(
    "wait",
    [
        lambda call: wait_for(call, max_wait=1, retry_on=TypeError),
        lambda call: conditions.wait_for_match(call, 1, max_wait=1, retry_on=TypeError),
        lambda call: conditions.wait_for_case(call, [success(1)], max_wait=1, retry_on=TypeError),
        lambda call: conditions.wait_for_first([call], max_wait=1),
        lambda call: conditions.poll(call, ANY_RESPONSE, max_wait=1),
    ],
    ids=["wait_for", "wait_for_match", "wait_for_case", "wait_for_first", "poll"],
)
@pytest.mark.parametrize("hidden", [False, True], ids=["coroutine function", "hidden"])
def test_what_has_to_be_awaited_is_refused_where_nothing_awaits(virtual_time, wait, hidden):
    call = (lambda: a_coroutine_function()) if hidden else a_coroutine_function  # noqa: PLW0108 - hides what it is
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=r"awaited: use .*_async"):
            wait(call)


def test_every_option_of_a_wait_is_one_of_the_forms():
    known = set(conditions.ConditionOptions.__annotations__)
    assert known == {*bwp.WaitOptions.__dataclass_fields__, *OWN} - {"missing_ok_for"}


OWN = {"interval", "signal", "polling", "retry_on"}
