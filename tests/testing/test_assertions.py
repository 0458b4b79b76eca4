"""`assert_eventually`, `refute_eventually`, `assert_always`, blocking and in tasks."""

import warnings

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import testing
from boto_waiters_plus.conditions import like


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
    assert lines[1].startswith("from: ")
    assert lines[2:] == [
        "last value: {'state': 'failed'}",
        "history of 11 attempts:",
        "      0.000 s  None  (2 attempts)",
        "      1.000 s  {'state': 'pending'}  (6 attempts)",
        "      4.000 s  {'state': 'failed'}  (3 attempts)",
    ]


def test_a_failure_hides_the_wait_behind_it(assertions, values):
    with pytest.raises(AssertionError) as raised:
        assertions.assert_eventually(values((0, 0)), max_wait=1)
    assert not isinstance(raised.value, bwp.WaiterError)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_the_history_is_bounded(virtual_time):
    def read():
        return round(virtual_time.now)

    with pytest.raises(AssertionError) as raised:
        testing.assert_eventually(read, "never", max_wait=50, interval=1)
    text = str(raised.value)
    assert "... 41 earlier values" in text
    assert len(text.splitlines()) == 15
    assert text.endswith("     49.750 s  50")


def test_a_value_is_shown_as_it_was(virtual_time):
    grown = []

    def read():
        grown.append("x" * 50)
        return grown

    with pytest.raises(AssertionError) as raised:
        testing.assert_eventually(read, "never", max_wait=1, interval=0.2)
    lines = str(raised.value).splitlines()[4:]
    assert lines[0].endswith(f"['{'x' * 50}']")
    assert max(map(len, lines)) < 250


def test_a_value_without_repr_is_shown_somehow(virtual_time):
    class Broken:
        def __repr__(self):
            raise RuntimeError

    with pytest.raises(AssertionError, match="Broken"):
        testing.assert_eventually(Broken, 3, max_wait=1)


def test_a_retried_error_is_shown_and_the_cause(assertions, values):
    problem = KeyError("x")
    with pytest.raises(AssertionError, match=r"last value: raised KeyError\('x'\)") as raised:
        assertions.assert_eventually(values((0, 0), (1, problem)), max_wait=3, retry_on=KeyError)
    assert raised.value.__cause__ is problem


def test_any_other_error_is_raised(assertions, values):
    with pytest.raises(KeyError):
        assertions.assert_eventually(values((0, 0), (1, KeyError("x"))), max_wait=3)


def test_without_time_for_an_attempt_all_fail(assertions, values, virtual_time):
    with bwp.deadline(1):
        virtual_time.advance(2)
        for name in ("assert_eventually", "refute_eventually", "assert_always"):
            with pytest.raises(AssertionError, match="no time for an attempt"):
                getattr(assertions, name)(values((0, 1)))


def test_refute_eventually_passes_without_a_match(assertions, values, virtual_time):
    assert assertions.refute_eventually(values((0, 0)), max_wait=5) is None
    assert virtual_time.now == pytest.approx(5, abs=0.3)


def test_refute_eventually_fails_at_the_first_match(assertions, values, virtual_time):
    read = values((0, "fine"), (2, "error"), (2.4, "fine"))
    with pytest.raises(AssertionError, match="expected at no attempt for 5 s: 'error'") as raised:
        assertions.refute_eventually(read, "error", max_wait=5, interval=0.25)
    assert "last value: 'error'" in str(raised.value)
    assert virtual_time.now == pytest.approx(2, abs=0.3)


def test_assert_always_passes_after_the_whole_time(assertions, values, virtual_time):
    assert assertions.assert_always(values((0, 1)), max_wait=5) is None
    assert assertions.assert_always(values((0, 1)), like(real=1), max_wait=5) is None
    assert virtual_time.now == pytest.approx(10, abs=0.6)


def test_assert_always_fails_at_the_first_mismatch(assertions, values, virtual_time):
    read = values((0, True), (2, False), (3, True))
    with pytest.raises(AssertionError, match="expected at every attempt for 5 s: a true") as e:
        assertions.assert_always(read, max_wait=5)
    assert "last value: False" in str(e.value)
    assert virtual_time.now == pytest.approx(2, abs=0.2)


NAMES = ["assert_eventually", "refute_eventually", "assert_always"]


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_argument_is_no_failed_assertion(assertions, name, virtual_time):
    assertion = getattr(assertions, name)
    with pytest.raises(TypeError, match="something to call"):
        assertion(3, max_wait=1)
    with pytest.raises(TypeError, match="needs max_wait"):
        assertion(lambda: 1)
    with pytest.raises(TypeError, match="unknown option 'timeout'"):
        assertion(lambda: 1, max_wait=1, timeout=3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hidden", [False, True], ids=["coroutine function", "hidden"])
def test_a_blocking_assertion_refuses_coroutines(name, hidden, virtual_time):
    async def read():
        raise AssertionError("never called")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=f"{name}_async"):
            getattr(testing, name)((lambda: read()) if hidden else read, max_wait=1)  # noqa: PLW0108 - hides what it is
