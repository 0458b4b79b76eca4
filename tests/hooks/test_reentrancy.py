"""A wait may begin at any point of another: in a signal handler, or a finalizer."""

import sys
import threading

import boto3
import pytest
from service.ways import by_method, by_plain_waiter

import boto_waiters_plus as bwp

TABLE = {"Table": {"TableStatus": "ACTIVE"}}
JOBS = {"TableName": "jobs", "max_wait": 30}


def first_wait(way, answers, interrupt_at):
    """Make a client's first wait; another one begins at this call of a function.

    Returns:
        The number of calls of functions, and the results of both waits.
    """
    client = boto3.Session(region_name="us-east-1").client("dynamodb")
    answers(client, TABLE)
    calls, results = [0], []

    def interrupt(_frame, event, _argument):
        if event == "call":
            calls[0] += 1
            if calls[0] == interrupt_at:
                sys.setprofile(None)
                results.append(way(client, "table_exists", **JOBS).attempts)

    def work():
        sys.setprofile(interrupt)
        try:
            results.append(way(client, "table_exists", **JOBS).attempts)
        finally:
            sys.setprofile(None)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), f"a deadlock at call {interrupt_at}"
    return calls[0], results


@pytest.mark.parametrize("way", [by_method, by_plain_waiter])
def test_a_wait_inside_a_first_wait_is_no_deadlock(answers, way):
    bwp.install()
    # The first wait of the process makes more calls.
    first_wait(way, answers, -1)
    calls, results = first_wait(way, answers, -1)
    assert results == [1]
    for number in range(1, calls, max(1, calls // 30)):
        # A wait may make fewer calls than the one before: nothing interrupts it then.
        made, results = first_wait(way, answers, number)
        assert results == [1, 1] or (made < number and results == [1])
