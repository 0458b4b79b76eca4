"""botocore's mark of a waiter in the user agent: there during a wait, not after."""

import re

import boto3
import botocore.useragent
import pytest
from service.roles import sending
from service.ways import by_batch, by_method, by_waiter

import boto_waiters_plus as bwp

BUCKET = {"Bucket": "b", "max_wait": 60}


def agents_of(requests):
    agents = [request.headers["User-Agent"] for request in requests]
    return [each.decode() if isinstance(each, bytes) else each for each in agents]


def are_marked(requests):
    marks = [re.search(r" m/(\S+)", agent) for agent in agents_of(requests)]
    return [found is not None and "B" in found[1].split(",") for found in marks]


needs_marks = pytest.mark.skipif(
    not hasattr(botocore.useragent, "register_feature_id"),
    reason="this botocore has no marks in its user agent",
)


@needs_marks
@pytest.mark.parametrize("way", [by_method, by_waiter, by_batch, None])
def test_requests_of_a_wait_are_marked_and_the_next_call_is_not(installed, way, virtual_time):
    resource = boto3.resource("s3")
    client, bucket = resource.meta.client, resource.Bucket("b")
    statuses = [404, 404, 200, 200, 405, 200]
    sent = sending(client, *((status, b"") for status in statuses))

    def wait():
        return way(client, "bucket_exists", **BUCKET) if way else bucket.wait_until_exists()

    wait()
    client.head_bucket(Bucket="b")
    with pytest.raises(bwp.WaiterError):
        wait()
    client.head_bucket(Bucket="b")
    assert are_marked(sent) == [True, True, True, False, True, False]


def test_user_agent_is_what_stocks_waiter_sends():
    client = boto3.client("s3")
    sent = sending(client, (200, b""))
    by_waiter(client, "bucket_exists", Bucket="b")
    bwp.install()
    by_waiter(client, "bucket_exists", Bucket="b")
    bwp.wait_until(client, "BucketExists", **BUCKET)
    first, *others = agents_of(sent)
    assert others == [first, first]
