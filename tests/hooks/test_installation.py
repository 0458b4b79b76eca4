"""`install` and `uninstall`: repeated, in threads, with bad input, leaving no trace."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import boto3
import botocore
import botocore.session
import botocore.waiter
import pytest

import boto_waiters_plus as bwp

PATCHED = [(botocore.waiter.Waiter, "wait"), (botocore.session.Session, "create_client")]
STOCK = [vars(c)[n] for c, n in PATCHED]


def initializers():
    return list(botocore._INITIALIZERS)


def patched():
    """What `install` changes of botocore."""
    return initializers(), *(vars(c)[n] for c, n in PATCHED)


def waits(client):
    return hasattr(client, "wait_until_stream_exists")


# --- again, and back ----------------------------------------------------------------------------


def test_sixteen_threads_installing_twice_install_once(kinesis):
    before = initializers()
    barrier = threading.Barrier(16)

    def install(_):
        barrier.wait(60)
        bwp.install()
        bwp.install()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(install, range(16)))
    assert len(initializers()) == len(before) + 1
    assert [vars(c)[n].__wrapped__ for c, n in PATCHED] == STOCK
    client = kinesis()
    client.get_waiter("stream_exists").wait(StreamName="s")
    assert client.operations == ["DescribeStream"]
    assert len(type(client).__mro__) == len({*type(client).__mro__})


@pytest.mark.parametrize("change", [bwp.install, lambda: bwp.enable(boto3.Session())])
def test_uninstall_leaves_nothing_behind(change):
    before = initializers(), *(dict(vars(kind)) for kind, _ in PATCHED)
    change()
    bwp.uninstall()
    bwp.uninstall()
    assert (initializers(), *(dict(vars(kind)) for kind, _ in PATCHED)) == before
    assert not waits(boto3.client("kinesis"))


def test_clients_that_exist_are_stock_until_the_next_install(kinesis):
    bwp.install()
    client, session = kinesis(), boto3.Session()
    waiter, method = client.get_waiter("stream_exists"), client.wait_until_stream_exists
    assert method(StreamName="s", max_wait=60)
    bwp.uninstall()
    assert not waits(client)
    assert [name for name in dir(client) if name.startswith("wait_until")] == []
    with pytest.raises(AttributeError, match="wait_until_stream_exists"):
        client.wait_until_stream_exists  # noqa: B018 - the access is the test
    assert client.get_waiter("stream_exists").wait(StreamName="s") is None
    assert waiter.wait(StreamName="s") is None
    # A method that was taken before waits as ever.
    assert method(StreamName="s", max_wait=60).attempts == 1
    bwp.install()
    assert waits(client)
    assert waits(session.client("kinesis"))
    assert client.get_waiter("stream_exists").wait(StreamName="s").attempts == 1


def test_clients_are_made_while_others_install():
    done = threading.Event()

    def make_clients():
        while not done.is_set():
            boto3.session.Session("key", "secret", region_name="us-east-1").client("sts")

    with ThreadPoolExecutor(3) as pool:
        made = [pool.submit(make_clients) for _ in range(3)]
        for _ in range(60):
            bwp.install()
            bwp.uninstall()
        done.set()
        assert [each.result(60) for each in made] == [None] * 3


def test_get_waiter_false_leaves_waiter_objects_to_botocore(kinesis):
    bwp.install()
    bwp.install(get_waiter=False)
    client = kinesis()
    assert client.wait_until_stream_exists(StreamName="s", max_wait=60).attempts == 1
    assert client.get_waiter("stream_exists").wait(StreamName="s") is None
    with pytest.raises(ValueError, match="stream_of_mine"):
        client.get_waiter("stream_of_mine")
    # Until the next `install`, or after `uninstall` for what is enabled.
    for change in (bwp.install, bwp.uninstall):
        bwp.install(get_waiter=False)
        change()
        bwp.enable(client)
        assert client.get_waiter("stream_exists").wait(StreamName="s").attempts == 1


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("settings", "kind"), [
    ({"definitions": {"smithy": "2.0", "shapes": {"a": 3}}}, bwp.WaiterDefinitionError),
    ({"definitions": "/nowhere.json"}, bwp.WaiterDefinitionError), ({"get_waiter": 1}, TypeError),
    ({"defaults": {"min_dely": 3}}, TypeError), ({"defaults": {"min_delay": -1}}, ValueError),
    ({"on_event": "print"}, TypeError),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("target", ["nothing installed", "installed", "client", "session"])
def test_bad_settings_leave_nothing_half_done(settings, kind, target, kinesis):
    if target == "installed":
        bwp.install()
    client, session = kinesis(), boto3.Session()
    change = {"client": partial(bwp.enable, client), "session": partial(bwp.enable, session)}
    before = patched(), type(client).__mro__
    with pytest.raises(kind):
        change.get(target, bwp.install)(**settings)
    assert (patched(), type(client).__mro__) == before
    for each in (client, session.client("kinesis")):
        assert waits(each) is (target == "installed")
    client.get_waiter("stream_exists").wait(StreamName="s")
