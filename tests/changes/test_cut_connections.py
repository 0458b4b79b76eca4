"""call_once over sockets that are cut at drawn points, with a service that keeps tokens in SQLite.

`python bench/call_once.py` runs 1,000 schedules; here are 60 of them.
"""

import collections
import os
import time

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.parsers import ResponseParserError
from changes.cutting_proxy import CuttingProxy, schedule
from changes.sqlite_service import STAGES

from boto_waiters_plus import idempotency

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the service forks")

SCHEDULES = range(60)
SDK_ATTEMPTS = 2
POINTS = [("request", 0.0), ("request", 0.5), ("request", 0.999), ("late", 0)]
POINTS += [("reply", 0.0), ("reply", 0.3), ("reply", 0.999), *(("kill", each) for each in STAGES)]


def client_of(proxy, attempts=SDK_ATTEMPTS):
    retries = {"total_max_attempts": attempts, "mode": "standard"}
    config = Config(retries=retries, proxies={})
    return boto3.client("ec2", endpoint_url=proxy.url, config=config)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    with CuttingProxy(str(tmp_path_factory.mktemp("service") / "tokens.db")) as proxy:
        yield proxy


def once(client, image, **parameters):
    return idempotency.call_once(client.run_instances, max_wait=3600, **image, **parameters)


def plainly(client, image):
    while True:
        try:
            return client.run_instances(**image)
        except (BotoCoreError, ClientError, HTTPClientError, ResponseParserError):  # noqa: PERF203 - as scripts do
            time.sleep(2)


@pytest.mark.timeout(600)
def test_one_instance_in_every_schedule_of_cuts(proxy, image, virtual_time):
    client = client_of(proxy)
    counts = {once: collections.Counter(), plainly: collections.Counter()}
    for seed in SCHEDULES:
        for call, numbers in counts.items():
            proxy.begin(schedule(seed, SDK_ATTEMPTS))
            call(client, image)
            numbers[min(len(proxy.instances()), 2)] += 1
    assert counts == {once: {1: len(SCHEDULES)}, plainly: {2: len(SCHEDULES)}}


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_one_instance_after_a_cut_at_each_point(proxy, image, virtual_time, point):
    proxy.begin([point])
    call = once(client_of(proxy, attempts=1), image)
    assert call.attempts == 2
    assert proxy.instances() == [("i-1", call.token)]
    assert proxy.tokens() == [(call.token,)]


@pytest.mark.parametrize("stage", STAGES)
def test_token_and_instance_are_written_together(proxy, image, virtual_time, stage):
    proxy.begin([("kill", stage)] * 9)
    with pytest.raises(idempotency.CallTimeoutError) as caught:
        idempotency.call_once(client_of(proxy, 1).run_instances, max_wait=9, **image)
    assert caught.value.outcome_unknown
    written = stage == "committed"
    assert (len(proxy.instances()), len(proxy.tokens())) == (written, written)
