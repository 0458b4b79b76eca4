"""Suppressions by trait and by metadata."""

import pytest
from case_tables import tabled

from boto_waiters_plus.validation import check

EVENT = "WaiterUnhandledState.Failed.ThingActive"


def with_trait(models, *ids):
    model = models.thing(models.ACTIVE)
    model["shapes"][models.OPERATION]["traits"]["smithy.api#suppress"] = list(ids)
    return model


@tabled("event_id", "suppressed")
def test_id_suppresses_all_events_below_it(models, event_id, suppressed):
    events = {event.id: event for event in check(with_trait(models, event_id))}
    assert (events[EVENT].severity == "SUPPRESSED") is suppressed


def test_trait_suppresses_on_its_own_shape(models):
    model = with_trait(models, "WaiterUnhandledState")
    shapes = model["shapes"]
    twin = {**shapes[models.OPERATION]}
    twin["traits"] = {
        "smithy.waiters#waitable": {"TwinActive": {"acceptors": [models.ACTIVE]}},
    }
    shapes["smithy.example#GetTwin"] = twin
    severities = {event.id: event.severity.value for event in check(model)}
    assert severities[EVENT] == "SUPPRESSED"
    assert severities["WaiterUnhandledState.Failed.TwinActive"] == "WARNING"


@pytest.mark.parametrize(
    ("namespace", "suppressed"), [("*", True), ("smithy.example", True), ("smithy", False)]
)
def test_metadata_suppress_by_namespace_with_a_reason(models, namespace, suppressed):
    model = models.thing(models.ACTIVE)
    entry = {"id": "WaiterUnhandledState", "namespace": namespace, "reason": "the service heals"}
    model["metadata"] = {"suppressions": [entry, {"no": "id"}]}
    event = {event.id: event for event in check(model)}[EVENT]
    assert (event.severity == "SUPPRESSED") is suppressed
    assert event.suppression_reason == ("the service heals" if suppressed else None)


def test_error_cannot_be_suppressed(models):
    model = models.thing(models.FAILED)
    model["metadata"] = {"suppressions": [{"id": "WaitableTrait", "namespace": "*"}]}
    assert [e.id for e in check(model) if e.severity == "ERROR"] == ["WaitableTrait"]
