"""The lists of `data/` that botocore's models are held against."""

import json
from pathlib import Path

import botocore.session
import model_states
import pollable
import pytest

from boto_waiters_plus.definitions.shipped import from_groups

DATA = Path(__file__).resolve().parents[2] / "data"
POLLABLE, SENSITIVE, REASONS = (
    json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("pollable", "sensitive", "no-waiter")
)


def test_nothing_is_both_allowed_and_refused():
    for service, reasons in POLLABLE["refused"].items():
        assert not from_groups(POLLABLE["allowed"].get(service, "")) & reasons.keys()


@pytest.mark.nightly(subject="catalog")
@pytest.mark.models
def test_every_operation_that_could_be_polled_has_been_read():
    assert [each.name for each in pollable.new_operations()] == []


@pytest.mark.nightly(subject="catalog")
@pytest.mark.models
def test_a_sensitive_member_is_one_of_its_service_only():
    loader = botocore.session.get_session().get_component("data_loader")
    named = {member for members in SENSITIVE["members"].values() for member in members}
    found = set()
    for service in loader.list_available_services("service-2"):
        model = loader.load_service_model(service, "service-2")
        service_id = model["metadata"]["serviceId"].lower().replace(" ", "-")
        members = {
            f"{shape}.{member}"
            for shape, body in model["shapes"].items()
            for member in body.get("members", ())
        }
        assert members & named <= {*SENSITIVE["members"].get(service_id, ())}, service
        found |= members & named
    # Of services that only older versions of botocore have.
    assert named - found == set(SENSITIVE["members"].get("opsworks", ()))


@pytest.mark.nightly(subject="catalog")
@pytest.mark.models
def test_every_operation_with_a_passing_state_has_a_waiter_or_a_reason():
    """So has every deletion that a wait can follow."""
    judged = model_states.judged()
    assert [(each.service_id, each.operation.name) for each in judged.open] == []
    told = {(service, name) for service, reasons in REASONS.items() for name in reasons}
    without = {(each.service_id, each.operation.name) for each in judged.reasoned}
    without |= {(service, name) for service, name, _ in model_states.unawaited_deletions()}
    assert told == without
    assert list(model_states.unknown_waiters(REASONS)) == []
