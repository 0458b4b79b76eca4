"""Waiters whose private operation method is replaced, or called by hand."""

import time

import boto3

s3 = boto3.client("s3")

waiter = s3.get_waiter("bucket_exists")
original = waiter._operation_method


def logged(**parameters):
    response = original(**parameters)
    print("looked:", response["ResponseMetadata"]["HTTPStatusCode"])
    return response


waiter._operation_method = logged
waiter.wait(Bucket="photos", WaiterConfig={"Delay": 3, "MaxAttempts": 10})

waiter = s3.get_waiter("bucket_not_exists")
state = "waiting"
while state not in ("success", "failure"):
    response = waiter._operation_method(Bucket="archive")
    for acceptor in waiter.config.acceptors:
        if acceptor.matcher_func(response):
            state = acceptor.state
            print("matched", acceptor.matcher, acceptor.expected, acceptor.explanation)
            break
    time.sleep(waiter.config.delay)
print(state)


class Counting:
    """A callable object in its place."""

    def __init__(self, operation):
        self.operation = operation
        self.calls = 0

    def __call__(self, **parameters):
        self.calls += 1
        return self.operation(**parameters)


waiter = s3.get_waiter("bucket_exists")
counting = Counting(waiter._operation_method)
waiter._operation_method = counting
waiter.wait(Bucket="late", WaiterConfig={"Delay": 10, "MaxAttempts": 30})
print("calls", counting.calls)
