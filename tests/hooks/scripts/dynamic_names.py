"""Waiters looked up by names put together at run time."""

import json

import boto3

TEMPLATE = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {}}}}
WIDER = {"Resources": {**TEMPLATE["Resources"], "Queue": {"Type": "AWS::SQS::Queue"}}}

cloudformation = boto3.client("cloudformation")
s3 = boto3.client("s3")


def finish(action):
    cloudformation.get_waiter(f"stack_{action}_complete").wait(StackName="network")
    print("stack", action, "complete")


cloudformation.create_stack(StackName="network", TemplateBody=json.dumps(TEMPLATE))
finish("create")
cloudformation.update_stack(StackName="network", TemplateBody=json.dumps(WIDER))
finish("update")
cloudformation.delete_stack(StackName="network")
finish("delete")

for kind, bucket in (("exists", "photos"), ("not_exists", "archive")):
    s3.get_waiter("bucket_" + kind).wait(Bucket=bucket)
    print(bucket, kind)
