"""botocore's mark of a waiter in the user agent: there during a wait, not after."""

import re

import boto3
import pytest
from botocore.awsrequest import AWSResponse

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.private_names import register_feature_id


class Raw:
    """As much of urllib3's response as botocore reads."""

    def __init__(self, body):
        self._body = body

    def stream(self, *_, **__):
        yield self._body

    def read(self, *_, **__):
        return self._body


@pytest.fixture
def sent():
    """The user agents of all requests, which are answered at once."""

    def watch(client, *statuses):
        agents = []

        def answer(request, **_):
            agent = request.headers["User-Agent"]
            agents.append(agent.decode() if isinstance(agent, bytes) else agent)
            status = statuses[min(len(agents), len(statuses)) - 1]
            return AWSResponse(request.url, status, {}, Raw(b""))

        client.meta.events.register("before-send.s3", answer)
        return agents

    return watch


def marks(agent):
    found = re.search(r" m/(\S+)", agent)
    return set(found.group(1).split(",")) if found else set()


needs_marks = pytest.mark.skipif(
    register_feature_id is None, reason="this botocore has no marks in its user agent"
)


@needs_marks
@pytest.mark.parametrize("way", ["wait_until", "function", "get_waiter", "resource", "wait_all"])
def test_requests_of_a_wait_are_marked_and_the_next_call_is_not(sent, way, virtual_time):
    bwp.install()
    resource = boto3.resource("s3")
    client = resource.meta.client
    agents = sent(client, 404, 404, 200)
    if way == "wait_until":
        client.wait_until_bucket_exists(Bucket="b", max_wait=60)
    elif way == "function":
        bwp.wait_until(client, "BucketExists", Bucket="b", max_wait=60)
    elif way == "get_waiter":
        client.get_waiter("bucket_exists").wait(Bucket="b")
    elif way == "wait_all":
        bwp.wait_all([bwp.Wait(client, "BucketExists", {"Bucket": "b"}, max_wait=60)])
    else:
        resource.Bucket("b").wait_until_exists()
    assert len(agents) == 3
    assert all("B" in marks(agent) for agent in agents)
    client.head_bucket(Bucket="b")
    assert "B" not in marks(agents[-1])


@needs_marks
def test_mark_does_not_outlive_a_failed_wait(sent):
    bwp.install()
    client = boto3.client("s3")
    agents = sent(client, 403, 200)
    with pytest.raises(bwp.WaiterFailedError):
        client.wait_until_bucket_exists(Bucket="b", max_wait=60)
    client.head_bucket(Bucket="b")
    assert ["B" in marks(agent) for agent in agents] == [True, False]


def test_user_agent_is_what_stocks_waiter_sends(sent):
    client = boto3.client("s3")
    agents = sent(client, 200)
    client.get_waiter("bucket_exists").wait(Bucket="b")
    bwp.install()
    client.get_waiter("bucket_exists").wait(Bucket="b")
    bwp.wait_until(client, "BucketExists", Bucket="b", max_wait=60)
    assert agents[0] == agents[1] == agents[2]
