"""The reference validator's own suite of waiter models, and its linter's verdicts."""

import json
import re

import pytest
from beside import beside
from check.models import linted, path_events

from boto_waiters_plus.validation import check

SUITE, needs_suite = beside("conformance/smithy-validation")
CASES = sorted(SUITE.glob("*.events.json"))
EXPRESSIONS, needs_expressions = beside("conformance/jmespath-lint.json")


def case(path):
    return path.name.removesuffix(".events.json")


@needs_suite
def test_suite_is_complete():
    assert len(CASES) == 22


@needs_suite
@pytest.mark.parametrize("path", CASES, ids=case)
def test_model_gets_the_events_of_the_reference(path):
    """Match its expectations as the suite does: a dot-prefix of an id, the start of a message.

    Positions inside an expression and the words of a syntax error are left out.
    """
    events = [e for e in check(path.with_name(f"{case(path)}.json")) if e.severity > "NOTE"]
    expected = json.loads(path.read_text(encoding="utf-8"))
    wanted = [(each["severity"], each["id"], each["shape"]) for each in expected]
    assert sorted((e.severity.value, e.id, e.shape) for e in events) == sorted(wanted)
    lines = path.with_name(f"{case(path)}.errors").read_text(encoding="utf-8").splitlines()

    def matches(line, event):
        head, _, event_id = line.rpartition(" | ")
        head = re.sub(r"( \(\d+:\d+\)|(?<=: Syntax error) at line .*)$", "", head)
        is_rule = event.id == event_id or event.id.startswith(f"{event_id}.")
        return is_rule and f"[{event.severity}] {event.shape}: {event.message}".startswith(head)

    lines = [line for line in lines if line.strip()]
    assert all(any(matches(line, event) for event in events) for line in lines)
    assert all(any(matches(line, event) for line in lines) for event in events)


@needs_expressions
def test_expressions_get_the_verdict_of_the_reference():
    def verdict(path):
        if any("Invalid JMESPath expression" in each.message for each in path_events(path)):
            return "parse error"
        return_type, problems = linted(path)
        return return_type, sorted(problem.partition(" ")[0] for problem in problems)

    def summary(case):
        if "parseError" in case:
            return "parse error"
        return case["returnType"], sorted(problem["severity"] for problem in case["problems"])

    expected = json.loads(EXPRESSIONS.read_text(encoding="utf-8"))
    others = [case for case in expected if verdict(case["expression"]) != summary(case)]
    assert others == []
    assert len(expected) == 948
