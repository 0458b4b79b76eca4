"""What waits leave alone: botocore's modules, and the recorders vcrpy and placebo."""

import contextlib
import time

import boto3
import botocore.endpoint
import pytest
from faults.scenarios import KEYS, TABLE, error, make_client
from faults.server import BODY, FaultServer, answer, drip, hang
from faults.unchanged import differences, namespaces

import boto_waiters_plus as bwp

# vcrpy drops connections without closing them.
pytestmark = [
    pytest.mark.nightly(subject="wire"),
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]


@pytest.fixture(autouse=True)
def _installed():
    bwp.install()


def wait(client, **options):
    return client.wait_until_table_exists(TableName="table", **{"max_wait": 60, **options})


def test_waits_leave_the_modules_as_they_were():
    with FaultServer([answer(body=TABLE)]) as server:
        other = make_client("json", server.url)
        for _ in range(2):  # What botocore and urllib3 import and choose late.
            other.describe_table(TableName="table")
        before = namespaces()
        for mode in ("legacy", "standard", "adaptive"):
            client = make_client("json", server.url, mode)
            server.script = [answer(body=TABLE)]
            wait(client)
            for fault in (error("json", 400, "ValidationException"), drip(BODY)):
                server.script = [fault]
                with pytest.raises(bwp.WaiterError):
                    wait(client, max_wait=0.15)
                with pytest.raises(bwp.WaiterError):
                    client.get_waiter("table_exists").wait(max_wait=0.15, TableName="table")
            client.close()
        other.close()
    assert len(before) > 20
    assert differences(before, namespaces()) == []
    assert botocore.endpoint.time is time


@pytest.mark.parametrize("has_waited", [False, True])
@pytest.mark.parametrize("tls", [False, True])
def test_vcrpy_records_and_replays(has_waited, tls, tmp_path, certificate):
    vcr = pytest.importorskip("vcr")
    cassette = str(tmp_path / "cassette.yaml")
    recorder = vcr.VCR(match_on=["method", "scheme", "host", "port", "path"])
    script = [answer(body=TABLE)]
    with FaultServer(script, tls=certificate.context if tls else None) as server:
        client = make_client("json", server.url, "standard", certificate.path if tls else None)
        if has_waited:
            wait(client)
        asked = len(server.requests)
        with recorder.use_cassette(cassette, record_mode="once") as recorded:
            wait(client)
        assert len(recorded) == 1
        assert len(server.requests) == asked + 1
        with recorder.use_cassette(cassette, record_mode="none") as replayed:
            wait(client)
        assert replayed.play_count == 1
        # A call that is recorded ends at its deadline, and a real one once the recorder stopped.
        server.script = [hang(BODY)]
        other = recorder.use_cassette(str(tmp_path / "other.yaml"))
        with other, pytest.raises(bwp.WaiterTimeoutError):
            wait(client, max_wait=0.15)
        client.close()
        with pytest.raises(bwp.WaiterTimeoutError):
            wait(client, max_wait=0.15)
        client.close()


# --- changes ------------------------------------------------------------------------------------

STATES = ["RUNNING", "RUNNING", "SUCCEEDED"]
JOB = [
    answer(body=b'{"JobRunId": "jr_1"}'),
    *(answer(body=b'{"JobRun": {"Id": "jr_1", "JobRunState": "%s"}}' % s.encode()) for s in STATES),
]
QUICK = {"max_wait": 60, "min_delay": 0.01, "max_delay": 0.02}


@contextlib.contextmanager
def with_vcrpy(folder, mode):
    vcr = pytest.importorskip("vcr")
    with vcr.use_cassette(str(folder / "cassette.yaml"), record_mode=mode):
        yield boto3.Session(region_name="us-east-1", **KEYS)


@contextlib.contextmanager
def with_placebo(folder, mode):
    placebo = pytest.importorskip("placebo")
    session = boto3.Session(region_name="us-east-1", **KEYS)
    recorder = placebo.attach(session, str(folder))
    recorder.record() if mode == "once" else recorder.playback()
    yield session
    recorder.stop()


@pytest.mark.parametrize("is_first", [True, False], ids=["install first", "install last"])
@pytest.mark.parametrize("recorded", [with_vcrpy, with_placebo])
def test_a_change_is_replayed_and_sends_nothing(is_first, recorded, tmp_path):
    with FaultServer(JOB) as server:
        for mode in ("once", "none"):
            if not is_first:
                bwp.uninstall()
            with recorded(tmp_path, mode) as session:
                bwp.install()
                client = session.client("glue", endpoint_url=server.url)
                operation = bwp.begin(client.start_job_run, JobName="nightly", **QUICK)
                outcome = operation.result(60)
                client.close()
            told = outcome.basis, outcome.attempts, operation.call.response["JobRunId"]
            assert (*told, len(server.requests)) == ("identity", 3, "jr_1", 4)
