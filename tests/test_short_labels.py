"""Labels of waits name ARNs by what tells them apart."""

import boto3
import pytest
from case_tables import tabled

from boto_waiters_plus import Wait, WaitersError, as_completed, wait_all


@tabled("arns are cut to what tells them apart", "values", "short")
def test_arns_are_cut_to_what_tells_them_apart(values, short):
    wait = Wait(boto3.client("ecs"), "tasks_running", {"tasks": values})
    assert wait.label == f"ecs tasks=[{', '.join(short)}]"


def test_labels_of_waits_that_run_together_are_told_apart(answers):
    """Only where labels would be equal and parameters differ."""
    ids = [f"arn:aws:ecs:{region}:1:task/c/1" for region in ("us-east-1", "eu-west-1")]
    ids += [ids[1], "arn:aws:ecs:us-east-1:1:task/c/2", "arn:aws:ecs:us-east-1:1:task/c/2"]
    clients = [boto3.client("ecs", region_name=each.split(":")[3]) for each in ids]
    for client in clients:
        answers(client, {"tasks": [], "failures": [{"reason": "MISSING"}]})
    asked = list(zip(clients, ids, strict=True))
    waits = [Wait(client, "tasks_running", {"tasks": [each]}) for client, each in asked]
    waits.append(Wait(clients[0], "tasks_running", {"tasks": ids[:1]}, label="mine"))
    waits.append(Wait(clients[0], "tasks_running", {"tasks": ids[:1]}, show_parameters=False))
    reports = []
    with pytest.raises(WaitersError) as caught:
        wait_all(waits, max_wait=60, progress=reports.append)
    labels = [f"ecs tasks=[{each}]" for each in (*ids[:3], "task/c/2", "task/c/2")]
    labels += ["mine", "ecs"]
    assert [each.label for each in caught.value.errors.values()] == labels
    assert {each.label for each in reports} == {*labels}
    assert labels[0] in str(caught.value)
    assert [wait.label for wait in waits[:2]] == ["ecs tasks=[task/c/1]"] * 2
    assert {id(wait) for wait, _ in as_completed(waits, max_wait=60)} == {*map(id, waits)}
