"""The state of a response by the model of its operation."""

import botocore.session
import pytest
from installed_models import with_the_operations_of_today

from boto_waiters_plus.aws.state_member import state_path


@with_the_operations_of_today
@pytest.mark.parametrize(
    ("service", "operation", "members", "path"),
    [
        ("dynamodb", "DescribeTable", (), "Table.TableStatus"),
        ("kms", "DescribeKey", (), "KeyMetadata.KeyState"),
        ("workspaces", "DescribeConnectionAliases", (), "ConnectionAliases[].State"),
        # Nearest to the root, whatever lies deeper.
        ("autoscaling", "DescribeAutoScalingGroups", (), "AutoScalingGroups[].Status"),
        ("autoscaling", "DescribeAutoScalingGroups", ("AutoScalingGroups", "Instances"),
         "AutoScalingGroups[].Instances[].LifecycleState"),
        ("autoscaling", "DescribeAutoScalingGroups", ("AutoScalingGroups", "Nothing"), None),
        # The state of the resource itself comes before others beside it.
        ("ec2", "DescribeFleets", (), "Fleets[].FleetState"),
        # A structure that is a state has its name.
        ("ec2", "DescribeInstances", (), "Reservations[].Instances[].State.Name"),
        ("s3", "HeadBucket", (), None),
        ("secretsmanager", "GetSecretValue", (), None),
    ],
)  # fmt: skip
def test_state_is_found_by_its_name(service, operation, members, path):
    model = botocore.session.Session().get_service_model(service)
    assert state_path(model.operation_model(operation), members) == path
