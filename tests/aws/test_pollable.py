"""Which operations a definition of somebody else's may poll."""

import botocore.session
import pytest
from botocore.model import OperationModel, ServiceModel

from boto_waiters_plus.aws.pollable import only_reads, reason_not_to_poll

SESSION = botocore.session.get_session()


def operation(name):
    service, _, name = name.partition(".")
    return SESSION.get_service_model(service).operation_model(name)


@pytest.mark.parametrize(
    "name",
    [
        "dynamodb.DescribeTable",
        "kinesis.DescribeStreamSummary",
        "ec2.DescribeInstances",
        "s3.HeadBucket",
        "sqs.ListQueues",
        "iam.GetRole",
        "cloudformation.DescribeStacks",
        "dynamodb.BatchGetItem",
        "ecr.BatchCheckLayerAvailability",
        "route53.GetChange",
    ],
)
def test_what_reads_and_can_be_shown_may_be_polled(name):
    assert reason_not_to_poll(operation(name)) is None


@pytest.mark.parametrize(
    "name",
    [
        "dynamodb.DeleteTable",
        "ec2.TerminateInstances",
        "ec2.RunInstances",
        "s3.PutObject",
        "s3.CreateMultipartUpload",
        "sqs.ReceiveMessage",
        "sts.AssumeRole",
        "lambda.Invoke",
        "dynamodb.ExecuteStatement",
        "sqs.PurgeQueue",
        "kms.Decrypt",
    ],
)
def test_what_modifies_may_not_be_polled(name):
    reason = reason_not_to_poll(operation(name))
    assert reason == f"{name.partition('.')[2]} may modify resources; every attempt would call it"


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("secretsmanager.GetSecretValue", "SecretBinary"),
        ("lambda.GetFunctionConfiguration", "Environment.Variables"),
        ("ssm.GetParametersByPath", "Parameters[].Value"),
        ("cognito-idp.DescribeUserPoolClient", "UserPoolClient.ClientId"),
        ("s3.HeadObject", "SSEKMSKeyId"),
    ],
)
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
    shapes = {"metadata": {"protocol": "json"}, "shapes": {}}
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
