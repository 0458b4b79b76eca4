"""What is read of waiters without waiting."""

import copy
import inspect
import pickle

import boto3
import botocore.waiter

s3 = boto3.client("s3")
waiter = s3.get_waiter("bucket_exists")
print([name for name in s3.waiter_names if name.endswith("exists")])
print(waiter.name, waiter.config.operation, waiter.config.delay, waiter.config.max_attempts)
print(waiter.config.description, len(waiter.config.acceptors))
print(type(waiter).__name__, isinstance(waiter, botocore.waiter.Waiter))
print([base.__name__ for base in type(waiter).__mro__])
print(inspect.signature(botocore.waiter.Waiter.wait), callable(waiter.wait))
print(list(inspect.signature(s3.get_waiter).parameters), waiter.wait.__name__)
print(str(waiter.wait.__doc__))
print(s3.get_waiter(waiter_name="object_exists").name)

for name in ("nope", "BucketExists", ""):
    try:
        s3.get_waiter(name)
    except ValueError as error:
        # The nearest name may stand behind.
        print(type(error).__name__, str(error).partition(";")[0])

twin = copy.copy(waiter)
print(twin.name, twin.config is waiter.config, type(twin) is type(waiter))
twin.wait(Bucket="photos", WaiterConfig={"Delay": 20})
print("photos exists")
try:
    pickle.dumps(waiter)
except Exception as error:
    print("pickle:", type(error).__name__)
