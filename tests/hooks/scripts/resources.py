"""Resources that wait."""

import boto3
from botocore.exceptions import WaiterError

dynamodb = boto3.resource("dynamodb")
table = dynamodb.Table("orders")
table.wait_until_exists()
print(table.table_status)
table.delete()
table.wait_until_not_exists()
print("table gone")

s3 = boto3.resource("s3")
bucket = s3.Bucket("photos")
bucket.wait_until_exists()
bucket.Object("a").wait_until_exists()
s3.Bucket("archive").wait_until_not_exists()
print("buckets as they should be")
try:
    s3.Bucket("never").wait_until_exists(WaiterConfig={"Delay": 2, "MaxAttempts": 3})
except WaiterError as error:
    print(error)

ec2 = boto3.resource("ec2")
[instance] = ec2.instances.all()
instance.wait_until_running()
instance.stop()
instance.wait_until_stopped(WaiterConfig={"Delay": 5})
instance.reload()
print(instance.state["Name"])
instance.wait_until_stopped(Filters=[{"Name": "instance-state-name", "Values": ["stopped"]}])
try:
    instance.wait_until_running(
        Filters=[{"Name": "instance-state-name", "Values": ["running"]}],
        WaiterConfig={"Delay": 5, "MaxAttempts": 2},
    )
except WaiterError as error:
    print(error)
print(sorted(name for name in dir(bucket) if name.startswith("wait_until")))
