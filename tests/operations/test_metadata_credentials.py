"""A `begin` that outlives the credentials of its instance: a local metadata service."""

import datetime as dt
import json
import logging
from types import SimpleNamespace

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from faults.server import BEFORE_HEADERS, FaultServer, answer, hang, reset
from stored_waits import QUICK

import boto_waiters_plus as bwp

LIFETIME, FAILS_FROM, FAILS_TO, ENDED = 3600, 2000, 4500, 5000
"""Seconds: how long credentials last, when they cannot be fetched, and when the job ends."""


class Metadata:
    """The metadata service of an instance, which gives other credentials each time.

    Attributes:
        trouble: what it does with each request instead; None: it answers.
        later: the seconds that it is later than the real clock says.
    """

    def __init__(self):
        self.trouble, self.later, self.given = None, lambda: 0, 0

    def now(self):
        return dt.datetime.now(dt.timezone.utc) + dt.timedelta(seconds=self.later())

    def __call__(self, exchange):
        path = exchange.request.split()[1]
        if self.trouble is not None:
            self.trouble(exchange)
        elif not path.endswith(b"/security-credentials/role"):
            answer(body=b"role" if exchange.method == "GET" else b"hidden-word")(exchange)
        else:
            self.given += 1
            expiration = self.now() + dt.timedelta(seconds=LIFETIME)
            answer(body=self.keys(f"{expiration:%FT%TZ}"))(exchange)

    def keys(self, expiration):
        keys = {"AccessKeyId": f"KEY{self.given}", "SecretAccessKey": "hidden-word"}
        return json.dumps({**keys, "Token": "hidden-word", "Expiration": expiration}).encode()


@pytest.fixture
def instance(monkeypatch):
    """A client on an instance: its metadata service, and the keys that have signed requests."""
    metadata, signed = Metadata(), []

    def send(request, **_):
        signed.append(str(request.headers["Authorization"]).split("Credential=")[1].split("/")[0])
        state = "SUCCEEDED" if metadata.later() >= ENDED else "RUNNING"
        run = {"Id": "jr_1", "JobName": "nightly", "JobRunState": state}
        response = AWSResponse(request.url, 200, {}, None)
        response._content = json.dumps({"JobRunId": "jr_1", "JobRun": run}).encode()
        return response

    with FaultServer([metadata]) as server:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url)
        client = boto3.Session().client("glue")
        client._request_signer._credentials._time_fetcher = metadata.now
        client.meta.events.register("before-send", send)
        yield SimpleNamespace(client=client, metadata=metadata, signed=signed)


def begin(instance, **options):
    return bwp.begin(instance.client.start_job_run, JobName="nightly", **options)


TROUBLES = {
    "none": None,
    "down": reset,
    "failing": answer(500, b"hidden-word"),
    "no JSON": answer(body=b"<html>hidden-word</html>"),
    "no text": answer(body=b"\xff"),
    "no object": answer(body=b"null"),
    "no time": answer(body=Metadata().keys("soon")),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_a_begun_wait_outlives_its_credentials(instance, virtual_time, caplog, trouble):
    caplog.set_level(logging.DEBUG, "boto_waiters_plus")
    instance.metadata.later = lambda: virtual_time.now
    virtual_time.call_at(FAILS_FROM, lambda: setattr(instance.metadata, "trouble", trouble))
    virtual_time.call_at(FAILS_TO, lambda: setattr(instance.metadata, "trouble", None))
    events = []
    operation = begin(instance, max_wait=9000, on_attempt=events.append, delay_pace=lambda _: 250)
    outcome = operation.result(60)
    assert outcome.basis == "identity"
    assert sorted({*instance.signed}) == ["KEY1", "KEY2"]
    assert instance.signed == sorted(instance.signed)
    assert (trouble is None) == (outcome.attempts == len(instance.signed) - 1)
    texts = [caplog.text, repr(outcome), str(outcome.timeline), str(operation.to_json())]
    shown = " ".join([*texts, str(events)])
    assert not any(word in shown for word in ("hidden-word", "KEY"))


def test_a_refresh_may_fail_before_the_first_poll(instance, virtual_time):
    """The service has answered: the call."""
    metadata, signed = instance.metadata, instance.signed
    metadata.later = lambda: virtual_time.now + (LIFETIME - 60 if signed else 0)
    fails = lambda **_: setattr(metadata, "trouble", TROUBLES["no object"])  # noqa: E731
    instance.client.meta.events.register("after-call.glue.StartJobRun", fails)
    virtual_time.call_at(500, lambda: setattr(metadata, "trouble", None))
    operation = begin(instance, max_wait=9000, delay_pace=lambda _: 250)
    assert operation.result(60).basis == "identity"
    assert operation.result(0).attempts > len(signed) - 1


@pytest.mark.parametrize("trouble", [answer(body=b"null"), hang(BEFORE_HEADERS)])
def test_max_wait_holds_without_credentials(instance, trouble):
    metadata = instance.metadata
    metadata.later = lambda: LIFETIME - 60 if metadata.trouble else 0
    options = {"on_attempt": lambda _: setattr(metadata, "trouble", trouble), **QUICK}
    error = begin(instance, max_wait=0.7, **options).exception(60)
    assert type(error) is bwp.WaiterTimeoutError
    assert error.attempts > len(instance.signed) - 1 > 0
    assert error.elapsed < 5
    assert "KEY" not in str(error)
