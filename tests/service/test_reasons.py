"""What a service says of a failure: quoted whole or up to its limit, and said once."""

import contextlib
import json
import re

import boto3
import pytest
from case_tables import CASES
from moto import mock_aws
from moto.cloudformation.models import Event, cloudformation_backends
from service import ways
from service.roles import refusal
from service.ways import by_batch, by_method, by_task, by_waiter, in_store

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli import main
from boto_waiters_plus.engine.redaction import message_text

FAILURES = json.loads((CASES / "failures.json").read_text(encoding="utf-8"))
MESSAGES = json.loads((CASES / "messages.json").read_text(encoding="utf-8"))
RUNS = [
    pytest.param(way, case, id=f"{case['service']} {case['waiter']} {way.__name__}")
    for way, cases in ((by_method, FAILURES), (by_waiter, FAILURES[:30]))
    for case in cases
]
pytestmark = pytest.mark.usefixtures("installed")


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


@pytest.fixture
def failed(answers, virtual_time, tmp_path, monkeypatch):
    """`failed(way, *answers, definitions=, **options)`: the error of a wait for a stack."""
    monkeypatch.chdir(tmp_path)

    def failed(way, *script, definitions=(), waiter="stack_create_complete", **options):
        client = bwp.enable(boto3.client("cloudformation"), definitions=definitions)
        answers(client, *script)
        with pytest.raises(bwp.WaiterError) as caught:
            way(client, waiter, StackName="web", max_wait=60, **options)
        return caught.value

    return failed


# --- the reason ----------------------------------------------------------------------------------


def required_input(shape):
    """A value of each member that is required, the shortest that is valid."""
    match shape.type_name:
        case "structure":
            return {name: required_input(shape.members[name]) for name in shape.required_members}
        case "list":
            return [required_input(shape.member)]
        case "string":
            return "x" * shape.metadata.get("min", 1)
    return 1


@pytest.mark.models
@pytest.mark.parametrize(("way", "case"), RUNS)
def test_a_failure_names_every_part_of_its_reason(way, answers, case):
    client = boto3.client(case["service"])
    answers(client, case["response"])
    definition = getattr(client, f"wait_until_{case['waiter']}").definition
    shape = client.meta.service_model.operation_model(definition.operation).input_shape
    with pytest.raises(bwp.WaiterFailedError, match=re.escape(f": {case['says']}")) as caught:
        way(client, case["waiter"], max_wait=60, **required_input(shape))
    text = str(caught.value)
    assert ("terminal failure state" in text) == (way is by_waiter)
    assert not [hidden for hidden in case.get("hides", []) if hidden in text]
    assert (caught.value.service_message is None) == ("hides" in case)


def own_failure(failed, waitable, answer, state, **members):
    """Return what the service says of a failure by a definition of the caller."""
    path = {"path": "Stacks[].StackStatus", "comparator": "anyStringEquals"}
    up, down = ({"matcher": {"output": {**path, "expected": each}}} for each in ("OK", state))
    states = {"state": "success", **up}, {"state": "failure", **down, **members}
    document = waitable("StackOfMine", "DescribeStacks", *states)
    error = failed(by_method, answer, definitions=document, waiter="stack_of_mine")
    return error.service_message


def test_reason_of_a_users_definition(failed, waitable):
    """It is where the acceptor says, or where the service has it."""
    answer = stack("BAD", StackStatusReason="the quota", StackName="web")
    assert own_failure(failed, waitable, answer, "BAD") == "the quota"
    members = {"message": "Stacks[0].StackName"}
    assert own_failure(failed, waitable, answer, "BAD", **members) == "web"


SPELLINGS = ["a'b", "a\\", "a\\' || Secret || '", "a`b", 'a"b', "ü", "{expected}"]


@pytest.mark.parametrize("state", SPELLINGS)
def test_a_state_of_any_spelling_stays_a_value(failed, waitable, state):
    states = {"OTHER": "wrong", state: "right"}
    found = [{"StackStatus": each, "StackStatusReason": text} for each, text in states.items()]
    assert own_failure(failed, waitable, {"Stacks": found}, state) == "right"


def test_the_reason_of_a_success_is_not_quoted(failed):
    states = {"CREATE_COMPLETE": "done", "CREATE_IN_PROGRESS": "why"}
    found = [{"StackStatus": each, "StackStatusReason": text} for each, text in states.items()]
    assert failed(by_method, {"Stacks": found}).service_message == "why"


@pytest.mark.parametrize("way", [by_method, by_waiter])
@pytest.mark.parametrize("answer", [
    {"Stacks": 7}, stack(),
    *(stack(StackStatusReason=reason) for reason in (None, "", "  ", 7, [7], {"Message": "x"})),
], ids=str)  # fmt: skip
def test_without_a_reason_nothing_is_added(failed, way, answer):
    error = failed(way, answer)
    assert error.service_message is None
    assert "None" not in str(error)


# --- its limit -----------------------------------------------------------------------------------

TRACEBACK = "Traceback:" + "\n  in frame" * 100 + "\nValueError: the quota is used up"
ONE_LINE = TRACEBACK.replace("\n", "\\n")
CUT = f"{ONE_LINE[:150]} [...] {ONE_LINE[-350:]}"
WAYS = [way for way in (*ways.ALL, in_file) if way is not by_waiter]
ATTRIBUTES = {
    "error": ([refusal("Oops", TRACEBACK)], "service_message"),
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


@pytest.mark.parametrize("way", [by_method, by_waiter])
def test_the_reason_after_the_time_has_the_limit(failed, way):
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


def test_a_message_that_is_the_state_is_said_once(failed):
    same = stack("CREATE_IN_PROGRESS", StackStatusReason="CREATE_IN_PROGRESS")
    assert str(failed(by_method, same)).count("CREATE_IN_PROGRESS") == 1
    assert str(failed(by_method, refusal("Oops", "Oops"))).count("Oops") == 1
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
    error = failed(by_method, refusal("Oops", message))
    assert f": {message_text(message)} (" in str(error)


# --- five whole messages, as they are the product; other tests match classes and names -----------


@pytest.mark.parametrize("row", MESSAGES, ids=lambda row: row["name"])
def test_message_is(answers, virtual_time, row):
    client = boto3.client(row["service"])
    answers(client, row["answer"])
    with pytest.raises(bwp.WaiterError) as caught:
        bwp.wait_until(client, row["waiter"], max_wait=30, **row["parameters"])
    assert str(caught.value) == row["message"]


def test_message_of_a_bad_argument_is(s3):
    with pytest.raises(TypeError) as caught:
        s3.wait_until_bucket_exists(Bucket="b", max_wait=30, retry_transiant=True)
    assert str(caught.value) == "unknown option 'retry_transiant'; did you mean 'retry_transient'?"
