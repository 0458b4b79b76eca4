"""Smithy's rules for waiters, where the published suite does not test them."""

import pytest
from case_tables import tabled

from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.definitions.smithy import WAITABLE
from boto_waiters_plus.validation import Severity, check

PROBLEM = "WaitableTraitJmespathProblem"


@tabled("path", "comparator", "expected", "event_ids")
def test_path_is_checked_against_the_output(models, path, comparator, expected, event_ids):
    model = models.thing(models.output(path, expected, comparator=comparator))
    assert [
        event_id for _, event_id in models.found(model) if "Unhandled" not in event_id
    ] == event_ids


@pytest.mark.parametrize(
    ("key", "problems"),
    [("ApproximateNumberOfMessages", 0), ("ApproximateNumberOfMesages", 2)],
)
def test_keys_of_a_map_are_those_of_their_enumeration(waitable, key, problems):
    matcher = {"path": f"Attributes.{key}", "expected": "0", "comparator": "stringEquals"}
    success = {"state": "success", "matcher": {"output": matcher}}
    model = waitable("QueueEmpty", "GetQueueAttributes", success, namespace="com.amazonaws.sqs")
    found = [event for event in check(model) if event.severity >= Severity.DANGER]
    assert len(found) == problems
    if found:
        assert f"field '{key}' does not exist in object with properties [" in found[0].message
        assert "ApproximateNumberOfMessages, " in found[0].message


@tabled("message", "text")
def test_message_must_return_text(models, message, text):
    failed = models.output("status", "failed", "failure", message=message)
    events = check(models.thing(models.ACTIVE, failed))
    found = [event.message for event in events if event.id == "WaitableTrait"]
    start = (
        "Waiter `ThingActive`, acceptor 1: The `message` JMESPath expression must resolve to a "
        "string or an array of strings, but "
    )
    assert found == ([start + text] if text else [])


def test_message_is_linted_like_a_path(models):
    failed = models.output("status", "failed", "failure", message="nope")
    assert ("DANGER", f"{PROBLEM}.JmespathEventDanger.ThingActive.1") in models.found(
        models.thing(models.ACTIVE, failed)
    )


def test_error_may_be_named_by_shape_id(models):
    for name in ("ThingNotFound", "smithy.example#ThingNotFound"):
        assert models.found(models.thing(models.ACTIVE, models.FAILED, models.error(name))) == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [("ThingNotFoud", ". Did you mean 'ThingNotFound'?"), ("Else", "")],
)
def test_unknown_error_is_reported_with_the_nearest(models, name, hint):
    events = check(models.thing(models.ACTIVE, models.FAILED, models.error(name)))
    [event] = [event for event in events if event.severity == "WARNING"]
    assert event.id == "WaitableTraitInvalidErrorType.ThingActive.2"
    assert event.message == (
        f"Waiter `ThingActive`, acceptor 2: errorType '{name}' not found on operation. This "
        f"operation defines the following errors: [smithy.example#ThingNotFound]{hint}"
    )


def test_input_and_output_are_checked_together(models):
    matcher = {
        "path": "input.name == output.nam",
        "expected": "true",
        "comparator": "booleanEquals",
    }
    acceptor = {"state": "success", "matcher": {"inputOutput": matcher}}
    [event] = [e for e in check(models.thing(acceptor)) if e.severity == "DANGER"]
    assert event.message.endswith("properties [name, status, parts, count, labels]")


def test_mistakes_of_the_specification_s_examples_are_reported(models):
    """A waiter's `description`, and `inputOutput` beside `state` rather than in `matcher`."""
    described = {"ThingActive": {"acceptors": [models.ACTIVE, models.FAILED], "description": "x"}}
    found = models.found(models.with_trait(described), above=Severity.SUPPRESSED)
    assert ("NOTE", "TraitValue.UnknownMember.smithy.waiters#Waiter.description") in found
    misplaced = {"GroupExists": {"acceptors": [{"inputOutput": {"path": "x"}}]}}
    assert models.found(models.with_trait(misplaced)) == [("ERROR", "Model")] * 2


def test_expression_of_any_depth_is_survived(models):
    depths = range(50, 1000, 50)
    acceptors = [models.output("[" * n + "name" + "]" * n, "x") for n in depths]
    events = check(models.thing(models.ACTIVE, models.FAILED, *acceptors))
    assert any("nested too deeply" in event.message for event in events)


def test_operation_has_the_waiters_of_its_mixins(models):
    model = models.thing(models.ACTIVE, models.FAILED)
    shapes = model["shapes"]
    shapes["smithy.example#Base"] = {
        "type": "operation",
        "traits": {"smithy.api#mixin": {}, **shapes[models.OPERATION].pop("traits")},
    }
    shapes[models.OPERATION]["mixins"] = [{"target": "smithy.example#Base"}]
    shapes[models.OPERATION]["output"] = {"target": "smithy.example#GetThingInput"}
    events = [event for event in check(model) if event.shape == models.OPERATION]
    assert {event.id for event in events if event.severity == "DANGER"} == {
        f"WaitableTraitJmespathProblem.{rule}.ThingActive.{index}"
        for rule in ("JmespathEventDanger", "ReturnTypeMismatch")
        for index in (0, 1)
    }


def test_errors_of_the_service_do_not_count(models):
    model = models.thing(models.ACTIVE, models.FAILED, models.error("Throttled"))
    model["shapes"] |= {
        "smithy.example#Throttled": {"type": "structure", "traits": {"smithy.api#error": "client"}},
        "smithy.example#Things": {
            "type": "service",
            "operations": [{"target": models.OPERATION}],
            "errors": [{"target": "smithy.example#Throttled"}],
        },
    }
    assert models.found(model)[:1] == [("WARNING", "WaitableTraitInvalidErrorType.ThingActive.2")]


def test_a_waiter_that_replaces_a_shipped_one_is_noted(definition):
    def found(document):
        rule = "WaiterReplacesShipped"
        return [str(each) for each in check(document) if each.id.startswith(rule)]

    assert found(definition("StreamReady")) == []
    [note] = found(definition("StreamExists", expected="READY"))
    assert note == (
        "[NOTE] com.amazonaws.kinesis#DescribeStream: Waiter `StreamExists`: it replaces the one "
        "that comes with boto_waiters_plus (data/kinesis.json) | WaiterReplacesShipped.StreamExists"
    )
    [shipped] = [each for each in shipped_definitions("kinesis") if each.name == "StreamExists"]
    body = {"StreamExists": shipped.to_json()}
    copied = definition("StreamExists")
    copied["shapes"]["com.amazonaws.kinesis#DescribeStream"]["traits"] = {WAITABLE: body}
    assert found(copied) == []
