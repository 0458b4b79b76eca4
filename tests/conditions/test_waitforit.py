"""The examples of WaitForIt's page, in the words of this package: seed 004 by section."""

import threading
from dataclasses import dataclass

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import (
    Signal,
    like,
    steps,
    success,
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
    options = {} if polling else {"polling": False}
    wait_for_match(count, lambda n: n >= 4, max_wait=60, signal=name, **options)
    producer.join()
    assert len(buffer) == 4


@pytest.mark.parametrize("none", [{"signal": None}, {"interval": None}, {"else_": None}])
def test_an_option_of_none_is_not_given(forms, values, none):
    call = values(None, "ready")
    assert forms.wait_for(call, max_wait=5, **none) == "ready"
    assert call.times == [0, 0.1]


def test_a_catch_all_ends_the_wait_at_once(forms, values):
    call = values("pending", "done")
    assert forms.wait_for_case(call, [success("done"), success(...)], max_wait=5) == "pending"
    assert call.times == [0]
