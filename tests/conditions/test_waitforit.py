"""The examples of WaitForIt's documentation, section by section, in the words of this package."""

import asyncio
import itertools
import threading
import time
from dataclasses import dataclass

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import (
    First,
    Signal,
    failure,
    like,
    retry,
    steps,
    success,
    wait_for_async,
    wait_for_match,
)


@dataclass
class User:
    name: str
    confirmed: bool = False


def test_a_file_that_comes(forms, virtual_time, tmp_path):
    path = tmp_path / "data.csv"
    assert forms.wait_for(path.exists, max_wait=60, on_timeout="last") is False
    virtual_time.call_at(90, lambda: path.write_text("1,2"))
    assert forms.wait_for(path.exists, max_wait=60) is True


def test_a_match_gives_the_parts_of_a_value(forms, values):
    fetch = values(("error", User("bob")), ("ok", None), ("ok", User("anna")))
    tag, user = forms.wait_for_match(fetch, ("ok", User), max_wait=2)
    assert (tag, user.name) == ("ok", "anna")


def test_a_directory_by_cases(forms, values):
    def wait(*results):
        return forms.wait_for_case(
            values(*results),
            [
                success(("ok", "directory"), lambda _: "written"),
                success(("ok", "link"), lambda _: "followed"),
            ],
            max_wait=30,
            else_=[
                success(("ok", ...), lambda result: f"a {result[1]}"),
                success(("error", ...), lambda result: f"no stat: {result[1]}"),
            ],
        )

    assert wait(("error", "enoent"), ("ok", "directory")) == "written"
    assert wait(("error", "enoent"), ("ok", "link")) == "followed"
    assert wait(("ok", "file")) == "a file"
    assert wait(("error", "enoent")) == "no stat: enoent"


def test_the_first_of_file_and_minute(forms, virtual_time):
    conditions = {"file": lambda: False, "minute": lambda: virtual_time.now % 60 < 1e-6}
    virtual_time.advance(55)
    assert forms.wait_for_first(conditions, max_wait=10, interval=0.5).key == "minute"
    virtual_time.advance(1)
    text = "Stopped waiting since neither condition ever became truthy"
    assert forms.wait_for_first(conditions, max_wait=10, else_=lambda _: text) == text


def authenticate(user):
    return "token" if user else None


def balance_of(user, load_account, fetch_balance):
    """The example of `with_wait`: a plain clause, and two that wait, the first with options."""
    try:
        with steps(max_wait=5, interval=0.05) as step:
            token = authenticate(user)
            if token is None:
                return "error", "no token"
            account = step.wait_for_match(load_account, like(User), max_wait=2)
            return "ok", (account.name, step.wait_for_match(fetch_balance, int))
    except bwp.WaiterTimeoutError as error:
        return "still waiting", error.last_value


def test_an_account_in_steps(values, virtual_time):
    anna = User("anna")
    assert balance_of("anna", values(None, anna), values(None, 7)) == ("ok", ("anna", 7))
    load, fetch = values(None), values(7)
    assert balance_of(None, load, fetch) == ("error", "no token")
    assert load.times == []
    start = virtual_time.now
    assert balance_of("anna", load, fetch) == ("still waiting", None)
    assert fetch.times == []
    assert virtual_time.now - start == pytest.approx(2, abs=0.3)
    assert balance_of("anna", values(anna), values("pending")) == ("still waiting", "pending")


def test_an_expression_that_is_never_true_times_out(forms, virtual_time):
    assert forms.wait_for(list, max_wait=0.2, on_timeout="last") == []
    with pytest.raises(TimeoutError):
        forms.wait_for(lambda: 2 + 2 == 5, max_wait=0.2)


def test_an_expression_is_evaluated_anew_each_time(forms, virtual_time):
    numbers = itertools.count()
    assert forms.wait_for_match(lambda: next(numbers), lambda n: n > 99, max_wait=60) == 100


@pytest.mark.parametrize("polling", [True, False])
def test_producer_and_consumer(polling):
    buffer, name = [], ("buffer", 4)
    waits = threading.Event()

    def count():
        waits.set()
        return len(buffer)

    def produce():
        assert waits.wait(30)
        for item in range(4):
            buffer.append(item)
            Signal(name).notify()

    producer = threading.Thread(target=produce)
    producer.start()
    began = time.monotonic()
    options = {} if polling else {"polling": False}
    wait_for_match(count, lambda n: n >= 4, max_wait=30, signal=name, **options)
    # The attempt at the end of the time would find the buffer full, without any signal.
    assert time.monotonic() - began < 25
    producer.join()
    assert len(buffer) == 4


def test_a_signal_alone_satisfies_nothing(virtual_time):
    depths, times = iter([0, 1, 4]), []

    def depth():
        times.append(virtual_time.now)
        return next(depths)

    virtual_time.call_at(3, Signal("deep enough").notify)
    virtual_time.call_at(8, Signal("deep enough").notify)
    wait_for_match(depth, 4, max_wait=60, signal="deep enough", polling=False)
    assert times == [0, pytest.approx(3, abs=0.1), pytest.approx(8, abs=0.1)]


@pytest.mark.parametrize("none", [{"signal": None}, {"interval": None}, {"else_": None}])
def test_an_option_of_none_is_not_given(forms, values, none):
    call = values(None, "ready")
    assert forms.wait_for(call, max_wait=5, **none) == "ready"
    assert call.times == [0, 0.1]


def test_a_wait_is_the_subject_of_an_assert(forms, values):
    assert forms.wait_for(values(None, {"id": 42}), max_wait=5) == {"id": 42}


def test_the_else_clause_is_for_timeouts_only(forms, values):
    def never(_):
        raise AssertionError("evaluated before the time was over")

    assert forms.wait_for_case(values(3, 4), success(4), max_wait=5, else_=never) == 4
    assert forms.wait_for_first([values(0, 1)], max_wait=5, else_=never).value == 1
    with pytest.raises(KeyError):
        forms.wait_for_case(values(KeyError("x")), success(4), max_wait=5, else_=never)


def test_a_catch_all_ends_the_wait_at_once(forms, values):
    call = values(None, "done")
    assert forms.wait_for_case(call, [success("done"), success(...)], max_wait=5) is None
    assert call.times == [0]


def test_messages_of_a_queue(forms, values):
    messages = [f"message {n}" for n in range(5)]
    enough = success(lambda found: len(found) > 4)
    assert forms.wait_for_case(values([], messages), enough, max_wait=30) == messages
    few = forms.wait_for_case(values(messages[:3]), enough, max_wait=30, else_=lambda found: found)
    assert few == messages[:3]


def test_a_thermostat(forms, values):
    cases = [
        success(lambda degrees: degrees > 22, lambda _: "cooling"),
        success(lambda degrees: degrees < 18, lambda _: "heating"),
    ]
    assert forms.wait_for_case(values(20, 21, 23), cases, max_wait=5) == "cooling"
    assert forms.wait_for_case(values(20, 17), cases, max_wait=5) == "heating"
    with pytest.raises(bwp.WaiterTimeoutError):
        forms.wait_for_case(values(20), cases, max_wait=5)


def test_a_mailbox_that_stays_full(forms, values):
    def full(length):
        return BufferError(f"Timeout while sending. [message_queue_len: {length}]")

    small = success(lambda length: length < 500, lambda _: "sent")
    wait = forms.wait_for_case
    assert wait(values(700, 499), small, max_wait=60, interval=0.01, else_=full) == "sent"
    with pytest.raises(BufferError, match="message_queue_len: 700"):
        wait(values(700), small, max_wait=60, interval=0.01, else_=full)


def test_sensors(forms, values):
    def alarm(*readings):
        return forms.wait_for_first(
            {
                "too high": lambda: readings[0] > 9,
                "too low": lambda: readings[1] < 100,
                "below zero": lambda: readings[2] < 0,
            },
            max_wait=5,
            else_=lambda last: First("none of", list(last.value)),
        )

    assert alarm(5, 99, 3).key == "too low"
    assert alarm(10, 99, 3).key == "too high"
    assert alarm(5, 100, 3) == ("none of", ["too high", "too low", "below zero"])


def test_cases_may_fail_or_retry(forms, values):
    cases = [success("up"), retry("failing"), failure(str, ValueError)]
    with pytest.raises(ValueError, match=r"^down$") as caught:
        forms.wait_for_case(values("failing", "down"), cases, max_wait=5)
    assert caught.value.args == ("down",)


def test_a_signal_reaches_all_waits_on_it(virtual_time):
    async def main():
        waits = [
            wait_for_async(lambda: bool(ready), max_wait=60, signal="together", polling=False)
            for _ in range(3)
        ]
        virtual_time.call_at(5, lambda: ready.append(1))
        virtual_time.call_at(5, Signal("together").notify)
        return await asyncio.gather(*waits)

    ready = []
    assert asyncio.run(main()) == [True] * 3
    assert virtual_time.now == pytest.approx(5, abs=0.1)


def test_notify_returns_nothing_and_needs_no_waiter():
    assert Signal(("nobody", "waits")).notify() is None
