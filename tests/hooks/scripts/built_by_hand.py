"""Waiter objects without botocore's factory, as amazon.aws builds them."""

import boto3
from botocore.exceptions import WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter, WaiterModel

DATA = {
    "version": 2,
    "waiters": {
        "ImageAvailable": {
            "operation": "DescribeImages",
            "delay": 5,
            "maxAttempts": 4,
            "acceptors": [
                {
                    "state": "success",
                    "matcher": "pathAll",
                    "argument": "Images[].State",
                    "expected": "available",
                },
                {
                    "state": "failure",
                    "matcher": "pathAny",
                    "argument": "Images[].State",
                    "expected": "failed",
                },
            ],
        },
    },
}

ec2 = boto3.client("ec2")
model = WaiterModel(DATA).get_waiter("ImageAvailable")
[instance] = ec2.describe_instances()["Reservations"][0]["Instances"]
image = ec2.create_image(InstanceId=instance["InstanceId"], Name="golden")
waiter = Waiter("image_available", model, NormalizedOperationMethod(ec2.describe_images))
waiter.wait(ImageIds=[image["ImageId"]])
print(waiter.name, "done")
try:
    waiter.wait(ImageIds=["ami-00000000"], WaiterConfig={"Delay": 1, "MaxAttempts": 2})
except WaiterError as error:
    print(error.kwargs["name"], error.last_response["Error"]["Code"])

waiter = Waiter("image_available", SingleWaiterConfig(DATA["waiters"]["ImageAvailable"]), print)
waiter._operation_method = NormalizedOperationMethod(ec2.describe_images)
waiter.wait(ImageIds=[image["ImageId"]])
print("method given later")
