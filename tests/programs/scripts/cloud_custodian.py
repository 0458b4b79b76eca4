"""Cloud Custodian's own actions that wait, on answers that placebo plays back."""

import sys
import time
from pathlib import Path

import boto3
import placebo
from c7n.resources import load_resources
from c7n.testing import CustodianTestCore
from c7n.utils import reset_session_cache

slept = []
time.sleep = slept.append  # the delays of botocore's waiters take minutes


class Custodian(CustodianTestCore):
    def addCleanup(self, *_):  # noqa: N802 - its name
        """Nothing is left outside the folder of the test."""


def volume(state, *instances):
    attached = [{"InstanceId": each} for each in instances]
    return 200, {"Volumes": [{"VolumeId": "vol-1", "State": state, "Attachments": attached}]}


def snapshots(state):
    return 200, {"Snapshots": [{"SnapshotId": f"snap-{n}", "State": state} for n in range(5)]}


CLUSTER = {"cluster": {"name": "c", "arn": "arn:aws:eks:us-east-1:0:cluster/c"}}
GONE = 404, {"Error": {"Code": "ResourceNotFoundException", "Message": "gone"}}
COPY = {"type": "copy", "target_region": "us-west-2", "encrypted": False}

# Resource, action, and the answers of its operations: get_waiter, get_waiter with a schedule of
# its own, and a waiter that Cloud Custodian builds.
POLICIES = [
    (
        "ebs",
        {"type": "delete", "force": True},
        {
            "ec2.DescribeVolumes": [*[volume("in-use", "i-1")] * 2, volume("available")],
            "ec2.DetachVolume": [(200, {})],
            "ec2.DeleteVolume": [(200, {})],
        },
    ),
    (
        "ebs-snapshot",
        COPY,
        {
            "ec2.DescribeSnapshots": [snapshots(s) for s in ("completed", "pending", "completed")],
            "ec2.CopySnapshot": [(200, {"SnapshotId": f"snap-{n}"}) for n in range(5)],
        },
    ),
    (
        "eks",
        {"type": "delete"},
        {
            "eks.ListClusters": [(200, {"clusters": ["c"]})],
            "eks.DescribeCluster": [(200, CLUSTER)],
            "eks.ListNodegroups": [(200, {"nodegroups": ["n"]})],
            "eks.ListFargateProfiles": [(200, {"fargateProfileNames": ["f"]})],
            "eks.DeleteNodegroup": [(200, {})],
            "eks.DeleteFargateProfile": [(200, {})],
            "eks.DescribeFargateProfile": [(200, {"fargateProfile": {}}), GONE],
            "eks.DescribeNodegroup": [(200, {"nodegroup": {"status": "DELETING"}}), GONE],
            "eks.DeleteCluster": [(200, CLUSTER)],
        },
    ),
]


def run(resource, action, answers):
    folder = Path(sys.argv[1], resource)
    folder.mkdir()
    session = boto3.Session("key", "secret", region_name="us-east-1")
    pill = placebo.attach(session, data_path=str(folder))
    for operation, replies in answers.items():
        for status, body in replies:
            pill.save_response(*operation.split("."), body, status)
    calls = []
    session.events.register("before-parameter-build", lambda model, **_: calls.append(model.name))
    pill.playback()
    reset_session_cache()
    slept.clear()
    policy = {"name": "p", "resource": resource, "actions": [action]}
    loaded = Custodian().load_policy(policy, session_factory=lambda *_, **__: session)
    print(resource, len(loaded.run()), "found,", len(pill.clients), "clients:", *calls)
    if action is COPY:
        print("delays of its own:", slept)


load_resources([f"aws.{resource}" for resource, _, _ in POLICIES])
for each in POLICIES:
    run(*each)
