"""`steps`: waits one after the other, under one budget."""

import asyncio
import threading

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import First, fixed, steps, success, wait_for


class Steps:
    """The methods of `steps`, called as if they blocked."""

    def __init__(self, step, style):
        self._step = step
        self._style = style

    def __getattr__(self, name):
        if self._style == "blocking":
            return getattr(self._step, name)
        method = getattr(self._step, f"{name}_async")
        return lambda *arguments, **options: asyncio.run(method(*arguments, **options))


@pytest.fixture(params=["blocking", "task"])
def style(request):
    return request.param


@pytest.fixture
def ready_at(virtual_time):
    return lambda when, value="ready": lambda: value if virtual_time.now >= when else None


def test_each_step_gives_its_value_to_the_next(style, virtual_time, ready_at):
    with steps(max_wait=60) as budget:
        step = Steps(budget, style)
        account = step.wait_for(ready_at(3, "account"))
        balance = step.wait_for_match(ready_at(5, (account, 12)), (account, int))
        grade = step.wait_for_case(lambda: balance[1], [success(12, lambda _: "gold")])
        first = step.wait_for_first({"gold": lambda: grade == "gold"})
    assert (balance, grade, first) == (("account", 12), "gold", First("gold", True))


def test_steps_share_what_is_left(style, virtual_time, ready_at):
    with steps(max_wait=10) as budget:
        step = Steps(budget, style)
        step.wait_for(ready_at(6))
        with pytest.raises(bwp.WaiterTimeoutError) as raised:
            step.wait_for(ready_at(30), interval=1)
    assert raised.value.max_wait == pytest.approx(4, abs=0.11)
    assert raised.value.last_value is None
    assert "step 2 of steps with 10 s in all" in str(raised.value)
    assert virtual_time.now == pytest.approx(10, abs=1)


def test_a_step_that_does_not_succeed_skips_the_rest(style, virtual_time, ready_at):
    done = []

    def two_steps():
        with steps(max_wait=10) as budget:
            Steps(budget, style).wait_for(ready_at(30), max_wait=2)
            done.append("the second")

    with pytest.raises(bwp.WaiterTimeoutError):
        two_steps()
    assert done == []
    assert virtual_time.now <= 2


def test_what_a_step_is_given_itself_wins(style, virtual_time):
    times = []

    def look():
        times.append(round(virtual_time.now, 3))
        return len(times) in (3, 6, 9)

    with steps(max_wait=99, interval=2, retry_on=KeyError) as budget:
        step = Steps(budget, style)
        step.wait_for(look)
        step.wait_for(look, delay_pace=fixed(5))
        step.wait_for(look, interval=7)
    assert times == [0, 2, 4, 4, 9, 14, 14, 21, 28]


def test_what_says_the_same_in_another_way_gives_way(style, virtual_time):
    times = []

    def look():
        times.append(round(virtual_time.now, 3))
        return len(times) in (2, 4)

    with steps(max_wait=99, delay_pace=fixed(5), wake_signal=threading.Event()) as budget:
        step = Steps(budget, style)
        step.wait_for(look)
        step.wait_for(look, interval=7, signal="another")
    assert times == [0, 5, 5, 12]


def test_every_other_wait_inside_is_bounded_too(virtual_time):
    with pytest.raises(bwp.WaiterTimeoutError) as raised, steps(max_wait=5):
        wait_for(lambda: None, max_wait=60)
    assert raised.value.max_wait == 5


def test_a_deadline_around_the_steps_bounds_them(virtual_time):
    with bwp.deadline(3), pytest.raises(bwp.WaiterTimeoutError), steps(max_wait=60) as step:
        step.wait_for(lambda: None)
    assert virtual_time.now <= 3


def test_what_is_left_can_be_asked_for(virtual_time):
    with steps(max_wait=10) as step:
        virtual_time.advance(4)
        assert step.remaining == 6


def test_a_thread_takes_part_in_the_budget(virtual_time):
    raised = []

    def in_thread(step):
        try:
            step.wait_for(lambda: None)
        except bwp.WaiterTimeoutError as error:
            raised.append(error.max_wait)

    with steps(max_wait=10) as step:
        thread = threading.Thread(target=in_thread, args=[step])
        thread.start()
        thread.join(60)
    assert raised == [10]


def test_a_timeout_is_the_else_of_the_steps(virtual_time):
    def load():
        try:
            with steps(max_wait=5) as step:
                return step.wait_for_match(lambda: "pending", "ready")
        except bwp.WaiterTimeoutError as error:
            return ("still", error.last_value)

    assert load() == ("still", "pending")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_wait": 0}, ValueError),
        ({"max_wait": "5"}, TypeError),
        ({"max_wait": 5, "interval": -1}, ValueError),
        ({"max_wait": 5, "intervall": 1}, TypeError),
        ({"max_wait": 5, "polling": False}, TypeError),
    ],
)
def test_bad_options_are_refused_before_the_first_step(options, error):
    with pytest.raises(error):
        steps(**options)


def test_a_step_has_no_ending_of_its_own(virtual_time):
    with steps(max_wait=5) as step, pytest.raises(TypeError, match="on_timeout"):
        step.wait_for(lambda: None, on_timeout="last")
