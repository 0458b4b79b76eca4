"""Schedules of outages and killed callers around one call whose token lives five minutes.

Each schedule is drawn from its seed: an outage that may last longer than the token lives, in which
each request or reply is lost in some way; callers that are killed between two of their steps; and
the time until another process resumes the call. Callers are processes of their own, with a store
in a file. Time is virtual, that of the wall clock's replacement in the store included.
"""

import contextlib
import json
import os
import random
import signal
import time
import warnings
from unittest import mock

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.parsers import ResponseParserError
from changes.cutting_proxy import drawn
from changes.sqlite_service import LIFETIME

from boto_waiters_plus import idempotency
from boto_waiters_plus.operations import Store

SDK_ATTEMPTS = 2
MOST_CALLERS = 4
ERRORS = (BotoCoreError, ClientError, HTTPClientError, ResponseParserError)


def client_of(proxy, clock, steps):
    """Return a client that tells the service the time; it dies when `steps` requests are made."""
    retries = {"total_max_attempts": SDK_ATTEMPTS, "mode": "standard"}
    client = boto3.client(
        "codebuild", endpoint_url=proxy.url, config=Config(retries=retries, proxies={})
    )
    left = [steps]

    def before_send(request, **_):
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        request.headers["X-Now"] = str(clock.now)

    client.meta.events.register("before-send.codebuild", before_send)
    return client


@contextlib.contextmanager
def virtual_machine(clock):
    """Make the virtual clock the one that stores read, which cannot be set."""
    # Each call gives the time of then.
    with mock.patch.object(time, "clock_gettime", side_effect=lambda _: clock.now):
        yield


def as_a_process(action):
    """Return the JSON of what `action` returns in a process of its own; None if it was killed."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # The proxy's thread is not needed in the child.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        status = 1
        try:
            os.write(writing, json.dumps(action()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the caller failed"
    return json.loads(text) if text else None


def made(proxy, clock, url, steps):
    """Make the call, or resume it where the store has it; return how it ended."""
    client, store = client_of(proxy, clock, steps), Store(url)
    try:
        kept = store.open_calls()
        if kept:
            idempotency.resume_call(client, kept[0]["record"], in_store=store, path=kept[0]["path"])
        else:
            idempotency.call_once(
                client.start_build, max_wait=3600, in_store=store, projectName="p"
            )
    except idempotency.CallOnceError as error:
        return {"outcome_unknown": error.outcome_unknown, "now": clock.now}
    return {"outcome_unknown": False, "now": clock.now}


def outage(chance, clock):
    """Return an outage: when it ends, and what draws the fault of each request before that."""
    faults = random.Random(chance.random())

    def fault():
        kind, point = drawn(faults, executed=faults.random() < 0.5)
        # Cut within its header, a reply of JSON is one without content, and no error.
        return kind, (0 if point < 0.5 else 0.95) if kind == "reply" else point

    return clock.now + chance.uniform(0, 3 * LIFETIME), fault


def run_schedule(seed, proxy, clock, folder):
    """Run the schedule of a seed; return the number of builds, and whether the outcome is known."""
    chance = random.Random(seed)
    proxy.begin([])
    proxy.outage = outage(chance, clock)
    ended = None
    for caller in range(MOST_CALLERS):
        # The last caller is not killed.
        steps = chance.randrange(8) if caller < MOST_CALLERS - 1 and chance.random() < 0.7 else -1
        url = f"{folder}/{seed}.db"
        ended = as_a_process(lambda url=url, steps=steps: made(proxy, clock, url, steps))
        clock.advance(max(0, (ended or {"now": proxy.now})["now"] - clock.now))
        if ended is not None and not ended["outcome_unknown"]:
            break
        clock.advance(chance.choice([0, 10, LIFETIME / 2, LIFETIME, 3 * LIFETIME]))
    return len(proxy.builds()), not ended["outcome_unknown"]


def run_plainly(seed, proxy, clock):
    """Run the outage of a seed with calls under one token until one is answered, as scripts do."""
    chance = random.Random(seed)
    proxy.begin([])
    proxy.outage = outage(chance, clock)
    client = client_of(proxy, clock, -1)
    while True:
        try:
            client.start_build(projectName="p", idempotencyToken=f"script-{seed}")
        except ERRORS:  # noqa: PERF203 - as scripts do
            time.sleep(20)
        else:
            return len(proxy.builds())
