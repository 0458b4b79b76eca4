"""`boto-wait show` and its diagrams."""

import json
import re

import pytest
from case_tables import tabled

from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.diagrams import dot, mermaid
from boto_waiters_plus.cli.service_lookup import confidence
from boto_waiters_plus.cli.show import attempt_times
from boto_waiters_plus.engine.acceptors import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    OutputMatcher,
    PathComparator,
    PathMatcher,
    SuccessMatcher,
)
from boto_waiters_plus.engine.model import WaiterDefinition


def definition(*acceptors, **members):
    return WaiterDefinition(name="ThingReady", operation="GetThing", acceptors=acceptors, **members)


def on_output(path, expected="x", state=AcceptorState.SUCCESS):
    matcher = PathMatcher(path=path, expected=expected, comparator=PathComparator.STRING_EQUALS)
    return Acceptor(state=state, matcher=OutputMatcher(matcher))


def on_success(success, state):
    return Acceptor(state=state, matcher=SuccessMatcher(success=success))


THING_READY = definition(
    on_success(success=True, state=AcceptorState.SUCCESS),
    Acceptor(state=AcceptorState.RETRY, matcher=ErrorTypeMatcher("NotFound")),
    min_delay=5,
    max_delay=120,
)


@pytest.mark.parametrize("name", ["bucket-exists", "bucket_exists", "BucketExists"])
def test_any_spelling_of_a_waiters_name_is_accepted(name, capsys):
    assert main(["show", "s3", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("BucketExists of s3, polls HeadBucket\n")
    assert re.search(r"^method +client\.wait_until_bucket_exists\(max_wait=", out, re.MULTILINE)
    assert re.search(r"^confidence +(?:\d+ \w+ \w+, )*from botocore$", out, re.MULTILINE)
    assert re.search(r"^source +data/s3\.json$", out, re.MULTILINE)


@pytest.mark.parametrize("words", [["show"], ["schedule", "--max-wait", "1m"]])
def test_definitions_can_be_given(words, waitable, tmp_path, capsys):
    success = {"state": "success", "matcher": {"success": True}}
    document = waitable("QueueReady", "GetQueueUrl", success, namespace="com.amazonaws.sqs")
    file = tmp_path / "waiters.json"
    file.write_text(json.dumps(document))
    name, *options = words
    assert main([name, "sqs", "queue-ready", *options, "--definitions", str(file)]) == 0
    assert re.match(r"QueueReady of sqs|sqs queue-ready, 1m", capsys.readouterr().out)
    assert main([name, "sqs", "queue-ready", *options]) == 2
    file.write_text("{")
    assert main([name, "sqs", "queue-ready", *options, "--definitions", str(file)]) == 2
    assert f"boto-wait {name}: {file}" in capsys.readouterr().err


def test_documentation_is_rendered_line_by_line(on_search_path, waitable, capsys):
    success = {"state": "success", "matcher": {"success": True}}
    text = "Waits until **ready**.\n\n- `a < b`\n- " + "word " * 30 + "\n- \x1b[31mred"
    members = {"documentation": text, "deprecated": True, "namespace": "com.amazonaws.sqs"}
    on_search_path(json.dumps(waitable("QueueReady", "GetQueueUrl", success, **members)))
    assert main(["show", "sqs", "queue-ready"]) == 0
    shown = capsys.readouterr().out.partition("\n\nmethod")[0].splitlines()
    assert shown[:5] == [
        "QueueReady of sqs, polls GetQueueUrl (deprecated)",
        "Waits until **ready**.",
        "",
        "* ``a < b``",
        "",
    ]
    assert max(map(len, shown)) <= 88
    assert shown[-1] == r"* \x1b[31mred"


def test_acceptors_are_followed_by_what_is_implied(capsys):
    assert main(["show", "s3", "bucket-exists"]) == 0
    _, rest = capsys.readouterr().out.split("Acceptors: the first that matches decides.\n")
    assert rest.splitlines()[:3] == [
        "  1  success  the call succeeds",
        "  2  retry    the call fails with NotFound",
        "  -  failure  any other error",
    ]


def test_documentation_is_shown(capsys):
    assert main(["show", "athena", "calculation-execution-completed"]) == 0
    out = capsys.readouterr().out
    assert "Waits until a calculation of a Spark session has completed." in out


@pytest.mark.parametrize(
    ("service", "waiter", "reason"),
    [
        ("athena", "calculation-execution-completed", "service's reason: Status.StateChangeReason"),
        ("ecs", "tasks-running", "service's reason: tasks[].stoppedReason"),
        ("sagemaker", "endpoint-in-service", "service's reason: FailureReason"),
        ("stepfunctions", "execution-succeeded", "place of the service's sensitive reason: cause"),
    ],
)
def test_what_an_error_quotes_is_shown(service, waiter, reason, capsys):
    assert main(["show", service, waiter]) == 0
    assert f"The error of a failure includes the {reason}.\n" in capsys.readouterr().out
    assert main(["show", service, waiter, "--output", "json"]) == 0
    assert reason.rpartition(" ")[2] in json.loads(capsys.readouterr().out)["reasons"]


@pytest.mark.parametrize(
    ("service", "waiter", "shown"),
    [("s3", "bucket-exists", True), ("athena", "query-execution-succeeded", False)],
)
def test_a_waiter_without_failure_state_says_so(service, waiter, shown, capsys):
    assert main(["show", service, waiter]) == 0
    assert ("No acceptor detects failure" in capsys.readouterr().out) is shown


def test_attempts_are_shown_for_three_waits(queue_ready, capsys):
    assert main(["show", "sqs", "queue-ready"]) == 0
    _, rest = capsys.readouterr().out.split("Attempts, with jittered delays of 5 s:\n")
    lines = [re.split(r"  +", line.strip()) for line in rest.splitlines()]
    assert lines[:4] == [
        ["MAX_WAIT", "ATTEMPTS", "TYPICAL TIMES"],
        ["5 min", "60", "0, 5, 10, 15, 20, 25, ..., 300 s"],  # the last two attempts are one
        ["10 min", "120", "0, 5, 10, 15, 20, 25, ..., 600 s"],
        ["30 min", "360", "0, 5, 10, 15, 20, 25, ..., 1800 s"],
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["athna", "session-idle"], r"no service 'athna'; did you mean 'athena'\?"),
        (["s3", "bucket-exist"], r"no s3 waiter 'bucket-exist'; did you mean 'bucket-exists'\?"),
        (["sts", "anything"], r"no sts waiter 'anything'"),
    ],
)
def test_unknown_name_exits_with_2_and_a_suggestion(words, message, capsys):
    assert main(["show", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(f"boto-wait show: {message}\n", err)


def test_confidence_says_what_the_waiter_rests_on(capsys):
    """The counts are those of data/evidence.json."""
    assert main(["show", "dynamodb", "TableExists"]) == 0
    words = r"\d+ recorded answers, \d+ documentation examples, from botocore"
    assert re.search(f"^confidence  {words}$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("tags", "source", "words"),
    [
        (("curated", "run-on-moto"), "data/x.json", "run on moto"),
        (("curated", "enum-checked"), "data/x.json", "every value of the enum"),
        (("curated", "model-only"), "data/x.json", "model only"),
        (("generated",), "data/x.json", "from botocore"),
        ((), "s3/2006-03-01/waiters-2.json", "from botocore"),
        ((), "mine.json", "not checked"),
    ],
)
def test_confidence_in_words(tags, source, words):
    assert confidence(definition(on_output("a"), tags=tags, source=source)) == words


def test_last_attempt_is_made_just_before_max_wait():
    waiter = definition(on_output("a"), min_delay=10, max_delay=20)
    assert attempt_times(waiter, 60, lambda low, _: low) == [0, 10, 20, 30, 40, 59.75]
    assert attempt_times(waiter, 60, lambda _, high: high) == [0, 10, 30, 59.75]
    assert attempt_times(waiter, 5, lambda low, _: low) == [0, 4.75]


@pytest.mark.parametrize(
    ("form", "start", "end"),
    [
        ("mermaid", "stateDiagram-v2\n", "timeout --> [*]\n"),
        ("dot", 'digraph "BucketExists" {', "}\n"),
    ],
)
def test_diagram_option_prints_nothing_else(form, start, end, capsys):
    assert main(["show", "s3", "bucket-exists", "--diagram", form]) == 0
    text = capsys.readouterr().out
    assert text.startswith(start)
    assert text.endswith(end)


def test_waiter_as_json(capsys):
    assert main(["show", "s3", "bucket-exists", "--output", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["method"], facts["operation"]) == ("wait_until_bucket_exists", "HeadBucket")
    assert facts["acceptors"][0] == {"state": "success", "matcher": {"success": True}}


def test_mermaid_diagram():
    assert mermaid(THING_READY).splitlines() == [
        "stateDiagram-v2",
        "    attempt: GetThing",
        "    delay: delay of 5 to 120 s",
        "    success: success",
        "    failure: failure",
        "    timeout: timed out",
        "    [*] --> attempt",
        "    attempt --> success: 1. the call succeeds",
        "    attempt --> delay: 2. the call fails with NotFound",
        "    attempt --> failure: any other error",
        "    delay --> attempt",
        "    delay --> timeout: max_wait has passed",
        "    success --> [*]",
        "    failure --> [*]",
        "    timeout --> [*]",
    ]


def test_expression_contains_no_mermaid_syntax():
    text = mermaid(definition(on_output('a[?b==`1`]:"c";\n--> x %%{')))
    [label] = re.findall(r"attempt --> success: (.*)", text)
    assert set(label) <= set(" ._,'-#;") | {c for c in label if c.isalnum()}
    read = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), label)
    assert read == "1. a[?b==`1`]:\"c\";\\n--> x %%{ is 'x'"


def test_quotes_and_backslashes_are_escaped_for_dot():
    text = dot(definition(on_output('"a\\b"')))
    assert 'label="1. \\"a\\\\b\\" is \'x\'"' in text


def test_an_operation_is_answered_with_its_effects(capsys):
    assert main(["show", "s3", "delete-bucket"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("After DeleteBucket, `begin` waits for BucketNotExists.\n")
    assert re.search(r"^basis +goal: what was asked for is read back$", out, re.MULTILINE)
    assert re.search(r"^needs +s3:ListBucket$", out, re.MULTILINE)
    assert main(["show", "glue", "StartJobRun", "--output", "json"]) == 0
    [effect] = json.loads(capsys.readouterr().out)
    assert (effect["basis"], effect["stop"]) == ("identity", "BatchStopJobRun")


@tabled("operation", "words")
def test_an_operation_without_effects_says_why(capsys, operation, words):
    assert main(["show", *operation.split()]) == 0
    assert words in capsys.readouterr().out


def test_a_read_operation_is_no_waiter(capsys):
    assert main(["show", "s3", "get-object-acl"]) == 2
    assert "no s3 waiter 'get-object-acl'" in capsys.readouterr().err
