"""Callbacks that block or raise hold up other callbacks, and no end."""

import asyncio
import concurrent.futures
import logging
import threading
import time

import pytest
from stored_waits import IN_MEMORY, ON_FILE, QUICK, driven, swapped, work
from stored_waits import start as start_stored
from test_in_memory import NAME, start

import boto_waiters_plus as bwp


async def awaited(operation):
    return await asyncio.wait_for(operation, 30)


async def wrapped(operation):
    return await asyncio.wait_for(asyncio.wrap_future(operation), 30)


ENDS = {
    "result": lambda operation: operation.result(30),
    "exception": lambda operation: operation.exception(30) or operation.result(0),
    "await": lambda operation: asyncio.run(awaited(operation)),
    "wrap_future": lambda operation: asyncio.run(wrapped(operation)),
    "wait_all": lambda operation: bwp.wait_all([operation], max_wait=30)[0],
    "as_completed": lambda operation: next(iter(bwp.as_completed([operation], max_wait=30)))[1],
    "futures.wait": lambda operation: concurrent.futures.wait([operation], 30).done.pop().result(0),
    "futures.as_completed": lambda operation: next(
        concurrent.futures.as_completed([operation], 30)
    ).result(0),
}


@pytest.mark.parametrize("where", ["attempt", "done"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_blocked_callback_holds_no_end(stream, creating, active, hang, end, where):
    blocked = start(stream(active), **{"on_attempt": hang} if where == "attempt" else {})
    if where == "done":
        blocked.add_done_callback(hang)
    assert end(start(stream(creating, active), **QUICK)).attempts == 2
    assert end(blocked).attempts == 1
    # Nor the end of one that is begun while it blocks.
    assert hang.begun.acquire(timeout=30)
    assert end(start(stream(creating, active), **QUICK)).attempts == 2


@ON_FILE
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_blocked_callback_holds_no_end_of_a_store(store, stream, active, hang, end):
    started = [start_stored(store, stream(active)) for _ in range(2)]
    started[0].add_done_callback(hang)
    work(store, stream(active))
    assert [end(operation).attempts for operation in started] == [1, 1]
    later = start_stored(store, stream(active))
    work(store, stream(active))
    assert end(later).attempts == 1


def test_a_callback_may_wait_for_its_own_operation(stream, creating, active):
    ended = threading.Event()
    client = stream(creating, active)
    operation = start(client, on_attempt=lambda event: operation.result(30), **QUICK)
    operation.add_done_callback(lambda each: each.result(30) and ended.set())
    assert operation.result(30).attempts == 2
    assert ended.wait(30)


def test_a_blocked_handler_holds_no_wait_of_a_worker(store, stream, creating, active, hang):
    client = stream(creating, active)
    bwp.enable(client, on_event=hang)
    assert driven(store, client).result(30).attempts == 2


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("where", ["attempt", "done"])
def test_what_a_callback_raises_is_logged(stream, creating, active, caplog, error, where):
    def fail(_):
        raise error("of the caller")

    caplog.set_level(logging.ERROR, "boto_waiters_plus")
    for _ in range(2):
        called = threading.Event()
        options = {"on_attempt": fail} if where == "attempt" else {}
        operation = start(stream(creating, active), **options, **QUICK)
        if where == "done":
            operation.add_done_callback(fail)
        operation.add_done_callback(lambda _, called=called: called.set())
        assert operation.result(30).attempts == 2
        assert called.wait(30)
    raised = [each for each in caplog.records if each.exc_info]
    # Of each wait, an Exception the first time only.
    times = 2 if where == "attempt" and error is not ValueError else 1
    assert [type(each.exc_info[1]) for each in raised] == [error] * 2 * times


def test_virtual_time_passes_a_blocked_callback(virtual_time, stream, creating, active, hang):
    blocked = start(stream(active), on_attempt=hang)
    operation = start(stream(creating, active), initial_delay=50)
    began = time.perf_counter()
    assert operation.result().elapsed > 50
    assert time.perf_counter() - began < 30
    assert blocked.result().attempts == 1


def test_virtual_time_stands_still_in_a_callback(virtual_time, stream, creating, active):
    times = []

    def attempted(_):
        before = virtual_time.now
        threading.Event().wait(0.2)
        times.append(virtual_time.now - before)

    operation = start(stream(creating, active), on_attempt=attempted, delay_pace=lambda _: 3)
    other = start(stream(creating, active), initial_delay=1)
    assert operation.result(), other.result()
    assert set(times) == {0}


def test_no_wait_of_a_batch_ends_late(stream, creating, active, hang):
    waits = [
        bwp.Wait(stream(active), "stream_exists", NAME, on_attempt=hang),
        bwp.Wait(stream(creating, active), "stream_exists", NAME, **QUICK),
    ]
    ends = bwp.as_completed(waits, max_wait=60)
    assert {next(ends)[1].attempts, next(ends)[1].attempts} == {1, 2}
    hang.release()
    assert not [*ends]


@IN_MEMORY
@pytest.mark.parametrize("error", [SystemExit, ZeroDivisionError])
def test_a_decrypt_that_raises_leaves_nothing_open(open_store, stream, active, error):
    def decrypt(data):
        if threading.current_thread().name.endswith("operations"):
            raise error
        return swapped(data)

    store = open_store(encrypt=swapped, decrypt=decrypt)
    assert driven(store, stream(active)).exception(30) is not None
