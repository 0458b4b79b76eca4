"""The reason of a failure: what happened, the last state seen, what would help."""

import json
from pathlib import Path

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
TRANSPORT = {
    "lost": ReadTimeoutError(endpoint_url="https://kinesis"),
    "refused": ConnectTimeoutError(endpoint_url="https://kinesis"),
}
CASES = Path(__file__).parents[1] / "cases/wait-reasons.json"
REASONS = json.loads(CASES.read_text("utf-8"))["reasons"]


def seen(state):
    return {"StreamDescription": {"StreamStatus": state}}


@pytest.fixture
def failed(answers, virtual_time):
    """`failed(*answers, **options)`: the error of a wait of 12 seconds that gets these answers."""

    def failed(*script, **options):
        client = boto3.client("kinesis")
        answers(client, *[TRANSPORT[each] if isinstance(each, str) else each for each in script])
        with pytest.raises(bwp.WaiterError) as caught:
            bwp.wait_until(client, READY, StreamName="s", **{"max_wait": 12, **options})
        return caught.value

    return failed


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


def test_a_wait_on_no_service_names_its_goal_in_short(virtual_time):
    assert "waited for state is 'up'" in polled("state")
    assert len(polled(*[f"state || '{'x' * 200}{n}'" for n in range(20)])) < 500


@pytest.mark.parametrize(("reason", "message"), [
    ("x" * 700, f"{'x' * 150} [...] {'x' * 350}"),
    ("a\nb", r"a\nb"),
    ("see https://b.s3.amazonaws.com/k?X-Amz-Signature=c", None),
], ids=["long", "lines", "signed"])  # fmt: skip
def test_a_reason_is_cut_and_on_one_line(reason, message):
    status = "StreamDescription.StreamStatus"
    broken = bwp.WaiterDefinition.from_states(
        "Up", "DescribeStream", path=status, success=["up"], failure=["down"], reason="Why"
    )
    with pytest.raises(bwp.WaiterFailedError) as caught:
        poll(lambda: {**seen("down"), "Why": reason}, broken, max_wait=9)
    assert caught.value.service_message == message
    text = str(caught.value)
    assert (len(text) < 800, "\n" in text, "Signature" in text) == (True, False, False)
