"""Against the reference validator: its own suite of waiter models, and its linter's verdicts."""

import json
import os
from pathlib import Path

import pytest

from boto_waiters_plus.validation import Severity, check
from boto_waiters_plus.validation.expressions import ExpressionSyntaxError, parse
from boto_waiters_plus.validation.type_checker import lint

FOLDER = Path(__file__).resolve().parents[3] / "shared/conformance"
REQUIRED = os.environ.get("CONFORMANCE_REQUIRED", "0") not in ("", "0")
CASES = sorted(FOLDER.glob("smithy-validation/*.events.json"))
EXPRESSIONS = FOLDER / "jmespath-lint.json"

# Expressions on which the verdict is another than the reference's, with the reason. There are none
# among the published ones. Known outside of them: a quoted function name (`"foo"(bar)`), which
# jmespath.py, and with it a wait, refuses.
OTHER_VERDICTS = {}

needs_data = pytest.mark.skipif(
    not (CASES and EXPRESSIONS.is_file()) and not REQUIRED,
    reason="the conformance data is not here",
)


def case(path):
    return path.name.removesuffix(".events.json")


@needs_data
def test_all_cases_of_the_suite_are_here():
    assert len(CASES) == 22


@pytest.mark.parametrize("path", CASES, ids=case)
def test_a_model_gives_the_events_of_the_reference(path):
    events = check(path.with_name(f"{case(path)}.json"))
    found = [
        (event.severity.value, event.id, event.shape, event.message)
        for event in events
        if event.severity >= Severity.WARNING
    ]
    expected = [
        (event["severity"], event["id"], event["shape"], event["message"])
        for event in json.loads(path.read_text(encoding="utf-8"))
    ]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("path", CASES, ids=case)
def test_a_model_satisfies_its_expectation_file(path):
    """As the suite itself compares: an id matches its dot-prefixes, a text its beginnings."""
    lines = path.with_name(f"{case(path)}.errors").read_text(encoding="utf-8").splitlines()
    events = [e for e in check(path.with_name(f"{case(path)}.json")) if e.severity > "NOTE"]

    def matches(line, event):
        head, _, event_id = line.rpartition(" | ")
        known = event.id == event_id or event.id.startswith(f"{event_id}.")
        return known and f"[{event.severity}] {event.shape}: {event.message}".startswith(head)

    lines = [line for line in lines if line.strip()]
    assert all(any(matches(line, event) for event in events) for line in lines)
    assert all(any(matches(line, event) for line in lines) for event in events)


@needs_data
def test_every_expression_gets_the_verdict_of_the_reference():
    expected = json.loads(EXPRESSIONS.read_text(encoding="utf-8"))
    others = [
        (wanted, found)
        for wanted in expected
        if wanted["expression"] not in OTHER_VERDICTS
        and (found := verdict(wanted["expression"])) != wanted
    ]
    assert others == []
    assert len(expected) == 948


def verdict(text):
    try:
        found = lint(parse(text))
    except ExpressionSyntaxError as error:
        return {"expression": text, "parseError": str(error)}
    problems = [
        {
            "severity": problem.severity.value,
            "line": problem.line,
            "column": problem.column,
            "message": problem.message,
        }
        for problem in found.problems
    ]
    return {"expression": text, "returnType": found.return_type, "problems": problems}
