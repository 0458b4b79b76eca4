"""Labels: which resource a wait is about, on everything that the package says."""

import json
import logging

import boto3
import pytest
from case_tables import CASES
from service import ways
from service.ways import by_method

import boto_waiters_plus as bwp

ROWS = json.loads((CASES / "labels.json").read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['operation']} {row['label'][:50]}")
def test_label_of_an_operation(waitable, row):
    service, _, operation = row["operation"].partition(".")
    definitions = waitable("Mine", operation, {"state": "success", "matcher": {"success": True}})
    client = bwp.enable(boto3.client(service), definitions=definitions)
    wait = bwp.Wait(client, "Mine", row["parameters"])
    assert wait.label == f"{service} {row['label']}".rstrip()


def test_a_tuple_of_identifiers_is_labelled_as_a_list():
    wait = bwp.Wait(boto3.client("ec2"), "InstanceRunning", {"InstanceIds": ("i-0",)})
    assert wait.label == "ec2 InstanceIds=[i-0]"


PLANTED = {"waiter": "bucket_exists", "Bucket": "planted", "max_wait": 9}


def ended(wait, client, what=PLANTED, **options):
    """Return the outcome or the error of a wait."""
    try:
        return wait(client, **what, **options)
    except bwp.WaiterError as error:
        return error


def texts_of(wait, client, caplog, what=PLANTED):
    """Return all texts of a wait in one."""
    events = []
    bwp.enable(client, on_event=events.append)
    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    end = ended(wait, client, what, on_attempt=events.append)
    parts = [str(end), repr(end), repr(getattr(end, "kwargs", "")), end.label, caplog.text]
    parts += [str(end.by_id), repr(end.__cause__) if isinstance(end, Exception) else ""]
    return "\n".join([*parts, *map(repr, events)])


@pytest.mark.parametrize("wait", ways.CALLS)
@pytest.mark.parametrize("answer", [{}, *(
    {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {}}
    for code in ("404", "AccessDenied", "503")
)], ids=["success", "timeout", "failure", "transient"])  # fmt: skip
def test_show_parameters_false_hides_them_everywhere(wait, answer, answers, caplog, virtual_time):
    bwp.install(defaults={"show_parameters": False})
    client = boto3.client("s3")
    answers(client, answer)
    text = texts_of(wait, client, caplog)
    assert "planted" not in text
    assert "BucketExists" in text
    # The test would miss nothing: by default the value is there.
    bwp.install(defaults={"show_parameters": True})
    assert "planted" in texts_of(wait, client, caplog)


@pytest.mark.parametrize("state", ["terminated", "pending", "running"])
def test_hidden_identifiers_are_counted(state, answers, caplog, virtual_time):
    ec2 = bwp.enable(boto3.client("ec2"), defaults={"show_parameters": False})
    states = {"i-planted0": "running", "i-planted1": state}
    instances = [{"InstanceId": name, "State": {"Name": each}} for name, each in states.items()]
    answers(ec2, {"Reservations": [{"Instances": instances}]})
    what = {"waiter": "instance_running", "InstanceIds": list(states), "max_wait": 60}
    text = texts_of(by_method, ec2, caplog, what)
    assert "planted" not in text
    assert ("1 of 2 identifiers" in text) == (state != "running")


def test_a_batch_hides_parameters_or_shows_the_callers_label(s3, answers, missing, virtual_time):
    answers(s3, missing)
    options = {"max_wait": 9, "show_parameters": False}
    waits = [bwp.Wait(s3, "BucketExists", {"Bucket": f"planted{n}"}, **options) for n in range(12)]
    waits.append(bwp.Wait(s3, "BucketExists", {"Bucket": "planted"}, label="web tier", **options))
    reports = []
    with pytest.raises(bwp.WaitersError) as caught:
        bwp.wait_all(waits, progress=reports.append)
    assert "planted" not in f"{caught.value}{caught.value!r}{waits}{reports}"
    assert caught.value.errors[12].label == waits[12].label == "web tier"
    assert "web tier" in str(caught.value.errors[12])
    assert repr(waits[12]) == "Wait(BucketExists for web tier, max_wait=9)"
    assert "web tier" in {report.label for report in reports}


@pytest.mark.parametrize("label", [5, ""])
def test_a_label_that_is_no_text_is_refused(s3, label):
    with pytest.raises((TypeError, ValueError), match="label"):
        bwp.Wait(s3, "BucketExists", {"Bucket": "b"}, label=label)
