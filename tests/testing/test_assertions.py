"""`assert_eventually`, `refute_eventually`, `assert_always`, blocking and in tasks."""

import asyncio
import warnings

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import testing
from boto_waiters_plus.conditions import Signal, like


class Assertions:
    """The assertions in one style, all called as if they blocked."""

    def __init__(self, style):
        self._style = style

    def __getattr__(self, name):
        if self._style == "blocking":
            return getattr(testing, name)

        def assertion(call, *arguments, **options):
            async def awaited():
                await asyncio.sleep(0)
                return call()

            look = awaited if self._style == "awaited" and callable(call) else call
            return asyncio.run(getattr(testing, f"{name}_async")(look, *arguments, **options))

        return assertion


@pytest.fixture(params=["blocking", "task", "awaited"])
def assertions(request):
    return Assertions(request.param)


@pytest.fixture
def values(virtual_time):
    """Makes a callable that gives what stands at the time: `values((0, "a"), (3, "b"))`."""

    def of(*changes):
        def look():
            value = [value for since, value in changes if virtual_time.now >= since - 1e-9][-1]
            if isinstance(value, Exception):
                raise value
            return value

        return look

    return of


# --- assert_eventually -------------------------------------------------------


def test_what_becomes_true_passes_and_is_returned(assertions, values):
    assert assertions.assert_eventually(values((0, None), (3, "ready")), max_wait=5) == "ready"


def test_what_comes_to_match_passes_and_is_returned(assertions, values):
    look = values((0, "pending"), (3, 0))
    assert assertions.assert_eventually(look, int, max_wait=5) == 0


def test_the_failure_tells_the_last_value_and_the_history(assertions, values):
    look = values((0, None), (1, {"state": "pending"}), (4, {"state": "failed"}))
    with pytest.raises(AssertionError) as raised:
        assertions.assert_eventually(look, {"state": "ready"}, max_wait=5, interval=0.5)
    lines = str(raised.value).splitlines()
    assert lines[0] == "expected {'state': 'ready'} within 5 s"
    assert lines[1].startswith("from: ")
    assert lines[2:] == [
        "last value: {'state': 'failed'}",
        "history of 11 looks:",
        "      0.000 s  None  (2 looks)",
        "      1.000 s  {'state': 'pending'}  (6 looks)",
        "      4.000 s  {'state': 'failed'}  (3 looks)",
    ]


def test_a_failure_is_an_assertion_error_and_no_more(assertions, values):
    with pytest.raises(AssertionError) as raised:
        assertions.assert_eventually(values((0, 0)), max_wait=1)
    assert not isinstance(raised.value, bwp.WaiterError)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_the_history_is_bounded(virtual_time):
    def look():
        return round(virtual_time.now)

    with pytest.raises(AssertionError) as raised:
        testing.assert_eventually(look, "never", max_wait=50, interval=1)
    text = str(raised.value)
    assert "... 41 earlier values" in text
    assert len(text.splitlines()) == 15
    assert text.endswith("     49.750 s  50")


def test_a_value_is_shown_as_it_was_and_cut(virtual_time):
    grown = []

    def look():
        grown.append("x" * 50)
        return grown

    with pytest.raises(AssertionError) as raised:
        testing.assert_eventually(look, "never", max_wait=1, interval=0.2)
    lines = str(raised.value).splitlines()[4:]
    assert lines[0].endswith(f"['{'x' * 50}']")
    assert max(map(len, lines)) < 250


def test_a_value_whose_repr_fails_is_shown_somehow(virtual_time):
    class Broken:
        def __repr__(self):
            raise RuntimeError

    with pytest.raises(AssertionError, match="Broken"):
        testing.assert_eventually(Broken, 3, max_wait=1)


def test_an_error_that_is_waited_through_is_told(assertions, values):
    problem = KeyError("x")
    with pytest.raises(AssertionError, match=r"last value: raised KeyError\('x'\)") as raised:
        assertions.assert_eventually(values((0, 0), (1, problem)), max_wait=3, retry_on=KeyError)
    assert raised.value.__cause__ is problem


def test_an_error_that_passed_is_not_the_cause(assertions, values):
    look = values((0, KeyError("x")), (1, 0))
    with pytest.raises(AssertionError) as raised:
        assertions.assert_eventually(look, max_wait=3, retry_on=KeyError)
    assert raised.value.__cause__ is None


def test_any_other_error_passes(assertions, values):
    with pytest.raises(KeyError):
        assertions.assert_eventually(values((0, 0), (1, KeyError("x"))), max_wait=3)


def test_without_time_for_a_look_it_says_so(assertions, values, virtual_time):
    with bwp.deadline(1):
        virtual_time.advance(2)
        for name in ("assert_eventually", "refute_eventually", "assert_always"):
            with pytest.raises(AssertionError, match="no time for a look"):
                getattr(assertions, name)(values((0, 1)))


def test_attempts_used_up_fail_too(assertions, values):
    with pytest.raises(AssertionError, match="history of 3 looks"):
        assertions.assert_eventually(values((0, 0)), max_wait=9, max_attempts=3)


# --- refute_eventually, assert_always ----------------------------------------


def test_what_never_matches_passes_after_the_whole_time(assertions, values, virtual_time):
    assert assertions.refute_eventually(values((0, 0)), max_wait=5) is None
    assert virtual_time.now == pytest.approx(5, abs=0.3)


def test_what_matches_once_fails_at_that_look(assertions, values, virtual_time):
    look = values((0, "fine"), (2, "error"), (2.4, "fine"))
    with pytest.raises(AssertionError, match="expected at no look for 5 s: 'error'") as raised:
        assertions.refute_eventually(look, "error", max_wait=5, interval=0.25)
    assert "last value: 'error'" in str(raised.value)
    assert virtual_time.now == pytest.approx(2, abs=0.3)


def test_what_stays_true_passes_after_the_whole_time(assertions, values, virtual_time):
    assert assertions.assert_always(values((0, 1)), max_wait=5) is None
    assert assertions.assert_always(values((0, 1)), like(real=1), max_wait=5) is None
    assert virtual_time.now == pytest.approx(10, abs=0.6)


def test_what_does_not_stay_true_fails_at_that_look(assertions, values, virtual_time):
    look = values((0, True), (2, False), (3, True))
    with pytest.raises(AssertionError, match="expected at every look for 5 s: a true value") as e:
        assertions.assert_always(look, max_wait=5)
    assert "last value: False" in str(e.value)
    assert virtual_time.now == pytest.approx(2, abs=0.2)


# --- all three ---------------------------------------------------------------


NAMES = ["assert_eventually", "refute_eventually", "assert_always"]


def test_a_signal_makes_it_look_at_once(assertions, virtual_time):
    signal = Signal()
    for when in (3, 4):
        virtual_time.call_at(when, signal.notify)
    times = []

    def look():
        times.append(round(virtual_time.now, 2))
        return len(times) == 3

    assertions.assert_eventually(look, max_wait=60, signal=signal, polling=False)
    assert times == [0, 3, 4]


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_no_failed_assertion(assertions, name, virtual_time):
    assertion = getattr(assertions, name)
    with pytest.raises(TypeError, match="something to call"):
        assertion(3, max_wait=1)
    with pytest.raises(TypeError, match="needs max_wait"):
        assertion(lambda: 1)
    with pytest.raises(TypeError, match="unknown option 'timeout'"):
        assertion(lambda: 1, max_wait=1, timeout=3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hidden", [False, True], ids=["coroutine function", "hidden"])
def test_what_has_to_be_awaited_is_refused_where_nothing_awaits(name, hidden, virtual_time):
    async def look():
        raise AssertionError("never called")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=f"{name}_async"):
            getattr(testing, name)((lambda: look()) if hidden else look, max_wait=1)  # noqa: PLW0108 - hides what it is
