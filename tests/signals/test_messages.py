"""The event in a message, and the expressions that match it."""

import json
import logging

import pytest

from boto_waiters_plus.signals.messages import EventPattern, event_of

RUNNING = {
    "version": "0",
    "detail-type": "EC2 Instance State-change Notification",
    "source": "aws.ec2",
    "resources": ["arn:aws:ec2:us-east-1:123456789012:instance/i-1"],
    "detail": {"instance-id": "i-1", "state": "running"},
}


def notification(message):
    """Return a message as SNS puts it into a queue."""
    return json.dumps({"Type": "Notification", "TopicArn": "arn:aws:sns:::t", "Message": message})


@pytest.mark.parametrize(
    ("body", "event"),
    [
        pytest.param(json.dumps(RUNNING), RUNNING, id="EventBridge"),
        pytest.param(notification(json.dumps(RUNNING)), RUNNING, id="EventBridge by SNS"),
        pytest.param(notification("Status='DONE'\n"), "Status='DONE'\n", id="text by SNS"),
        pytest.param('{"Records": []}', {"Records": []}, id="raw delivery"),
        pytest.param("ready", "ready", id="text"),
        pytest.param("{broken", "{broken", id="broken"),
        pytest.param("[" * 100_000, "[" * 100_000, id="nested without end"),
        pytest.param(
            '{"Type": "Notification", "Message": {"a": 1}}',
            {"Type": "Notification", "Message": {"a": 1}},
            id="an event that resembles SNS's",
        ),
        pytest.param(
            '{"Type": "SubscriptionConfirmation", "Message": "hello"}',
            {"Type": "SubscriptionConfirmation", "Message": "hello"},
            id="no notification",
        ),
    ],
)
def test_a_message_holds_an_event(body, event):
    assert event_of(body) == event


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ("detail.state == 'running'", True),
        ("detail.\"instance-id\" == 'i-1' && detail.state == 'running'", True),
        ("contains(resources[0], 'i-1')", True),
        ("detail.state", True),
        ("detail.missing", False),
        ("`[]`", False),
        ("''", False),
        ("resources[?ends_with(@, 'i-1')]", True),
    ],
)
def test_an_expression_matches_if_true_in_jmespath(expression, matches):
    assert EventPattern(expression).matches(RUNNING) is matches


@pytest.mark.parametrize("event", ["text", None, 7, [], {}])
def test_any_event_can_be_matched(event):
    assert EventPattern("detail.state == 'running'").matches(event) is False


def test_an_impossible_evaluation_is_logged_once(caplog):
    match = EventPattern("contains(detail.state, 'run')")
    with caplog.at_level(logging.DEBUG, "boto_waiters_plus"):
        for _ in range(3):
            assert match.matches({"detail": {"state": 12, "password": "hunter2"}}) is False
    assert len(caplog.messages) == 1
    assert "JMESPathTypeError" in caplog.text
    assert "hunter2" not in caplog.text
    assert match.matches(RUNNING) is True


@pytest.mark.parametrize(
    ("expression", "error", "says"),
    [
        ("detail..state", ValueError, "match"),
        ("", ValueError, "match"),
        ("detail.state = 'running'", ValueError, "match"),
        ("!" * 100_000 + "a", ValueError, "match"),
        ("endswith(detail.state, 'g')", ValueError, "'endswith'"),
        ("a[1:2] || (b && nope(@))", ValueError, "'nope'"),
        (b"detail", TypeError, "match must be .* not bytes"),
        ({"detail": 1}, TypeError, "match must be .* not dict"),
    ],
)
def test_a_bad_expression_is_refused(expression, error, says):
    with pytest.raises(error, match=says):
        EventPattern(expression)
