"""The event in a message, and the expressions that match it: by `deliver`, without a queue."""

import json
import logging

import pytest

from boto_waiters_plus.signals import SqsSignal

from .conftest import URL

RUNNING = {
    "version": "0",
    "detail-type": "EC2 Instance State-change Notification",
    "source": "aws.ec2",
    "resources": ["arn:aws:ec2:us-east-1:123456789012:instance/i-1"],
    "detail": {"instance-id": "i-1", "state": "running"},
}
EVENT = json.dumps(RUNNING)
NO_TEXT = '{"Type": "Notification", "Message": {"a": 1}}'
CONFIRMATION = '{"Type": "SubscriptionConfirmation", "Message": "hello"}'


@pytest.fixture
def matching(sqs):
    """`matching(expression)`: a signal for the events that match it."""
    return lambda expression: SqsSignal(URL, client=sqs, match=expression)


def notification(message):
    """Return a message as SNS puts it into a queue."""
    return json.dumps({"Type": "Notification", "TopicArn": "arn:aws:sns:::t", "Message": message})


@pytest.mark.parametrize(("body", "expression"), [
    pytest.param(EVENT, "detail.state == 'running'", id="EventBridge"),
    pytest.param(notification(EVENT), "detail.state == 'running'", id="EventBridge by SNS"),
    pytest.param(notification("Status='DONE'\n"), "@ == 'Status=\\'DONE\\'\n'", id="SNS"),
    pytest.param('{"Records": []}', "keys(@) == ['Records']", id="raw delivery"),
    pytest.param("ready", "@ == 'ready'", id="text"),
    pytest.param("{broken", "@ == '{broken'", id="broken"),
    pytest.param("[" * 100_000, "type(@) == 'string'", id="nested without end"),
    pytest.param(NO_TEXT, "Message.a == `1`", id="an event that resembles SNS's"),
    pytest.param(CONFIRMATION, "Message == 'hello'", id="no notification"),
])  # fmt: skip
def test_a_message_holds_an_event(matching, body, expression):
    assert matching(expression).deliver(body) is True


@pytest.mark.parametrize(("expression", "matches"), [
    ("detail.\"instance-id\" == 'i-1' && detail.state == 'running'", True),
    ("contains(resources[0], 'i-1')", True), ("resources[?ends_with(@, 'i-1')]", True),
    ("detail.state", True), ("detail.missing", False), ("`[]`", False), ("''", False),
])  # fmt: skip
def test_an_expression_matches_if_true_in_jmespath(matching, expression, matches):
    assert matching(expression).deliver(RUNNING) is matches


@pytest.mark.parametrize("event", ["text", "null", "7", "[]", {}])
def test_any_event_can_be_matched(matching, event):
    assert matching("detail.state == 'running'").deliver(event) is False


def test_an_impossible_evaluation_is_logged_once(matching, caplog):
    signal = matching("contains(detail.state, 'run')")
    with caplog.at_level(logging.DEBUG, "boto_waiters_plus"):
        for _ in range(3):
            assert signal.deliver({"detail": {"state": 12, "password": "hunter2"}}) is False
    assert len(caplog.messages) == 1
    assert "JMESPathTypeError" in caplog.text
    assert "hunter2" not in caplog.text
    assert signal.deliver(RUNNING) is True


@pytest.mark.parametrize(("expression", "error", "says"), [
    ("detail..state", ValueError, "match"), ("", ValueError, "match"),
    ("detail.state = 'running'", ValueError, "match"), ("!" * 100_000 + "a", ValueError, "match"),
    ("endswith(detail.state, 'g')", ValueError, "'endswith'"),
    ("a[1:2] || (b && nope(@))", ValueError, "'nope'"), (b"detail", TypeError, "match"),
    (7, TypeError, "match"),
])  # fmt: skip
def test_a_bad_expression_is_refused(matching, expression, error, says):
    with pytest.raises(error, match=says):
        matching(expression)
    with pytest.raises(error, match=says):
        matching("detail").matching(expression)
