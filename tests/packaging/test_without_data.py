"""A program that was packed without `data/` still waits with botocore's waiters."""

import shutil
from pathlib import Path

from hooks.new_process import output_of

import boto_waiters_plus

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
    printed = output_of(SCRIPT, tmp_path, path=[str(tmp_path)], folder=tmp_path)
    warning, *outcomes = printed.splitlines()
    missing = tmp_path / "boto_waiters_plus" / "data.zip"
    assert warning == f"no definitions are at {missing}: only botocore's waiters exist"
    assert outcomes == ["ResponseOutcome 1"] * 3
