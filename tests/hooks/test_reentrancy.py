"""A wait may begin at any point of another: in a signal handler, or a finalizer."""

import sys
import threading

import boto3
import pytest

import boto_waiters_plus as bwp

TABLE = {"Table": {"TableStatus": "ACTIVE"}}


def first_wait(wait, answers, interrupt_at):
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
                results.append(wait(client).attempts)

    def work():
        sys.setprofile(interrupt)
        try:
            results.append(wait(client).attempts)
        finally:
            sys.setprofile(None)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), f"a deadlock at call {interrupt_at}"
    return calls[0], results


WAYS = {
    "method": lambda client: client.wait_until_table_exists(TableName="jobs", max_wait=30),
    "get_waiter": lambda client: client.get_waiter("table_exists").wait(TableName="jobs"),
}


@pytest.mark.parametrize("wait", WAYS.values(), ids=WAYS)
def test_a_wait_inside_a_first_wait_is_no_deadlock(answers, wait):
    bwp.install()
    # The first wait of the process makes more calls.
    first_wait(wait, answers, -1)
    calls, results = first_wait(wait, answers, -1)
    assert results == [1]
    for number in range(1, calls, max(1, calls // 30)):
        assert first_wait(wait, answers, number)[1] == [1, 1]
