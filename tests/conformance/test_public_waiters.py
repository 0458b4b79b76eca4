"""The definitions resolved for 13 services against the ones AWS publishes in Smithy."""

import json
from functools import cache

import pytest
from beside import beside
from botocore.loaders import Loader
from botocore.model import ServiceModel

from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.acceptors import ErrorTypeMatcher
from boto_waiters_plus.engine.delays import delay_range
from boto_waiters_plus.service.service_waiters import ServiceWaiters

FILE, pytestmark = beside("conformance/smithy-waiters-public.json")
PUBLIC = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
WAITERS = [
    pytest.param(service, name, id=f"{service}-{name}")
    for service, facts in PUBLIC.items()
    if service != "_meta"
    for name in facts["waiters"]
]

# A filter that finds nothing any more, and an empty page that others follow.
ON_NOTHING = {
    "autoscaling": "GroupNotExists",
    "cloudformation": "StackDeleteComplete",
    "ec2": "InstanceTerminated NatGatewayDeleted SecurityGroupVpcAssociationDisassociated "
    "VolumeDeleted VpcPeeringConnectionDeleted",
    "elbv2": "LoadBalancersDeleted TargetDeregistered",
    "rds": "DBClusterDeleted DBClusterSnapshotDeleted DBInstanceDeleted DBSnapshotDeleted "
    "TenantDatabaseDeleted",
}

# Waiters whose acceptors differ: the errors and states of those of ours that AWS's lack.
MORE_ACCEPTORS = {
    # the error's name in botocore's model, and AWS's own
    ("sagemaker", "ImageDeleted"): ["ResourceNotFound"],
    ("sagemaker", "ImageVersionDeleted"): ["ResourceNotFound"],
    # corrections: see tools/generate_data.py
    **{
        (service, name): ["true"] for service, names in ON_NOTHING.items() for name in names.split()
    },
    ("autoscaling", "GroupInService"): ["true"],
    ("cloudformation", "StackRefactorExecuteComplete"): ["ROLLBACK_FAILED"],
    ("cloudformation", "StackRollbackComplete"): [
        "ROLLBACK_FAILED",
        "IMPORT_ROLLBACK_FAILED",
        "DELETE_COMPLETE",
        "true",
    ],
    ("cloudformation", "StackUpdateComplete"): [
        "ROLLBACK_COMPLETE",
        "ROLLBACK_FAILED",
        "IMPORT_ROLLBACK_FAILED",
        "DELETE_IN_PROGRESS",
        "DELETE_FAILED",
        "DELETE_COMPLETE",
    ],
    ("ec2", "ConversionTaskDeleted"): ["InvalidConversionTaskId"],
    ("ec2", "ImageAvailable"): ["error", "invalid", "deregistered"],
    ("ec2", "SecondaryNetworkCreateComplete"): [
        "delete-in-progress",
        "delete-complete",
        "delete-failed",
    ],
    ("ecs", "ServicesInactive"): ["true"],
    ("ec2", "SecondaryNetworkDeleteComplete"): ["InvalidSecondaryNetworkId.NotFound", "true"],
    ("ec2", "SecondarySubnetCreateComplete"): [
        "create-failed",
        "delete-in-progress",
        "delete-complete",
    ],
    ("ec2", "SecondarySubnetDeleteComplete"): ["InvalidSecondarySubnetId.NotFound", "true"],
    ("ec2", "SubnetAvailable"): ["failed", "failed-insufficient-capacity"],
    ("ec2", "VolumeAvailable"): ["error", "deleting"],
    ("ec2", "VolumeInUse"): ["error", "deleting"],
    ("ec2", "VpnConnectionDeleted"): ["InvalidVpnConnectionID.NotFound", "true"],
    ("elbv2", "LoadBalancerAvailable"): ["failed"],
    ("emr", "StepComplete"): ["INTERRUPTED"],
    ("medialive", "ChannelDeleted"): ["NotFoundException"],
    ("medialive", "ChannelPlacementGroupDeleted"): ["NotFoundException", "DELETE_FAILED"],
    ("medialive", "ClusterDeleted"): ["NotFoundException", "DELETE_FAILED"],
    ("medialive", "InputAttached"): ["DELETING", "DELETED"],
    ("medialive", "InputDeleted"): ["NotFoundException"],
    ("medialive", "InputDetached"): ["DELETING", "DELETED"],
    ("medialive", "MultiplexDeleted"): ["NotFoundException"],
    ("medialive", "NodeDeregistered"): ["NotFoundException", "DEREGISTRATION_FAILED"],
    ("sagemaker", "EndpointInService"): ["Deleting", "UpdateRollbackFailed"],
    ("sagemaker", "ImageCreated"): ["DELETING", "DELETE_FAILED"],
    ("sagemaker", "ImageUpdated"): ["DELETING", "DELETE_FAILED", "CREATE_FAILED"],
    ("sagemaker", "ImageVersionCreated"): ["DELETING", "DELETE_FAILED"],
    ("sagemaker", "NotebookInstanceInService"): ["Deleting"],
    ("sagemaker", "NotebookInstanceStopped"): ["Deleting"],
    # newer than what is published
    ("medialive", "ChannelStopped"): ["DELETING", "DELETED", "NotFoundException"],
}


# The search path of this machine's user is no part of the comparison.
LOADER = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])


@cache
def model_of(service):
    return ServiceModel(LOADER.load_service_model(service, "service-2"), service_name=service)


@cache
def waiters_of(service):
    return ServiceWaiters(model_of(service), LOADER)


def ours_and_theirs(service, name):
    published = PUBLIC[service]["waiters"][name]
    theirs = parse_waiter(
        name, published["waiter"], operation=published["operation"], source="published"
    )
    found = waiters_of(service).find(name)
    return (None if found is None else found.definition), theirs


@pytest.mark.parametrize(("service", "name"), WAITERS)
def test_definition_equals_the_published_one(service, name):
    ours, theirs = ours_and_theirs(service, name)
    if ours is None:
        # An older botocore lacks the operation; and no botocore has waiters of Auto Scaling.
        assert theirs.operation not in model_of(service).operation_names or service == "autoscaling"
        pytest.skip("not among the shipped definitions, or not in this botocore")
    assert ours.operation == theirs.operation
    assert (ours.min_delay, ours.max_delay) == delay_range(theirs.min_delay)
    more = [acceptor for acceptor in ours.acceptors if acceptor not in theirs.acceptors]
    common = tuple(acceptor for acceptor in ours.acceptors if acceptor not in more)
    assert common == theirs.acceptors
    assert list(map(compared_by, more)) == MORE_ACCEPTORS.get((service, name), [])
    assert "allStringEquals" not in str([each.to_json() for each in more])


def compared_by(acceptor):
    matcher = acceptor.matcher
    return matcher.name if isinstance(matcher, ErrorTypeMatcher) else matcher.matcher.expected
