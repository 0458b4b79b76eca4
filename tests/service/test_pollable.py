"""Which operations a definition of somebody else's may poll."""

import pytest
from botocore.model import OperationModel, ServiceModel
from case_tables import tabled
from installed_models import installed_operation as operation

from boto_waiters_plus.service.pollable import only_reads, reason_not_to_poll


@tabled("reason not to poll", "name", "outside", "own")
def test_reason_not_to_poll(name, outside, own):
    """From outside, what is shown counts; the caller of a wait may poll what is sensitive."""
    found = operation(name)
    for reason, is_shown in ((outside, True), (own, False)):
        told = reason_not_to_poll(found, is_shown=is_shown)
        assert (told or "") == reason.replace("{name}", found.name)


def marked(name, method="POST"):
    shapes = {"metadata": {"protocol": "json", "serviceId": "mine"}, "shapes": {}}
    http = {"method": method, "requestUri": "/"}
    return OperationModel({"http": http, "readonly": True}, ServiceModel(shapes), name)


@pytest.mark.parametrize(
    ("found", "reads"),
    [
        (marked("SuggestPlaces"), True),
        (marked("DescribeIt"), True),
        # The verb contradicts.
        (marked("StartRevocation"), False),
        ("sts.AssumeRoleWithSAML", False),
        ("s3.RestoreObject", False),
        ("support.ResolveCase", False),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_mark_counts_unless_the_verb_contradicts(found, reads):
    assert only_reads(operation(found) if isinstance(found, str) else found) is reads
