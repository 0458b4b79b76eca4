"""The rules of the traits `boto.waiters#token`, `#tokenLifetime` and `#effect`."""

from case_tables import tabled
from data_rules import check

TOKEN = "boto.waiters#token"
LIFETIME = "boto.waiters#tokenLifetime"
EFFECT = "boto.waiters#effect"
EVIDENCE = {"evidence": "words"}


def events_of(operation, trait, value, kind="apply"):
    shapes = {f"com.amazonaws.{operation}": {"type": kind, "traits": {trait: value}}}
    return [(event.id, event.message) for event in check({"smithy": "2.0", "shapes": shapes})]


@tabled("operation", "value", "rule")
def test_token(operation, value, rule):
    found = [each for each, _ in events_of(operation, TOKEN, {**value, **EVIDENCE})]
    assert found == ([] if rule is None else [f"Token.{rule}"])


@tabled("value", "is_well_formed")
def test_token_lifetime(value, is_well_formed):
    found = [each for each, _ in events_of("ec2#RunInstances", LIFETIME, value)]
    assert found == ([] if is_well_formed else ["TokenLifetime.Form"])


@tabled("name", "parameters", "rule", "text")
def test_effect(name, parameters, rule, text):
    found = events_of("ec2#RunInstances", EFFECT, {name: {"parameters": parameters}})
    if rule is None:
        assert found == []
    else:
        assert any(each == f"Effect.{rule}" and text in message for each, message in found)


@tabled("trait", "value")
def test_only_operations_have_them(trait, value):
    shapes = {"example#A": {"type": "string", "traits": {trait: value}}}
    [event] = check({"smithy": "2.0", "shapes": shapes})
    assert event.id.endswith(".Target")
