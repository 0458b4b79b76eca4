"""Which operations a definition of somebody else's may poll."""

import pytest
from botocore.model import OperationModel, ServiceModel
from case_tables import tabled
from installed_models import installed_operation as operation

from boto_waiters_plus.service.pollable import only_reads, reason_not_to_poll


@tabled("name")
def test_what_a_person_has_read_may_be_polled(name):
    assert reason_not_to_poll(operation(name)) is None


@pytest.mark.parametrize(
    "name", ["dynamodb.BatchGetItem", "iam.ListRoles", "ecr.BatchCheckLayerAvailability"]
)
def test_others_read_for_their_caller_only(name):
    found = operation(name)
    reason = f"{found.name} is not among the operations that may be polled from outside"
    assert reason_not_to_poll(found) == reason
    assert reason_not_to_poll(found, is_shown=False) is None


@tabled("name", "reason")
def test_a_read_by_its_name_alone_is_refused(name, reason):
    found = operation(name)
    for is_shown in (True, False):
        problem = f"{found.name} is not polled: {reason}"
        assert reason_not_to_poll(found, is_shown=is_shown) == problem
    assert not only_reads(found)


@tabled("name", "member")
def test_credentials_are_sensitive_without_a_mark(name, member):
    found = operation(name)
    reason = f"the output of {found.name} has a sensitive member, {member}"
    assert reason_not_to_poll(found) == reason


@tabled("name")
def test_what_modifies_may_not_be_polled(name):
    reason = reason_not_to_poll(operation(name))
    assert reason == f"{name.partition('.')[2]} may modify resources; every attempt would call it"


@tabled("name", "member")
def test_a_sensitive_member_is_named(name, member):
    found = operation(name)
    reason = f"the output of {found.name} has a sensitive member, {member}"
    assert reason_not_to_poll(found) == reason
    assert reason_not_to_poll(found, is_shown=False) is None


@pytest.mark.parametrize("name", ["s3.GetObject", "glacier.GetJobOutput", "s3.SelectObjectContent"])
def test_a_stream_may_not_be_polled(name):
    found = operation(name)
    assert reason_not_to_poll(found) == f"the output of {found.name} is a stream"


def marked(name, method="GET"):
    shapes = {"metadata": {"protocol": "json", "serviceId": "mine"}, "shapes": {}}
    http = {"method": method, "requestUri": "/"}
    return OperationModel({"http": http, "readonly": True}, ServiceModel(shapes), name)


@pytest.mark.parametrize(
    ("name", "reads"),
    [("SuggestPlaces", True), ("DescribeIt", True), ("StartRevocation", False)],
)
def test_a_mark_counts_unless_the_verb_contradicts(name, reads):
    assert only_reads(marked(name, "POST")) == reads


def test_an_unknown_verb_without_a_mark_is_no_read():
    assert not only_reads(operation("sts.AssumeRoleWithSAML"))
    assert not only_reads(operation("s3.RestoreObject"))
