"""`until_state="gone"`: what says that a resource does not exist any more."""

import asyncio
import json

import boto3
import pytest
from botocore.exceptions import ClientError
from case_tables import CASES
from moto import mock_aws
from stored_waits import RunningClock, work

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

READS = json.loads((CASES / "gone.json").read_text("utf-8"))["reads"]
VPC = {"VpcId": "vpc-1", "State": "available"}
NO_VPC = ("InvalidVpcID.NotFound", "The vpc ID 'vpc-1' does not exist")
NAMED = {
    "cloudformation describe_stacks": {"StackName": "s"},
    "ec2 describe_addresses": {"AllocationIds": ["eipalloc-1"]},
    "ec2 describe_images": {"ImageIds": ["ami-1"]},
    "ec2 describe_instances": {"InstanceIds": ["i-1"]},
    "ecs describe_services": {"services": ["s"]},
    "ecs describe_task_sets": {"taskSets": ["t"]},
    "efs describe_file_systems": {"FileSystemId": "fs-1"},
    "elasticache describe_cache_clusters": {"CacheClusterId": "c"},
    "elbv2 describe_load_balancers": {"Names": ["l"]},
    "rds describe_db_instances": {"DBInstanceIdentifier": "d"},
}
"""What requests to lists have to name."""
SERVICES = {"cluster": "c", "services": ["s"]}
MISSING = {"arn": "arn:aws:ecs:us-east-1:1:service/c/s", "reason": "MISSING"}


@pytest.fixture(params=["blocking", "task", "many", "background", "store"])
def until_gone(request, virtual_time):
    """`until_gone(client, operation, **parameters)`: the outcome, in each way to wait."""

    def blocking(client, operation, **keywords):
        return bwp.wait_until(client, operation, max_wait=600, **keywords)

    def task(client, operation, **keywords):
        return asyncio.run(bwp.wait_until_async(client, operation, max_wait=600, **keywords))

    def many(client, operation, until_state, **parameters):
        wait = bwp.Wait(client, operation, parameters, until_state=until_state, max_wait=600)
        [found] = bwp.wait_all([wait], on_failure="collect")
        if isinstance(found, Exception):
            raise found
        return found

    def background(client, operation, **keywords):
        return operations.start(client, operation, max_wait=600, **keywords).result(timeout=600)

    def store(client, operation, **keywords):
        kept = operations.Store(":memory:", clock=RunningClock())
        path = kept.start(client, operation, max_wait=600, **keywords).path
        work(kept, client)
        return kept.get(path).result(0)

    way = {each.__name__: each for each in (blocking, task, many, background, store)}[request.param]
    return lambda *arguments, until_state="gone", **parameters: way(
        *arguments, until_state=until_state, **parameters
    )


@pytest.fixture
def client(answers, error_answer):
    """`client(service, *answers)`: one whose `called` has its requests; a tuple is an error."""

    def error(code, message, status=400, query_code=None):
        details = {"QueryErrorCode": query_code} if query_code else {}
        return error_answer(code, message, status, **details)

    def make(service, *replies):
        made = boto3.client(service)
        errors = [error(*each) if isinstance(each, tuple) else each for each in replies]
        made.called = answers(made, *errors)
        return made

    return make


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "parameters", "replies"),
    [
        # The error of the resource.
        ("dynamodb describe_table", {"TableName": "table"}, [("ResourceNotFoundException", "")]),
        ("eks describe_nodegroup", {"clusterName": "c", "nodegroupName": "n"},
         [{"nodegroup": {"status": "DELETING"}}, ("ResourceNotFoundException", "")]),
        ("lambda get_function", {"FunctionName": "f"}, [("ResourceNotFoundException", "")]),
        ("s3 head_bucket", {"Bucket": "b"}, [{}, ("404", "Not Found", 404)]),
        ("sqs get_queue_attributes", {"QueueUrl": "https://q"},
         [("AWS.SimpleQueueService.NonExistentQueue", "", 400, "QueueDoesNotExist")]),
        ("iam get_role", {"RoleName": "r"}, [{"Role": {}}, ("NoSuchEntity", "")]),
        ("rds describe_db_instances", {"DBInstanceIdentifier": "d"}, [("DBInstanceNotFound", "")]),
        ("ec2 describe_vpcs", {"VpcIds": ["vpc-1"]}, [{"Vpcs": [VPC]}, NO_VPC]),
        ("ec2 describe_instances", {"InstanceIds": ["i-1"]}, [("InvalidInstanceID.NotFound", "")]),
        # A state.
        ("ec2 describe_instances", {"InstanceIds": ["i-1", "i-2"]},
         [{"Reservations": [{"Instances": [{"State": {"Name": "terminated"}}] * 2}]}]),
        ("cloudformation describe_stacks", {"StackName": "arn:s"},
         [{"Stacks": [{"StackStatus": "DELETE_COMPLETE"}]}]),
        # An empty list.
        ("ec2 describe_vpcs", {"VpcIds": ["vpc-1", "vpc-2"]}, [{"Vpcs": [VPC]}, {"Vpcs": []}]),
        ("ec2 describe_security_groups", {"Filters": [{"Name": "group-name", "Values": ["g"]}]},
         [{"SecurityGroups": [{}]}, {"SecurityGroups": []}]),
        ("ecs describe_services", SERVICES, [{"services": [], "failures": [MISSING]}]),
    ],
)  # fmt: skip
def test_until_gone_waits_for_the_end(until_gone, client, name, parameters, replies):
    service, operation = name.split()
    made = client(service, *replies)
    outcome = until_gone(made, operation, **parameters)
    assert outcome.attempts == len(made.called.operations) == len(replies)
    kinds = {True: bwp.ExceptionOutcome, False: bwp.ResponseOutcome}
    assert type(outcome) is kinds[isinstance(replies[-1], tuple)]
    assert outcome.waiter.endswith("UntilGone")


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "parameters", "reply", "seen"),
    [
        # The parent's error.
        ("ecs describe_services", SERVICES, ("ClusterNotFoundException", ""), "ClusterNotFound"),
        ("rds describe_db_clusters", {"DBClusterIdentifier": "c"}, ("AccessDenied", ""), "Access"),
        ("cloudformation describe_stacks", {"StackName": "s"},
         {"Stacks": [{"StackStatus": "DELETE_FAILED"}]}, "DELETE_FAILED"),
        ("elbv2 describe_target_health", {"TargetGroupArn": "arn:t"}, ("TargetGroupNotFound", ""),
         "TargetGroupNotFound"),
        ("efs describe_file_system_policy", {"FileSystemId": "fs-12345678"},
         ("FileSystemNotFound", ""), "FileSystemNotFound"),
        # One of several.
        ("ec2 describe_vpcs", {"VpcIds": ["vpc-1", "vpc-2"]}, NO_VPC, "InvalidVpcID"),
    ],
)  # fmt: skip
def test_until_gone_fails_on_what_is_no_end(until_gone, client, name, parameters, reply, seen):
    service, operation = name.split()
    with pytest.raises(bwp.WaiterFailedError, match=seen):
        until_gone(client(service, reply), operation, **parameters)


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "parameters", "reply"),
    [
        # More pages follow, and another failure than a missing service.
        ("ec2 describe_vpcs", {"VpcIds": ["vpc-1"]}, {"Vpcs": [], "NextToken": "more"}),
        ("ecs describe_services", SERVICES,
         {"services": [], "failures": [{"reason": "ACCESS_DENIED"}]}),
        ("logs describe_log_groups", {"logGroupNamePrefix": "g"},
         {"logGroups": [{"dataProtectionStatus": "DELETED"}]}),
        ("dynamodb describe_table", {"TableName": "table"}, {"Table": {"TableStatus": "ACTIVE"}}),
        # What is empty, detached or deleted is a part.
        ("ec2 describe_internet_gateways", {"InternetGatewayIds": ["igw-1"]},
         {"InternetGateways": [{"InternetGatewayId": "igw-1", "Attachments": []}]}),
        ("fsx describe_file_systems", {"FileSystemIds": ["fs-12345678"]},
         {"FileSystems": [{"FileSystemId": "fs-12345678", "Lifecycle": "AVAILABLE"}]}),
        ("iotsitewise describe_asset_model", {"assetModelId": "m" * 36},
         {"assetModelStatus": {"state": "ACTIVE"}, "assetModelCompositeModels": []}),
        ("route53-recovery-readiness get_cell", {"CellName": "c"}, {"Cells": []}),
        ("medialive describe_input", {"InputId": "1"}, {"State": "DETACHED"}),
        ("omics get_batch", {"batchId": "1"}, {"status": "RUNS_DELETED"}),
    ],
)  # fmt: skip
def test_until_gone_polls_what_may_be_there(client, virtual_time, name, parameters, reply):
    service, operation = name.split()
    made = client(service, reply)
    with pytest.raises(bwp.WaiterTimeoutError):
        bwp.wait_until(made, operation, until_state="gone", max_wait=60, **parameters)
    assert len(made.called.operations) > 1


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "parameters", "reply", "seen"),
    [
        ("ec2 describe_vpcs", {"VpcIds": ["vpc-1"]}, {"Vpcs": [VPC]}, "available"),
        ("ecs describe_services", SERVICES, {"services": [{"status": "DRAINING"}]}, "DRAINING"),
        ("ec2 describe_security_groups", {"GroupIds": ["sg-1"]}, {"SecurityGroups": [{}]},
         "1 security group"),
    ],
)  # fmt: skip
def test_until_gone_tells_the_state_meanwhile(until_gone, client, name, parameters, reply, seen):
    service, operation = name.split()
    with pytest.raises(bwp.WaiterTimeoutError, match=f"last state seen: {seen} "):
        until_gone(client(service, reply), operation, **parameters)


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "parameters", "names"),
    [
        ("ec2 describe_vpcs", {}, "lists all resources: give .*VpcIds"),
        ("ec2 describe_vpcs", {"MaxResults": 5}, "VpcIds"),
        ("rds describe_db_instances", {}, "DBInstanceIdentifier"),
        ("eks list_nodegroups", {"clusterName": "c"}, "no parameter that names one"),
        ("s3 list_objects_v2", {"Bucket": "b"}, "success_on_error"),
        (
            "config batch_get_resource_config",
            {"resourceKeys": [{"resourceType": "AWS::S3::Bucket", "resourceId": "b"}]},
            "success_on",
        ),
        ("sts get_caller_identity", {}, r"success_on_error.*WaiterDefinition\.from_states"),
    ],
)
def test_until_gone_needs_what_tells(until_gone, client, name, parameters, names):
    service, operation = name.split()
    made = client(service, {})
    with pytest.raises(ValueError, match=names):
        until_gone(made, operation, **parameters)
    assert made.called.operations == []


def test_gone_is_one_of_several_states(until_gone, client):
    options = {"until_state": ["gone", "ACTIVE"], "TableName": "table"}
    missing = ("ResourceNotFoundException", "")
    for reply in ({"Table": {"TableStatus": "ACTIVE"}}, missing):
        made = client("dynamodb", {"Table": {"TableStatus": "CREATING"}}, reply)
        assert until_gone(made, "describe_table", **options).attempts == 2


def test_the_end_comes_before_what_may_appear(client, virtual_time):
    made = client("dynamodb", ("ResourceNotFoundException", ""))
    outcome = bwp.wait_until(
        made, "DescribeTable", until_state="gone", TableName="table", max_wait=60, missing_ok_for=30
    )
    assert outcome.attempts == 1


def test_waits_until_gone_share_calls(client, virtual_time):
    made = client("ec2", {"Vpcs": [VPC]}, {"Vpcs": []})
    waits = [
        bwp.Wait(made, "DescribeVpcs", {"VpcIds": [each]}, until_state="gone")
        for each in ("vpc-1", "vpc-2")
    ]
    outcomes = bwp.wait_all(waits, max_wait=600)
    assert [each.attempts for each in outcomes] == [2, 1]


@pytest.mark.models
@pytest.mark.parametrize("name", READS)
def test_errors_of_reads_tell_the_end(name):
    service, operation = name.split()
    wait = bwp.Wait(boto3.client(service), operation, NAMED.get(name, {}), until_state="gone")
    matchers = [each.to_json()["matcher"] for each in wait.definition.acceptors]
    errors = {each["errorType"] for each in matchers if "errorType" in each}
    assert errors >= {*READS[name]}
    assert bool(errors) == bool(READS[name])


@mock_aws
def test_moto_tells_that_resources_are_gone(virtual_time):
    ec2, s3, iam = boto3.client("ec2"), boto3.client("s3"), boto3.client("iam")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    s3.create_bucket(Bucket="photos")
    virtual_time.call_at(20, lambda: ec2.delete_vpc(VpcId=vpc))
    virtual_time.call_at(70, lambda: s3.delete_bucket(Bucket="photos"))
    options = {"until_state": "gone", "max_wait": 60}
    assert bwp.wait_until(ec2, "DescribeVpcs", VpcIds=[vpc], **options).elapsed > 10
    assert bwp.wait_until(s3, "HeadBucket", Bucket="photos", **options).elapsed > 10
    bwp.wait_until(iam, "GetRole", RoleName="r", **options)
    for method, parameters in (
        (ec2.delete_vpc, {"VpcId": vpc}),
        (s3.delete_bucket, {"Bucket": "photos"}),
        (boto3.client("dynamodb").delete_table, {"TableName": "table"}),
        (ec2.terminate_instances, {"InstanceIds": ["i-12345678901234567"]}),
        (boto3.client("route53").delete_hosted_zone, {"Id": "Z1"}),
    ):
        assert bwp.begin(method, max_wait=60, missing_ok=True, **parameters).result(0).basis
    with pytest.raises(ClientError, match="NoSuchBucket"):
        bwp.begin(s3.delete_object, max_wait=60, missing_ok=True, Bucket="photos", Key="k")
