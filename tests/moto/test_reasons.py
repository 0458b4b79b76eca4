"""A change set without changes is told from a real failure, by moto's CloudFormation."""

import json

import boto3
import pytest
from botocore.exceptions import WaiterError
from moto import mock_aws

import boto_waiters_plus as bwp

TEMPLATE = json.dumps({"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}})


@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
@mock_aws
def test_a_change_set_without_changes_says_so(way):
    bwp.install()
    cloudformation = boto3.client("cloudformation", region_name="us-east-1")
    cloudformation.create_stack(StackName="s", TemplateBody=TEMPLATE)
    names = {"StackName": "s", "ChangeSetName": "c"}
    cloudformation.create_change_set(**names, TemplateBody=TEMPLATE, ChangeSetType="UPDATE")
    waits = {
        "wait_until": lambda: cloudformation.wait_until_change_set_create_complete(
            **names, max_wait=30
        ),
        "get_waiter": lambda: cloudformation.get_waiter("change_set_create_complete").wait(**names),
    }
    with pytest.raises(WaiterError, match="didn't contain changes") as caught:
        waits[way]()
    assert caught.value.service_message.startswith("The submitted information didn't contain")
    assert caught.value.attempts == 1
