"""The rules of the traits `boto.waiters#token`, `#tokenLifetime` and `#produces`."""

import pytest

from boto_waiters_plus.validation import check

TOKEN = "boto.waiters#token"
LIFETIME = "boto.waiters#tokenLifetime"
PRODUCES = "boto.waiters#produces"
EVIDENCE = {"evidence": "words"}


def events_of(operation, trait, value, kind="apply"):
    shapes = {f"com.amazonaws.{operation}": {"type": kind, "traits": {trait: value}}}
    return [(event.id, event.message) for event in check({"smithy": "2.0", "shapes": shapes})]


@pytest.mark.parametrize(
    ("operation", "value", "rule"),
    [
        ("cloudfront#CreateInvalidation", {"path": ["InvalidationBatch", "CallerReference"]}, None),
        ("cloudfront#CreateInvalidation", {"path": ["InvalidationBatch"]}, "Path"),
        ("cloudfront#CreateInvalidation", {"path": ["CallerReference"]}, "Path"),
        ("cloudfront#CreateInvalidation", {"path": []}, "Form"),
        ("cloudfront#CreateInvalidation", {"path": "CallerReference"}, "Form"),
        ("cloudfront#CreateInvalidation", {}, "Form"),
        ("cloudfront#CreateInvalidation", {"path": ["A"], "more": 1}, "Form"),
        ("ec2#RunInstances", {"path": ["ClientToken"]}, "Marked"),
    ],
)
def test_token(operation, value, rule):
    found = [each for each, _ in events_of(operation, TOKEN, {**value, **EVIDENCE})]
    assert found == ([] if rule is None else [f"Token.{rule}"])


@pytest.mark.parametrize(
    ("value", "is_well_formed"),
    [
        ({"seconds": 60, **EVIDENCE}, True),
        ({"seconds": 60}, False),
        ({"seconds": 60, "evidence": ""}, False),
        ({"seconds": 0, **EVIDENCE}, False),
        ({"seconds": True, **EVIDENCE}, False),
        ({"seconds": "60", **EVIDENCE}, False),
        ({"seconds": 60, "unit": "s", **EVIDENCE}, False),
        ([], False),
    ],
)
def test_token_lifetime(value, is_well_formed):
    found = [each for each, _ in events_of("ec2#RunInstances", LIFETIME, value)]
    assert found == ([] if is_well_formed else ["TokenLifetime.Form"])


@pytest.mark.parametrize(
    ("value", "rule", "text"),
    [
        ({"InstanceRunning": {"InstanceIds": "output.Instances[].InstanceId"}}, None, ""),
        ({"VpcExists": {"VpcIds": "[output.Instances[0].VpcId]"}}, None, ""),
        ({"VpcExists": {"VpcIds": "output.Instances[0].VpcId"}}, "Type", "a `string`, not"),
        ({"VpcExists": {"VpcIds": "[input.MaxCount]"}}, "Type", "a `number`, not a `string`"),
        ({"VpcExists": {"VpcIds": "output.Nothing[].Id"}}, "Expression", "Nothing"),
        ({"VpcExists": {"VpcIds": "output."}}, "Expression", "output."),
        ({"VpcExists": {"Vpc": "output.Instances"}}, "Parameter", "no parameter `Vpc`"),
        ({"PasswordDataAvailable": {"DryRun": "input.DryRun"}}, "Parameter", "needs `InstanceId`"),
        ({"BucketExists": {"Bucket": "input.ImageId"}}, "Waiter", "no waiter `BucketExists`"),
        ({"InstanceRunning": {}}, "Form", "object of objects"),
        ({"InstanceRunning": {"InstanceIds": 1}}, "Form", "object of objects"),
        ([], "Form", "object of objects"),
    ],
)
def test_produces(value, rule, text):
    found = events_of("ec2#RunInstances", PRODUCES, value)
    if rule is None:
        assert found == []
    else:
        assert any(each == f"Produces.{rule}" and text in message for each, message in found)


@pytest.mark.parametrize(
    ("trait", "value"),
    [
        (TOKEN, {"path": ["A"], **EVIDENCE}),
        (LIFETIME, {"seconds": 60, **EVIDENCE}),
        (PRODUCES, {"X": {"A": "input.A"}}),
    ],
)
def test_only_operations_have_them(trait, value):
    shapes = {"example#A": {"type": "string", "traits": {trait: value}}}
    [event] = check({"smithy": "2.0", "shapes": shapes})
    assert event.id.endswith(".Target")
