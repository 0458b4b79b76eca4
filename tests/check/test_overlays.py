"""Overlays: the waiter is checked with its changes."""

import json

from case_tables import tabled

from boto_waiters_plus.validation import check

SHAPE = "com.amazonaws.kinesis#DescribeStream"


def overlay(body, name="StreamExists", shape=SHAPE, **traits):
    traits = {"boto.waiters#overlay": {name: body}, **traits}
    return {"smithy": "2.0", "shapes": {shape: {"type": "apply", "traits": traits}}}


def failure(path="StreamDescription.StreamStatus", expected="DELETING"):
    matcher = {"path": path, "expected": expected, "comparator": "stringEquals"}
    return {"state": "failure", "matcher": {"output": matcher}}


def ids(document):
    return [event.id for event in check(document) if event.severity > "NOTE"]


def test_good_overlay_has_no_event():
    assert ids(overlay({"prepend": [failure()]})) == []


@tabled("body", "expected")
def test_acceptors_of_overlay_are_checked(body, expected):
    assert expected in ids(overlay(body))


@tabled("document", "says")
def test_malformed_overlay_is_an_error(document, says):
    [event] = check(document)
    assert (event.severity, event.id) == ("ERROR", "Model")
    assert event.message.startswith("Waiter `StreamExist")
    assert says in event.message


def test_event_has_the_location_of_the_overlay(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(overlay({"prepnd": []}), indent=1))
    [event] = check(file)
    assert file.read_text().splitlines()[event.line - 1].strip().startswith('"StreamExists"')


def test_overlay_may_change_waiter_of_same_document():
    waiter = {"StreamOfMine": {"acceptors": [{**failure(), "state": "success"}]}}
    both = {"smithy.waiters#waitable": waiter}
    assert "Model" not in ids(overlay({"minDelay": 3}, name="StreamOfMine", **both))


def test_operation_that_botocore_lacks_is_ignored():
    [event] = check(overlay({"minDelay": 3}, shape="com.amazonaws.kinesis#DescribeOfTomorrow"))
    assert (event.severity, event.id) == ("NOTE", "WaiterUnknownOperation")
