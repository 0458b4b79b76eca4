"""`tools/account_run.py` against moto's server; no account is touched."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import account_resources
import account_run
import boto3
import pytest
from account_areas import AREAS
from account_resources import PREFIX, TAG, Resource, resource_of
from installed_models import IS_OLDER
from moto.server import ThreadedMotoServer

from boto_waiters_plus.cli.service_lookup import waiters_of

TOOL = Path(account_run.__file__)

pytestmark = pytest.mark.skipif(
    IS_OLDER, reason="the installed botocore lacks some of the services' operations"
)


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
    words = ["--endpoint-url", endpoint, "--pause", "0.1", "--max-wait", "5", *words]
    return subprocess.Popen(
        [sys.executable, str(TOOL), *words],
        env={**os.environ, "BOTO_WAITERS_AWS_RUN": "I-pay"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process):
    try:
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, out


def results(out):
    return dict(re.findall(r"^\| (\w[\w-]* [A-Z]\w+) \| (.*) \|$", out, re.MULTILINE))


def named(client):
    """What has the name of a run, of the kinds that the tests make."""
    names = [each["Name"] for each in client("s3").list_buckets()["Buckets"]]
    names += client("dynamodb").list_tables()["TableNames"]
    names += [each["RoleName"] for each in client("iam").list_roles()["Roles"]]
    return [name for name in names if name.startswith(PREFIX)]


def test_nothing_starts_without_the_variable(monkeypatch, capsys):
    monkeypatch.delenv("BOTO_WAITERS_AWS_RUN", raising=False)
    monkeypatch.setattr(account_run.boto3, "Session", None)
    assert account_run.main([]) == 2
    assert "set BOTO_WAITERS_AWS_RUN=I-pay" in capsys.readouterr().err


def test_a_missing_region_is_said(monkeypatch, capsys):
    monkeypatch.setenv("BOTO_WAITERS_AWS_RUN", "I-pay")
    for name in "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE":
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    assert account_run.main([]) == 2
    assert "no region: set AWS_DEFAULT_REGION" in capsys.readouterr().err


def test_the_run_has_many_waiters_and_costs_little():
    waiters = {(area.service, name) for area in AREAS for name in area.waiters}
    assert len(waiters) >= 40
    assert len({service for service, _ in waiters}) >= 15
    assert sum(area.dollars for area in AREAS) < 0.10
    for service in {service for service, _ in waiters}:
        known = {definition.name for definition in waiters_of(service)}
        assert {name for at, name in waiters if at == service} <= known


def test_waiters_agree_and_nothing_is_left(endpoint, client):
    code, out = ended(started(endpoint, "--only", "s3", "dynamodb", "iam", "lambda", "apigateway"))
    found = results(out)
    assert out.startswith("account 123456789012, region ")
    lacking = {name for name, result in found.items() if result.startswith("no such thing: ")}
    assert lacking == {"apigateway RestApiAvailable"}
    assert {found[name] for name in found.keys() - lacking} == {"agreed"}
    assert (code, named(client), len(found)) == (0, [], 27)


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


def test_deletions_go_on_past_one_that_fails(endpoint, monkeypatch):
    said, tried = [], []
    monkeypatch.setattr(account_run, "Signals", lambda say: None)
    session = boto3.Session(region_name="eu-west-1")
    run = account_run.Run(session, endpoint, said.append, 0.01, 5)

    def delete(client_of, resource):
        tried.append(resource.id)
        if resource.id == "b":
            raise account_run.BotoCoreError

    monkeypatch.setattr(account_run, "delete", delete)
    run.left = [Resource("bucket", each) for each in "abc"]
    run.delete_all()
    assert tried == ["c", "b", "a"] + ["b"] * (account_run.ROUNDS - 1)
    assert run.left == [Resource("bucket", "b")]
    assert said == ["  cannot delete bucket b: An unspecified error occurred"]


@pytest.mark.parametrize(
    ("arn", "resource"),
    [
        ("arn:aws:s3:::bwp-run-1", ("bucket", "bwp-run-1")),
        ("arn:aws:ec2:eu-west-1:1:key-pair/key-1", ("key pair", "key-1")),
        ("arn:aws:cloudformation:eu-west-1:1:stack/s/0-1", ("stack", "s")),
        ("arn:aws:sns:eu-west-1:1:t", ("topic", "arn:aws:sns:eu-west-1:1:t")),
        ("arn:aws:sns:eu-west-1:1:t:0-1", ("subscription", "arn:aws:sns:eu-west-1:1:t:0-1")),
        ("arn:aws:rds:eu-west-1:1:db:d", None),
    ],
)
def test_resource_is_known_by_its_arn(arn, resource):
    assert resource_of(arn) == (None if resource is None else Resource(*resource))


def test_each_kind_that_is_made_can_be_deleted():
    made = set(
        re.findall(r'run\.make\(\s*"([\w ]+)"', TOOL.with_name("account_areas.py").read_text())
    )
    assert len(made) >= 25
    assert made <= account_resources.DELETIONS.keys()
