"""Settings of several levels: call > client > session > install > definition > built-in."""

import boto3
import pytest

import boto_waiters_plus as bwp


def wait_timed_out(client, **keywords):
    """The pauses of a wait that never succeeds."""
    pauses = []

    def note(event):
        if event.next_delay is not None:
            pauses.append(event.next_delay)

    with pytest.raises(bwp.WaiterError):
        client.wait_until_stream_exists(
            StreamName="s", max_wait=100, on_attempt=note, max_attempts=3, **keywords
        )
    return pauses


LEVELS = ["call", "client", "session", "install", "definition", "built-in"]


@pytest.mark.parametrize("highest", range(len(LEVELS)), ids=LEVELS)
def test_option_of_the_highest_level_that_gives_it_wins(
    highest, answers, creating, definition, virtual_time
):
    """Each level has its own pace; the levels above `highest` give none."""
    given = set(LEVELS[highest:])
    pace = {level: {"min_delay": n, "max_delay": n} for n, level in enumerate(LEVELS, start=3)}

    def settings(level):
        return {"defaults": pace[level]} if level in given else {}

    members = {"minDelay": 7, "maxDelay": 7} if "definition" in given else {}
    definitions = definition("StreamExists", expected="NEVER", **members)
    bwp.install(definitions=definitions, **settings("install"))
    session = boto3.Session()
    if "session" in given:
        bwp.enable(session, **settings("session"))
    client = session.client("kinesis")
    if "client" in given:
        bwp.enable(client, **settings("client"))
    answers(client, creating)
    pauses = wait_timed_out(client, **(pace["call"] if "call" in given else {}))
    # Built in are the specification's 2 and 120 seconds, jittered.
    assert pauses == [2, pauses[1]] if highest == 5 else pauses == [highest + 3] * 2


def test_defaults_of_a_later_install_replace_the_earlier(answers, creating, virtual_time):
    bwp.install(defaults={"max_attempts": 2})
    bwp.install(defaults={"min_delay": 1, "max_delay": 1})
    bwp.install()  # gives none: those stay
    client = boto3.client("kinesis")
    calls = answers(client, creating).operations
    with pytest.raises(bwp.WaiterTimeoutError):
        client.wait_until_stream_exists(StreamName="s", max_wait=10)
    assert len(calls) >= 10


def test_handlers_of_all_levels_are_told(kinesis):
    told = {level: [] for level in ("install", "again", "session", "client", "call")}
    once = []
    for level in ("install", "again"):
        bwp.install(on_event=told[level].append)
        bwp.install(on_event=once.append)
    session = bwp.enable(boto3.Session(), on_event=told["session"].append)
    client = bwp.enable(kinesis(session), on_event=told["client"].append)
    bwp.enable(client, on_event=once.append)
    client.wait_until_stream_exists(StreamName="s", max_wait=10, on_attempt=told["call"].append)
    kinds = {level: [event.kind for event in events] for level, events in told.items()}
    assert kinds.pop("call") == ["attempt"]
    assert set(map(tuple, kinds.values())) == {("start", "attempt", "success")}
    # A handler that several levels have is told once.
    assert [event.kind for event in once] == ["start", "attempt", "success"]


# --- definitions --------------------------------------------------------------------------------


def seen(client):
    return client.wait_until_stream_exists(StreamName="s", max_wait=60, min_delay=1, max_delay=1)


def test_definition_of_the_client_wins_over_sessions_over_installs(
    answers, definition, virtual_time
):
    bwp.install(definitions=definition("StreamExists", expected="INSTALL"))
    session = boto3.Session()
    client = session.client("kinesis")
    for status, target in (("INSTALL", None), ("SESSION", session), ("CLIENT", client)):
        if target is not None:
            bwp.enable(target, definitions=definition("StreamExists", expected=status))
        fresh = session.client("kinesis") if target is not client else client
        answers(fresh, {"StreamDescription": {"StreamStatus": status}})
        assert seen(fresh).observed == status


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


def test_definition_of_another_service_is_not_this_clients(definition):
    bwp.install(definitions=definition("Mine"))
    assert not hasattr(boto3.client("sts"), "wait_until_mine")
    # The same operation name, another service:
    assert not hasattr(boto3.client("firehose"), "wait_until_mine")


def test_definitions_are_gone_after_uninstall(definition):
    bwp.install(definitions=definition("Mine"), defaults={"max_attempts": 1})
    client = boto3.client("kinesis")
    assert callable(client.wait_until_mine)
    bwp.uninstall()
    bwp.install()
    assert not hasattr(client, "wait_until_mine")
    assert callable(client.wait_until_stream_exists)


def test_defaults_reach_every_way_to_wait_on_clients_that_exist(answers, creating, virtual_time):
    bwp.install()
    client = boto3.client("kinesis")
    calls = answers(client, creating).operations
    bwp.install(defaults={"max_attempts": 2})
    waiter = client.get_waiter("stream_exists")
    for wait in (
        lambda: client.wait_until_stream_exists(StreamName="s", max_wait=100),
        lambda: waiter.wait(StreamName="s"),
        lambda: bwp.wait_until(client, "StreamExists", StreamName="s", max_wait=100),
    ):
        calls.clear()
        with pytest.raises(bwp.WaiterAttemptsError):
            wait()
        assert len(calls) == 2
