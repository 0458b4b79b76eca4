"""What the rules for a new botocore decide, and what they leave to a person."""

import json

import botocore.session
import pytest
import raise_rules
from case_tables import tabled
from script_modules import ROOT

from boto_waiters_plus.definitions.pollable_list import from_groups
from boto_waiters_plus.definitions.shipped import shipped_definitions

JOB = {"IN_PROGRESS": "retry", "SUCCEEDED": "success", "FAILED": "failure"}


def operation(name):
    service, _, name = name.partition(".")
    return botocore.session.get_session().get_service_model(service).operation_model(name)


@tabled("verdicts on new states", "waiter", "value", "known", "verdict")
def test_a_new_state_is_what_its_words_and_siblings_say(waiter, value, known, verdict):
    answer = raise_rules.verdict_on(waiter, value, JOB | known)
    assert (answer and answer.text) == verdict


@tabled("sentences about reads", "name", "text", "is_allowed")
def test_a_read_may_be_polled_if_nothing_alarms(name, text, is_allowed):
    assert raise_rules.may_be_polled(operation(name), text) is is_allowed


@tabled("drafts", "name", "path")
def test_a_waiter_is_drafted_where_every_value_says_what_it_is(name, path):
    found = raise_rules.waiter_for(operation(name))
    assert (found and found[0].path) == path


def test_an_effect_follows_where_the_call_names_what_the_waiter_reads():
    reads = {"DescribeReplicator": operation("kafka.DescribeReplicator")}
    names = {"DescribeReplicator": ["ReplicatorDeleted", "ReplicatorRunning"]}
    found = {
        name: raise_rules.effect_for(operation(f"kafka.{name}"), reads, names)
        for name in ("CreateReplicator", "DeleteReplicator", "UpdateReplicationInfo")
    }
    assert found["CreateReplicator"][:2] == (
        "ReplicatorRunning",
        {
            "parameters": {"ReplicatorArn": "call.output.ReplicatorArn"},
            "basis": "identity",
            "missingOkFor": 60,
        },
    )
    assert found["DeleteReplicator"][0] == "ReplicatorDeleted"
    assert found["UpdateReplicationInfo"] is None


def test_what_begins_is_stopped_by_the_call_of_that_name():
    start = operation("sagemaker.CreateTrainingJob")
    assert raise_rules.stop_of(start, start.service_model) == {
        "operation": "StopTrainingJob",
        "parameters": {"TrainingJobName": "call.input.TrainingJobName"},
    }
    stop = operation("sagemaker.StopTrainingJob")
    assert raise_rules.stop_of(stop, stop.service_model) is None


def test_the_end_of_what_can_be_deleted_is_an_error():
    shipped = shipped_definitions("kafka")
    found = raise_rules.deletion_for(operation("kafka.DescribeReplicator"), shipped)
    assert found[0].members["name"] == "ReplicatorDeleted"
    assert raise_rules.deletion_for(operation("ec2.DescribeVolumes"), ()) is None


@tabled("another time in the same sentence is the new lifetime", "text", "found")
def test_another_time_in_the_same_sentence_is_the_new_lifetime(text, found):
    answer = raise_rules.lifetime_instead("Valid for 24 hours after creation.", text)
    assert (answer and answer[1]) == found


def test_what_is_unread_is_of_what_is_shipped():
    unread, pollable = (
        json.loads((ROOT / f"data/{name}.json").read_text(encoding="utf-8"))
        for name in ("unread", "pollable")
    )
    for service, kinds in unread.items():
        names = {each.name for each in shipped_definitions(service)}
        about = {
            what.partition(" ")[0] for kind in ("states", "waiters") for what in kinds.get(kind, ())
        }
        assert about <= names, service
        allowed = from_groups(pollable["allowed"].get(service, ""))
        assert not allowed & kinds.get("reads", {}).keys(), service


@pytest.mark.models
@pytest.mark.nightly(subject="catalog")
def test_nothing_is_to_be_read_beside_the_botocore_of_the_definitions(capfd):
    """And a raise to it writes nothing else than what is there."""
    import raise_botocore  # noqa: PLC0415 - loads all of the tools

    before = {path: path.read_bytes() for path in (ROOT / "data").glob("*.json")}
    raise_botocore.main(["--list"])
    assert "Nothing to answer." in capfd.readouterr().out
    assert {path: path.read_bytes() for path in before} == before
