"""Settings of several levels: call > client > session > install > definition > built-in.

That options of a nearer level take precedence is in tests/wait/test_precedence.py.
"""

import boto3
import pytest

import boto_waiters_plus as bwp


def test_defaults_of_later_installs_reach_clients_that_exist(answers, creating, virtual_time):
    bwp.install()
    client = boto3.client("kinesis")
    waiter = client.get_waiter("stream_exists")
    calls = answers(client, creating).operations
    bwp.install(defaults={"max_attempts": 2})
    bwp.install()  # gives none: those stay
    for wait in (
        lambda: client.wait_until_stream_exists(StreamName="s", max_wait=100),
        lambda: waiter.wait(StreamName="s"),
    ):
        calls.clear()
        with pytest.raises(bwp.WaiterAttemptsError):
            wait()
        assert len(calls) == 2
    bwp.install(defaults={"min_delay": 1, "max_delay": 1})
    with pytest.raises(bwp.WaiterTimeoutError):
        client.wait_until_stream_exists(StreamName="s", max_wait=10)
    assert len(calls) >= 10


def test_all_handlers_are_told_once(kinesis):
    told = {level: [] for level in ("first install", "second install", "session", "client")}
    once = []
    for level in ("first install", "second install"):
        bwp.install(on_event=told[level].append)
        bwp.install(on_event=once.append)
    session = bwp.enable(boto3.Session(), on_event=told["session"].append)
    client = kinesis(session)
    for _ in range(2):
        bwp.enable(client, on_event=told["client"].append)
    bwp.enable(client, on_event=once.append)
    assert len(type(client).__mro__) == len({*type(client).__mro__})
    client.wait_until_stream_exists(StreamName="s", max_wait=10)
    for events in (once, *told.values()):
        assert [event.kind for event in events] == ["start", "attempt", "success"]


# --- definitions --------------------------------------------------------------------------------


def test_definition_of_the_client_wins_over_sessions_over_installs(answers, definition):
    bwp.install(definitions=definition("StreamExists", expected="INSTALL"))
    session = boto3.Session()
    client = session.client("kinesis")
    for status, target in (("INSTALL", None), ("SESSION", session), ("CLIENT", client)):
        if target is not None:
            bwp.enable(target, definitions=definition("StreamExists", expected=status))
        fresh = session.client("kinesis") if target is not client else client
        answers(fresh, {"StreamDescription": {"StreamStatus": status}})
        outcome = fresh.wait_until_stream_exists(StreamName="s", max_wait=60)
        assert (outcome.observed, outcome.attempts) == (status, 1)


def test_definition_given_last_wins(definition):
    first = definition("StreamExists", minDelay=3)
    second = definition("StreamExists", minDelay=7)
    bwp.install()
    client = boto3.client("kinesis")
    # Of several in one call, the first.
    for given, least in ((first, 3), ([second, first], 7), (first, 3)):
        bwp.install(definitions=given)
        for each in (client, boto3.client("kinesis")):
            assert each.wait_until_stream_exists.definition.min_delay == least


def test_definitions_are_of_one_service_and_gone_after_uninstall(definition):
    bwp.install(definitions=definition("Mine"), defaults={"max_attempts": 1})
    client = boto3.client("kinesis")
    assert callable(client.wait_until_mine)
    # This one has an operation of the same name.
    assert not hasattr(boto3.client("dynamodbstreams"), "wait_until_mine")
    bwp.uninstall()
    bwp.install()
    assert not hasattr(client, "wait_until_mine")
    assert callable(client.wait_until_stream_exists)
