"""The limit of a service's message, wherever it is told, and that nothing is said twice."""

import contextlib
import json
import re

import boto3
import pytest
from moto import mock_aws
from moto.cloudformation.models import Event, cloudformation_backends
from service import ways
from service.ways import by_batch, by_method, by_task, by_waiter, in_store

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli import main
from boto_waiters_plus.engine.redaction import message_text

TRACEBACK = "Traceback:" + "\n  in frame" * 100 + "\nValueError: the quota is used up"
ONE_LINE = TRACEBACK.replace("\n", "\\n")
CUT = f"{ONE_LINE[:150]} [...] {ONE_LINE[-350:]}"
FROM_RESPONSE = bwp.WaiterDefinition.from_states(
    "StackUp", "DescribeStacks", path="Stacks[0].StackStatus", success=["UP"], failure=["DOWN"],
    reason="Stacks[0].Description",
)  # fmt: skip


def stack(status="CREATE_FAILED", **members):
    return {"Stacks": [{"StackId": "arn:web", "StackStatus": status, **members}]}


def event(reason):
    failed = {"StackId": "arn:web", "LogicalResourceId": "Bucket", "Timestamp": "2026-11-01"}
    kind = {"ResourceType": "AWS::S3::Bucket", "ResourceStatus": "CREATE_FAILED"}
    return {"StackEvents": [{**failed, **kind, "ResourceStatusReason": reason}]}


def in_file(client, waiter, **keywords):
    """Wait in a store that is closed and opened again before the end is read."""
    with contextlib.closing(operations.Store("sqlite:///waits.db")) as store:
        made = store.start(client, waiter, **keywords)
        store.work(until_idle=True, make_client=lambda _: client)
    with contextlib.closing(operations.Store("sqlite:///waits.db")) as store:
        return store.get(made.path).result()


def wait_for_stack(client, waiter, **keywords):
    """Wait by a definition."""
    return bwp.wait_until(client, FROM_RESPONSE, **keywords)


@pytest.fixture
def failed(answers, tmp_path, monkeypatch):
    """`failed(way, *answers, **options)`: the error of a wait for a stack."""
    monkeypatch.chdir(tmp_path)
    bwp.install()

    def failed(way, *script, **options):
        client = boto3.client("cloudformation")
        answers(client, *script)
        with pytest.raises(bwp.WaiterError) as caught:
            way(client, "stack_create_complete", StackName="web", max_wait=60, **options)
        return caught.value

    return failed


WAYS = [way for way in (*ways.ALL, in_file) if way is not by_waiter]
ERROR = {"Error": {"Code": "Oops", "Message": TRACEBACK}}
ATTRIBUTES = {
    "error": ([ERROR], "service_message"),
    "reason": ([stack(StackStatusReason=TRACEBACK), event(None)], "service_message"),
    "cause": ([stack(), event(TRACEBACK)], "cause_found"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("script", "attribute"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_a_long_text_keeps_its_beginning_and_end(failed, way, script, attribute):
    error = failed(way, *script)
    text = getattr(error, attribute).removeprefix("Bucket: ")
    assert text.startswith("Traceback:\\n  in frame")
    assert text.endswith(CUT[-350:])
    assert " [...] " in text
    assert len(getattr(error, attribute)) == 507
    assert text in str(error)
    assert f"Waiter {error.waiter} {error.kwargs['reason']}" == str(error)


def test_a_definitions_message_has_the_limit(failed):
    error = failed(wait_for_stack, stack("DOWN", Description=TRACEBACK))
    assert error.service_message == CUT
    assert CUT in str(error)


@pytest.mark.parametrize("way", [by_method, by_waiter])
def test_the_reason_after_the_time_has_the_limit(failed, virtual_time, way):
    error = failed(way, stack("CREATE_IN_PROGRESS", StackStatusReason=TRACEBACK))
    assert error.service_message == CUT
    assert f"({CUT})" in str(error)


def test_a_cut_text_is_not_changed_by_another_cut():
    for text in (TRACEBACK, "x" * 501, " \n" + "\x1b" * 400 + " \n", "é " * 999, "x" * 500 + "\n"):
        cut = message_text(text)
        assert message_text(cut) == cut
        assert cut.isprintable()
        assert len(cut) <= 507
    assert message_text("x" * 500) == "x" * 500


def test_a_presigned_url_is_found_before_the_cut(failed):
    url = f"{'x' * 300} https://b/k?X-Amz-Signature=1 {'y' * 400}"
    error = failed(by_method, stack(StackStatusReason=url), event(url))
    assert (error.service_message, error.cause_found) == (None, None)


@mock_aws
def test_the_command_and_the_log_tell_the_same_text(capsys, caplog):
    caplog.set_level("INFO", "boto_waiters_plus")
    client = boto3.client("cloudformation")
    template = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {}}}})
    client.create_stack(StackName="web", TemplateBody=template)
    [made] = cloudformation_backends["123456789012"]["us-east-1"].stacks.values()
    made.status, made.status_reason = "ROLLBACK_COMPLETE", TRACEBACK
    kind = ("", "AWS::S3::Bucket", "CREATE_FAILED", "it exists", None)
    made.events.append(Event(made.stack_id, "web", "Bucket", *kind))
    words = ["cloudformation", "stack-create-complete", "--stack-name", "web", "--max-wait", "60"]
    for options, cause in (([], "Bucket: it exists"), (["--no-explain-failure"], None)):
        assert main([*words, "--output", "json", *options]) == 255
        told = json.loads(capsys.readouterr().out)
        assert (told["service_message"], told["cause_found"]) == (CUT, cause)
        assert CUT in told["error"]["message"]
    assert CUT in caplog.text


# --- one text is not said twice ------------------------------------------------------------------

LONG = "The quota " + "of this account " * 50 + "is used up"
SAME = {
    "reason in cause": ("no such key", "no such key", "Bucket: no such key"),
    "full stop": ("No such key.", "No such key. Try again", "Bucket: No such key. Try again"),
    "white space": ("no\n such key", "no such key", "Bucket: no such key"),
    "cut by the service": ("no such k...", "no such k ey", "Bucket: no such k ey"),
    "long": (LONG, LONG, f"Bucket: {LONG}"),
    "cause in reason": ("Bucket: no such key; and more", "no such key", None),
    "same": ("Bucket: no such key", "no such key.", None),
    "part of a word": ("key", "no such keyboard", "Bucket: no such keyboard"),
}


@pytest.mark.parametrize("way", [*WAYS, by_waiter])
@pytest.mark.parametrize(("reason", "found", "cause"), SAME.values(), ids=SAME)
def test_one_text_is_said_once(failed, way, reason, found, cause):
    options = {"explain_failure": True} if way is by_waiter else {}
    error = failed(way, stack(StackStatusReason=reason), event(found), **options)
    text = str(error)
    assert error.service_message == message_text(reason)
    assert error.cause_found == message_text(f"Bucket: {found}")
    assert (" Cause: " in text) == (cause is not None)
    if cause is not None:
        assert text.endswith(f" Cause: {message_text(cause)}.")
    is_other = reason == "key"
    assert (re.search(r": key\b", text) is not None) == is_other
    told = re.sub(r"\\n", "", message_text(reason)).rstrip(".")[-20:]
    assert is_other or text.count(told) == 1


def test_a_message_that_is_the_state_is_said_once(failed, virtual_time):
    same = stack("CREATE_IN_PROGRESS", StackStatusReason="CREATE_IN_PROGRESS")
    assert str(failed(by_method, same)).count("CREATE_IN_PROGRESS") == 1
    assert str(failed(by_method, {"Error": {"Code": "Oops", "Message": "Oops"}})).count("Oops") == 1
    failure = stack("CREATE_FAILED", StackStatusReason="CREATE_FAILED")
    error = failed(by_method, failure, explain_failure=False)
    assert str(error).count("CREATE_FAILED") == 1


@pytest.mark.parametrize("way", [by_method, by_task, by_batch, in_store])
def test_a_reason_cut_in_the_state_is_said_once(ecs, answers, virtual_time, way):
    deployment = {"status": "PRIMARY", "rolloutState": "FAILED", "rolloutStateReason": LONG}
    service = {"serviceName": "web", "status": "ACTIVE", "deployments": [deployment]}
    answers(ecs, {"services": [{**service, "runningCount": 1, "desiredCount": 3}]})
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        way(ecs, "services_stable", services=["web"], max_wait=60)
    assert f"1 of 3 running ({message_text(LONG)}) (" in str(caught.value)
    assert str(caught.value).count(LONG[:50]) == 1


@pytest.mark.timeout(10)
def test_a_message_of_megabytes_is_told(failed):
    message = "Too many words: " + "w " * 4_000_000
    error = failed(by_method, {"Error": {"Code": "Oops", "Message": message}})
    assert f": {message_text(message)} (" in str(error)
