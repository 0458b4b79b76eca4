"""Clients that others have changed too: classes in their bases, mocks, objects of their own."""

import asyncio
import contextlib
import json
from unittest import mock

import boto3
import botocore.session
import pytest
import wrapt
from botocore.waiter import SingleWaiterConfig, Waiter
from service import ways
from wrappers import PROXIES, WRAPPERS

import boto_waiters_plus as bwp

# --- classes that others put into the bases of a client's class -----------------------------------


def next_by_name():
    """As placebo: its `__init__` calls that of the next class of the order by itself."""

    def initialize(self, *arguments, **keywords):
        order = type(self).mro()
        order[order.index(shim) + 1].__init__(self, *arguments, **keywords)
        self.made = True

    shim = type("Shim", (), {"__init__": initialize})
    return shim


def next_by_super(*bases):
    def initialize(self, *arguments, **keywords):
        super(shim, self).__init__(*arguments, **keywords)
        self.made = True

    shim = type("Shim", bases, {"__init__": initialize})
    return shim


def take_the_only_one(bases, _):
    (only,) = bases
    bases[:] = [next_by_super(), only]


def replace_all(bases, _):
    bases[:] = [next_by_super(*bases)]


def override(_, attributes):
    def attribute(self, name):
        raise AttributeError(name)

    attributes["__getattr__"] = attribute
    attributes["get_waiter"] = lambda self, name: ("own", name)


CHANGES = {
    "next by name": lambda bases, _: bases.insert(0, next_by_name()),
    "next by super": lambda bases, _: bases.insert(0, next_by_super()),
    "subclass of the first": lambda bases, _: bases.insert(0, next_by_super(bases[0])),
    "only one taken": take_the_only_one,
    "all replaced": replace_all,
    # Behind botocore's class, which calls no next one, there is nothing to call it.
    "last": lambda bases, _: bases.append(next_by_super()),
    "without layout": lambda bases, _: bases.insert(0, type("Slots", (), {"__slots__": ()})),
    "overridden": override,
}


@pytest.mark.parametrize("extended", ["before", "after", "enable", "never"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_others_do_to_the_class_of_a_client_goes_on_working(change, extended, answers):
    if extended == "before":
        bwp.install()
    session = boto3.Session()
    session.events.register(
        "creating-client-class",
        lambda base_classes, class_attributes, **_: CHANGES[change](base_classes, class_attributes),
    )
    if extended == "after":
        bwp.install()
    client = session.client("kinesis")
    if extended == "enable":
        bwp.enable(client)
    assert hasattr(client, "made") is (change not in {"last", "without layout", "overridden"})
    answers(client, {"StreamDescription": {"StreamStatus": "ACTIVE"}})
    assert client.describe_stream(StreamName="s")["StreamDescription"]
    assert ("wait_until_stream_exists" in dir(client)) is (extended != "never")
    if extended != "never":
        assert client.wait_until_stream_exists(StreamName="s", max_wait=9).attempts == 1
    waiter = client.get_waiter("stream_exists")
    if change == "overridden":
        assert waiter == ("own", "stream_exists")
        assert not hasattr(client, "nothing")
    else:
        assert (waiter.wait(StreamName="s") is None) is (extended == "never")


# --- waiter objects that others put in place of botocore's ----------------------------------------

KEYS = {"operation": "X", "delay": 1, "maxAttempts": 1, "acceptors": []}
CONFIG = SingleWaiterConfig(KEYS)


class OwnWaiter:
    """A waiter of a user's test."""

    def wait(self, **keywords):
        return "own", keywords


class OwnSubclass(Waiter):
    """A user's own kind of botocore's waiter."""

    wait = OwnWaiter.wait


OWN = [OwnWaiter(), OwnSubclass("own", CONFIG, None), Waiter("built", CONFIG, None)]


@pytest.mark.parametrize(
    "target", ["botocore.client.BaseClient.get_waiter", "botocore.waiter.create_waiter_with_client"]
)
@pytest.mark.parametrize("waiter", OWN)
def test_a_waiter_of_a_users_own_is_left_alone(target, waiter):
    bwp.install()
    before = dict(vars(type(waiter)))
    with mock.patch(target, return_value=waiter):
        assert boto3.client("s3").get_waiter("bucket_exists") is waiter
    assert vars(type(waiter)) == before
    if type(waiter) is not Waiter:
        assert waiter.wait(Bucket="b") == ("own", {"Bucket": "b"})


def test_an_outcome_of_a_users_own_subclass_is_left_alone():
    class WithOutcome(Waiter):
        outcome = property(lambda _: "own")

        def wait(self, **keywords):
            return super().wait(**keywords)

    ok = {"state": "success", "matcher": "status", "expected": 200}
    config = SingleWaiterConfig({**KEYS, "acceptors": [ok]})
    bwp.install()
    waiter = WithOutcome("Own", config, lambda: {"ResponseMetadata": {"HTTPStatusCode": 200}})
    assert waiter.wait().attempts == 1
    assert waiter.outcome == "own"


# --- mocks and proxies of clients and sessions ----------------------------------------------------


class Proxy:
    """Passes everything on to a client, as tracers and caches of clients do."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client, name)


@pytest.mark.parametrize("proxy", [Proxy, wrapt.ObjectProxy])
@pytest.mark.parametrize("shows", [True, False])
def test_a_proxy_is_waited_on_by_the_settings_of_its_client(proxy, shows, answers, active):
    kinesis = boto3.client("kinesis")
    answers(kinesis, active)
    bwp.enable(kinesis, defaults={"show_parameters": shows})
    outcome = bwp.wait_until(proxy(kinesis), "stream_exists", StreamName="s", max_wait=60)
    assert outcome.label == ("kinesis StreamName=s" if shows else "kinesis")


def of_many_in_a_task(client, waiter, max_wait, **parameters):
    wait = bwp.Wait(client, waiter, parameters, max_wait=max_wait)
    return asyncio.run(bwp.wait_all_async([wait]))[0]


BY_NAME = [bwp.wait_until, ways.by_task, ways.by_batch, of_many_in_a_task, ways.in_background]
ENABLED = [ways.by_method, ways.by_waiter]
WAIT = {"StreamName": "s", "max_wait": 60}


@pytest.fixture
def kinesis(answers, creating, active, virtual_time):
    client = boto3.client("kinesis")
    answers(client, creating, active)
    return client


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("wait", BY_NAME + ENABLED)
def test_each_poll_calls_the_wrapper(wrap, wait, kinesis):
    calls = []
    kinesis.describe_stream = wrap(kinesis.describe_stream, calls)
    client = bwp.enable(kinesis) if wait in ENABLED else kinesis
    assert (wait(client, "stream_exists", **WAIT).attempts, len(calls)) == (2, 2)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_waiter_object_finds_the_client_behind_a_wrapper(wrap, kinesis):
    kinesis.describe_stream = wrap(kinesis.describe_stream, [])
    bwp.enable(kinesis, defaults={"max_attempts": 1})
    with pytest.raises(bwp.WaiterAttemptsError) as caught:
        kinesis.get_waiter("stream_exists").wait(StreamName="s")
    assert caught.value.label == "kinesis StreamName=s"


def proxy_of_a_proxy(client, calls):
    return PROXIES["object"](wrapt.ObjectProxy(client), calls)


@pytest.mark.parametrize("make", PROXIES.values(), ids=PROXIES)
@pytest.mark.parametrize("wait", BY_NAME)
def test_each_poll_goes_through_the_proxy(make, wait, kinesis):
    bwp.enable(kinesis, defaults={"max_attempts": 2})
    calls = []
    assert wait(make(kinesis, calls), "stream_exists", **WAIT).attempts == 2
    assert len(calls) == 2


def test_waits_by_a_proxy_share_no_call_with_others(answers, virtual_time):
    ecs, calls = boto3.client("ecs"), []

    def running():
        asked = json.loads(made.requests[-1]["body"])["tasks"]
        return {"tasks": [{"taskArn": each, "lastStatus": "RUNNING"} for each in asked]}

    made = answers(ecs, running)
    proxy = PROXIES["object"](ecs, calls)
    of = [(proxy, "1"), (ecs, "2"), (proxy, "3")]
    waits = [bwp.Wait(on, "tasks_running", {"tasks": [each]}, max_wait=60) for on, each in of]
    assert [each.coalesced for each in bwp.wait_all(waits, threads=1)] == [True, False, True]
    assert (calls, len(made.requests)) == (["describe_tasks"], 2)


@pytest.mark.parametrize("make", [*PROXIES.values(), proxy_of_a_proxy])
def test_enable_takes_a_proxy_of_a_client(make, kinesis):
    proxy = make(kinesis, [])
    assert bwp.enable(proxy, defaults={"max_attempts": 1}) is proxy
    with pytest.raises(bwp.WaiterAttemptsError):
        kinesis.wait_until_stream_exists(**WAIT)


@pytest.mark.parametrize("session", [boto3.Session, botocore.session.Session])
def test_enable_takes_a_proxy_of_a_session(session):
    proxy = wrapt.ObjectProxy(session())
    assert bwp.enable(proxy) is proxy
    make = getattr(proxy, "client", None) or proxy.create_client
    assert make("kinesis").wait_until_stream_exists


STAND_INS = {
    "mock": lambda _: mock.MagicMock(),
    "autospec": mock.create_autospec,
    "proxy": Proxy,
    "proxy of a mock": lambda _: wrapt.ObjectProxy(mock.MagicMock()),
    "mock of a session": lambda _: mock.create_autospec(botocore.session.Session, instance=True),
    "mock of boto3's session": lambda _: mock.create_autospec(boto3.Session, instance=True),
    "nothing": lambda _: None,
    "module": lambda _: boto3,
    "class": lambda _: boto3.Session,
}


@pytest.mark.parametrize("make", STAND_INS.values(), ids=STAND_INS)
def test_stand_ins_are_refused_and_left_alone(make, s3):
    target = make(s3)
    before = type(target).__mro__
    with pytest.raises(TypeError, match="target"):
        bwp.enable(target)
    if not isinstance(target, Proxy):
        with pytest.raises(TypeError, match="client"):
            bwp.wait_until(target, "bucket_exists", Bucket="b", max_wait=1)
    assert type(target).__mro__ == before
    assert not [call for call in getattr(target, "mock_calls", ()) if "__" not in call[0]]


def test_a_mock_of_a_session_gets_no_handlers():
    bwp.install()
    session = mock.create_autospec(botocore.session.Session, instance=True)
    with contextlib.suppress(Exception):
        botocore.session.Session.create_client(session, "s3")
    session.register.assert_not_called()
