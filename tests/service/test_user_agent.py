"""botocore's mark of a waiter in the user agent: there during a wait, not after."""

import re

import boto3
import botocore.useragent
import pytest
from botocore.awsrequest import AWSResponse

import boto_waiters_plus as bwp

WAYS = {
    "wait_until": lambda s3, _: s3.wait_until_bucket_exists(Bucket="b", max_wait=60),
    "get_waiter": lambda s3, _: s3.get_waiter("bucket_exists").wait(Bucket="b"),
    "resource": lambda _, resource: resource.Bucket("b").wait_until_exists(),
    "wait_all": lambda s3, _: bwp.wait_all(
        [bwp.Wait(s3, "BucketExists", {"Bucket": "b"}, max_wait=60)]
    ),
}


class Raw:
    """As much of urllib3's response as botocore reads."""

    def stream(self, *_, **__):
        yield b""

    def read(self, *_, **__):
        return b""


def agents_of(client, *statuses):
    """Answer all requests with these statuses, and return the list of their user agents."""
    agents = []

    def answer(request, **_):
        agent = request.headers["User-Agent"]
        agents.append(agent.decode() if isinstance(agent, bytes) else agent)
        status = statuses[min(len(agents), len(statuses)) - 1]
        return AWSResponse(request.url, status, {}, Raw())

    client.meta.events.register("before-send.s3", answer)
    return agents


def are_marked(agents):
    marks = [re.search(r" m/(\S+)", agent) for agent in agents]
    return [found is not None and "B" in found[1].split(",") for found in marks]


needs_marks = pytest.mark.skipif(
    not hasattr(botocore.useragent, "register_feature_id"),
    reason="this botocore has no marks in its user agent",
)


@needs_marks
@pytest.mark.parametrize("way", WAYS)
def test_requests_of_a_wait_are_marked_and_the_next_call_is_not(way, virtual_time):
    bwp.install()
    resource = boto3.resource("s3")
    client = resource.meta.client
    agents = agents_of(client, 404, 404, 200, 200, 405, 200)
    WAYS[way](client, resource)
    client.head_bucket(Bucket="b")
    with pytest.raises(bwp.WaiterError):
        WAYS[way](client, resource)
    client.head_bucket(Bucket="b")
    assert are_marked(agents) == [True, True, True, False, True, False]


def test_user_agent_is_what_stocks_waiter_sends():
    client = boto3.client("s3")
    agents = agents_of(client, 200)
    client.get_waiter("bucket_exists").wait(Bucket="b")
    bwp.install()
    client.get_waiter("bucket_exists").wait(Bucket="b")
    bwp.wait_until(client, "BucketExists", Bucket="b", max_wait=60)
    assert agents[0] == agents[1] == agents[2]
