"""Outages that outlive the token, and callers that die and are followed by others."""

import collections
import json
import random
import time

import boto3
import pytest

from boto_waiters_plus import idempotency, operations

LIFETIME = 300
"""Seconds; CodeBuild's documentation says that it knows a token for five minutes."""


class DiedError(BaseException):
    """The caller's process ends here."""


def test_never_two_resources_without_a_word(stock_botocore, answers, lost, virtual_time):
    pytest.importorskip("sqlalchemy")
    ends = collections.Counter()
    for seed in range(20):
        builds, is_known = run_schedule(random.Random(seed), answers, lost, virtual_time)
        # A call that is known to have ended has made its build.
        assert builds in ((1,) if is_known else (0, 1)), seed
        ends[is_known] += 1
    assert min(ends[True], ends[False]) > 2


def run_schedule(chance, answers, lost, clock):
    """Return the number of builds, and whether the last caller knows how its call has ended."""
    outage_ends = clock.now + chance.uniform(0, 3 * LIFETIME)
    client, store = boto3.client("codebuild"), operations.Store(":memory:", clock=time.monotonic)
    started, builds, steps = {}, [], 0

    def answer():
        nonlocal steps
        steps -= 1
        if steps < 0:
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
        steps = chance.randrange(8) if caller < 3 and chance.random() < 0.7 else 1000
        try:
            make_or_resume(client, store)
        except (DiedError, idempotency.CallTimeoutError):
            clock.advance(chance.choice([0, 10, LIFETIME / 2, LIFETIME, 3 * LIFETIME]))
        else:
            return len(builds), True
    return len(builds), False


def make_or_resume(client, store):
    for kept in store.open_calls():
        where = {"in_store": store, "path": kept["path"]}
        return idempotency.resume_call(client, kept["record"], **where)
    start = {"max_wait": 3600, "in_store": store, "projectName": "p"}
    return idempotency.call_once(client.start_build, **start)
