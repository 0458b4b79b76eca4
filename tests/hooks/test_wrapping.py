"""Our wrappers beside those of others: mocks, tracers, whoever else wraps `Waiter.wait`."""

from unittest import mock

import botocore.session
import botocore.waiter
import pytest
import wrapt

import boto_waiters_plus as bwp

STOCK_WAIT = botocore.waiter.Waiter.__dict__["wait"]


def wait(client):
    return client.get_waiter("stream_exists").wait(StreamName="s")


def wait_attribute():
    return botocore.waiter.Waiter.__dict__["wait"]


def traced(function, seen):
    """A function as a tracing library wraps it."""

    def wrapper(wrapped, instance, args, keywords):
        seen.append(instance.name)
        return wrapped(*args, **keywords)

    return wrapt.FunctionWrapper(function, wrapper)


def test_foreign_wrapper_over_ours_is_kept_and_ours_used_again(monkeypatch, kinesis):
    bwp.install()
    seen = []
    monkeypatch.setattr(botocore.waiter.Waiter, "wait", traced(wait_attribute(), seen))
    foreign = wait_attribute()
    client = kinesis()
    assert isinstance(wait(client), bwp.ResponseOutcome)
    assert seen == ["StreamExists"]
    bwp.uninstall()
    assert wait_attribute() is foreign
    assert wait(client) is None
    assert seen == ["StreamExists"] * 2
    bwp.install()
    assert wait_attribute() is foreign
    assert wait(client).attempts == 1
    assert (seen, client.operations) == (["StreamExists"] * 3, ["DescribeStream"] * 3)


def test_foreign_wrapper_that_hides_what_it_wraps_does_no_harm(monkeypatch, kinesis):
    bwp.install()
    ours = botocore.waiter.Waiter.wait

    def opaque(self, **keywords):
        return ours(self, **keywords)

    monkeypatch.setattr(botocore.waiter.Waiter, "wait", opaque)
    bwp.install()
    client = kinesis()
    assert wait(client).attempts == 1
    assert len(client.operations) == 1
    bwp.uninstall()
    assert wait(client) is None
    assert len(client.operations) == 2


def test_uninstall_inside_a_mock_leaves_a_wrapper_that_passes_through(kinesis):
    bwp.install()
    client = kinesis()
    with mock.patch("botocore.waiter.Waiter.wait") as mocked:
        bwp.uninstall()
        wait(client)
    assert mocked.call_count == 1
    assert wait(client) is None
    bwp.install()
    bwp.uninstall()
    assert wait_attribute() is STOCK_WAIT


@pytest.mark.parametrize("autospec", [None, True])
def test_install_inside_a_mock_shows_it_and_is_repaired_by_the_next(autospec, kinesis):
    """A program whose main() installs, and its test, which mocks what waits."""
    with mock.patch("botocore.waiter.Waiter.wait", autospec=autospec) as mocked:
        bwp.install()
        client = kinesis()
        wait(client)
    assert (mocked.call_count, client.operations) == (1, [])
    assert wait_attribute() is STOCK_WAIT
    bwp.install()
    assert wait_attribute().__wrapped__ is STOCK_WAIT
    assert wait(client).attempts == 1


def test_foreign_wrapper_below_ours_is_never_reached_and_never_lost(monkeypatch, kinesis):
    seen = []
    monkeypatch.setattr(botocore.waiter.Waiter, "wait", traced(STOCK_WAIT, seen))
    foreign = wait_attribute()
    bwp.install()
    client = kinesis()
    wait(client)
    bwp.uninstall()
    assert wait_attribute() is foreign
    wait(client)
    assert seen[-1] == "StreamExists"
