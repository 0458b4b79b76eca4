"""Our wrappers beside those of others: mocks, tracers, whoever else wraps `Waiter.wait`."""

from unittest import mock

import boto3
import botocore.session
import botocore.waiter
import pytest
import wrapt
from botocore.waiter import SingleWaiterConfig, Waiter

import boto_waiters_plus as bwp

STOCK_WAIT = botocore.waiter.Waiter.__dict__["wait"]


def wait_attribute():
    return botocore.waiter.Waiter.__dict__["wait"]


def layers(function):
    """All functions that lie around one another."""
    while function is not None:
        yield function
        function = getattr(function, "__wrapped__", None)


def tracer(seen):
    """What a tracing library puts around a function."""

    @wrapt.decorator
    def traced(wrapped, instance, args, keywords):
        seen.append(instance.name)
        return wrapped(*args, **keywords)

    return traced


def test_foreign_wrapper_over_ours_passes_through_and_is_kept(monkeypatch, kinesis):
    bwp.install()
    seen = []
    monkeypatch.setattr(botocore.waiter.Waiter, "wait", tracer(seen)(wait_attribute()))
    client = kinesis()
    outcome = client.get_waiter("stream_exists").wait(StreamName="s")
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert seen == ["StreamExists"]

    foreign = wait_attribute()
    bwp.uninstall()
    assert wait_attribute() is foreign
    assert client.get_waiter("stream_exists").wait(StreamName="s") is None
    assert seen == ["StreamExists"] * 2


def test_ours_below_a_foreign_wrapper_is_used_again_by_the_next_install(monkeypatch, kinesis):
    bwp.install()
    ours = wait_attribute()
    seen = []
    monkeypatch.setattr(botocore.waiter.Waiter, "wait", tracer(seen)(ours))
    foreign = wait_attribute()
    before = [id(layer) for layer in layers(foreign)]
    bwp.uninstall()
    bwp.install()
    assert wait_attribute() is foreign
    assert [id(layer) for layer in layers(foreign)] == before
    client = kinesis()
    assert client.get_waiter("stream_exists").wait(StreamName="s").attempts == 1


def test_foreign_wrapper_that_hides_what_it_wraps_does_no_harm(monkeypatch, kinesis):
    bwp.install()
    ours = botocore.waiter.Waiter.wait

    def opaque(self, **keywords):
        return ours(self, **keywords)

    monkeypatch.setattr(botocore.waiter.Waiter, "wait", opaque)
    bwp.install()
    client = kinesis()
    calls = client.operations
    assert client.get_waiter("stream_exists").wait(StreamName="s").attempts == 1
    assert len(calls) == 1
    bwp.uninstall()
    assert client.get_waiter("stream_exists").wait(StreamName="s") is None
    assert len(calls) == 2


def test_mock_over_ours_is_seen_and_ours_comes_back(kinesis):
    bwp.install()
    client = kinesis()
    calls = client.operations
    with mock.patch("botocore.waiter.Waiter.wait") as wait:
        client.get_waiter("stream_exists").wait(StreamName="s")
        boto3.client("kinesis").get_waiter("stream_not_exists").wait(StreamName="s")
    assert wait.call_count == 2
    assert calls == []
    assert client.get_waiter("stream_exists").wait(StreamName="s").attempts == 1


def test_uninstall_inside_a_mock_leaves_a_wrapper_that_passes_through(kinesis):
    bwp.install()
    client = kinesis()
    with mock.patch("botocore.waiter.Waiter.wait") as wait:
        bwp.uninstall()
        client.get_waiter("stream_exists").wait(StreamName="s")
        assert wait.call_count == 1
    assert client.get_waiter("stream_exists").wait(StreamName="s") is None
    bwp.install()
    bwp.uninstall()
    assert wait_attribute() is STOCK_WAIT


def test_install_inside_a_mock_is_lost_and_repaired_by_the_next(kinesis):
    with mock.patch("botocore.waiter.Waiter.wait"):
        bwp.install()
    assert wait_attribute() is STOCK_WAIT
    bwp.install()
    assert wait_attribute().__wrapped__ is STOCK_WAIT
    client = kinesis()
    assert client.get_waiter("stream_exists").wait(StreamName="s").attempts == 1


@pytest.mark.parametrize("autospec", [None, True])
def test_install_inside_a_mock_still_shows_the_mock(autospec, kinesis):
    """A program whose main() installs, and its test, which mocks what waits."""
    with mock.patch("botocore.waiter.Waiter.wait", autospec=autospec) as wait:
        bwp.install()
        client = kinesis()
        calls = client.operations
        client.get_waiter("stream_exists").wait(StreamName="s")
    assert wait.call_count == 1
    assert calls == []


def test_positional_arguments_of_wait_are_refused_as_by_stock():
    config = SingleWaiterConfig({"operation": "X", "delay": 1, "maxAttempts": 1, "acceptors": []})
    messages = []
    for prepare in (lambda: None, bwp.install):
        prepare()
        with pytest.raises(TypeError) as caught:
            Waiter("w", config, lambda **_: {}).wait("positional")
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_foreign_wrapper_below_ours_is_never_reached_and_never_lost(monkeypatch, kinesis):
    seen = []
    monkeypatch.setattr(botocore.waiter.Waiter, "wait", tracer(seen)(STOCK_WAIT))
    foreign = wait_attribute()
    bwp.install()
    client = kinesis()
    client.get_waiter("stream_exists").wait(StreamName="s")
    bwp.uninstall()
    assert wait_attribute() is foreign
    client.get_waiter("stream_exists").wait(StreamName="s")
    assert seen[-1] == "StreamExists"
