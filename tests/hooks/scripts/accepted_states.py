"""The state that "Max attempts exceeded" names."""

import boto3
from botocore.exceptions import WaiterError
from botocore.waiter import WaiterModel, create_waiter_with_client

MODEL = WaiterModel(
    {
        "version": 2,
        "waiters": {
            "TableArchived": {
                "operation": "DescribeTable",
                "delay": 5,
                "maxAttempts": 4,
                "acceptors": [
                    {"state": "retry", "matcher": "error", "expected": "ResourceNotFoundException"},
                    {
                        "state": "success",
                        "matcher": "path",
                        "argument": "Table.TableStatus",
                        "expected": "ARCHIVED",
                    },
                ],
            }
        },
    }
)

dynamodb = boto3.client("dynamodb")
waiter = create_waiter_with_client("TableArchived", MODEL, dynamodb)
for table, delay in (("never", 1), ("orders", 10)):
    try:
        # orders appears during the wait: the last look matches no acceptor, those before did
        waiter.wait(TableName=table, WaiterConfig={"Delay": delay, "MaxAttempts": 4})
    except WaiterError as error:
        print(error)
