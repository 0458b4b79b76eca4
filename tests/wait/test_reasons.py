"""The reason of a failure: what happened, the last state seen, what would help."""

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import poll

READY = bwp.WaiterDefinition.from_states(
    "Ready",
    "DescribeStream",
    path="StreamDescription.StreamStatus",
    success=["up"],
    failure=["broken"],
    retry_on_error=["InUse"],
    min_delay=5,
    max_delay=5,
)
LOST = ReadTimeoutError(endpoint_url="https://kinesis")
REFUSED = ConnectTimeoutError(endpoint_url="https://kinesis")
OOPS, IN_USE, THROTTLE, MISSING = (
    {"Error": {"Code": code, "Message": "wait for it"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    for code in ("Oops", "InUse", "Throttling", "ResourceNotFoundException")
)


def seen(state):
    return {"StreamDescription": {"StreamStatus": state}}


@pytest.fixture
def failed(answers, virtual_time):
    """`failed(*answers, **options)`: the error of a wait of 12 seconds that gets these answers."""

    def failed(*script, **options):
        client = boto3.client("kinesis")
        answers(client, *script)
        with pytest.raises(bwp.WaiterError) as caught:
            bwp.wait_until(client, READY, StreamName="s", **{"max_wait": 12, **options})
        return caught.value

    return failed


REASONS = {
    "time": ([seen("starting")], {}, ["timed out after 12 s", "starting", "3 attempts"]),
    "attempts": ([seen("starting")], {"max_attempts": 1}, ["used up its 1 attempt ", "starting"]),
    "not to be shown": ([seen({"Password": "x"})], {}, ["no stream status that"]),
    "no item": ([seen([])], {}, ["no stream status"]),
    "many items": ([seen(["x"] * 30)], {}, ["30 x "]),
    "failure state": ([seen("broken")], {}, ["failed", "'broken'", "1 attempt "]),
    "failure": ([OOPS], {}, ["failed with Oops (HTTP 400", "wait for it"]),
    "retried error": ([seen("x"), IN_USE], {}, ["last state seen: InUse: wait for it"]),
    "transient error": ([THROTTLE], {"retry_transient": False}, ['retry_transient="answered"']),
    "not connected": ([REFUSED], {}, ["retry_transient=True"]),
    "transient errors": (
        [seen("starting"), THROTTLE],
        {},
        ["last state seen: starting", "2 ended in transient errors", "Throttling: wait for it"],
    ),
    "no answer": ([LOST], {"max_attempts": 1}, ["no state was seen", "1 ended in a transient"]),
    "missing": ([MISSING], {}, ["missing_ok_for=60"]),
    "nothing left": ([seen("up")], {"max_wait": 0}, ["no call was made (0 attempts"]),
}


@pytest.mark.parametrize(("script", "options", "words"), REASONS.values(), ids=REASONS)
def test_reason(failed, script, options, words):
    error = failed(*script, **options)
    assert [each for each in words if each not in str(error)] == []
    assert error.label == "kinesis StreamName=s"
    assert str(error).startswith("Waiter Ready ")
    assert f"Waiter Ready {error.kwargs['reason']}" == str(error)


def polled(*paths):
    """The text of the error of a wait on these paths, which never gives them."""
    facts = {"comparator": "stringEquals", "expected": "up"}
    matchers = [{"output": {"path": path, **facts}} for path in paths]
    acceptors = [{"state": "success", "matcher": matcher} for matcher in matchers]
    with pytest.raises(bwp.WaiterError) as caught:
        poll(dict, {"acceptors": acceptors}, max_wait=12)
    return str(caught.value)


def test_a_wait_on_no_service_names_its_goal(virtual_time):
    assert "waited for state is 'up'" in polled("state")


def test_long_service_messages_and_goals_are_cut(failed):
    metadata = {"ResponseMetadata": {"HTTPStatusCode": 400}}
    assert len(str(failed({"Error": {"Code": "Oops", "Message": "x" * 5000}, **metadata}))) < 700
    assert len(polled(*[f"state || '{'x' * 200}{n}'" for n in range(20)])) < 500


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("x" * 700, f"{'x' * 150} [...] {'x' * 350}"),
        ("a\nb", r"a\nb"),
        ("see https://b.s3.amazonaws.com/k?X-Amz-Signature=c", None),
    ],
    ids=["long", "lines", "signed"],
)
def test_a_reason_is_cut_and_on_one_line(answers, reason, message):
    status = "StreamDescription.StreamStatus"
    broken = bwp.WaiterDefinition.from_states(
        "Up", "DescribeStream", path=status, success=["up"], failure=["down"], reason="Why"
    )
    client = boto3.client("kinesis")
    answers(client, {**seen("down"), "Why": reason})
    ways = [
        lambda: bwp.wait_until(client, broken, StreamName="s", max_wait=9),
        lambda: poll(lambda: {**seen("down"), "Why": reason}, broken, max_wait=9),
    ]
    for way in ways:
        with pytest.raises(bwp.WaiterFailedError) as caught:
            way()
        assert caught.value.service_message == message
        text = str(caught.value)
        assert (len(text) < 800, "\n" in text, "Signature" in text) == (True, False, False)
