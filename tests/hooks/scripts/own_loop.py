"""A loop of one's own around looks of one attempt each, as Airflow's operators do."""

import time

import boto3
from botocore.exceptions import WaiterError

dynamodb = boto3.client("dynamodb")
waiter = dynamodb.get_waiter("table_exists")
attempt = 0
while True:
    attempt += 1
    try:
        waiter.wait(TableName="orders", WaiterConfig={"MaxAttempts": 1})
        break
    except WaiterError as error:
        reason = str(error)
        if "terminal failure" in reason:
            raise SystemExit("failed for good") from error
        if "An error occurred" in reason:
            print("code", error.last_response["Error"]["Code"])
        table = error.last_response.get("Table", {})
        print("attempt", attempt, table.get("TableStatus", "no table"), "-", reason)
        if attempt == 10:
            raise
    time.sleep(5)
print("ready after", attempt)
