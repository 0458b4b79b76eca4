"""What a trait must look like."""

import copy

import pytest

from boto_waiters_plus.validation import check

WAITABLE = "smithy.waiters#waitable"
ERROR = "ERROR"
SCHEMA = "Error validating trait `smithy.waiters#waitable`"
CREATION = "Error creating trait `smithy.waiters#waitable`"


def waiter(**changes):
    body = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}
    return {"ThingActive": {**body, **changes}}


def acceptor(**changes):
    body = {"state": "success", "matcher": {"success": True}}
    return waiter(acceptors=[{**body, **changes}])


def path(**changes):
    body = {"path": "name", "expected": "x", "comparator": "stringEquals"}
    return acceptor(matcher={"output": {**body, **changes}})


@pytest.mark.parametrize(
    ("trait", "severity", "event_id", "text"),
    [
        (
            {},
            ERROR,
            "TraitValue",
            (
                f"{SCHEMA}: Value provided for `smithy.waiters#waitable` must have at least 1 "
                "entries, but "
                "the provided value only has 0 entries"
            ),
        ),
        (
            {"thing active": waiter()["ThingActive"]},
            ERROR,
            "TraitValue",
            (
                f"{SCHEMA}.thing active (map-key): String value provided for "
                "`smithy.waiters#WaiterName` must match regular expression: ^[A-Z]+[A-Za-z0-9]*$"
            ),
        ),
        (
            waiter(acceptors=[]),
            ERROR,
            "TraitValue",
            (
                f"{SCHEMA}.ThingActive.acceptors: Value provided for `smithy.waiters#Acceptors` "
                "must have "
                "at least 1 elements, but the provided value only has 0 elements"
            ),
        ),
        (
            waiter(tags=["a", ""]),
            ERROR,
            "TraitValue",
            (
                f"{SCHEMA}.ThingActive.tags.1: String value provided for "
                "`smithy.waiters#NonEmptyString` "
                "must be >= 1 characters, but the provided value is only 0 characters."
            ),
        ),
        (
            waiter(minDelay=1.5),
            ERROR,
            "TraitValue",
            (
                f"{SCHEMA}.ThingActive.minDelay: integer shapes must not have floating point "
                "values, but "
                "found `1.5` provided for `smithy.waiters#WaiterDelay`"
            ),
        ),
        (
            waiter(maxDelay=0),
            ERROR,
            "TraitValue.Target.InvalidRange",
            (
                f"{SCHEMA}.ThingActive.maxDelay: Value provided for "
                "`smithy.waiters#WaiterDelay` must be "
                "greater than or equal to 1, but found 0"
            ),
        ),
        (
            waiter(description="!"),
            "WARNING",
            "TraitValue.UnknownMember.smithy.waiters#Waiter.description",
            (
                f"{SCHEMA}.ThingActive: Invalid structure member `description` found for "
                "`smithy.waiters#Waiter`"
            ),
        ),
        (
            acceptor(inputOutput={}),
            "WARNING",
            "TraitValue.UnknownMember.smithy.waiters#Acceptor.inputOutput",
            (
                f"{SCHEMA}.ThingActive.acceptors.0: Invalid structure member `inputOutput` "
                "found for "
                "`smithy.waiters#Acceptor`"
            ),
        ),
        (
            path(argument="name"),
            "WARNING",
            "TraitValue.UnknownMember.smithy.waiters#PathMatcher.argument",
            (
                f"{SCHEMA}.ThingActive.acceptors.0.matcher.output: Invalid structure member "
                "`argument` "
                "found for `smithy.waiters#PathMatcher`"
            ),
        ),
        (
            acceptor(matcher={"status": 200}),
            ERROR,
            "TraitValue.UnknownMember.smithy.waiters#Matcher.status",
            (
                f"{SCHEMA}.ThingActive.acceptors.0.matcher: Invalid union member `status` found "
                "for "
                "`smithy.waiters#Matcher`"
            ),
        ),
        ([], ERROR, "Model", f"{CREATION}: Expected object, but found array"),
        ({"ThingActive": None}, ERROR, "Model", f"{CREATION}: Expected object, but found null"),
        ({"ThingActive": {}}, ERROR, "Model", f"{CREATION}: Missing expected member `acceptors`"),
        (
            waiter(acceptors="x"),
            ERROR,
            "Model",
            f"{CREATION}: Expected array of `acceptors`, but found string",
        ),
        (
            waiter(minDelay="1"),
            ERROR,
            "Model",
            f"{CREATION}: Expected number of `minDelay`, but found string",
        ),
        (
            waiter(deprecated=1),
            ERROR,
            "Model",
            f"{CREATION}: Expected boolean of `deprecated`, but found number",
        ),
        (
            waiter(tags=[1]),
            ERROR,
            "Model",
            f"{CREATION}: Expected string of an element of `tags`, but found number",
        ),
        (
            acceptor(state="done"),
            ERROR,
            "Model",
            f"{CREATION}: Expected `state` to be one of success, failure, retry, but found `done`",
        ),
        (
            acceptor(matcher={}),
            ERROR,
            "Model",
            f"{CREATION}: Union value must have exactly one value set",
        ),
        (
            acceptor(matcher={"success": True, "errorType": "X"}),
            ERROR,
            "Model",
            f"{CREATION}: Union value must have exactly one value set",
        ),
        (
            acceptor(matcher={"success": "true"}),
            ERROR,
            "Model",
            f"{CREATION}: Expected boolean of `success`, but found string",
        ),
        (
            acceptor(message=1),
            ERROR,
            "Model",
            f"{CREATION}: Expected string of `message`, but found number",
        ),
        (
            path(expected=1),
            ERROR,
            "Model",
            f"{CREATION}: Expected string of `expected`, but found number",
        ),
        (
            path(comparator="equals"),
            ERROR,
            "Model",
            (
                f"{CREATION}: Expected `comparator` to be one of stringEquals, booleanEquals, "
                "allStringEquals, anyStringEquals, but found `equals`"
            ),
        ),
    ],
)
def test_a_trait_that_smithy_would_refuse_is_refused(models, trait, severity, event_id, text):
    events = check(models.with_trait(trait))
    assert (events[0].severity.value, events[0].id, events[0].message) == (severity, event_id, text)
    assert events[0].shape == models.OPERATION


def test_a_trait_may_only_be_on_an_operation(models):
    model = models.thing()
    shapes = model["shapes"]
    shapes["smithy.example#Part"]["traits"] = shapes[models.OPERATION].pop("traits")
    [event] = check(model)
    assert (event.severity, event.id, event.shape) == (
        "ERROR",
        "TraitTarget",
        "smithy.example#Part",
    )


def test_after_an_error_in_a_trait_no_other_rule_is_run_on_the_model(models):
    model = models.thing(models.output("nothing", "x"))
    other = copy.deepcopy(model["shapes"][models.OPERATION])
    other["traits"][WAITABLE] = {"lower": other["traits"][WAITABLE]["ThingActive"]}
    assert [e.id for e in check(model)] != []
    model["shapes"]["smithy.example#GetOther"] = other
    assert [event.id for event in check(model)] == ["TraitValue"]


def test_after_a_warning_in_a_trait_the_other_rules_are_run(models):
    trait = {"ThingActive": {"acceptors": [models.FAILED], "description": "x"}}
    found = models.found(models.with_trait(trait))
    assert found == [
        ("WARNING", "TraitValue.UnknownMember.smithy.waiters#Waiter.description"),
        ("ERROR", "WaitableTrait"),
    ]
