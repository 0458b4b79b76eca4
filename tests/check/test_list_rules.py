"""Waiters on lists: what the request can name, pages, what ended before, lists of failures."""

import pytest
from case_tables import tabled
from installed_models import with_the_operations_of_today

from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.validation import check

REQUIRED = {"smithy.api#required": {}}
STRINGS = "smithy.example#Strings"
PATH = "parts[].status"


def found(model, rule):
    return [(e.severity.value, e.id) for e in check(model) if e.id.startswith(rule)]


def paginated(models, acceptor, *, items="parts", name="ThingActive", **input_members):
    """A model of a paginated operation; without members the request can name no item."""
    model = models.thing(acceptor, name=name)
    shapes = model["shapes"]
    shapes[models.OPERATION]["traits"]["smithy.api#paginated"] = {"items": items}
    shapes[STRINGS] = {"type": "list", "member": {"target": "smithy.api#String"}}
    members = shapes["smithy.example#GetThingInput"]["members"]
    members["name"]["traits"] = REQUIRED
    members.update({name: {"target": target} for name, target in input_members.items()})
    output = shapes["smithy.example#GetThingOutput"]["members"]
    output["nextToken"] = {"target": "smithy.api#String"}
    output["failures"] = {"target": STRINGS}
    return model


def success(models, path, comparator="anyStringEquals", expected="active"):
    return models.output(path, expected, comparator=comparator)


@tabled("path", "comparator", "expected", "severity")
def test_success_on_a_first_page_of_others(models, path, comparator, expected, severity):
    model = paginated(models, success(models, path, comparator, expected))
    rule = "WaiterPaginatedPath"
    assert found(model, rule) == ([(severity, f"{rule}.ThingActive.0")] if severity else [])


@tabled("input_members")
def test_request_that_names_items_reads_no_others(models, input_members):
    model = paginated(models, success(models, PATH, "allStringEquals"), **input_members)
    assert found(model, "WaiterPaginatedPath") == []


def test_member_that_is_not_paginated_is_no_page(models):
    model = paginated(models, success(models, PATH, "allStringEquals"), items="nothing")
    assert found(model, "WaiterPaginatedPath") == []


@tabled("name", "state", "expected", "input_members", "warned")
def test_ended_item_of_a_list_must_not_fail(models, name, state, expected, input_members, warned):
    acceptor = models.output(PATH, expected, state, "anyStringEquals")
    model = paginated(models, acceptor, name=name, **input_members)
    waiter = model["shapes"][models.OPERATION]["traits"]["smithy.waiters#waitable"][name]
    waiter["acceptors"].append(models.ACTIVE)
    rule = "WaiterFailsOnEndedItem"
    assert found(model, rule) == ([("WARNING", f"{rule}.{name}.0")] if warned else [])


@tabled("name", "path", "input_members", "warned")
def test_list_of_failures_is_to_be_read(models, name, path, input_members, warned):
    model = paginated(models, success(models, path), name=name, **input_members)
    rule = "WaiterUnreadFailures"
    assert found(model, rule) == ([("WARNING", f"{rule}.{name}")] if warned else [])


@tabled("name", "acceptor", "members", "warned")
def test_every_named_item_has_to_be_returned(models, name, acceptor, members, warned):
    body = success(models, *acceptor)
    if "input." in acceptor[0]:
        body["matcher"] = {"inputOutput": body["matcher"]["output"]}
    model = paginated(models, body, name=name, **members)
    del model["shapes"]["smithy.example#GetThingOutput"]["members"]["failures"]
    rule = "WaiterNamedNotReturned"
    assert found(model, rule) == ([("WARNING", f"{rule}.{name}.0")] if warned else [])
    # Where nothing but names is required, the error is about them.
    del model["shapes"]["smithy.example#GetThingInput"]["members"]["name"]
    assert found(model, rule) == []


@with_the_operations_of_today
@tabled("service", "operation", "path", "name")
def test_lists_of_failures_of_aws_are_known(service, operation, path, name):
    definition = WaiterDefinition.from_states("Ready", operation, path=path, success=["ACTIVE"])
    messages = [e.message for e in check(definition, service) if "UnreadFailures" in e.id]
    assert messages == [
        f"Waiter `Ready`: no acceptor reads `{name}`: a mistyped identifier is polled to the end"
    ]


@pytest.mark.parametrize(
    ("tags", "noted"), [(["generated"], False), (["curated"], True), ([], True)]
)
def test_notes_are_for_waiters_that_someone_writes(models, tags, noted):
    implied = {"state": "retry", "matcher": {"success": True}}
    model = models.thing(models.ACTIVE, implied, tags=tags)
    assert bool(found(model, "WaiterImplicitAcceptor")) is noted
