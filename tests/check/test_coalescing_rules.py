"""The rules of the trait `boto.waiters#coalescing`."""

import pytest
from case_tables import tabled
from data_rules import check

TRAIT = "boto.waiters#coalescing"
GOOD = {
    "ids": ["names"],
    "items": [{"path": ["groups", "things"], "id": ["name"]}, {"path": ["unknown"]}],
    "limit": 10,
    "token": "next",
    "page": {"member": "most", "size": 5},
}


def listing(member, **traits):
    return {"type": "list", "member": {"target": member}, "traits": traits}


@pytest.fixture
def shapes(models):
    shapes = {
        "GetThings": {
            "type": "operation",
            "input": {"target": "smithy.example#GetThingsInput"},
            "output": {"target": "smithy.example#GetThingsOutput"},
        },
        "GetThingsInput": models.structure(
            names="smithy.example#Names",
            name="smithy.api#String",
            groups="smithy.example#Groups",
            most="smithy.example#Most",
        ),
        "Most": {"type": "integer", "traits": {"smithy.api#range": {"max": 5}}},
        "Names": listing("smithy.api#String", **{"smithy.api#length": {"max": 20}}),
        "GetThingsOutput": models.structure(
            groups="smithy.example#Groups",
            unknown="smithy.example#Names",
            next="smithy.api#String",
            count="smithy.api#Integer",
        ),
        "Groups": listing("smithy.example#Group"),
        "Group": models.structure(things="smithy.example#Things"),
        "Things": listing("smithy.example#Thing"),
        "Thing": models.structure(name="smithy.api#String", weight="smithy.api#Double"),
    }
    return {f"smithy.example#{name}": shape for name, shape in shapes.items()}


OPERATION = "smithy.example#GetThings"


@pytest.fixture
def found(shapes):
    def found(trait, shape=OPERATION, **traits):
        shapes[shape]["traits"] = {TRAIT: trait, **traits}
        events = check({"smithy": "2.0", "shapes": shapes})
        return [(event.severity.value, event.id) for event in events]

    return found


def with_items(*items):
    return {**GOOD, "items": list(items)}


def test_good_trait_has_no_event(found):
    assert found(GOOD) == []
    assert found({name: value for name, value in GOOD.items() if name != "token"}) == []


@tabled("trait")
def test_malformed_trait_is_an_error(found, trait):
    assert found(trait) == [("ERROR", "Coalescing.Form")]


@tabled("trait", "rule", "severity")
def test_member_that_the_operation_lacks_is_reported(found, trait, rule, severity):
    assert found(trait) == [(severity, f"Coalescing.{rule}")]


def test_paths_with_the_same_beginning_are_an_error(found):
    trait = with_items({"path": ["unknown"]}, {"path": ["unknown"]})
    assert found(trait) == [("ERROR", "Coalescing.Items")] * 2


def test_paginated_operation_without_token_is_a_warning(found):
    trait = {name: value for name, value in GOOD.items() if name != "token"}
    pages = {"smithy.api#paginated": {"items": "groups"}}
    assert found(trait, **pages) == [("WARNING", "Coalescing.Token")]


def test_trait_is_only_allowed_on_operations(found):
    assert found(GOOD, shape="smithy.example#Thing") == [("ERROR", "Coalescing.Target")]


def test_operation_without_input_and_output_lacks_all_members(shapes, found):
    shapes[OPERATION] = {"type": "operation"}
    rules = ["Ids", "Items", "Items", "Token", "Page"]
    assert found(GOOD) == [("ERROR", f"Coalescing.{rule}") for rule in rules]


def test_trait_on_botocore_operation_is_located(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(
        """{
  "smithy": "2.0",
  "shapes": {
    "com.amazonaws.ec2#DescribeVolumes": {
      "type": "apply",
      "traits": {
        "boto.waiters#coalescing": {
          "ids": ["VolumeIdz"],
          "items": [{"path": ["Volumes"], "id": ["VolumeId"]}],
          "limit": 100
        }
      }
    }
  }
}""",
        encoding="utf-8",
    )
    first, second = check(file)
    assert (first.id, first.line) == ("Coalescing.Ids", 7)
    assert (second.id, second.severity.value) == ("Coalescing.Token", "WARNING")
    assert first.message == (
        "Trait `boto.waiters#coalescing`: the input has no list of strings `VolumeIdz`"
    )


def test_operation_that_botocore_lacks_is_ignored():
    document = {
        "smithy": "2.0",
        "shapes": {"com.amazonaws.ec2#DescribeWishes": {"type": "apply", "traits": {TRAIT: GOOD}}},
    }
    assert check(document) == []
