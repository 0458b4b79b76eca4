"""Definitions for a newer botocore than the installed one, and metadata of many files."""

import json

import botocore
import pytest
from case_tables import tabled
from data_rules import check

OPERATION = "com.amazonaws.athena#GetQueryExecution"
STATE = "QueryExecution.Status.State"


@pytest.fixture(autouse=True)
def older_botocore(monkeypatch):
    monkeypatch.setattr(botocore, "__version__", "1.34.0")


def document(*acceptors, written_for="1.44.5", operation=OPERATION):
    waiter = {"Done": {"acceptors": list(acceptors)}}
    metadata = {"metadata": {"boto.waiters": {"botocore": written_for}}} if written_for else {}
    shape = {"type": "apply", "traits": {"smithy.waiters#waitable": waiter}}
    return {"smithy": "2.0", **metadata, "shapes": {operation: shape}}


def severities(*documents):
    return {event.id.partition(".")[0]: event.severity.value for event in check(list(documents))}


def lacking(models):
    """What only a newer model has, and the rule that reports it."""
    done = models.output(STATE, "SUCCEEDED")
    message = models.output(STATE, "FAILED", "failure", message="NoSuchMember")
    items = models.output("length(Items[]) > `0`", "true", comparator="booleanEquals")
    first = models.output("Items[].State | [0]", "SUCCEEDED")
    return {
        "member": ([models.output("NoSuchMember", "true")], "WaitableTraitJmespathProblem"),
        "list": ([items], "WaitableTraitJmespathProblem"),
        "member of a list": ([first], "WaitableTraitJmespathProblem"),
        "argument": ([models.output("max(Items)", "8")], "WaitableTrait"),
        "message": ([done, message], "WaitableTrait"),
        "value": ([done, models.output(STATE, "THROTTLED", "failure")], "WaiterUnknownEnumValue"),
        "only value": ([models.output(STATE, "SUCEEDED")], "WaiterNeverSucceeds"),
        "error": ([done, models.error("NoSuchError")], "WaitableTraitInvalidErrorType"),
    }


@pytest.mark.parametrize(
    "what",
    ["member", "list", "member of a list", "argument", "message", "value", "only value", "error"],
)
def test_what_older_botocore_lacks_is_a_note(what, models):
    acceptors, rule = lacking(models)[what]
    events = check(document(*acceptors))
    assert rule in {event.id.partition(".")[0] for event in events}
    assert {event.severity.value for event in events} == {"NOTE"}
    assert all(
        event.message.endswith("(botocore 1.34.0; written for 1.44.5)")
        for event in events
        if event.id.startswith(rule)
    )


@pytest.mark.parametrize("version", [None, "1.34.0", "1.9", "", "new", 2, ["1.44.5"]])
def test_without_newer_version_severity_stays(version, models):
    found = severities(document(models.output("NoSuchMember", "true"), written_for=version))
    assert found["WaitableTraitJmespathProblem"] == "DANGER"


def test_operation_of_similar_name_may_be_new(models):
    name = OPERATION.replace("Query", "Queri")
    assert severities(document(models.ACTIVE, operation=name)) == {"WaiterUnknownOperation": "NOTE"}
    older = document(models.ACTIVE, operation=name, written_for=None)
    assert severities(older) == {"WaiterUnknownOperation": "WARNING"}


def wrong_anyway(models):
    done = models.output(STATE, "SUCCEEDED")
    return {
        "no path": ([models.output("a[", "x")], "WaitableTrait"),
        "no function": ([models.output("size(a)", "x")], "WaitableTrait"),
        "no boolean": ([models.output("a", "x", comparator="booleanEquals")], "WaitableTrait"),
        "no success": ([models.output(STATE, "FAILED", "failure")], "WaitableTrait"),
        "message of a success": ([{**done, "message": "a"}], "WaitableTrait"),
        "covered": ([done, done], "WaiterUnreachableAcceptor"),
    }


@pytest.mark.parametrize(
    "what",
    ["no path", "no function", "no boolean", "no success", "message of a success", "covered"],
)
def test_problem_with_any_shapes_keeps_severity(what, models):
    acceptors, rule = wrong_anyway(models)[what]
    found = [event for event in check(document(*acceptors)) if event.id.startswith(rule)]
    assert max(event.severity for event in found) in ("ERROR", "WARNING")


def test_own_shapes_do_not_depend_on_botocore(models):
    model = models.thing(models.output("noSuchMember", "x"))
    model["metadata"] = {"boto.waiters": {"botocore": "9.0"}}
    assert severities(model)["WaitableTraitJmespathProblem"] == "DANGER"


def test_metadata_hold_for_all_files_checked_together(models, tmp_path):
    wrong = document(models.output("NoSuchMember", "true"), written_for=None)
    error = document(
        models.output(STATE, "SUCCEEDED"), models.error("NoSuchError"), written_for=None
    )
    suppression = {"id": "WaitableTraitInvalidErrorType", "namespace": "com.amazonaws.athena"}
    metadata = {"boto.waiters": {"botocore": "1.44.5"}, "suppressions": [suppression]}
    for name, content in {
        "a.json": wrong,
        "b.json": error,
        "metadata.json": {"smithy": "2.0", "metadata": metadata},
    }.items():
        (tmp_path / name).write_text(json.dumps(content))
    of_folder = {(event.severity.value, event.id) for event in check(tmp_path)}
    of_files = {(event.severity.value, event.id) for event in check(sorted(tmp_path.iterdir()))}
    assert of_folder == of_files
    assert ("SUPPRESSED", "WaitableTraitInvalidErrorType.Done.1") in of_folder
    assert {severity for severity, _ in of_folder} == {"NOTE", "SUPPRESSED"}


def coalesced(trait):
    shape = {"type": "apply", "traits": {"boto.waiters#coalescing": trait}}
    shapes = {"com.amazonaws.ec2#DescribeVolumes": shape}
    newer = {"metadata": {"boto.waiters": {"botocore": "1.44.5"}}}
    return [{"smithy": "2.0", **each, "shapes": shapes} for each in (newer, {})]


@tabled("trait", "rule", "severity")
def test_coalescing_of_newer_operation_is_a_note(trait, rule, severity):
    trait = {"limit": 100, "token": "NextToken", **trait}
    by_newer, by_this = (
        {event.id: event.severity.value for event in check(each)} for each in coalesced(trait)
    )
    assert (by_newer[rule], by_this[rule]) == (severity, "ERROR")
