"""Outages that outlive the token, and callers that die and are followed by others."""

import collections
import json
import random
import time
from unittest import mock

import boto3
import pytest

from boto_waiters_plus import idempotency

pytest.importorskip("sqlalchemy")

from boto_waiters_plus.operations import Store

LIFETIME = 300
"""Seconds; CodeBuild's documentation says that it knows a token for five minutes."""


class DiedError(BaseException):
    """The caller's process ends here."""


def test_never_two_resources_without_a_word(stock_botocore, answers, lost, virtual_time):
    """Stores read a clock that cannot be set; it is virtual here, too."""
    ends = collections.Counter()
    with mock.patch.object(time, "clock_gettime", side_effect=lambda _: virtual_time.now):
        for seed in range(20):
            builds, is_known = run_schedule(random.Random(seed), answers, lost, virtual_time)
            assert builds <= 1, seed
            # A call that is known to have ended has made its build.
            assert builds == 1 or not is_known, seed
            ends[is_known] += 1
    assert min(ends[True], ends[False]) > 2


def run_schedule(chance, answers, lost, clock):
    """Return the number of builds, and whether the last caller knows how its call has ended."""
    outage_ends = clock.now + chance.uniform(0, 3 * LIFETIME)
    client, store = boto3.client("codebuild"), Store(":memory:")
    started, builds, steps = {}, [], [0]

    def answer():
        steps[0] -= 1
        if steps[0] == -1:
            return DiedError()
        token = json.loads(service.requests[-1]["body"])["idempotencyToken"]
        is_lost = clock.now < outage_ends
        is_executed = not is_lost or chance.random() < 0.5
        if is_executed and clock.now - started.get(token, -LIFETIME - 1) > LIFETIME:
            started[token] = clock.now
            builds.append(token)
        return lost if is_lost else {"build": {"id": "b:1"}}

    service = answers(client, answer)
    for caller in range(4):
        # The last caller does not die.
        steps[0] = chance.randrange(8) if caller < 3 and chance.random() < 0.7 else 1000
        try:
            make_or_resume(client, store)
        except (DiedError, idempotency.CallTimeoutError):
            clock.advance(chance.choice([0, 10, LIFETIME / 2, LIFETIME, 3 * LIFETIME]))
        else:
            return len(builds), True
    store.close()
    return len(builds), False


def make_or_resume(client, store):
    kept = store.open_calls()
    if kept:
        where = {"in_store": store, "path": kept[0]["path"]}
        return idempotency.resume_call(client, kept[0]["record"], **where)
    start = {"max_wait": 3600, "in_store": store, "projectName": "p"}
    return idempotency.call_once(client.start_build, **start)
