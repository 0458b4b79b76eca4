"""Acceptors that never match, and waiters that never succeed."""

from case_tables import tabled

from boto_waiters_plus.engine.acceptors import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    StatusMatcher,
    SuccessMatcher,
)
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.validation import check


def success(*, value, state="success"):
    return {"state": state, "matcher": {"success": value}}


def both(path, expected, state="success"):
    matcher = {"path": path, "expected": expected, "comparator": "stringEquals"}
    return {"state": state, "matcher": {"inputOutput": matcher}}


def events_of(model, rule):
    return [event for event in check(model) if event.id.startswith(rule)]


@tabled("first", "second", "reached")
def test_unreachable_acceptor_is_a_warning(models, first, second, reached):
    kinds = {
        "success true": success(value=True),
        "success false": success(value=False),
        "error": models.error("ThingNotFound"),
        "other error": models.error("Else"),
        "output": models.output("name", "x"),
        "other output": models.output("name", "y"),
        "input and output": both("output.name", "x"),
        "any": models.output("parts[].status", "active", comparator="anyStringEquals"),
        "all": models.output("parts[].status", "active", comparator="allStringEquals"),
    }
    model = models.thing(kinds[first], kinds[second], models.ACTIVE)
    found = [event.id for event in events_of(model, "WaiterUnreachableAcceptor")]
    assert ("WaiterUnreachableAcceptor.ThingActive.1" in found) is not reached


def test_absolute_error_type_matches_by_name(models):
    model = models.thing(
        models.ACTIVE, models.error("ThingNotFound"), models.error("other.example#ThingNotFound")
    )
    [event] = events_of(model, "WaiterUnreachableAcceptor")
    assert event.message == (
        "Waiter `ThingActive`, acceptor 2: never matches: acceptor 1 (retry when the call fails "
        "with ThingNotFound) always matches first"
    )
    assert event.severity == "WARNING"


def test_waiter_with_unreachable_success_is_a_danger(models):
    model = models.thing(success(value=True, state="retry"), models.ACTIVE)
    assert models.found(model) == [
        ("WARNING", "WaiterUnreachableAcceptor.ThingActive.1"),
        ("DANGER", "WaiterNeverSucceeds.ThingActive"),
        ("WARNING", "WaiterUnhandledState.Failed.ThingActive"),
    ]


def test_one_reachable_success_is_enough(models):
    model = models.thing(
        success(value=False), success(value=True, state="retry"), models.ACTIVE, models.FAILED
    )
    assert not events_of(model, "WaiterNeverSucceeds")


def test_unknown_enum_value_is_reported_with_the_nearest(models):
    model = models.thing(models.ACTIVE, models.output("status", "FAILD", "failure"))
    [event] = events_of(model, "WaiterUnknownEnumValue")
    assert (event.severity, event.id) == ("WARNING", "WaiterUnknownEnumValue.ThingActive.1")
    assert event.message == (
        "Waiter `ThingActive`, acceptor 1: 'FAILD' (expected) is not a value of Status "
        "[creating, active, failed, deleted]. Did you mean 'failed'?"
    )


def test_success_on_unknown_enum_value_is_a_danger(models):
    model = models.thing(models.output("status", "ACTIVE"), models.FAILED)
    assert models.found(model) == [
        ("WARNING", "WaiterUnknownEnumValue.ThingActive.0"),
        ("DANGER", "WaiterNeverSucceeds.ThingActive"),
    ]


@tabled("path")
def test_comparison_inside_a_path_is_checked(models, path):
    model = models.thing(models.output(path, "true", comparator="booleanEquals"))
    [event] = events_of(model, "WaiterUnknownEnumValue")
    assert "'aktive'" in event.message
    assert "Did you mean 'active'?" in event.message


@tabled("path")
def test_value_of_uncertain_origin_is_not_checked(models, path):
    model = models.thing(models.output(path, "true", comparator="booleanEquals"))
    assert not events_of(model, "WaiterUnknownEnumValue")


def test_comparison_inside_a_path_quotes_the_path(models):
    path = "length(parts[?status != 'x']) == `0`"
    model = models.thing(models.output(path, "true", comparator="booleanEquals"))
    [event] = events_of(model, "WaiterUnknownEnumValue")
    assert f"'x' (in {path}) is not a value of" in event.message


def test_path_that_jmespath_groups_differently_is_reported(models):
    model = models.thing(models.output("labels.*.a.b", "x", comparator="anyStringEquals"))
    [event] = events_of(model, "WaiterPathReadDifferently")
    assert (event.severity, event.id) == ("WARNING", "WaiterPathReadDifferently.ThingActive.0")


def test_status_matcher_is_noted():
    definition = WaiterDefinition(
        name="BucketExists",
        operation="HeadBucket",
        acceptors=(
            Acceptor(state=AcceptorState.SUCCESS, matcher=SuccessMatcher(success=True)),
            Acceptor(state=AcceptorState.SUCCESS, matcher=StatusMatcher(403)),
            Acceptor(state=AcceptorState.RETRY, matcher=ErrorTypeMatcher("NotFound")),
        ),
        service="s3",
    )
    [event] = [e for e in check(definition) if e.id.startswith("WaiterStatusMatcher")]
    assert (event.severity, event.id) == ("NOTE", "WaiterStatusMatcher.BucketExists.1")
