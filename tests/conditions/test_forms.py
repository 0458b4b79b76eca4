"""The general forms, each scenario blocking, in a task, and with an awaited callable."""

import asyncio
import logging
import pickle
import threading
import warnings
from datetime import timedelta
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ParamValidationError
from hypothesis import given
from hypothesis import strategies as st

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions
from boto_waiters_plus.conditions import (
    First,
    failure,
    fixed,
    propagating,
    retry,
    success,
    wait_for,
)
from boto_waiters_plus.testing import virtual_time as open_virtual_time

ONE = [success(1)]
FORMS = {
    "wait_for": lambda forms, call, **options: forms.wait_for(call, **options),
    "wait_for_match": lambda forms, call, **options: forms.wait_for_match(call, 1, **options),
    "wait_for_case": lambda forms, call, **options: forms.wait_for_case(call, ONE, **options),
    "wait_for_first": lambda forms, call, **options: forms.wait_for_first([call], **options),
}


def client_error(code, message="", operation="CreateFunction"):
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


# --- wait_for ----------------------------------------------------------------


@pytest.mark.parametrize("none", [{}, {"signal": None}, {"interval": None}, {"else_": None}])
def test_wait_for_returns_the_first_true_value(forms, values, none):
    call = values(None, 0, "", [], "ready", "later")
    assert forms.wait_for(call, max_wait=5, **none) == "ready"
    assert call.times == [0, 0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(("options", "given_values", "times"), [
    ({}, [0, 0, 1], [0, 0.1, 0.2]),
    ({"interval": 0}, [0, 0, 1], [0, 0.001, 0.002]),
    ({"interval": 2}, [0, 0, 1], [0, 2, 4]),
    ({"delay_pace": fixed(3)}, [0, 0, 1], [0, 3, 6]),
    ({"delay_pace": "fixed", "min_delay": 3}, [0, 0, 1], [0, 3, 6]),
    ({"delay_pace": lambda attempt: attempt}, [0, 0, 1], [0, 1, 3]),
    ({"delay_pace": conditions.exponential(1, limit=8)}, [0], [0, 1, 3, 7, 15, 19.75]),
    ({"interval": 2, "initial_delay": 5}, [0, 0, 1], [5, 7, 9]),
    ({"min_delay": 4, "max_delay": 4}, [0, 0, 1], [0, 4, 8]),
    ({"interval": 1, "success_count": 3}, [1, 0, 1, 1, 1, 0], [0, 1, 2, 3, 4]),
    ({"interval": 9}, [0], [0, 9, 18, 19.75]),
])  # fmt: skip
def test_options_choose_the_times_of_attempts(forms, values, options, given_values, times):
    call = values(*given_values)
    forms.wait_for(call, max_wait=20, on_timeout="last", **options)
    assert call.times == times


EMPTY = "a value of type dict of length 0"


@pytest.mark.parametrize(
    ("value", "words"), [(None, "None"), ("", "''"), ({}, EMPTY), (Decimal("2.50"), "2.50")]
)
def test_the_message_tells_the_last_value_and_the_pattern(virtual_time, value, words):
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        conditions.wait_for_match(lambda: value, ("ok", 3), max_wait=3, interval=1)
    error = raised.value
    assert error.last_value is value
    assert (error.waiter, error.attempts, error.max_wait) == ("wait_for_match", 4, 3)
    assert error.elapsed == virtual_time.now <= 3
    for text in ("for lambda in test_forms.py:", "('ok', 3)", f"last state seen: {words} ("):
        assert text in str(error)


def test_a_sensitive_last_value_is_an_attribute_only(forms, values, caplog):
    caplog.set_level(logging.DEBUG)
    secret = {"Password": "hunter2"}
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for_match(values(secret), {"State": "ready"}, max_wait=1)
    assert (raised.value.last_value, raised.value.observed) == (secret, None)
    assert "hunter2" not in f"{raised.value}{raised.value!r}{caplog.text}"


def test_the_error_pickles_whatever_the_last_value(virtual_time):
    lock = threading.Lock()
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        conditions.wait_for_match(lambda: lock, 3, max_wait=1)
    assert raised.value.last_value is lock
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (copy.last_value, str(copy)) == (None, str(raised.value))


def test_a_cancelled_wait_raises_whatever_else(forms, values, virtual_time):
    stop = threading.Event()
    virtual_time.call_at(2, stop.set)
    with pytest.raises(bwp.WaiterCancelledError):
        forms.wait_for(values(0), max_wait=9, cancel_event=stop, on_timeout="last")
    assert virtual_time.now == pytest.approx(2, abs=0.06)


WRONG = "Invalid type for parameter Key, value: hunter2, type: x"
BROKEN = [
    (KeyError("x"), "KeyError: 'x'"),
    (ValueError(), "ValueError."),
    (ValueError("two\nlines\x1b[1m. "), r"ValueError: two\nlines\x1b[1m."),
    (ValueError("https://u:p@host/?q=1 password=hunter2"), "https://host/ password=***"),
    (ValueError("long " * 99), "..."),
    (client_error("Busy", "try again"), "ClientError: An error occurred (Busy)"),
    (ParamValidationError(report=WRONG), "ParamValidationError: the type of Key is wrong"),
]


class NoTextError(Exception):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("last", [[], [0]], ids=["at the end", "before"])
@pytest.mark.parametrize("bound", ["max_wait", "max_attempts", "cancel_event"])
def test_the_end_has_the_last_exception_retried(forms, values, virtual_time, form, last, bound):
    cancel = threading.Event()
    virtual_time.call_at(1, cancel.set)
    options = {"max_wait": 3, bound: {"cancel_event": cancel}.get(bound, 3)}
    call = values(KeyError("earlier"), KeyError("x"), *last)
    with pytest.raises(bwp.WaiterError) as caught:
        form(forms, call, retry_on=KeyError, **options)
    assert "The last exception that was retried: KeyError: 'x'." in str(caught.value)
    assert "earlier" not in str(caught.value)
    assert caught.value.last_exception is caught.value.__cause__
    assert pickle.loads(pickle.dumps(caught.value)).last_exception.args == ("x",)


@pytest.mark.parametrize(("error", "text"), [*BROKEN, (NoTextError(), "NoTextError.")])
@pytest.mark.parametrize("last", [[], [0]], ids=["at the end", "before"])
def test_the_text_of_an_exception_is_safe(forms, values, error, text, last):
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        forms.wait_for(values(error, *last), max_wait=3, retry_on=Exception)
    assert text in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500
    assert caught.value.last_exception is error


@pytest.mark.parametrize("end", ["failed", ValueError("raised")])
def test_no_failure_has_an_earlier_exception(forms, values, end):
    call = values(KeyError("earlier"), end)
    with pytest.raises((bwp.WaiterFailedError, ValueError)) as caught:
        forms.wait_for_case(call, [failure("failed")], max_wait=3, retry_on=KeyError)
    assert "earlier" not in str(caught.value)
    assert getattr(caught.value, "last_exception", None) is None


@pytest.mark.parametrize(
    "options", [{}, {"initial_delay": 3}, {"signal": "x", "polling": False}, {"on_timeout": "last"}]
)
def test_time_that_is_over_makes_no_attempt(forms, values, options):
    call = values("ready")
    with pytest.raises(bwp.WaiterTimeoutError):
        forms.wait_for(call, max_wait=-0.5, **options)
    options = {**options, "initial_delay": 0}
    with bwp.deadline(0), pytest.raises(bwp.WaiterTimeoutError):
        forms.wait_for(call, max_wait=0, **options)
    assert forms.wait_for(call, max_wait=-1, else_=lambda value: (value, "else")) == (None, "else")
    assert call.times == []


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("options", [{}, {"signal": "x", "polling": False}])
def test_no_time_is_one_attempt_of_any_length(forms, virtual_time, form, options):
    values = iter([1, 0, 1])

    def slow():
        virtual_time.advance(7)
        return next(values)

    assert form(forms, slow, max_wait=0, **options) in (1, First(0, 1))
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        form(forms, slow, max_wait=timedelta(0), **options)
    assert raised.value.attempts == 1
    assert form(forms, slow, max_wait=0, **options) in (1, First(0, 1))


@given(ready=st.floats(0, 30), interval=st.floats(0.01, 20), max_wait=st.floats(0.02, 20))
def test_a_ready_value_is_seen_within_an_interval(ready, interval, max_wait):
    """Only what becomes ready during the last interval can be missed."""
    with open_virtual_time() as clock:
        attempts = 0

        def call():
            nonlocal attempts
            attempts += 1
            return clock.now >= ready

        try:
            wait_for(call, max_wait=max_wait, interval=interval)
        except bwp.WaiterTimeoutError:
            assert ready > max_wait - interval - 1e-6
        else:
            assert clock.now - ready <= max(interval, 0.001) + 1e-6 or attempts == 1
        assert clock.now <= max_wait + 1e-6
        assert attempts <= max_wait / interval + 2


# --- on_timeout and else_ ----------------------------------------------------


def test_on_timeout_last_returns_the_last_value(forms, values):
    assert forms.wait_for(values(None, []), max_wait=3, on_timeout="last") == []
    # An attempt that ended in an error has no value.
    ends = {"max_wait": 3, "retry_on": KeyError, "on_timeout": "last"}
    assert forms.wait_for(values(0, KeyError("x")), **ends) == 0
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for(values(KeyError("x")), **ends)
    assert isinstance(raised.value.__cause__, KeyError)


def test_used_up_attempts_end_as_a_timeout(forms, values):
    call = values(0)
    assert forms.wait_for(call, max_wait=9, max_attempts=1, on_timeout="last") == 0
    assert forms.wait_for(call, max_wait=9, max_attempts=2, else_=repr) == "0"
    assert call.times == [0, 0, 0.1]
    with pytest.raises(bwp.WaiterAttemptsError):
        forms.wait_for(call, max_wait=9, max_attempts=3)


def test_a_last_value_may_be_an_exception(forms, virtual_time):
    problem = ValueError("kept")

    def result_with(**options):
        return forms.wait_for_match(lambda: problem, "ready", max_wait=2, **options)

    assert result_with(on_timeout="last") is problem
    assert result_with(else_=[success(ValueError)]) is problem
    assert result_with(else_=[success(..., lambda value: value)]) is problem
    with pytest.raises(ValueError, match="kept") as raised:
        result_with(else_=lambda value: value)
    assert isinstance(raised.value.__cause__, bwp.WaiterTimeoutError)


def test_else_cases_match_the_last_value(forms, values):
    broken = [failure(None, lambda _: ValueError()), failure(b"")]
    cases = [success(int), success(str, str.upper), *broken]

    def result_of(last, else_=cases):
        return forms.wait_for_match(values(last), "ready", max_wait=2, else_=else_)

    assert result_of(7) == 7
    assert result_of(7, success(int, lambda last: [last])) == [7]
    assert result_of("busy") == "BUSY"
    with pytest.raises(ValueError):
        result_of(None)
    for unmatched in (2.5, b""):
        with pytest.raises(bwp.WaiterTimeoutError) as raised:
            result_of(unmatched)
        assert raised.value.last_value == unmatched


def test_handlers_are_awaited_in_a_task(virtual_time):
    awaited = []

    async def later(value):
        await asyncio.sleep(0)
        awaited.append(value)
        return [value]

    def result_of(value, **options):
        wait = conditions.wait_for_case_async
        cases = [success("done", later), failure("broken", later), retry("busy", later)]
        return asyncio.run(wait(lambda: value, cases, max_wait=1, **options))

    assert result_of("done") == ["done"]
    assert result_of("broken") == ["broken"]
    assert result_of("busy", max_attempts=2, else_=later) == ["busy"]
    assert awaited == ["done", "broken", "busy", "busy", "busy"]


# --- errors ------------------------------------------------------------------


ASSUME = "The role defined for the function cannot be assumed by Lambda."
INVALID = "InvalidParameterValueException"
NO_GROUP = "InvalidGroup.NotFound"
GROUP = "The security group 'sg-0123' does not exist"
NAMED_GROUP = "The security group 'web' does not exist in default VPC 'vpc-0123'"
LOST = EndpointConnectionError(endpoint_url="https://x")


@pytest.mark.parametrize(("options", "given_values", "is_retried"), [
    ({"retry_on": (LookupError, OSError)}, [KeyError("x"), OSError()], True),
    ({"retry_on": LookupError}, [OSError()], False),
    ({"retry_on": (KeyError, propagating)}, [client_error(INVALID, ASSUME)], True),
    ({"retry_on": propagating}, [client_error(INVALID, "python2.6")], False),
    ({"retry_on": propagating}, [client_error(INVALID, ASSUME, "X")], False),
    ({"retry_on": propagating}, [LookupError(ASSUME)], False),
    ({"retry_on": propagating}, [client_error(NO_GROUP, GROUP, "RunInstances")], True),
    ({"retry_on": propagating}, [client_error(NO_GROUP, NAMED_GROUP, "RunInstances")], False),
    ({"retry_on": propagating}, [client_error(NO_GROUP, GROUP, "DeleteSecurityGroup")], False),
    ({}, [client_error("ThrottlingException")], True),
    ({"retry_transient": False}, [client_error("ThrottlingException")], False),
    # Until the callable has returned once, a missing connection may be a wrong address.
    ({}, [LOST], False),
    ({}, [0, LOST], True),
    ({"retry_transient": True}, [LOST], True),
    # No end of this wait, which `else_` would answer.
    ({"else_": repr}, [0, TimeoutError("its own")], False),
    ({"else_": repr}, [0, bwp.WaiterTimeoutError("inner", "timed out")], False),
])  # fmt: skip
def test_options_choose_the_errors_to_retry(forms, values, options, given_values, is_retried):
    call = values(*given_values, "ready")
    if is_retried:
        assert forms.wait_for(call, max_wait=3, **options) == "ready"
    else:
        with pytest.raises(type(given_values[-1])) as caught:
            forms.wait_for(call, max_wait=3, **options)
        assert caught.value is given_values[-1]


def test_an_error_of_a_predicate_is_one_of_the_callable(forms, values):
    def wait(**options):
        call = values({}, {"state": "ready"})
        return forms.wait_for_match(call, lambda value: value["state"], max_wait=3, **options)

    with pytest.raises(KeyError):
        wait()
    assert wait(retry_on=KeyError) == {"state": "ready"}


# --- wait_for_match ----------------------------------------------------------


def test_wait_for_match_returns_the_matching_value(forms, values):
    call = values(("error", None), ("ok", 3), ("ok", 7))
    assert forms.wait_for_match(call, ("ok", lambda n: n > 5), max_wait=3) == ("ok", 7)
    assert forms.wait_for_match(values(3, None), None, max_wait=3) is None


# --- wait_for_case -----------------------------------------------------------


JOB = [
    success("DONE", lambda _: "result"),
    failure("FAILED"),
    failure("BROKEN", RuntimeError),
    failure("LOST", lambda value: ("recovered", value)),
    retry("DONE?"),
    success(conditions.like(startswith=...)),
]


@pytest.mark.parametrize(("given_values", "result"), [
    (["DONE"], "result"), (["DONE?", "DONE?", "DONE"], "result"), ([1, None, "DONE"], "result"),
    (["LOST"], ("recovered", "LOST")), (["other"], "other"),
])  # fmt: skip
def test_the_first_matching_case_decides(forms, values, given_values, result):
    never = {"else_": lambda _: pytest.fail("called before the time was over")}
    assert forms.wait_for_case(values(*given_values), JOB, max_wait=5, **never) == result


def test_a_failure_case_raises_and_is_named(forms, values):
    with pytest.raises(bwp.WaiterFailedError, match="'FAILED'") as raised:
        forms.wait_for_case(values(1, "FAILED"), JOB, max_wait=5)
    assert raised.value.acceptor.index == 1
    assert (raised.value.last_value, raised.value.attempts) == ("FAILED", 2)
    with pytest.raises(RuntimeError, match="BROKEN") as raised:
        forms.wait_for_case(values("BROKEN"), JOB, max_wait=5)
    assert isinstance(raised.value.__cause__, bwp.WaiterFailedError)


@pytest.mark.parametrize("kind", [success, failure, retry])
def test_a_handler_is_called_once_and_may_raise(forms, values, kind):
    calls = []

    def refuse(value):
        calls.append(value)
        raise LookupError(value)

    with pytest.raises(LookupError):
        forms.wait_for_case(values("x"), [kind("x", refuse)], max_wait=5, retry_on=LookupError)
    assert calls == ["x"]
    returned = forms.wait_for_case(values(1), success(1, ValueError), max_wait=5)
    assert isinstance(returned, ValueError)


# --- wait_for_first ----------------------------------------------------------


def test_the_first_true_condition_is_returned(forms, values):
    events, behind = [], values(1)
    three = {"a": values(0), "b": values(0, "b!"), "c": lambda: 0}
    first = forms.wait_for_first(three, max_wait=5, on_attempt=events.append)
    assert first == First("b", "b!")
    assert [event.state for event in events] == ["0, 0, 0", "b"]
    assert forms.wait_for_first([values(1), behind], max_wait=5) == (0, 1)
    assert behind.times == []


def test_without_a_true_condition_all_values_are_kept(forms, virtual_time):
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        forms.wait_for_first({"a": lambda: None, "b": int}, max_wait=2)
    assert raised.value.last_value == First(None, {"a": None, "b": 0})


# --- tasks -------------------------------------------------------------------


@pytest.mark.parametrize(("max_wait", "end", "error"), [
    (600, "task", asyncio.CancelledError),
    (600, "event", bwp.WaiterCancelledError),
    (0.05, "time", bwp.WaiterTimeoutError),
])  # fmt: skip
def test_the_end_of_a_wait_cancels_its_call(max_wait, end, error):
    calls, stop = [], threading.Event()

    async def main():
        async def hanging():
            calls.append(asyncio.current_task())
            {"task": task.cancel, "event": stop.set}.get(end, int)()
            await asyncio.Event().wait()

        wait = conditions.wait_for_async(hanging, max_wait=max_wait, cancel_event=stop)
        task = asyncio.ensure_future(wait)
        with pytest.raises(error):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert calls[0].cancelled()


# --- bad arguments -----------------------------------------------------------


async def a_coroutine_function():
    raise AssertionError("never called")


def ok():
    return 1


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"interval": fixed(1)}, TypeError, "delay_pace"),
    ({"interval": 1, "min_delay": 1}, TypeError, "interval and min_delay"),
    ({"signal": "x", "wake_signal": threading.Event()}, TypeError, "signal and wake_signal"),
    ({"polling": False, "signal": "x", "interval": 1}, TypeError, "interval"),
    ({"retry_on": KeyboardInterrupt}, TypeError, "exception"),
    ({"on_timeout": "last", "else_": repr}, TypeError, "else_"),
    ({"else_": [retry(1)]}, ValueError, "else_: retry"),
])  # fmt: skip
def test_a_bad_option_is_refused_before_any_call(forms, values, options, error, words):
    call = values(1)
    with pytest.raises(error, match=words):
        forms.wait_for(call, **{"max_wait": 1, **options})
    assert call.times == []


@pytest.mark.parametrize(("form", "arguments", "error", "words"), [
    ("wait_for_case", [ok, []], ValueError, "empty"),
    ("wait_for_case", [ok, "DONE"], TypeError, "list of cases"),
    ("wait_for_case", [ok, ["DONE"]], TypeError, "success"),
    ("wait_for_first", [{}], ValueError, "empty"),
    ("wait_for_first", [{None: ok}], ValueError, "None"),
    ("wait_for_first", [[ok, 3]], TypeError, "condition 1"),
    ("wait_for_first", ["ab"], TypeError, "mapping or a list"),
])  # fmt: skip
def test_a_bad_argument_is_refused(forms, virtual_time, form, arguments, error, words):
    with pytest.raises(error, match=words):
        getattr(forms, form)(*arguments, max_wait=1)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("hidden", [False, True], ids=["coroutine function", "hidden"])
def test_a_blocking_form_refuses_coroutines(virtual_time, form, hidden):
    call = (lambda: a_coroutine_function()) if hidden else a_coroutine_function  # noqa: PLW0108 - hides what it is
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match="_async"):
            form(conditions, call, max_wait=1)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_each_form_keeps_the_options(forms, values, virtual_time, form):
    call = values(0, KeyError("x"), 0, 1)
    form(forms, call, max_wait=60, interval=2, initial_delay=5, retry_on=KeyError)
    assert call.times == [5, 7, 9, 11]
    call = values(0, 1)
    virtual_time.call_at(virtual_time.now + 30, conditions.Signal("ready").notify)
    began = virtual_time.now
    form(forms, call, max_wait=60, signal="ready", polling=False)
    assert call.times[-1] - began == pytest.approx(30, abs=0.1)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_each_form_ends_as_it_is_told(forms, values, form):
    """By default, by its last value, or by the else clause."""
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        form(forms, values(0), max_wait=3)
    last = raised.value.last_value
    assert last in (0, First(None, [0]))
    assert form(forms, values(0), max_wait=3, on_timeout="last") == last
    assert form(forms, values(0), max_wait=3, else_=lambda found: ("else", found)) == ("else", last)
