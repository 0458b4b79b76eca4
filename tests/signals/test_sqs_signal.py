"""`SqsSignal` without a queue: arguments, and waits that `deliver` wakes in virtual time."""

import asyncio
import queue
from types import SimpleNamespace

import pytest
from botocore.config import Config
from conditions.conftest import Box

import boto_waiters_plus as bwp
from boto_waiters_plus.conditions import wait_for, wait_for_async
from boto_waiters_plus.signals import SqsSignal

from .conftest import SESSION, SOON, URL


def change(instance, state):
    return {"detail": {"instance-id": instance, "state": state}}


@pytest.fixture
def signal(sqs):
    """A signal that makes no request: no thread starts in virtual time."""
    with SqsSignal(URL, client=sqs, match="detail.state == 'running'") as signal:
        yield signal


def queue_of(service):
    return SimpleNamespace(url=URL, meta=SimpleNamespace(client=SESSION.client(service)))


@pytest.mark.parametrize(("make", "error", "says"), [
    (lambda sqs: SqsSignal("changes", client=sqs), ValueError, "queue"),
    (lambda sqs: SqsSignal("arn:aws:sqs:a:1:b", client=sqs), ValueError, "queue"),
    (SqsSignal, TypeError, "queue"),
    (lambda _: SqsSignal(URL), TypeError, "client"),
    (lambda _: SqsSignal(URL, client=SESSION.client("sns")), ValueError, "client"),
    (lambda _: SqsSignal(queue_of("sns")), ValueError, "queue"),
    (lambda sqs: SqsSignal(queue_of("sqs"), client=sqs), TypeError, "has its own"),
    (lambda sqs: SqsSignal(URL, client=sqs).deliver(7), TypeError, "message"),
])  # fmt: skip
def test_a_bad_argument_is_refused_before_any_request(sqs, make, error, says):
    with pytest.raises(error, match=says):
        make(sqs)


def test_an_asynchronous_client_is_refused():
    aiosession = pytest.importorskip("aiobotocore.session", reason="aiobotocore is not installed")

    async def main():
        async with aiosession.get_session().create_client("sqs", region_name="eu-west-1") as sqs:
            with pytest.raises(TypeError, match="blocking"):
                SqsSignal(URL, client=sqs)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("read_timeout", "seconds"), [(60, 20), (20, 19), (2.5, 2), (1, 0), (None, 20)]
)
def test_a_poll_is_shorter_than_the_read_timeout(read_timeout, seconds):
    client = SESSION.client("sqs", config=Config(read_timeout=read_timeout))
    asked = queue.SimpleQueue()
    client.receive_message = lambda **parameters: asked.put(parameters) or {}
    with SqsSignal(URL, client=client) as signal:
        subscription = signal.subscribe()
        request = asked.get(timeout=SOON)
        subscription.unsubscribe()
    assert request == {"QueueUrl": URL, "MaxNumberOfMessages": 10, "WaitTimeSeconds": seconds}


def test_a_repr_shows_neither_queue_nor_expression(signal):
    narrow = signal.matching("detail.secret == 'i-1'")
    assert [repr(signal), repr(narrow)] == ["SqsSignal(waits=0)", "EventSignal(waits=0)"]
    signal.close()
    assert repr(narrow) == "EventSignal(closed)"


@pytest.fixture
def box(virtual_time):
    return Box(virtual_time)


def test_without_a_match_every_message_wakes(sqs, box, virtual_time):
    signal = SqsSignal(URL, client=sqs)
    virtual_time.call_at(2, lambda: signal.deliver("{broken"))
    box.fill_at(4, lambda: signal.deliver({}))
    wait_for(box.read, max_wait=60, interval=20, signal=signal)
    assert box.times == [0, 2, 4]


def test_each_wait_is_woken_by_its_own_event(signal, virtual_time):
    one, two = Box(virtual_time), Box(virtual_time)
    one.fill_at(5, lambda: signal.deliver(change("i-1", "running")))
    virtual_time.call_at(7, lambda: signal.deliver(change("i-2", "stopped")))
    two.fill_at(9, lambda: signal.deliver(change("i-2", "running")))

    async def wait(box, instance):
        own = signal.matching(f"detail.\"instance-id\" == '{instance}'")
        await wait_for_async(box.read, max_wait=60, signal=own, polling=False)

    async def main():
        await asyncio.gather(wait(one, "i-1"), wait(two, "i-2"))

    asyncio.run(main())
    assert (one.times, two.times) == ([0, 5], [0, 9])


def test_matching_adds_to_the_other_expressions(signal):
    own = signal.matching("detail.\"instance-id\" == 'i-1'").matching("detail.zone == 'a'")
    event = change("i-1", "running")
    assert [signal.deliver(event), own.deliver(event)] == [True, False]
    event["detail"]["zone"] = "a"
    assert own.deliver(event) is True
    event["detail"]["state"] = "stopped"
    assert own.deliver(event) is False


@pytest.fixture
def bucket(answers, missing):
    """A client whose bucket exists at the second attempt."""
    bwp.install()
    client = SESSION.client("s3")
    answers(client, missing, {})
    return client


def batch(client, **options):
    return [bwp.Wait(client, "bucket_exists", {"Bucket": "b"}, **options)]


WAYS = {
    "method": lambda client, **o: client.wait_until_bucket_exists(Bucket="b", **o),
    "get_waiter": lambda client, **o: client.get_waiter("bucket_exists").wait(Bucket="b", **o),
    "wait_all": lambda client, **o: bwp.wait_all(batch(client, **o))[0],
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
OPTIONS = {"max_wait": 60, "min_delay": 20, "max_delay": 20}


@every_way
def test_every_wait_takes_an_event_signal(bucket, signal, virtual_time, way):
    virtual_time.call_at(1.5, lambda: signal.deliver(change("i-1", "running")))
    outcome = way(bucket, wake_signal=signal, **OPTIONS)
    assert (outcome.attempts, outcome.elapsed) == (2, pytest.approx(1.5, abs=0.06))
    assert repr(signal) == "SqsSignal(waits=0)"


@every_way
def test_no_wait_begins_on_a_closed_signal(bucket, signal, way):
    requests = []
    bucket.meta.events.register("before-call.s3", lambda **_: requests.append(1))
    signal.close()
    with pytest.raises(RuntimeError, match="wake_signal"):
        way(bucket, wake_signal=signal.matching("detail"), **OPTIONS)
    assert requests == []


def test_a_failed_wait_unsubscribes(signal, virtual_time):
    with pytest.raises(bwp.WaiterTimeoutError) as raised:
        wait_for(lambda: False, max_wait=60, interval=20, signal=signal)
    # While the error still holds the frames of the wait.
    assert repr(signal) == "SqsSignal(waits=0)"
    assert raised.value.elapsed >= 59
