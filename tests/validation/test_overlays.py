"""The checker on overlays: the waiter is checked as it is after them."""

import json

import pytest

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


def test_a_good_overlay_has_no_event():
    assert ids(overlay({"prepend": [failure()]})) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            {"prepend": [failure(expected="DELETNG")]},
            "WaiterUnknownEnumValue.StreamExists.0",
        ),
        (
            {"append": [failure(path="StreamDescription.Status")]},
            "WaitableTraitJmespathProblem.JmespathEventDanger.StreamExists.1",
        ),
    ],
)
def test_its_acceptors_are_checked_against_the_shapes(body, expected):
    assert expected in ids(overlay(body))


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (overlay({"prepnd": []}), "unknown member 'prepnd'; did you mean 'prepend'?"),
        (overlay({"minDelay": 3}, name="StreamExist"), "did you mean 'StreamExists'?"),
        (overlay({"prepend": [{}]}), "acceptor 0: state must be one of"),
        (
            overlay({"minDelay": 3}, shape="com.amazonaws.kinesis#ListStreams"),
            "the waiter polls DescribeStream",
        ),
    ],
)
def test_an_overlay_that_would_be_refused_is_an_error(document, says):
    [event] = check(document)
    assert (event.severity, event.id) == ("ERROR", "Model")
    assert event.message.startswith("Waiter `StreamExist")
    assert says in event.message


def test_the_event_says_where_in_the_file(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(overlay({"prepnd": []}), indent=1))
    [event] = check(file)
    assert file.read_text().splitlines()[event.line - 1].strip().startswith('"StreamExists"')


def test_a_waiter_of_the_same_document_may_be_changed():
    waiter = {"StreamOfMine": {"acceptors": [{**failure(), "state": "success"}]}}
    both = {"smithy.waiters#waitable": waiter}
    assert "Model" not in ids(overlay({"minDelay": 3}, name="StreamOfMine", **both))


def test_an_operation_that_botocore_lacks_is_passed_over():
    [event] = check(overlay({"minDelay": 3}, shape="com.amazonaws.kinesis#DescribeOfTomorrow"))
    assert (event.severity, event.id) == ("NOTE", "WaiterUnknownOperation")
