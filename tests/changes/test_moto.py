"""Real requests to moto, some of which are lost."""

import boto3
import pytest
from botocore.exceptions import ReadTimeoutError
from moto import mock_aws

from boto_waiters_plus import idempotency


@pytest.mark.parametrize("losses", [1, 4, 7])
def test_same_token_is_on_the_wire_in_every_repetition(virtual_time, monkeypatch, image, losses):
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    with mock_aws():
        client = boto3.client("ec2", region_name="us-east-1")
        bodies = []

        def lose(request, **_):
            bodies.append(request.body)
            if len(bodies) <= losses:
                raise ReadTimeoutError(endpoint_url=request.url)

        client.meta.events.register_first("before-send.ec2.RunInstances", lose)
        call = idempotency.call_once(
            client.run_instances, max_wait=600, then_wait="InstanceRunning", **image
        )
        assert len(bodies) == losses + 1
        assert len(set(bodies)) == 1
        assert f"ClientToken={call.token}" in str(bodies[0])
        assert call.outcome.observed == ["running"]


def test_unmarked_token_is_on_the_wire(virtual_time):
    with mock_aws():
        client = boto3.client("route53")
        call = idempotency.call_once(client.create_hosted_zone, max_wait=60, Name="example.com")
        assert call.response["HostedZone"]["CallerReference"] == call.token
