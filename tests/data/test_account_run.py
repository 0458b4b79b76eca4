"""`tools/account_run.py` against moto; no account is touched.

Each row of `account_areas.json` is run with moto in virtual time, but for the steps that moto
lacks.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import account_run
import boto3
import pytest
from account_areas import AREAS
from account_resources import PREFIX, TAG
from data.shared import CATALOG
from installed_models import IS_OLDER
from moto import mock_aws
from moto.server import ThreadedMotoServer

pytestmark = [
    CATALOG,
    pytest.mark.skipif(IS_OLDER, reason="the installed botocore lacks some of the operations"),
]


@pytest.fixture(scope="module")
def endpoint():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    server.stop()


@pytest.fixture
def client(endpoint):
    """`client(service)`: a client of the server."""
    return lambda service: boto3.client(service, endpoint_url=endpoint)


def started(endpoint, *words):
    options = ["--endpoint-url", endpoint, "--pause", "0.1", "--max-wait", "5"]
    environment = {**os.environ, "BOTO_WAITERS_AWS_RUN": "I-pay"}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = [sys.executable, account_run.__file__, *options, *words]
    return subprocess.Popen(command, env=environment, **output)


def ended(process):
    try:
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, out


def results(out):
    return dict(re.findall(r"^\| (\w[\w-]* (?:begin )?\w+) \| (.*) \|$", out, re.MULTILINE))


def named(client):
    """What has the name of a run, of the kinds that the tests make."""
    names = [each["Name"] for each in client("s3").list_buckets()["Buckets"]]
    names += [each["RoleName"] for each in client("iam").list_roles()["Roles"]]
    return [name for name in names if name.startswith(PREFIX)]


def test_nothing_starts_without_the_variable(monkeypatch, capsys):
    monkeypatch.delenv("BOTO_WAITERS_AWS_RUN", raising=False)
    monkeypatch.setattr(account_run.boto3, "Session", None)
    assert account_run.main([]) == 2
    assert "set BOTO_WAITERS_AWS_RUN=I-pay" in capsys.readouterr().err


def on_moto(area):
    return replace(area, steps=[step for step in area.steps if step.get("moto", True)])


@pytest.mark.parametrize(
    "area", [area for area in map(on_moto, AREAS) if area.names], ids=lambda area: area.service
)
def test_a_row_agrees_on_moto_also_after_one_that_ended_early(area, monkeypatch, virtual_time):
    """What the first run has made would be in the way of the second."""
    monkeypatch.setattr(account_run, "Signals", lambda say: contextlib.nullcontext())
    ends = [at for at, step in enumerate(area.steps) if "end" in step or "ends" in step]
    said = []
    with mock_aws(config={"lambda": {"use_docker": False}}):
        run = account_run.Run(boto3.Session(region_name="us-east-1"), None, said.append, 10, 900)
        run.account = "123456789012"
        run.areas([replace(area, steps=area.steps[: min(ends, default=None)]), area])
        run.delete_all()
    assert {name: found for name, found in run.rows.items() if any(found)} == {}
    assert run.left == []
    assert set(run.rows) == {(area.service, name) for name in area.names}
    assert not [text for text in said if "cannot delete" in text]


@pytest.mark.skipif(os.name == "nt", reason="signals are other there")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["SIGTERM", "Ctrl-C"]
)
def test_a_signal_ends_the_run_and_leaves_nothing(endpoint, client, number, code):
    """moto's APIs have no status, so that the wait for it is the place where the signal comes."""
    apis = client("apigateway")
    process = started(endpoint, "--only", "apigateway", "efs", "--max-wait", "60")
    while not (made := apis.get_rest_apis()["items"]):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(number)
    found, out = ended(process)
    assert made[0]["tags"].keys() == {TAG}
    assert f"{signal.Signals(number).name}: 1 resources are being deleted" in out
    assert results(out)["efs FileSystemAvailable"] == "not run"
    assert (found, apis.get_rest_apis()["items"]) == (code, [])


def test_leftovers_are_found_by_their_tag(endpoint, client):
    tags = [{"Key": TAG, "Value": "x"}]
    name, iam, s3 = f"{PREFIX}left", client("iam"), client("s3")
    s3.create_bucket(Bucket=name)
    s3.put_object(Bucket=name, Key="k", Body=b"1")
    iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}", Tags=tags)
    iam.create_role(RoleName=f"{PREFIX}somebody-elses", AssumeRolePolicyDocument="{}")
    queue = client("sqs").create_queue(QueueName=name, tags={TAG: "x"})["QueueUrl"]
    code, out = ended(started(endpoint, "--clean"))
    assert "3 deleted, 0 left" in out
    for each in f"bucket {name}", f"role {name}", f"queue {queue}":
        assert f"left by an earlier run: {each}" in out
    assert (code, named(client)) == (0, [f"{PREFIX}somebody-elses"])
    iam.delete_role(RoleName=f"{PREFIX}somebody-elses")
