"""Which of many: the identifiers that failed, or had not reached the state."""

import pickle

import boto3
import pytest
from botocore.stub import Stubber
from service.ways import by_batch, by_method, by_waiter

import boto_waiters_plus as bwp

pytestmark = pytest.mark.usefixtures("installed", "virtual_time")
WAYS = pytest.mark.parametrize("wait", [by_method, by_waiter, by_batch])
IDS = ["i-0a1", "i-0b2", "i-0c3"]


def reservations(states):
    instances = [{"InstanceId": name, "State": {"Name": state}} for name, state in states.items()]
    return {"Reservations": [{"Instances": [each]} for each in instances]}


@pytest.fixture
def ec2(installed):
    return boto3.client("ec2")


def failed(way, client, ids=IDS):
    with pytest.raises(bwp.WaiterError) as caught:
        way(client, "instance_running", InstanceIds=ids, max_wait=60)
    return caught.value


@WAYS
def test_a_failure_names_the_ids_in_the_failure_state(wait, ec2, answers):
    answers(ec2, reservations({"i-0a1": "running", "i-0b2": "terminated", "i-0c3": "pending"}))
    error = failed(wait, ec2)
    assert error.failed_ids == ["i-0b2"]
    assert list(error.by_id) == IDS
    assert error.by_id["i-0b2"]["State"] == {"Name": "terminated"}
    assert "i-0b2" in str(error).rpartition("]")[2]
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.failed_ids, copied.by_id) == (["i-0b2"], dict(error.by_id))
    assert str(copied) == str(error)


@WAYS
def test_the_ids_of_an_answer_share_their_steps(wait, ec2, answers, monkeypatch):
    monkeypatch.setattr("boto_waiters_plus.engine.path_interpreter.MOST_STEPS", 300)
    states = {f"i-{n}": "running" for n in range(40)} | {"i-x": "terminated"}
    answers(ec2, reservations(states))
    # Each is judged by itself: of the last one nothing is known any more.
    assert failed(wait, ec2, list(states)).failed_ids == []


MANY = {f"i-{n}": "pending" for n in range(30)}


@WAYS
@pytest.mark.parametrize(("states", "ids", "failed_ids", "words"), [
    ({"i-0a1": "running", "i-0b2": "pending", "i-0c3": "pending"}, IDS, IDS[1:],
     "; not reached by i-0b2, i-0c3 ("),
    ({"i-0a1": "running", "i-0b2": "pending"}, IDS, IDS[1:],
     "; not reached by i-0b2; missing: i-0c3 ("),
    ({}, IDS[:1], IDS[:1], "no reservation; missing: i-0a1 ("),
    ({"i-0a1": "pending"}, IDS[:1], IDS[:1], "seen: pending ("),
    (MANY, list(MANY), list(MANY), "30 pending; not reached by i-0, i-1 and 28 more ("),
], ids=["some", "missing", "one missing", "one", "many"])  # fmt: skip
def test_a_timeout_names_ids_not_there(ec2, answers, wait, states, ids, failed_ids, words):
    answers(ec2, reservations(states))
    error = failed(wait, ec2, ids)
    assert error.failed_ids == failed_ids
    assert words in str(error)


@pytest.mark.parametrize("answer", [
    {**reservations({"i-0a1": "pending"}), "NextToken": "more"}, reservations({"i-9": "pending"}),
    {"Error": {"Code": "InvalidInstanceID.NotFound", "Message": "no"}, "ResponseMetadata": {}},
], ids=["more pages", "of another", "error"])  # fmt: skip
def test_what_cannot_be_told_is_left_out(ec2, answers, answer):
    answers(ec2, answer)
    assert failed(by_method, ec2).failed_ids == []


def test_an_operation_without_a_list_has_no_ids(s3, answers, missing):
    answers(s3, missing)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        s3.wait_until_bucket_exists(Bucket="b", max_wait=9)
    assert (caught.value.failed_ids, caught.value.by_id) == ([], {})
    assert s3.wait_until_bucket_not_exists(Bucket="b", max_wait=9).by_id == {}


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_missing_service_of_ecs_may_appear_later(ecs, answers, attempts):
    """ECS says MISSING in a response; `missing_ok_for` takes it for what it means."""
    gone = {"services": [], "failures": [{"arn": "web", "reason": "MISSING"}]}
    counts = {"runningCount": 1, "desiredCount": 1, "status": "ACTIVE", "deployments": [{}]}
    ready = {"services": [{"serviceName": "web", **counts}], "failures": []}
    answers(ecs, *[gone] * (attempts - 1), ready, gone)
    wait = ecs.wait_until_services_stable
    outcome = wait(services=["web"], max_wait=300, missing_ok_for=100)
    assert outcome.attempts == attempts
    with pytest.raises(bwp.WaiterFailedError, match="missing_ok_for") as caught:
        wait(services=["web"], max_wait=300)
    assert caught.value.observed == ["MISSING"]


@pytest.mark.parametrize("wait", [by_method, by_waiter])
def test_arns_are_short_in_texts_and_whole_in_facts(ecs, answers, wait):
    arn = "arn:aws:ecs:us-east-1:123456789012:"
    ids = [f"{arn}task/c/1a2{letter}" for letter in "bcd"]
    answers(ecs, {"tasks": [{"taskArn": each, "lastStatus": "STOPPED"} for each in ids]})
    asked = {"cluster": f"{arn}cluster/c", "tasks": ids}
    with pytest.raises(bwp.WaiterFailedError, match="task/c/1a2b, task/c/1a2c") as caught:
        wait(ecs, "tasks_running", max_wait=60, **asked)
    assert caught.value.label == "ecs cluster=cluster/c, tasks=[task/c/1a2b and 2 more]"
    assert "arn:" not in str(caught.value)
    assert caught.value.failed_ids == list(caught.value.by_id) == ids


@pytest.mark.parametrize("coalesce", [True, False])
def test_stubber_errors_keep_their_words(ec2, coalesce):
    """What a test's Stubber says is for its author, in every path."""

    def fails(words):
        waits = [bwp.Wait(ec2, "InstanceRunning", {"InstanceIds": [each]}) for each in IDS]
        with stubber, pytest.raises(bwp.WaitersError, match=words) as caught:
            bwp.wait_all(waits, max_wait=60, coalesce=coalesce)
        return str(caught.value)

    stubber = Stubber(ec2)
    fails("Error getting response")
    stubber.add_response("describe_instances", {}, {"InstanceIds": ["i-9"]})
    fails("Expected parameters")
    bwp.enable(ec2, defaults={"show_parameters": False})
    assert "Expected parameters" not in fails("wait_all")
    with stubber, pytest.raises(AssertionError, match="Expected parameters"):
        by_method(ec2, "instance_running", InstanceIds=IDS, max_wait=60)


@pytest.mark.parametrize(("status", "words"), [
    ("STOPPED", " (us-east-1:task/c/1) "),
    ("PENDING", "not reached by us-east-1:task/c/1; missing: eu-west-1:task/c/1 "),
])  # fmt: skip
def test_arns_of_one_name_are_told_apart_as_in_the_label(ecs, answers, status, words):
    ids = [f"arn:aws:ecs:{region}:123456789012:task/c/1" for region in ("us-east-1", "eu-west-1")]
    answers(ecs, {"tasks": [{"taskArn": ids[0], "lastStatus": status}]})
    with pytest.raises(bwp.WaiterError) as caught:
        ecs.wait_until_tasks_running(cluster="c", tasks=ids, max_wait=60)
    assert words in str(caught.value)
