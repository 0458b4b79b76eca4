"""What a time-out says of the time that a call and its wait were given."""

import asyncio
import functools
import warnings
from pathlib import Path

import pytest
from stored_waits import IN_MEMORY, begin_in_store, work
from test_begin import StaleService, begin, begin_in_task, named

import boto_waiters_plus as bwp
from boto_waiters_plus.idempotency import call_once, call_once_async

JOB = {**named("glue: a job run"), "polls": [[0, {"JobRun": {"JobRunState": "RUNNING"}}]]}
REBOOT = named("rds: a reboot that is seen")
"""No success is certain: `available` counts once it has held for 120 s, or 15 s after others."""


BEGINS = [bwp.begin, begin_in_task, begin_in_store]
BEGINS.append(functools.partial(begin_in_store, begin=begin_in_task))


def called_in_task(method, **options):
    return asyncio.run(call_once_async(method, **options))


def error_of(way, service, **options):
    """The error in which a call and its wait end."""
    own = {} if way in BEGINS else {"then_wait": True, "allow_repeat": True}
    try:
        begun = begin(service, begins=way, **own, **options)
    except bwp.WaiterError as error:
        return error
    return None if own else begun.exception(60)


WAYS = [*BEGINS, call_once, called_in_task]
each_way = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def service(virtual_time):
    """`service(row, **members)`: a client whose call takes 3 s, unless members say more."""
    return lambda row, **members: StaleService({**row, "takes": 3, **members}, virtual_time)


@each_way
def test_the_time_is_that_which_was_given(service, way):
    error = error_of(way, service(JOB), max_wait=15)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert "timed out after 15 s for " in str(error)
    assert error.max_wait == 15


@each_way
def test_a_deadline_is_named_with_the_time_left(service, virtual_time, way):
    with bwp.deadline(20):
        virtual_time.advance(2.8)
        error = error_of(way, service(JOB), max_wait=600)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert "timed out at the end of deadline(20), 14.2 s into this wait" in str(error)


@each_way
def test_a_call_that_takes_all_the_time_names_the_deadline(service, way):
    with bwp.deadline(2), pytest.raises(bwp.WaiterTimeoutError, match=r"deadline\(2\)"):
        raise error_of(way, service(JOB), max_wait=600)


@IN_MEMORY
def test_a_resumed_wait_has_the_time_given_then(open_store, running_clock, service):
    store, made = open_store(clock=running_clock), service(JOB)
    operation = begin(made, in_store=store, max_wait=15)
    # No worker drives it.
    store.clock.now += 100
    for max_wait in (15, 40):
        work(store, made.client)
        error = operation.exception(10)
        assert f"timed out after {max_wait} s for " in str(error)
        assert error.max_wait == max_wait
        operation = store.resume(operation.path, max_wait=40)


# --- a state that does not count yet -------------------------------------------------------------


@each_way
def test_a_state_from_before_the_call_is_told(service, way):
    error = error_of(way, service(REBOOT, polls=REBOOT["polls"][:1]), max_wait=60)
    assert "may be from before the call: it counts after 120 s" in str(error)


@each_way
def test_a_state_at_rest_is_told(service, way):
    before, during, _ = [answer for _, answer in REBOOT["polls"]]
    polls = [[0, before], [4, during], [55, before]]
    error = error_of(way, service(REBOOT, polls=polls), max_wait=66)
    assert "counts once it has held for 15 s" in str(error)


# --- and a max_wait in which it cannot -----------------------------------------------------------


def warned(way, made, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        error_of(way, made, **options)
        error_of(way, StaleService({**made.row, "takes": 0}, made._clock), **options)
    return [each for each in caught if "may be from before the call" in str(each.message)]


@each_way
def test_a_max_wait_that_is_too_short_warns_once(service, way):
    [warning] = warned(way, service(REBOOT, polls=REBOOT["polls"][:1]), max_wait=100)
    assert warning.category is UserWarning
    assert Path(warning.filename).parent == Path(__file__).parent
    for words in ("reboot_db_instance", "120 s", "15 s after another state"):
        assert words in str(warning.message)


@each_way
def test_the_time_of_the_call_is_not_left(service, way):
    stale = REBOOT["polls"][:1]
    assert len(warned(way, service(REBOOT, polls=stale, takes=40), max_wait=150)) == 1
    assert not warned(way, service(REBOOT, polls=stale), max_wait=150)


def test_a_deadline_warns_as_a_max_wait_does(service):
    with bwp.deadline(50):
        assert len(warned(bwp.begin, service(REBOOT), max_wait=900)) == 1


@pytest.mark.parametrize("name", [
    "glue: a job run", "ecs: a stale service", "cloudformation: a deleted stack", "rds: three",
])  # fmt: skip
def test_a_success_that_is_certain_needs_no_warning(service, name):
    row = named(name)
    assert not warned(bwp.begin, service(row, polls=row["polls"][-1:], takes=0), max_wait=5)


def test_a_waiter_of_the_callers_may_settle(service):
    pair = ("TableExists", lambda _: {"TableName": "t"})
    row = {**named("dynamodb: throughput"), "polls": [[0, {"Table": {"TableStatus": "ACTIVE"}}]]}
    options = {"then_wait": pair, "settle_for": 60, "max_wait": 30}
    [warning] = warned(bwp.begin, service(row), **options)
    assert "0 s after another state" in str(warning.message)
