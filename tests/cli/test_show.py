"""`boto-wait show`."""

import json
import re

import pytest


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


def test_a_waiter_with_a_failure_state_has_no_note(command):
    assert "No acceptor detects" not in command("show athena query-execution-succeeded")[1]


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


def test_waiters_and_effects_as_json(command):
    facts = json.loads(command("show stepfunctions execution-succeeded --output json")[1])
    method, operation = "wait_until_execution_succeeded", "DescribeExecution"
    assert (facts["method"], facts["operation"]) == (method, operation)
    assert (facts["kind"], facts["service"]) == ("waiter", "stepfunctions")
    assert facts["acceptors"][0]["state"] == "success"
    assert "cause" in facts["reasons"]
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
