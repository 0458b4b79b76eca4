"""What waits leave alone: botocore's modules, and recorders that replace its connections."""

import threading
import time
from unittest import mock

import boto3
import botocore.awsrequest
import botocore.endpoint
import pytest
from faults.scenarios import TABLE, error, make_client
from faults.server import BODY, FaultServer, answer, drip, hang
from faults.support import GENEROUS, drop_what_others_leave_open, join_own_threads
from faults.unchanged import differences, namespaces

import boto_waiters_plus as bwp

pytestmark = pytest.mark.timing

EXISTS = {"TableName": "table"}


@pytest.fixture(autouse=True)
def _installed():
    bwp.install()
    yield
    bwp.uninstall()


# --- nothing process-wide ----------------------------------------------------------------------


def test_waits_leave_the_modules_as_they_were():
    with FaultServer([answer(body=TABLE)]) as server:
        other = make_client("json", server.url)
        for _ in range(2):  # What botocore and urllib3 import and choose late.
            other.describe_table(**EXISTS)
        before = namespaces()
        for mode in ("legacy", "standard", "adaptive"):
            client = make_client("json", server.url, mode)
            server.script = [answer(body=TABLE)]
            client.wait_until_table_exists(max_wait=60, **EXISTS)
            for fault in (error("json", 400, "ValidationException"), drip(BODY)):
                server.script = [fault]
                with pytest.raises(bwp.WaiterError):
                    client.wait_until_table_exists(max_wait=0.15, **EXISTS)
                with pytest.raises(bwp.WaiterError):
                    client.get_waiter("table_exists").wait(max_wait=0.15, **EXISTS)
            client.close()
        other.close()
    assert len(before) > 20
    assert differences(before, namespaces()) == []
    assert botocore.endpoint.time is time


# --- recorders ---------------------------------------------------------------------------------


def client_of(url, order):
    """Return a client, which has waited before where the recorder starts after the first wait."""
    client = make_client("json", url, "standard")
    if order == "after":
        client.wait_until_table_exists(max_wait=60, **EXISTS)
    return client


in_both_orders = pytest.mark.parametrize("order", ["before", "after"])


# Of connections that vcrpy drops without closing them.
ignoring_what_vcrpy_leaves = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@ignoring_what_vcrpy_leaves
@pytest.mark.parametrize(("order", "tls"), [("before", False), ("after", False), ("after", True)])
def test_vcrpy_records_and_replays(order, tls, tmp_path, certificate):
    vcr = pytest.importorskip("vcr")
    cassette = str(tmp_path / "cassette.yaml")
    recorder = vcr.VCR(match_on=["method", "scheme", "host", "port", "path"])
    tls_context = certificate.context if tls else None
    with FaultServer([answer(body=TABLE)], tls=tls_context) as server:
        client = make_client("json", server.url, "standard", certificate.path if tls else None)
        if order == "after":
            client.wait_until_table_exists(max_wait=60, **EXISTS)
        asked = len(server.requests)
        with recorder.use_cassette(cassette, record_mode="once") as recorded:
            client.wait_until_table_exists(max_wait=60, **EXISTS)
        assert len(recorded) == 1
        assert len(server.requests) == asked + 1
        with recorder.use_cassette(cassette, record_mode="none") as replayed:
            client.wait_until_table_exists(max_wait=60, **EXISTS)
        assert replayed.play_count == 1
        assert len(server.requests) == asked + 1
        # And real requests, which end at their deadline, once the recorder has stopped.
        client.close()
        drop_what_others_leave_open()
        server.script = [hang(BODY)]
        began = time.perf_counter()
        with pytest.raises(bwp.WaiterTimeoutError):
            client.wait_until_table_exists(max_wait=0.15, **EXISTS)
        assert time.perf_counter() - began < 0.15 + GENEROUS
        assert server.wait_until_closed(5)
        client.close()


@ignoring_what_vcrpy_leaves
@in_both_orders
def test_a_call_that_vcrpy_records_ends_in_time(order, tmp_path):
    vcr = pytest.importorskip("vcr")
    with FaultServer([answer(body=TABLE), hang(BODY)]) as server:
        client = make_client("json", server.url, retries={"total_max_attempts": 1})
        if order == "after":
            client.wait_until_table_exists(max_wait=60, **EXISTS)
        else:
            server.script = [hang(BODY)]
        began = time.perf_counter()
        with vcr.use_cassette(str(tmp_path / "cassette.yaml")):
            with pytest.raises(bwp.WaiterTimeoutError):
                client.wait_until_table_exists(max_wait=0.15, **EXISTS)
            assert time.perf_counter() - began < 0.15 + GENEROUS
            server.stop()
            join_own_threads()
        client.close()
    drop_what_others_leave_open()


@in_both_orders
def test_responses_does_not_concern_botocore(order):
    responses = pytest.importorskip("responses")
    requests = pytest.importorskip("requests")
    with FaultServer([answer(body=TABLE)]) as server:
        client = client_of(server.url, order)
        with responses.RequestsMock() as recorder:
            recorder.add(responses.GET, "http://recorded.test/", body="recorded")
            assert client.wait_until_table_exists(max_wait=60, **EXISTS).attempts == 1
            assert requests.get("http://recorded.test/", timeout=5).text == "recorded"
        client.close()


@in_both_orders
def test_moto_answers(order):
    moto = pytest.importorskip("moto")
    parameters = {
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    with FaultServer([answer(body=TABLE)]) as server:
        client = client_of(server.url, order) if order == "after" else None
        with moto.mock_aws():
            client = boto3.client("dynamodb", region_name="us-east-1")
            client.create_table(**EXISTS, **parameters)
            for _ in range(2):
                outcome = client.wait_until_table_exists(max_wait=60, **EXISTS)
                assert outcome.response["Table"]["TableStatus"] == "ACTIVE"
        assert len(server.requests) == (1 if order == "after" else 0)


@in_both_orders
def test_a_recorders_connection_class_is_left_alone(order):
    """As betamax and others do: a class that answers instead of the server."""
    go_on = threading.Event()

    class Recorder(botocore.awsrequest.AWSHTTPConnection):
        sock = property(lambda _: None, lambda *_: None)

        def request(self, *_, **__):
            go_on.wait(100)
            raise ConnectionResetError

    own = dict(vars(Recorder))
    pool = botocore.awsrequest.AWSHTTPConnectionPool
    with FaultServer([answer(body=TABLE)]) as server:
        client = client_of(server.url, order)
        with mock.patch.object(pool, "ConnectionCls", Recorder):
            client.close()
            began = time.perf_counter()
            with pytest.raises(bwp.WaiterTimeoutError):
                client.wait_until_table_exists(max_wait=0.15, **EXISTS)
            assert time.perf_counter() - began < 0.15 + GENEROUS
            assert pool.ConnectionCls is Recorder
            assert dict(vars(Recorder)) == own
            go_on.set()
            join_own_threads()
        assert client.wait_until_table_exists(max_wait=60, **EXISTS).attempts == 1
        client.close()
