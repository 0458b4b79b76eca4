"""Waits of a process that does not want botocore's connection classes to be changed."""

import threading
import time
from unittest import mock

import botocore.awsrequest
import botocore.endpoint
import pytest
from faults.scenarios import TABLE, make_client
from faults.server import BODY, FaultServer, answer, drip, hang
from faults.support import GENEROUS, join_own_threads

import boto_waiters_plus as bwp
from boto_waiters_plus.aws import connections as bounding

CLASSES = [
    botocore.awsrequest.AWSHTTPConnection,
    botocore.awsrequest.AWSHTTPSConnection,
    botocore.awsrequest.AWSHTTPConnectionPool,
    botocore.awsrequest.AWSHTTPSConnectionPool,
]
EXISTS = {"TableName": "table"}


def process_wide_state():
    return [dict(cls.__dict__) for cls in CLASSES], botocore.endpoint.time


@pytest.fixture
def _installed():
    bwp.install()
    yield
    bwp.uninstall()


def test_the_process_wide_change_is_the_default():
    assert bounding.is_process_wide()


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("way", ["wait_until", "get_waiter"])
def test_refused_nothing_of_botocore_is_changed_and_waits_end_in_time(way):
    bounding.set_process_wide(False)
    before = process_wide_state()
    with FaultServer([answer(body=b"{}"), drip(BODY), answer(body=TABLE)]) as server:
        client = make_client("json", server.url, "standard")
        # A connection that is older than the first wait.
        client.describe_table(**EXISTS)
        began = time.perf_counter()
        wait = client.get_waiter("table_exists").wait
        wait = client.wait_until_table_exists if way == "wait_until" else wait
        with pytest.raises(bwp.WaiterTimeoutError):
            wait(max_wait=0.3, **EXISTS)
        assert time.perf_counter() - began < 0.3 + GENEROUS
        assert server.wait_until_closed(5)
        assert client.wait_until_table_exists(max_wait=60, **EXISTS).attempts == 1
        assert process_wide_state() == before
        client.close()


@pytest.mark.usefixtures("_installed")
def test_refusing_takes_back_what_an_earlier_wait_has_changed():
    before = process_wide_state()
    with FaultServer([answer(body=TABLE)]) as server:
        client = make_client("json", server.url)
        client.wait_until_table_exists(max_wait=60, **EXISTS)
        assert process_wide_state() != before
        bounding.set_process_wide(False)
        assert process_wide_state() == before
        bounding.set_process_wide(True)
        client.wait_until_table_exists(max_wait=60, **EXISTS)
        assert process_wide_state() != before
        client.close()


def test_uninstall_takes_it_back_too():
    before = process_wide_state()
    bwp.install()
    with FaultServer([answer(body=TABLE)]) as server:
        client = make_client("json", server.url)
        client.wait_until_table_exists(max_wait=60, **EXISTS)
        client.close()
    bwp.uninstall()
    assert process_wide_state() == before


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("process_wide", [True, False])
def test_a_recorder_that_has_replaced_the_connection_classes_is_left_alone(process_wide):
    """It answers instead of the server, and a call of its that hangs is given up."""
    go_on = threading.Event()

    class Recorder(CLASSES[0]):
        sock = property(lambda _: None, lambda *_: None)

        def request(self, *_, **__):
            go_on.wait(100)
            raise ConnectionResetError

    bounding.set_process_wide(process_wide)
    with mock.patch.object(CLASSES[2], "ConnectionCls", Recorder):
        client = make_client("json", "http://127.0.0.1:9")
        own = dict(Recorder.__dict__)
        began = time.perf_counter()
        options = {"max_wait": 0.3, "call_in_thread": True, **EXISTS}
        with pytest.raises(bwp.WaiterTimeoutError):
            client.wait_until_table_exists(**options)
        assert time.perf_counter() - began < 0.3 + GENEROUS
        assert CLASSES[2].ConnectionCls is Recorder
        assert dict(Recorder.__dict__) == own
        go_on.set()
        join_own_threads()


@pytest.mark.usefixtures("_installed")
def test_refused_a_client_that_cannot_have_connections_of_its_own_is_called_in_a_thread():
    bounding.set_process_wide(False)
    with FaultServer([hang(BODY)]) as server:
        client = make_client("json", server.url, retries={"total_max_attempts": 1})
        del client._endpoint.http_session._pool_classes_by_scheme
        began = time.perf_counter()
        with pytest.raises(bwp.WaiterTimeoutError):
            client.wait_until_table_exists(max_wait=0.3, **EXISTS)
        assert time.perf_counter() - began < 0.3 + GENEROUS
    # Given up, and not cut off: it ends with the server.
    join_own_threads()
    client.close()
