"""Waiter models of one's own, as Ansible's and Airflow's."""

import boto3
import botocore.waiter as core_waiter
from botocore.exceptions import WaiterError
from botocore.waiter import WaiterModel, create_waiter_with_client

MODEL = WaiterModel(
    {
        "version": 2,
        "waiters": {
            "TableActive": {
                "operation": "DescribeTable",
                "delay": 5,
                "maxAttempts": 12,
                "acceptors": [
                    {
                        "state": "success",
                        "matcher": "path",
                        "argument": "Table.TableStatus",
                        "expected": "ACTIVE",
                    },
                    {"state": "retry", "matcher": "error", "expected": "ResourceNotFoundException"},
                ],
            },
            "TableCreating": {
                "operation": "DescribeTable",
                "delay": 0,
                "maxAttempts": 3,
                "acceptors": [
                    {
                        "state": "success",
                        "matcher": "path",
                        "argument": "Table.TableStatus",
                        "expected": "CREATING",
                    },
                    {"state": "retry", "matcher": "status", "expected": 200},
                    {"state": "retry", "matcher": "error", "expected": True},
                ],
            },
            "TableEmpty": {
                "operation": "DescribeTable",
                "delay": 1,
                "maxAttempts": 3,
                "acceptors": [
                    {
                        "state": "success",
                        "matcher": "path",
                        "argument": "Table.ItemCount",
                        "expected": 0,
                    },
                    {"state": "failure", "matcher": "error", "expected": True},
                ],
            },
            "TablesListed": {
                "operation": "ListTables",
                "delay": 1,
                "maxAttempts": 2,
                "acceptors": [
                    {
                        "state": "success",
                        "matcher": "path",
                        "argument": "length(TableNames) > `0`",
                        "expected": True,
                    }
                ],
            },
        },
    }
)

dynamodb = boto3.client("dynamodb")
waiter = create_waiter_with_client("TableActive", MODEL, dynamodb)
print(waiter.name, waiter.config.delay, waiter.config.max_attempts, waiter.config.operation)
print(waiter.wait(TableName="orders", WaiterConfig={"Delay": 5, "MaxAttempts": 12}))

waiter = core_waiter.create_waiter_with_client(
    waiter_name="TableCreating", waiter_model=MODEL, client=dynamodb
)
try:
    print(waiter.wait(TableName="orders"))
except WaiterError as error:
    print(error, error.last_response["Table"]["TableStatus"])

for table in ("orders", "never"):
    try:
        print(create_waiter_with_client("TableEmpty", MODEL, dynamodb).wait(TableName=table))
    except core_waiter.WaiterError as error:
        # What the service says may stand behind.
        print(str(error).partition(": Requested resource")[0])
print(create_waiter_with_client("TablesListed", MODEL, dynamodb).wait())
print(MODEL.waiter_names)
