"""The form of the trait `waitable`."""

import copy

import pytest
from case_tables import tabled

from boto_waiters_plus.validation import check

WAITABLE = "smithy.waiters#waitable"


def waiter(**changes):
    body = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}
    return {"ThingActive": {**body, **changes}}


def acceptor(**changes):
    body = {"state": "success", "matcher": {"success": True}}
    return waiter(acceptors=[{**body, **changes}])


def path(**changes):
    body = {"path": "name", "expected": "x", "comparator": "stringEquals"}
    return acceptor(matcher={"output": {**body, **changes}})


VALUE = "TraitValue"
MODEL = "Model"


@pytest.mark.parametrize(
    ("trait", "event_id", "text"),
    [
        ({}, VALUE, "has no waiter"),
        ({"thing active": waiter()["ThingActive"]}, VALUE, "must match regular expression"),
        (waiter(acceptors=[]), VALUE, "at least one acceptor"),
        (waiter(tags=["a", ""]), VALUE, "non-empty strings"),
        (waiter(minDelay=1.5), VALUE, "whole number"),
        (waiter(maxDelay=0), "TraitValue.Target.InvalidRange", "at least 1"),
        (waiter(maxDelay=2**31), VALUE, "at most"),
        (
            acceptor(matcher={"status": 200}),
            "TraitValue.UnknownMember.smithy.waiters#Matcher.status",
            "unknown matcher 'status'",
        ),
        ([], MODEL, "must be an object, not a list"),
        ({"ThingActive": None}, MODEL, "must be an object, not null"),
        ({5: waiter()["ThingActive"]}, VALUE, "must match regular expression"),
        ({"ThingActive": {}}, MODEL, "acceptors must be a list"),
        (waiter(acceptors="x"), MODEL, "acceptors must be a list"),
        (waiter(minDelay="1"), MODEL, "whole number"),
        (waiter(deprecated=1), MODEL, "deprecated must be"),
        (waiter(documentation=1), MODEL, "documentation must be"),
        (waiter(tags=[1]), MODEL, "tags must be"),
        (acceptor(state="done"), MODEL, "state must be one of success, failure, retry"),
        (acceptor(matcher={}), MODEL, "exactly one member"),
        (acceptor(matcher={"success": True, "errorType": "X"}), MODEL, "exactly one member"),
        (acceptor(matcher={"success": "true"}), MODEL, "success must be true or false"),
        (acceptor(matcher={"errorType": ""}), MODEL, "errorType must be"),
        (acceptor(message=1), MODEL, "message must be a string"),
        (path(expected=1), MODEL, "expected must be a string"),
        (path(comparator="equals"), MODEL, "comparator must be one of"),
    ],
)
def test_malformed_trait_is_an_error(models, trait, event_id, text):
    [event] = check(models.with_trait(trait))
    assert (event.severity, event.id, event.shape) == ("ERROR", event_id, models.OPERATION)
    assert text in event.message


@tabled("trait", "member")
def test_unknown_member_is_a_warning(models, trait, member):
    event_id = f"TraitValue.UnknownMember.smithy.waiters#{member}"
    assert ("WARNING", event_id) in models.found(models.with_trait(trait))


def test_description_is_read_with_a_note(models):
    events = check(models.with_trait(waiter(description="!")))
    [event] = [event for event in events if event.id.endswith("Waiter.description")]
    assert event.severity == "NOTE"
    assert event.message.endswith("has no member `description`; it is read as `documentation`")


def test_all_problems_of_a_trait_are_reported(models):
    bad = {"state": "done", "matcher": {"output": {"path": 1, "comparator": "is"}}}
    trait = {"lower": {"acceptors": [bad, {}], "minDelay": 0, "tags": "x"}, "ThingActive": []}
    events = check(models.with_trait(trait))
    assert [event.message.rpartition(": ")[2].split()[0] for event in events] == [
        *("^[A-Z]+[A-Za-z0-9]*$", "state", "path", "expected", "comparator"),
        *("state", "matcher", "minDelay", "tags", "a"),
    ]


def test_trait_is_only_allowed_on_operations(models):
    model = models.thing()
    shapes = model["shapes"]
    shapes["smithy.example#Part"]["traits"] = shapes[models.OPERATION].pop("traits")
    [event] = check(model)
    assert (event.severity, event.id, event.shape) == (
        "ERROR",
        "TraitTarget",
        "smithy.example#Part",
    )


def test_other_rules_need_a_readable_trait(models):
    model = models.thing(models.output("nothing", "x"))
    other = copy.deepcopy(model["shapes"][models.OPERATION])
    other["traits"][WAITABLE] = {"lower": other["traits"][WAITABLE]["ThingActive"]}
    assert [e.id for e in check(model)] != []
    model["shapes"]["smithy.example#GetOther"] = other
    assert [event.id for event in check(model)] == ["TraitValue"]


def test_other_rules_run_after_a_warning(models):
    trait = {"ThingActive": {"acceptors": [models.FAILED], "summary": "x"}}
    found = models.found(models.with_trait(trait))
    assert found == [
        ("WARNING", "TraitValue.UnknownMember.smithy.waiters#Waiter.summary"),
        ("ERROR", "WaitableTrait"),
    ]
