"""Plain boto3 scripts, each run with and without `install()`: nothing they can see differs.

But one thing: behind botocore's words an error goes on with the resource and the last state seen.

The scripts import nothing of ours. All live in one world, in which things become ready while they
sleep; the sleeping is virtual.
"""

import contextlib
import io
import re
import runpy
import time
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import boto3
import botocore
import pytest
from botocore.exceptions import WaiterError
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus.testing import virtual_time

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))

MORE_WORDS = re.compile(
    r"\. (?:For [^\n:]*: l|L)ast state seen: [^\n]*? in [0-9.]+ s\)\.|\nthe wait takes [^\n]*"
)

# In these nobody chose a schedule, so that only what they see is the same, not when they look.
UNTOUCHED = {"resources", "untouched"}


@dataclass
class Run:
    """What one run of a script did."""

    output: str = ""
    error: str | None = None
    sleeps: list[float] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)


def make_world(clock, script):
    """Buckets, a table, a role and an instance; some appear or go while the script sleeps."""
    text = script.read_text()
    s3 = boto3.Session().client("s3")
    for bucket in ("archive", "stable"):
        s3.create_bucket(Bucket=bucket)

    clock.call_at(10, lambda: s3.create_bucket(Bucket="photos"))
    clock.call_at(11, lambda: s3.put_object(Bucket="photos", Key="a", Body=b"a"))
    clock.call_at(12, lambda: s3.delete_bucket(Bucket="archive"))
    clock.call_at(14, lambda: s3.put_object(Bucket="photos", Key="b", Body=b"b"))
    clock.call_at(21, lambda: s3.put_object(Bucket="photos", Key="c", Body=b"c"))
    clock.call_at(60, lambda: s3.create_bucket(Bucket="late"))
    if "dynamodb" in text:
        dynamodb = boto3.Session().client("dynamodb")
        clock.call_at(20, lambda: create_table(dynamodb))
    if '"iam"' in text:
        iam = boto3.Session().client("iam")
        clock.call_at(7, lambda: iam.create_role(RoleName="worker", AssumeRolePolicyDocument="{}"))
    if '"ec2"' in text:
        ec2 = boto3.Session().client("ec2")
        ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)


def create_table(dynamodb):
    dynamodb.create_table(
        TableName="orders",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


@contextlib.contextmanager
def counted_calls(calls):
    """Every call of a client made inside, moto's or stubbed, by its operation."""

    def count(model, **_):
        calls.append(model.name)

    def register(session):
        session.register("before-parameter-build", count)

    botocore.register_initializer(register)
    try:
        yield
    finally:
        botocore.unregister_initializer(register)


def play(script, *, installed):
    run, output = Run(), io.StringIO()
    boto3.DEFAULT_SESSION = None
    with mock_aws(), virtual_time() as clock:
        make_world(clock, script)

        def sleep(seconds):
            run.sleeps.append(seconds)
            clock.advance(seconds)

        if installed:
            bwp.install()
        try:
            with (
                mock.patch.object(time, "sleep", sleep),
                counted_calls(run.calls),
                contextlib.redirect_stdout(output),
            ):
                runpy.run_path(str(script), run_name="__main__")
        except Exception as error:
            kind = "WaiterError" if isinstance(error, WaiterError) else type(error).__name__
            run.error = f"{kind}: {error}"
        finally:
            bwp.uninstall()
    run.output = output.getvalue()
    return run


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs_the_same_with_and_without_install(script):
    stock, ours = play(script, installed=False), play(script, installed=True)
    assert stock.error is None, "the script itself is broken"
    assert ours.error is None
    assert MORE_WORDS.sub("", ours.output) == stock.output
    assert stock.output.strip(), "a script that prints nothing shows nothing"
    if script.stem not in UNTOUCHED:
        assert sorted(ours.sleeps) == sorted(stock.sleeps)
        assert sorted(ours.calls) == sorted(stock.calls)
