"""`assert_eventually`, `refute_eventually`, `assert_always`, blocking and in tasks."""

import asyncio
import functools
import math
import re
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boto_waiters_plus as bwp
from boto_waiters_plus import testing
from boto_waiters_plus.testing import virtual_time as open_virtual_time

NAMES = ["assert_eventually", "refute_eventually", "assert_always"]


@pytest.fixture
def assertions(styled):
    return styled(testing)


@pytest.fixture
def values(virtual_time):
    """Makes a callable whose value changes with time: `values((0, "a"), (3, "b"))`."""

    def of(*changes):
        def read():
            value = [value for since, value in changes if virtual_time.now >= since - 1e-9][-1]
            if isinstance(value, Exception):
                raise value
            return value

        return read

    return of


def test_assert_eventually_returns_the_matching_value(assertions, values):
    assert assertions.assert_eventually(values((0, None), (3, "ready")), max_wait=5) == "ready"
    assert assertions.assert_eventually(values((0, "pending"), (7, 0)), int, max_wait=9) == 0


def test_a_failure_shows_last_value_and_history(assertions, values):
    read = values((0, None), (1, {"state": "pending"}), (4, {"state": "failed"}))
    with pytest.raises(AssertionError) as raised:
        assertions.assert_eventually(read, {"state": "ready"}, max_wait=5, interval=0.5)
    lines = str(raised.value).splitlines()
    assert lines[0] == "expected {'state': 'ready'} within 5 s"
    assert lines[lines.index("last value: {'state': 'failed'}") :] == [
        "last value: {'state': 'failed'}",
        "history of 11 attempts:",
        "      0.000 s  None  (2 attempts)",
        "      1.000 s  {'state': 'pending'}  (6 attempts)",
        "      4.000 s  {'state': 'failed'}  (3 attempts)",
    ]


def find_user(name):
    return None


def is_confirmed():
    """Tell whether Anna is."""
    return find_user("anna") is not None


def with_several_lines():
    user = find_user("anna")
    return user is not None


def failure_of(call, *pattern, name="assert_eventually", max_wait=1, **options):
    with pytest.raises(AssertionError) as raised:
        getattr(testing, name)(call, *pattern, max_wait=max_wait, **options)
    return str(raised.value)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 tells no columns")
def test_lambdas_of_one_line_are_told_apart(virtual_time):
    calls = [lambda: find_user(1), lambda: find_user(2), lambda: find_user(3)]
    texts = [failure_of(call) for call in calls]
    assert all(f"from: find_user({n})\n" in text for n, text in enumerate(texts, 1))


def test_a_failure_quotes_the_condition(virtual_time):
    name = "anna"
    text = failure_of(lambda: find_user(name) and find_user("bob").confirmed)
    condition = 'from: find_user(name) and find_user("bob").confirmed'
    lines = ["expected a true value within 1 s", condition, " +  where name = 'anna'"]
    assert text.splitlines()[:4] == [*lines, "last value: None"]
    assert 'from: find_user("anna") is not None\n' in failure_of(is_confirmed)
    assert "from:\n    def with_several_lines():\n        user = " in failure_of(with_several_lines)
    assert failure_of(lambda: 5, lambda value: value > 7).startswith("expected value > 7 within")
    text = failure_of(functools.partial(find_user, name=4), is_none, name="refute_eventually")
    assert text.startswith("expected at no attempt for 1 s: value is None\nfrom: None\n")
    text = failure_of(
        lambda: [find_user("anna"),
                 find_user("bob")], [..., "bob"]
    )  # fmt: skip
    assert 'from: [find_user("anna"), find_user("bob")]' in text


def is_none(value):
    return value is None


@pytest.mark.parametrize("call", [int, functools.partial(int), eval("lambda: 0"), [].copy])
def test_a_condition_without_source_is_named(call, virtual_time):
    line = r"^from: (int|partial|lambda in <string>:1|list.copy)$"
    assert re.search(line, failure_of(call), re.MULTILINE)


def test_the_history_is_bounded(virtual_time):
    text = failure_of(lambda: round(virtual_time.now), 99, max_wait=50, interval=1)
    assert "... 41 earlier values" in text
    assert len(text.splitlines()) == 15
    assert text.endswith("     49.750 s  50")


class BrokenError(Exception):
    def __repr__(self):
        raise RuntimeError


def test_a_value_is_shown_as_it_was(virtual_time):
    grown = []

    def read():
        grown.append("x" * 50)
        return grown

    text = failure_of(read, "never", interval=0.2)
    lines = text[text.index("history of") :].splitlines()[1:]
    assert lines[0].endswith(f"['{'x' * 50}']")
    assert max(map(len, lines)) < 250
    assert "last value: <BrokenError instance at" in failure_of(BrokenError, 3)


def test_an_error_is_raised_or_retried_and_shown(assertions, values):
    problem = KeyError("x")
    with pytest.raises(KeyError):
        assertions.assert_eventually(values((0, 0), (1, problem)), max_wait=3)
    with pytest.raises(AssertionError, match=r"KeyError\('x'\)") as raised:
        assertions.assert_eventually(values((0, 0), (1, problem)), max_wait=3, retry_on=KeyError)
    assert raised.value.__cause__ is problem
    assert not isinstance(raised.value, bwp.WaiterError)


# --- the window of the other two ---


HUNDREDTHS = st.integers(1, 1000).map(lambda number: number / 100)


@given(start=st.floats(0, 1e9), interval=HUNDREDTHS, max_wait=st.just(0) | HUNDREDTHS)
def test_attempts_cover_the_window_to_its_end(start, interval, max_wait):
    """An attempt at the start, one each interval, one at the end: whatever the clock shows."""
    wanted = math.ceil(round(max_wait * 100) / round(interval * 100)) + 1
    for name, value in (("assert_always", True), ("refute_eventually", False)):
        with open_virtual_time() as clock:
            clock.advance(start)
            times = []

            def read(clock=clock, times=times, value=value):
                times.append(clock.now - start)
                return value

            getattr(testing, name)(read, max_wait=max_wait, interval=interval)
        assert len(times) == wanted
        assert times[-1] == pytest.approx(max_wait, abs=1e-5)


def test_a_last_value_that_comes_late_counts(assertions, virtual_time):
    def slow():
        before = virtual_time.now
        virtual_time.advance(1.5)
        return before < 4

    with pytest.raises(AssertionError, match="False"):
        assertions.assert_always(slow, max_wait=5, interval=0.5)


def test_an_attempt_that_never_ends_is_no_success(virtual_time):
    attempts = []

    async def read():
        attempts.append(1)
        await (asyncio.Event().wait() if len(attempts) > 1 else asyncio.sleep(0))
        return True

    with pytest.raises(AssertionError, match="last attempt"):
        asyncio.run(testing.assert_always_async(read, max_wait=1, interval=0.8))


@pytest.mark.parametrize(
    ("name", "pattern", "right", "wrong"),
    [("refute_eventually", ["error"], "fine", "error"), ("assert_always", [], 1, False)],
)
def test_a_window_fails_at_the_first_wrong_value(
    assertions, values, virtual_time, name, pattern, right, wrong
):
    def wait(*changes, **options):
        began = virtual_time.now
        shifted = [(since + began, value) for since, value in changes]
        getattr(assertions, name)(values(*shifted), *pattern, interval=0.25, **options)
        return virtual_time.now - began

    assert wait((0, right), max_wait=5) == pytest.approx(5)
    with bwp.deadline(3):
        assert wait((0, right), (2.9, wrong), max_wait=5) == pytest.approx(2.75)
    began = virtual_time.now
    with pytest.raises(AssertionError, match=repr(wrong)):
        wait((0, right), (2, wrong), (2.4, right), max_wait=5)
    assert virtual_time.now - began == pytest.approx(2, abs=0.3)
    with pytest.raises(TypeError, match="last_attempt"):
        wait((0, right), max_wait=5, last_attempt="late")


@pytest.mark.parametrize("name", NAMES)
def test_time_that_is_over_fails_without_a_call(assertions, name, virtual_time):
    with pytest.raises(AssertionError):
        getattr(assertions, name)(lambda: pytest.fail("called"), max_wait=-1)
    with bwp.deadline(1):
        virtual_time.advance(2)
        for given_time in ({}, {"max_wait": 0}):
            with pytest.raises(AssertionError):
                getattr(assertions, name)(lambda: pytest.fail("called"), **given_time)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("call", "options", "words"), [
    (3, {"max_wait": 1}, "something to call"), (int, {}, "max_wait"),
    (int, {"max_wait": 1, "timeout": 3}, r"max_wait.* timeout"),
    (int, {"max_wait": 1, "on_timeout": "last"}, "on_timeout"),
    (int, {"max_wait": 1, "else_": "last"}, "else_"),
])  # fmt: skip
def test_a_bad_argument_is_no_failed_assertion(assertions, name, call, options, words):
    with pytest.raises(TypeError, match=words):
        getattr(assertions, name)(call, **options)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hidden", [False, True], ids=["coroutine function", "hidden"])
def test_a_blocking_assertion_refuses_coroutines(name, hidden, virtual_time):
    async def read():
        raise AssertionError("never called")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=f"{name}_async"):
            getattr(testing, name)((lambda: read()) if hidden else read, max_wait=1)  # noqa: PLW0108 - hides what it is
