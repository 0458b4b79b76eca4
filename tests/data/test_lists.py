"""The lists of `data/` that botocore's models are held against."""

import botocore.session
import model_states
import pollable
import pytest
from data.shared import CATALOG, json_of, service_model

from boto_waiters_plus.definitions.shipped import from_groups

POLLABLE, SENSITIVE, REASONS = (
    json_of(f"data/{name}.json") for name in ("pollable", "sensitive", "no-waiter")
)


def test_nothing_is_both_allowed_and_not():
    for group in ("refused", "private"):
        for service, reasons in POLLABLE[group].items():
            assert not from_groups(POLLABLE["allowed"].get(service, "")) & reasons.keys()


@CATALOG
@pytest.mark.models
def test_what_could_be_polled_or_hold_secrets_has_been_read():
    """What is no candidate any more is no longer noted as harmless."""
    assert [each.name for each in pollable.new_operations()] == []
    assert pollable.candidates().keys() == pollable.harmless()


@pytest.mark.parametrize(("service", "structure", "member", "may"), [
    ("codebuild", "EnvironmentVariable", "value", True),
    ("lightsail", "Container", "environment", True),
    ("batch", "JobDetail", "jobArn", False),
    ("batch", "JobDetail", "tags", False),
    ("codebuild", "EnvironmentVariable", "type", False),
])  # fmt: skip
def test_secrets_are_looked_for_by_type_and_name(service, structure, member, may):
    shape = service_model(service).shape_for(structure)
    assert pollable.may_hold_secrets(member, shape.members[member]) is may


@CATALOG
@pytest.mark.models
@pytest.mark.parametrize("part", ["members", "answers"])
def test_a_sensitive_member_is_one_of_its_service_only(part):
    loader = botocore.session.get_session().get_component("data_loader")
    listed = SENSITIVE[part]
    named = {member for members in listed.values() for member in members}
    found = set()
    for service in loader.list_available_services("service-2"):
        model = loader.load_service_model(service, "service-2")
        service_id = model["metadata"]["serviceId"].lower().replace(" ", "-")
        bodies = model["shapes"].items()
        members = {f"{shape}.{each}" for shape, body in bodies for each in body.get("members", ())}
        assert members & named <= {*listed.get(service_id, ())}, service
        found |= members & named
    # Of services that only older versions of botocore have.
    assert named - found == set(listed.get("opsworks", ()))


@CATALOG
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
