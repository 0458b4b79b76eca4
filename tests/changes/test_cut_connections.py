"""call_once over real sockets that are cut at points of the exchange."""

import random

import boto3
import pytest
from botocore.config import Config

from boto_waiters_plus import idempotency

pytestmark = pytest.mark.nightly(subject="wire")

CUTS = [("lost", 0), ("late", 0), ("reply", 0.0), ("reply", 0.3), ("reply", 0.999)]


@pytest.fixture
def once(served, image):
    """`once(*cuts, attempts=2)`: the call after these cuts, with the SDK's own attempts."""
    served.may_answer.set()

    def run(*cuts, attempts=2, max_wait=3600):
        config = Config(retries={"total_max_attempts": attempts}, proxies={})
        client = boto3.client("ec2", endpoint_url=served.url, config=config)
        served.forget()
        served.cuts = list(cuts)
        return idempotency.call_once(client.run_instances, max_wait=max_wait, **image)

    return run


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_one_instance_after_a_cut_at_each_point(once, served, cut):
    call = once(cut, attempts=1)
    assert call.attempts == 2
    assert [each["token"] for each in served.instances.values()] == [call.token]


@pytest.mark.usefixtures("virtual_time")
def test_one_instance_in_every_schedule_of_cuts(once, served):
    for seed in range(60):
        chance = random.Random(seed)
        call = once(*chance.choices(CUTS, k=2 * chance.randrange(1, 4)))
        assert call.response["Instances"][0]["InstanceId"] == "i-1"
        assert [each["token"] for each in served.instances.values()] == [call.token], seed


def test_call_that_is_cut_off_leaves_the_outcome_open(once, served):
    served.may_answer.clear()
    with pytest.raises(idempotency.CallTimeoutError) as caught:
        once(max_wait=0.5)
    served.may_answer.set()
    assert caught.value.outcome_unknown
