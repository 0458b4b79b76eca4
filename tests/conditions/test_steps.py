"""`steps`: waits in sequence that share one deadline."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import First, fixed, steps, success, wait_for


@pytest.fixture
def ready_at(virtual_time):
    return lambda when, value="ready": lambda: value if virtual_time.now >= when else None


def test_a_step_can_use_values_of_earlier_steps(styled, virtual_time, ready_at):
    with steps(max_wait=60) as budget:
        step = styled(budget)
        account = step.wait_for(ready_at(3, "account"))
        balance = step.wait_for_match(lambda: (account, ready_at(5, 12)()), (account, int))
        grade = step.wait_for_case(lambda: balance[1], [success(12, lambda _: "gold")])
        first = step.wait_for_first({"gold": lambda: grade == "gold"})
    assert (balance, grade, first) == (("account", 12), "gold", First("gold", True))


def test_steps_share_the_time_left(styled, virtual_time, ready_at):
    with steps(max_wait=10) as budget:
        step = styled(budget)
        step.wait_for(ready_at(6))
        with pytest.raises(bwp.WaiterTimeoutError) as raised:
            step.wait_for(ready_at(30), interval=1)
    assert raised.value.max_wait == pytest.approx(4, abs=0.11)
    assert raised.value.last_value is None
    assert "step 2 of steps with max_wait=10 s" in str(raised.value)
    assert virtual_time.now == pytest.approx(10, abs=1)


def test_an_option_of_a_step_wins(styled, values):
    call = values(0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1)
    with steps(max_wait=99, interval=2, retry_on=KeyError) as budget:
        step = styled(budget)
        step.wait_for(call)
        step.wait_for(call, delay_pace=fixed(5))
        step.wait_for(call, interval=7)
    with steps(max_wait=99, delay_pace=fixed(2)) as budget:
        styled(budget).wait_for(call, interval=5)
    assert call.times == [0, 2, 4, 4, 9, 14, 14, 21, 28, 28, 33]


def test_deadlines_bound_what_is_inside(virtual_time):
    with bwp.deadline(3), pytest.raises(bwp.WaiterTimeoutError), steps(max_wait=60) as step:
        step.wait_for(lambda: None)
    assert virtual_time.now <= 3
    with steps(max_wait=10) as step:
        virtual_time.advance(4)
        assert step.remaining == 6
        with pytest.raises(bwp.WaiterTimeoutError) as raised:
            wait_for(lambda: None, max_wait=60)
    assert raised.value.max_wait == 6
    assert "at the end of steps(max_wait=10), 6 s into this wait" in str(raised.value)


def test_a_thread_can_use_the_steps(virtual_time):
    with steps(max_wait=10) as step, ThreadPoolExecutor() as pool:
        error = pool.submit(step.wait_for, lambda: None).exception(60)
    assert (type(error), error.max_wait) == (bwp.WaiterTimeoutError, 10)


@pytest.mark.parametrize(("options", "error"), [
    ({"max_wait": 5, "intervall": 1}, TypeError),
    ({"max_wait": 5, "polling": False}, TypeError), ({"max_wait": 5, "else_": "last"}, TypeError),
    ({"max_wait": 5, "on_timeout": "last"}, TypeError),
])  # fmt: skip
def test_bad_options_are_refused_before_any_step(virtual_time, options, error):
    with pytest.raises(error):
        steps(**options)
    with steps(max_wait=5) as step, pytest.raises(TypeError, match="else_"):
        step.wait_for(lambda: None, on_timeout="last")


def test_a_step_may_end_in_its_else(styled, virtual_time):
    with steps(max_wait=9) as budget:
        step = styled(budget)
        given = {"max_wait": 2, "else_": lambda last: ("else", last)}
        assert step.wait_for(lambda: 0, **given) == ("else", 0)
        assert step.wait_for_match(lambda: 1, 2, **given) == ("else", 1)
        assert step.wait_for_case(lambda: 2, [success(3)], **given) == ("else", 2)
        assert step.wait_for_first([lambda: ""], **given) == ("else", First(None, [""]))
        assert step.wait_for(lambda: 7) == 7


def test_steps_without_time_make_an_attempt_each(styled, virtual_time):
    with steps(max_wait=0) as budget:
        step = styled(budget)
        assert step.wait_for(lambda: virtual_time.advance(3) or 1) == 1
        assert step.wait_for_first([lambda: 0, lambda: 2], max_wait=60) == First(1, 2)
        with pytest.raises(bwp.WaiterTimeoutError, match="step 3") as caught:
            step.wait_for_match(lambda: 3, 4)
        assert caught.value.attempts == 1
        with pytest.raises(bwp.WaiterTimeoutError):
            wait_for(lambda: 5, max_wait=9)
    with bwp.deadline(-1), steps(max_wait=0) as budget, pytest.raises(bwp.WaiterTimeoutError):
        styled(budget).wait_for(lambda: 6)


@pytest.mark.parametrize("name", ["initial_delay", "success_for"])
@pytest.mark.parametrize("max_wait", [5, 0])
def test_a_step_needs_more_time_than_its_delay(styled, virtual_time, name, max_wait):
    with pytest.raises(ValueError, match=name):
        steps(max_wait=max_wait, **{name: 10})
    with steps(max_wait=max_wait) as budget:
        step = styled(budget)
        for given in ({name: 10}, {name: 10, "max_wait": 60}):
            with pytest.raises(ValueError, match=name):
                step.wait_for(pytest.fail, **given)
    with steps(max_wait=11, **{name: 10}) as budget:
        virtual_time.advance(5)
        # The time that is left may be too short for it, which is no mistake.
        with pytest.raises(bwp.WaiterTimeoutError):
            styled(budget).wait_for(lambda: 0)
