"""Which of many: the identifiers that failed, or had not reached the state."""

import pickle
from functools import partial

import boto3
import pytest
from botocore.stub import Stubber
from case_tables import tabled

import boto_waiters_plus as bwp

IDS = ["i-0a1", "i-0b2", "i-0c3"]


def reservations(**states):
    instances = [
        {"InstanceId": name.replace("_", "-"), "State": {"Name": state}}
        for name, state in states.items()
    ]
    return {"Reservations": [{"Instances": [each]} for each in instances]}


@pytest.fixture
def ec2():
    bwp.install()
    return boto3.client("ec2")


def by_method(client, ids, max_wait=60):
    return client.wait_until_instance_running(InstanceIds=ids, max_wait=max_wait)


def by_waiter(client, ids, max_wait=60):
    return client.get_waiter("instance_running").wait(
        InstanceIds=ids, WaiterConfig={"MaxWait": max_wait}
    )


def failed(wait, client, ids=IDS):
    with pytest.raises(bwp.WaiterError) as caught:
        wait(client, ids)
    return caught.value


@pytest.mark.parametrize("wait", [by_method, by_waiter])
def test_a_failure_names_the_ids_in_the_failure_state(wait, ec2, answers):
    answers(ec2, reservations(i_0a1="running", i_0b2="terminated", i_0c3="pending"))
    error = failed(wait, ec2)
    assert error.failed_ids == ["i-0b2"]
    assert list(error.by_id) == IDS
    assert error.by_id["i-0b2"]["State"] == {"Name": "terminated"}
    words = {by_method: "any State.Name is 'terminated' (i-0b2)", by_waiter: "; failed: i-0b2 ("}
    assert words[wait] in str(error)
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.failed_ids, copied.by_id, str(copied)) == (
        ["i-0b2"],
        dict(error.by_id),
        str(error),
    )


@pytest.mark.parametrize("wait", [by_method, by_waiter])
def test_a_timeout_names_the_ids_that_have_not_got_there(wait, ec2, answers, virtual_time):
    answers(ec2, reservations(i_0a1="running", i_0b2="pending", i_0c3="pending"))
    error = failed(wait, ec2)
    assert error.failed_ids == ["i-0b2", "i-0c3"]
    assert "; not reached by i-0b2, i-0c3 (" in str(error)


def test_a_batch_counts_ids_that_are_hidden(ec2, answers, virtual_time):
    answers(ec2, reservations(i_0a1="running", i_0b2="pending", i_0c3="pending"))
    wait = bwp.Wait(ec2, "InstanceRunning", {"InstanceIds": IDS}, show_parameters=False)
    (error,) = bwp.wait_all([wait], max_wait=60, on_failure="collect")
    assert "; not reached by 2 of 3 identifiers (" in str(error)


def test_an_id_that_the_answer_omits_is_missing(ec2, answers, virtual_time):
    answers(ec2, reservations(i_0a1="running", i_0b2="pending"))
    error = failed(by_method, ec2)
    assert error.failed_ids == ["i-0b2", "i-0c3"]
    assert "; not reached by i-0b2; missing: i-0c3 (" in str(error)


def test_a_single_id_is_named_if_it_is_missing(ec2, answers, virtual_time):
    gone, pending = {"Reservations": []}, reservations(i_0a1="pending")
    state = [gone]
    answers(ec2, lambda: state[0])
    error = failed(by_method, ec2, ["i-0a1"])
    assert "last state seen: no reservation; missing: i-0a1 (" in str(error)
    state[0] = pending
    error = failed(by_method, ec2, ["i-0a1"])
    assert error.failed_ids == ["i-0a1"]
    assert "not reached" not in str(error)


def test_many_ids_are_counted(ec2, answers, virtual_time):
    names = {f"i_{n}": "pending" for n in range(30)}
    answers(ec2, reservations(**names))
    error = failed(by_method, ec2, [name.replace("_", "-") for name in names])
    assert len(error.failed_ids) == 30
    assert "last state seen: 30 pending; not reached by i-0, i-1 and 28 more (" in str(error)


@tabled("answer", ids=["more pages", "of another", "error"])
def test_what_cannot_be_told_is_left_out(ec2, answers, answer, virtual_time):
    answers(ec2, answer)
    assert failed(by_method, ec2).failed_ids == []


def test_an_outcome_has_the_items_too(ec2, answers):
    answers(ec2, reservations(i_0a1="running", i_0b2="running", i_0c3="running"))
    assert list(by_method(ec2, IDS).by_id) == IDS


def test_an_operation_without_a_list_has_no_ids(s3, answers, missing, virtual_time):
    answers(s3, missing)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        s3.wait_until_bucket_exists(Bucket="b", max_wait=9)
    assert (caught.value.failed_ids, caught.value.by_id) == ([], {})
    assert s3.wait_until_bucket_not_exists(Bucket="b", max_wait=9).by_id == {}


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_missing_service_of_ecs_may_appear_later(answers, attempts, virtual_time):
    """ECS says MISSING in a response; `missing_ok_for` takes it for what it means."""
    bwp.install()
    ecs = boto3.client("ecs")
    gone = {"services": [], "failures": [{"arn": "web", "reason": "MISSING"}]}
    ready = {"services": [{"serviceName": "web", "deployments": [{}]}], "failures": []}
    ready["services"][0] |= {"runningCount": 1, "desiredCount": 1, "status": "ACTIVE"}
    answers(ecs, *[gone] * (attempts - 1), ready, gone)
    wait = ecs.wait_until_services_stable
    outcome = wait(services=["web"], max_wait=300, missing_ok_for=100)
    assert outcome.attempts == attempts
    with pytest.raises(bwp.WaiterFailedError, match="missing_ok_for=60 retries for 60 s") as caught:
        wait(services=["web"], max_wait=300)
    assert "any reason is 'MISSING'" in str(caught.value)


@pytest.mark.parametrize("way", ["method", "waiter"])
def test_arns_are_short_in_texts_and_whole_in_facts(answers, way):
    bwp.install()
    ecs = boto3.client("ecs")
    arn = "arn:aws:ecs:us-east-1:123456789012:"
    ids = [f"{arn}task/c/1a2{letter}" for letter in "bcd"]
    stopped = {"lastStatus": "STOPPED", "stoppedReason": "Essential container in task exited"}
    answers(ecs, {"tasks": [{"taskArn": each, **stopped} for each in ids], "failures": []})
    asked = {"cluster": f"{arn}cluster/c", "tasks": ids}
    waits = {
        "method": partial(ecs.wait_until_tasks_running, max_wait=60),
        "waiter": ecs.get_waiter("tasks_running").wait,
    }
    with pytest.raises(bwp.WaiterFailedError) as caught:
        waits[way](**asked)
    error = caught.value
    assert error.label == "ecs cluster=cluster/c, tasks=[task/c/1a2b and 2 more]"
    assert "task/c/1a2b, task/c/1a2c, task/c/1a2d" in str(error)
    assert "Essential container in task exited" in str(error)
    assert "arn:" not in str(error)
    assert error.failed_ids == list(error.by_id) == ids


@pytest.mark.parametrize("coalesce", [True, False])
def test_stubber_errors_keep_their_words(ec2, coalesce):
    """What a test's Stubber says is for its author, in every path."""

    def waits():
        return [bwp.Wait(ec2, "InstanceRunning", {"InstanceIds": [each]}) for each in IDS]

    with Stubber(ec2) as stubber, pytest.raises(bwp.WaitersError, match="Error getting response"):
        bwp.wait_all(waits(), max_wait=3, coalesce=coalesce)
    stubber.add_response("describe_instances", {}, {"InstanceIds": ["i-9"]})
    with stubber, pytest.raises(bwp.WaitersError, match="Expected parameters"):
        bwp.wait_all(waits(), max_wait=3, coalesce=coalesce)
    bwp.enable(ec2, defaults={"show_parameters": False})
    with stubber, pytest.raises(bwp.WaitersError) as caught:
        bwp.wait_all(waits(), max_wait=3, coalesce=coalesce)
    assert "Expected parameters" not in str(caught.value)
    with stubber, pytest.raises(AssertionError, match="Expected parameters"):
        by_method(ec2, IDS)
