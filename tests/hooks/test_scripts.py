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
from functools import partial
from pathlib import Path
from unittest import mock

import boto3
import pytest
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus.testing import virtual_time

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
MORE_WORDS = re.compile(r"\. (?:For [^\n:]*: l|L)ast state seen: [^\n]*? in [0-9.]+ s\)\.")
# In these nobody chose a schedule, so that only what they see is the same, not when they look.
UNTOUCHED = {"resources", "untouched"}
TABLE = {
    "TableName": "orders",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def make_world(clock):
    """Buckets, a table, a role and an instance; some appear or go while the script sleeps."""
    s3, dynamodb, iam, ec2 = map(boto3.Session().client, ("s3", "dynamodb", "iam", "ec2"))
    for bucket in ("archive", "stable"):
        s3.create_bucket(Bucket=bucket)
    ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)
    role = {"RoleName": "worker", "AssumeRolePolicyDocument": "{}"}
    clock.call_at(7, partial(iam.create_role, **role))
    clock.call_at(10, partial(s3.create_bucket, Bucket="photos"))
    clock.call_at(11, partial(s3.put_object, Bucket="photos", Key="a", Body=b"a"))
    clock.call_at(12, partial(s3.delete_bucket, Bucket="archive"))
    clock.call_at(20, partial(dynamodb.create_table, **TABLE))
    clock.call_at(60, partial(s3.create_bucket, Bucket="late"))


def play(script):
    """What a script prints, its sleeps, and the operations that its clients called."""
    output, sleeps, calls = io.StringIO(), [], []
    with mock_aws(), virtual_time() as clock:
        make_world(clock)

        def sleep(seconds):
            sleeps.append(seconds)
            clock.advance(seconds)

        session = boto3.Session()
        session.events.register("before-parameter-build", lambda model, **_: calls.append(model))
        with (
            mock.patch.object(boto3, "DEFAULT_SESSION", session),
            mock.patch.object(time, "sleep", sleep),
            contextlib.redirect_stdout(output),
        ):
            runpy.run_path(str(script), run_name="__main__")
    return output.getvalue(), sorted(sleeps), sorted(model.name for model in calls)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs_the_same_with_and_without_install(script):
    printed, *schedule = play(script)
    bwp.install()
    printed_by_ours, *schedule_of_ours = play(script)
    assert MORE_WORDS.sub("", printed_by_ours) == printed
    assert printed.strip(), "a script that prints nothing shows nothing"
    if script.stem not in UNTOUCHED:
        assert schedule_of_ours == schedule
