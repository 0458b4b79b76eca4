"""Labels: which resource a wait is about, on everything that the package says."""

import logging

import boto3
import pytest
from case_tables import tabled
from service.ways import by_batch, by_method, by_task, by_waiter

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions

ANY = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}


@tabled("label of an operation", "service", "operation", "parameters", "label")
def test_label_of_an_operation(waitable, service, operation, parameters, label):
    definitions = waitable("Mine", operation, *ANY["acceptors"])
    client = bwp.enable(boto3.client(service), definitions=definitions)
    assert bwp.Wait(client, "Mine", parameters).label == label


WAYS = [by_method, by_task, by_waiter, by_batch]
PLANTED = {"waiter": "bucket_exists", "Bucket": "planted", "max_wait": 9}


def ended(wait, client, what=PLANTED, **options):
    """Return the outcome or the error of a wait."""
    try:
        return wait(client, **what, **options)
    except bwp.WaiterError as error:
        return error


@pytest.mark.parametrize("wait", WAYS)
def test_every_wait_has_its_label(wait, answers, missing, virtual_time):
    events = []
    bwp.install(on_event=events.append)
    client = boto3.client("s3")
    answers(client, {}, missing)
    assert ended(wait, client).label == "s3 Bucket=planted"
    error = ended(wait, client)
    assert error.label == "s3 Bucket=planted"
    assert "or s3 Bucket=planted: " in str(error)
    assert {event.label for event in events} == {"s3 Bucket=planted"}


def texts_of(wait, client, caplog, what=PLANTED):
    """Return all texts of a wait in one."""
    events = []
    bwp.enable(client, on_event=events.append)
    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    end = ended(wait, client, what, on_attempt=events.append)
    parts = [str(end), repr(end), repr(getattr(end, "kwargs", "")), end.label, caplog.text]
    parts += [str(end.by_id), repr(end.__cause__) if isinstance(end, Exception) else ""]
    return "\n".join([*parts, *map(repr, events)])


@pytest.mark.parametrize("wait", WAYS)
@tabled(
    "show parameters false hides them everywhere",
    "answer",
    ids=["success", "timeout", "failure", "transient"],
)
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
    instances = [
        {"InstanceId": f"i-planted{n}", "State": {"Name": each}}
        for n, each in enumerate(["running", state])
    ]
    answers(ec2, {"Reservations": [{"Instances": instances}]})
    ids = [each["InstanceId"] for each in instances]
    what = {"waiter": "instance_running", "InstanceIds": ids, "max_wait": 60}
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


@tabled("bad input is refused before a request", "options", "kind", "words")
def test_bad_input_is_refused_before_a_request(s3, answers, options, kind, words):
    asked = answers(s3, {})
    with pytest.raises(kind, match=words):
        bwp.Wait(s3, "BucketExists", {"Bucket": "b"}, **options)
    if "label" not in options:
        with pytest.raises(kind, match=words):
            s3.wait_until_bucket_exists(Bucket="b", max_wait=60, **options)
    with pytest.raises(kind, match=words):
        conditions.wait_for(lambda: 1, max_wait=60, **options)
    with pytest.raises(kind, match=words):
        conditions.poll(lambda: 1, ANY, max_wait=60, **options)
    assert asked.requests == []
