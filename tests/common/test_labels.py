"""Labels of waits name ARNs by what tells them apart."""

import boto3
import pytest

from boto_waiters_plus import Wait, WaitersError, as_completed, wait_all

ECS = "arn:aws:ecs:eu-west-1:111122223333:task/c/1a2b"
ECS_2 = "arn:aws:ecs:eu-west-1:111122223333:task/c/1a2c"
US = "arn:aws:ecs:us-east-1:111122223333:task/c/1a2b"
OTHER = "arn:aws:ecs:eu-west-1:999922223333:task/c/1a2b"
FAR = "arn:aws:ecs:us-east-1:999922223333:task/c/1a2b"


@pytest.mark.parametrize(
    ("values", "short"),
    [
        (["i-0a1", "arn", "arn:x"], ["i-0a1", "arn", "arn:x"]),
        ([ECS], ["task/c/1a2b"]),
        ([ECS, ECS], ["task/c/1a2b", "task/c/1a2b"]),
        ([ECS, ECS_2, "web"], ["task/c/1a2b", "task/c/1a2c", "web"]),
        (["arn:aws:s3:::bucket/key"], ["bucket/key"]),
        (["arn:aws-cn:logs:cn-north-1:1:log-group:/a/b:*"], ["log-group:/a/b:*"]),
        (["arn:aws:states:us-east-1:1:execution:machine:e"], ["execution:machine:e"]),
        # Of the same resource, what tells it apart is kept.
        ([ECS, US, "arn:aws:sns:x:1:t"], ["eu-west-1:task/c/1a2b", "us-east-1:task/c/1a2b", "t"]),
        ([ECS, OTHER], ["111122223333:task/c/1a2b", "999922223333:task/c/1a2b"]),
        ([ECS, FAR], ["eu-west-1:111122223333:task/c/1a2b", "us-east-1:999922223333:task/c/1a2b"]),
        (["arn:aws:iam::1:role/r", "arn:aws:sts::1:role/r"], ["iam:role/r", "sts:role/r"]),
        ([ECS, "task/c/1a2b"], [ECS, "task/c/1a2b"]),
    ],
)
def test_arns_are_cut_to_what_tells_them_apart(values, short):
    wait = Wait(boto3.client("ecs"), "tasks_running", {"tasks": values})
    assert wait.label == f"ecs tasks=[{', '.join(short)}]"


def test_labels_of_waits_that_run_together_are_told_apart(answers):
    """Only where labels would be equal and parameters differ."""
    ids = [f"arn:aws:ecs:{region}:1:task/c/1" for region in ("us-east-1", "eu-west-1")]
    ids += [ids[1], "arn:aws:ecs:us-east-1:1:task/c/2", "arn:aws:ecs:us-east-1:1:task/c/2"]
    waits = []
    for each in ids:
        client = boto3.client("ecs", region_name=each.split(":")[3])
        answers(client, {"tasks": [], "failures": [{"reason": "MISSING"}]})
        waits.append(Wait(client, "tasks_running", {"tasks": [each]}))
    first = waits[0].client, "tasks_running", {"tasks": ids[:1]}
    waits += [Wait(*first, label="mine"), Wait(*first, show_parameters=False)]
    reports = []
    with pytest.raises(WaitersError) as caught:
        wait_all(waits, max_wait=60, progress=reports.append)
    told_apart = [f"ecs tasks=[{each}]" for each in (*ids[:3], "task/c/2", "task/c/2")]
    labels = [*told_apart, "mine", "ecs"]
    assert [each.label for each in caught.value.errors.values()] == labels
    assert {each.label for each in reports} == {*labels}
    assert labels[0] in str(caught.value)
    assert [wait.label for wait in waits[:2]] == ["ecs tasks=[task/c/1]"] * 2
    assert {id(wait) for wait, _ in as_completed(waits, max_wait=60)} == {*map(id, waits)}
