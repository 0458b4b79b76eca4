"""`boto-wait show`."""

import json
import re

import pytest


@pytest.mark.parametrize("name", ["bucket-exists", "bucket_exists", "BucketExists"])
def test_any_spelling_of_a_waiters_name_is_accepted(name, command):
    code, out, _ = command("show s3", name)
    assert code == 0
    assert out.startswith("BucketExists of s3, polls HeadBucket\n")
    assert re.search(r"^method +client\.wait_until_bucket_exists\(max_wait=", out, re.MULTILINE)
    assert re.search(r"^confidence +(?:\d+ \w+ \w+, )*from botocore$", out, re.MULTILINE)
    _, rest = out.split("Acceptors: the first that matches decides.\n")
    assert rest.splitlines()[:3] == [
        "  1  success  the call succeeds",
        "  2  retry    the call fails with NotFound",
        "  -  failure  any other error",
    ]


@pytest.mark.parametrize(
    ("name", "options", "start"),
    [("show", "", "QueueReady of sqs"), ("schedule", "--max-wait 1m", "sqs queue-ready, 1m")],
)
def test_definitions_can_be_given(name, options, start, queue_ready, tmp_path, command):
    words, file = f"{name} sqs queue-ready {options}", tmp_path / "waiters.json"
    file.write_text(queue_ready())
    code, out, _ = command(f"{words} --definitions", file)
    assert (code, out[: len(start)]) == (0, start)
    assert command(words)[0] == 2
    file.write_text("{")
    code, _, err = command(f"{words} --definitions", file)
    assert (code, str(file) in err) == (2, True)


def test_documentation_is_rendered_line_by_line(on_search_path, queue_ready, command):
    text = "Waits until **ready**.\n\n- `a < b`\n- " + "word " * 30 + "\n- \x1b[31mred"
    on_search_path(queue_ready(documentation=text, deprecated=True))
    shown = command("show sqs queue-ready")[1].partition("\n\nmethod")[0].splitlines()
    assert shown[:5] == [
        "QueueReady of sqs, polls GetQueueUrl (deprecated)",
        "Waits until **ready**.",
        "",
        "* ``a < b``",
        "",
    ]
    assert max(map(len, shown)) <= 88
    assert shown[-1] == r"* \x1b[31mred"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("athena calculation-execution-completed", "reason: Status.StateChangeReason"),
        ("ecs tasks-running", "reason: tasks[].stoppedReason"),
        ("sagemaker endpoint-in-service", "reason: FailureReason"),
        ("stepfunctions execution-succeeded", "sensitive reason: cause"),
    ],
)
def test_what_an_error_quotes_is_shown(name, reason, command):
    assert reason in command(f"show {name}")[1]
    facts = json.loads(command(f"show {name} --output json")[1])
    assert reason.rpartition(" ")[2] in facts["reasons"]


@pytest.mark.parametrize(
    ("name", "shown"), [("s3 bucket-exists", True), ("athena query-execution-succeeded", False)]
)
def test_a_waiter_without_failure_state_says_so(name, shown, command):
    assert ("No acceptor detects failure" in command(f"show {name}")[1]) is shown


def test_attempts_are_shown_for_three_waits(on_search_path, queue_ready, command):
    on_search_path(queue_ready())
    _, rest = command("show sqs queue-ready")[1].split("Attempts, with jittered delays of 5 s:\n")
    lines = [re.split(r"  +", line.strip()) for line in rest.splitlines()]
    assert lines[:4] == [
        ["MAX_WAIT", "ATTEMPTS", "TYPICAL TIMES"],
        ["5 min", "60", "0, 5, 10, 15, 20, 25, ..., 300 s"],  # the last two attempts are one
        ["10 min", "120", "0, 5, 10, 15, 20, 25, ..., 600 s"],
        ["30 min", "360", "0, 5, 10, 15, 20, 25, ..., 1800 s"],
    ]


def test_waiter_as_json(command):
    facts = json.loads(command("show s3 bucket-exists --output json")[1])
    assert (facts["method"], facts["operation"]) == ("wait_until_bucket_exists", "HeadBucket")
    assert (facts["kind"], facts["service"]) == ("waiter", "s3")
    assert facts["acceptors"][0] == {"state": "success", "matcher": {"success": True}}


def test_an_operation_is_answered_with_its_effects(command):
    _, out, _ = command("show s3 delete-bucket")
    assert out.startswith("After DeleteBucket, `begin` waits for BucketNotExists.\n")
    assert re.search(r"^basis +goal: ", out, re.MULTILINE)
    assert re.search(r"^needs +s3:ListBucket$", out, re.MULTILINE)
    assert re.search(r"^option +--then bucket-not-exists$", out, re.MULTILINE)
    [effect] = json.loads(command("show glue StartJobRun --output json")[1])
    assert (effect["basis"], effect["stop"]) == ("identity", "BatchStopJobRun")
    assert (effect["kind"], effect["service"]) == ("effect", "glue")


@pytest.mark.parametrize("service", ["s3", "cloudwatch-logs"])
def test_a_service_is_shown_as_it_is_listed(service, command):
    for options in ("", "--output json"):
        assert command(f"show {service} {options}") == command(f"list {service} {options}")


def test_given_definitions_are_shown_with_the_service(queue_ready, tmp_path, command):
    file = tmp_path / "waiters.json"
    file.write_text(queue_ready())
    assert "queue_ready" in command("show sqs --definitions", file)[1]
    assert "queue_ready" not in command("show sqs")[1]


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ("ec2 create-tags", "nothing to wait for: tags are changed when the call returns."),
        ("dax update-cluster", "After UpdateCluster it is not known what to wait for."),
    ],
)
def test_an_operation_without_effects_says_why(operation, words, command):
    code, out, _ = command(f"show {operation}")
    assert (code, words in out) == (0, True)
