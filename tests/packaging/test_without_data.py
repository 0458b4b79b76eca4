"""A program that was packed without `data/` still waits with botocore's waiters."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import boto_waiters_plus

WARNING = "no definitions are at %s: only botocore's waiters exist"

SCRIPT = """
    import logging, sys
    import boto3
    import boto_waiters_plus as bwp
    from botocore.stub import Stubber

    logging.basicConfig(stream=sys.stdout, format="%(message)s")
    assert bwp.__file__.startswith(sys.argv[1])
    bwp.install()
    ec2 = boto3.client("ec2", region_name="us-east-1")
    running = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}
    with Stubber(ec2) as stub:
        for _ in range(3):
            stub.add_response("describe_instances", running)
        wait = bwp.Wait(ec2, "instance_running", {"InstanceIds": ["i-1"]}, max_wait=5)
        for outcome in (
            ec2.get_waiter("instance_running").wait(InstanceIds=["i-1"]),
            ec2.wait_until_instance_running(InstanceIds=["i-1"], max_wait=5),
            *bwp.wait_all([wait]),
        ):
            print(type(outcome).__name__, outcome.attempts)
"""


def test_stock_waiters_run_where_the_definitions_cannot_be_found(tmp_path):
    package = Path(boto_waiters_plus.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "data.zip", "typed", "*.pyi")
    shutil.copytree(package, tmp_path / "boto_waiters_plus", ignore=ignored)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.returncode, done.stderr) == (0, "")
    warning, *outcomes = done.stdout.splitlines()
    missing = tmp_path / "boto_waiters_plus" / "data.zip"
    assert warning == WARNING.replace("%s", str(missing))
    assert outcomes == ["ResponseOutcome 1"] * 3
