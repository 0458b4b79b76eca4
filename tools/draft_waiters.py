"""Write waiters from a list of decisions into `data/` and the tables of `tests/cases/states`.

    python tools/draft_waiters.py FILE

A line of the file names a service, decides on an operation, or gives the reason for none:

    @glue
    GetBlueprintRun | a blueprint run | bad-=STOPPED pace=job
    GetTags - Tags have no state.

The text between the bars is what the wait is about, as its documentation calls it. What a decision
leaves open follows by rule: the path is the first that `tools/model_states.py --open` prints,
success and failure are sorted by their names, and a state that is on its way to deletion
is a failure of any other wait. Where a state says that the resource is being deleted, the service
can delete it, and the operation has one error that means gone, a second waiter waits for that.

| member | meaning |
|---|---|
| `name=`, `stem=` | the name of the waiter, or all but its end |
| `path=`, `ok=`, `bad=` | the state, success, failure; `bad+=` and `bad-=` change the rule's |
| `values=` | the values, where the model does not list them; `~` stands for a space |
| `gone=`, `nodel` | the errors that mean gone; no waiter for the deletion |
| `delfail=` | the states in which a deletion has failed |
| `only`, `delname=` | the waiter for the deletion only; its name |
| `retry=` | errors that another attempt may not meet |
| `count=` | the list in the input; as many items have to be returned as it has |
| `unread=` | the list in the answer that has what could not be found |
| `pace=` | `quick`, `short`, `job`, `long` or `hours` |
| `doc=` | the documentation, to the end of the line |
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from botocore.model import OperationModel
from generate_data import file_text
from json_rows import rows_text
from model_states import gone_errors, passing_states
from observed_states import models
from state_paths import state_paths, states_at

from boto_waiters_plus.definitions.smithy import WAITABLE, aws_namespace
from boto_waiters_plus.definitions.state_words import (
    ENDINGS,
    FAILED_WORDS,
    GONE_WORDS,
    is_underway,
    sort_states,
    state_words,
)
from boto_waiters_plus.definitions.words import verb_of, words_of
from boto_waiters_plus.engine.acceptors import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    OutputMatcher,
    PathComparator,
    PathMatcher,
)
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.engine.state_acceptors import state_acceptors
from boto_waiters_plus.service.reasons import EXPECTED, reason_beside

ROOT = Path(__file__).resolve().parents[1]

PACES = {"quick": (2, 5), "short": (3, 10), "job": (4, 15), "long": (8, 30), "hours": (15, 60)}

_ENDS = {"Success": "Succeeded", "Successful": "Succeeded", "Done": "Done"}
_GOALS = {
    "SUCCEEDED": "has succeeded", "SUCCESS": "has succeeded", "SUCCESSFUL": "has succeeded",
    "COMPLETE": "is complete", "COMPLETED": "is completed", "FINISHED": "has finished",
    "DONE": "is done", "CANCELED": "is cancelled", "PASSED": "has passed",
}  # fmt: skip
_FAILURES = (
    (r"(COMPLETED|SUCCEEDED|COMPLETE)_WITH_\w+", ""),
    (r"\w*PARTIAL\w*", "succeeded only in part"),
    (r"\w*(FAIL|ERROR|UNSUCCESSFUL)\w*", "failed"),
    (r"\w*(TIMEOUT|TIMEDOUT|TIMED_OUT)\w*", "timed out"),
    (r"(STOP|CANCEL|ABORT|REJECT|TERMINAT|REVOK|WITHDRAW|DENI|DISABL|INTERRUPT)\w*", None),
    (r"EXPIRED", "expired"),
    (r"\w*(DELET|DEREGIST|REMOV|PURG)\w*", "is being deleted"),
)  # fmt: skip
_DONE_WITH = {
    "STOP": "was stopped", "CANC": "was cancelled", "ABOR": "was aborted", "REJE": "was rejected",
    "TERM": "was terminated", "REVO": "was revoked", "WITH": "was withdrawn", "DENI": "was denied",
    "DISA": "is disabled", "INTE": "was interrupted",
}  # fmt: skip

_GONE = GONE_WORDS - {"DETACHED", "DISASSOCIATED"}

_SUCCESS, _RETRY, _FAILURE = AcceptorState.SUCCESS, AcceptorState.RETRY, AcceptorState.FAILURE


@dataclass(frozen=True)
class Decision:
    """What is known of a waiter before it is written."""

    operation: OperationModel
    noun: str
    members: dict[str, str]

    def listed(self, name: str, otherwise: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the values of a member; by default, others."""
        given = self.members.get(name)
        return (
            tuple(otherwise)
            if given is None
            else tuple(filter(None, given.replace("~", " ").split(",")))
        )

    @property
    def path(self) -> str:
        """The path of the state."""
        paths = [*dict(passing_states(self.operation)), *state_paths(self.operation)]
        return self.members.get("path") or paths[0]

    @property
    def values(self) -> tuple[str, ...]:
        """All values of the state."""
        states = dict(passing_states(self.operation)).get(self.path)
        return self.listed("values", states or states_at(self.operation, self.path))

    @property
    def stem(self) -> str:
        """The name of the waiter without its end."""
        noun = re.sub(rf"^(Batch)?{verb_of(self.operation.name)}", "", self.operation.name)
        return self.members.get("stem", noun)


@dataclass(frozen=True)
class Written:
    """A waiter with its line in the table of the tests."""

    definition: WaiterDefinition
    line: dict[str, Any]


def drafted(decision: Decision) -> Iterator[Written]:
    """Yield the waiters of a decision."""
    if "only" not in decision.members:
        yield _presence(decision)
    if _can_be_deleted(decision) or "only" in decision.members:
        yield _absence(decision)


def _presence(decision: Decision) -> Written:
    values = decision.values
    states = sort_states(values, decision.listed("ok"))
    success = decision.listed("ok", states.success)
    rule = [v for v in values if v in states.failure or (v not in success and _ends(v))]
    failure = {*decision.listed("bad", rule), *decision.listed("bad+")} - {*decision.listed("bad-")}
    ordered = tuple(v for v in values if v in failure)
    unknown = {*success, *failure} - {*values}
    if unknown or not success:
        raise SystemExit(f"{decision.operation.name}: {unknown or values} at {decision.path}")
    end = "".join(word.capitalize() for word in words_of(success[0]))
    name = decision.members.get("name") or decision.stem + _ENDS.get(end, end)
    text = decision.members.get("doc") or _documentation(decision, success, ordered)
    errors = dict.fromkeys(decision.listed("retry"), _RETRY)
    return _written(decision, name, text, success, ordered, errors)


def _absence(decision: Decision) -> Written:
    values = decision.values
    gone = tuple(v for v in values if state_words(v) & _GONE and not _fails(v))
    failure = decision.listed("delfail", (v for v in values if _fails(v) and _ends(v)))
    noun = decision.noun
    text = f"Waits until {noun} no longer exists."
    if failure:
        text += " A deletion that failed ends the wait."
    name = decision.members.get("name", "") if "only" in decision.members else ""
    if "only" in decision.members and "doc" in decision.members:
        text = decision.members["doc"]
    gone = decision.listed("ok", gone) if "only" in decision.members else gone
    errors = dict.fromkeys(decision.listed("gone", gone_errors(decision.operation)), _SUCCESS)
    name = name or decision.members.get("delname") or f"{decision.stem}Deleted"
    return _written(decision, name, text, gone, failure, errors)


def _written(
    decision: Decision,
    name: str,
    text: str,
    success: tuple[str, ...],
    failure: tuple[str, ...],
    errors: dict[str, AcceptorState],
) -> Written:
    path, operation = decision.path, decision.operation
    is_list = "[]" in path
    count = decision.members.get("count")
    if count and success:
        acceptors = [_all_of(path, success, count)]
        acceptors += state_acceptors(path, (), failure, every=True, is_list=True)
    else:
        acceptors = list(state_acceptors(path, success, failure, every=True, is_list=is_list))
    reason = None if "nomsg" in decision.members else reason_beside(operation.output_shape, path)
    if reason is not None:
        acceptors = [_with_reason(each, reason) for each in acceptors]
    unread = decision.members.get("unread")
    if unread:
        matcher = PathMatcher(
            path=f"length({unread} || `[]`) > `0`",
            expected="true",
            comparator=PathComparator.BOOLEAN_EQUALS,
        )
        acceptors.append(Acceptor(state=_FAILURE, matcher=OutputMatcher(matcher)))
    acceptors += [
        Acceptor(state=state, matcher=ErrorTypeMatcher(code)) for code, state in errors.items()
    ]
    least, most = PACES[decision.members.get("pace", "short")]
    checked = "enum-checked" if states_at(operation, path) else "model-only"
    definition = WaiterDefinition(
        name=name,
        operation=operation.name,
        acceptors=tuple(acceptors),
        documentation=text,
        min_delay=least,
        max_delay=most,
        tags=("curated", checked),
    )
    verdicts = {**dict.fromkeys(success, "success"), **dict.fromkeys(failure, "failure")}
    line: dict[str, Any] = {"operation": operation.name, "state": path}
    line["values"] = {value: verdicts.get(value, "retry") for value in decision.values}
    if is_list:
        line["empty"] = "retry"
    if count:
        line["count"] = count
    if unread:
        line["cases"] = [{"output": {unread: ["id"]}, "verdict": "failure"}]
    if errors:
        line["errors"] = {code: state.value for code, state in errors.items()}
        modelled = {error.name for error in operation.error_shapes}
        unmodelled = [code for code in errors if code not in modelled]
        line |= {"unmodelled": unmodelled} if unmodelled else {}
    return Written(definition, line)


def _with_reason(acceptor: Acceptor, reason: str) -> Acceptor:
    if acceptor.state is not _FAILURE or not isinstance(acceptor.matcher, OutputMatcher):
        return acceptor
    return replace(acceptor, message=reason.replace(EXPECTED, acceptor.matcher.matcher.expected))


def _all_of(path: str, success: tuple[str, ...], count: str) -> Acceptor:
    """Return an acceptor for as many items in these states as were asked for."""
    items, _, state = path.partition("[].")
    is_one = " || ".join(f"{state} == '{value}'" for value in success)
    text = f"length(output.{items}[?{is_one}]) == length(input.{count})"
    matcher = PathMatcher(path=text, expected="true", comparator=PathComparator.BOOLEAN_EQUALS)
    return Acceptor(state=_SUCCESS, matcher=InputOutputMatcher(matcher))


def _ends(value: str) -> bool:
    """Whether a state is on the way to deletion, or behind it."""
    return any(word.startswith(tuple(ENDINGS)) for word in state_words(value))


def _fails(value: str) -> bool:
    return bool(state_words(value) & FAILED_WORDS)


def _can_be_deleted(decision: Decision) -> bool:
    stem = re.sub(rf"^(Batch)?{verb_of(decision.operation.name)}", "", decision.operation.name)
    service = decision.operation.service_model
    by_rule = (
        any(_ends(value) and is_underway(state_words(value)) for value in decision.values)
        and len(gone_errors(decision.operation)) == 1
        and f"Delete{stem}" in service.operation_names
    )
    return "nodel" not in decision.members and (by_rule or "gone" in decision.members)


def _documentation(decision: Decision, success: Iterable[str], failure: Iterable[str]) -> str:
    first = "_".join(word.upper() for word in words_of(next(iter(success))))
    goal = _GOALS.get(first) or f"is {first.lower().replace('_', ' ')}"
    text = f"Waits until {decision.noun} {goal}."
    # What is on its way to deletion comes last.
    phrases = list(dict.fromkeys(map(_failure_phrase, sorted(failure, key=_ends))))
    if phrases:
        *rest, last = phrases
        words = f"{', '.join(rest)} or {last}" if rest else last
        text += f" One that {words} ends the wait."
    return text


def _failure_phrase(value: str) -> str:
    name = "_".join(word.upper() for word in words_of(value))
    for pattern, phrase in _FAILURES:
        if re.fullmatch(pattern, name):
            return phrase or _DONE_WITH.get(name[:4], f"is {name.lower().replace('_', ' ')}")
    return f"is {name.lower().replace('_', ' ')}"


def decisions(text: str) -> Iterator[tuple[str, Decision | tuple[str, str]]]:
    """Yield service and decision, or service, operation and reason, of each line."""
    service = ""
    for row in text.splitlines():
        if row.startswith("@"):
            service = row[1:].strip()
        elif " | " in row:
            name, noun, *rest = (part.strip() for part in row.split(" | ", 2))
            given, _, documentation = (rest[0] if rest else "").partition("doc=")
            members = dict(
                (part.rpartition("=")[0] or part, part.rpartition("=")[2])
                if "==" not in part and part.count("=") == 1
                else (part, "")
                for part in given.split()
            )
            if documentation:
                members["doc"] = documentation.strip()
            operation = models()[service].operation_model(name)
            yield service, Decision(operation, noun, members)
        elif " - " in row:
            name, _, reason = row.partition(" - ")
            models()[service].operation_model(name)
            yield service, (name, reason.strip())


def main(file: str) -> None:
    """Write what the file decides."""
    for service, each in write(decisions(Path(file).read_text(encoding="utf-8"))):
        print(f"{service} {each.name} - {each.documentation}")


def write(
    decided: Iterable[tuple[str, Decision | tuple[str, str]]],
) -> list[tuple[str, WaiterDefinition]]:
    """Write what is decided; return the waiters, each with its service."""
    found = []
    data: dict[str, dict[str, Any]] = {}
    tables: dict[str, dict[str, Any]] = {}
    reasons_file = ROOT / "data/no-waiter.json"
    reasons = json.loads(reasons_file.read_text(encoding="utf-8"))
    for service_id, decision in decided:
        if not isinstance(decision, Decision):
            reasons.setdefault(service_id, {})[decision[0]] = decision[1]
            continue
        model = models()[service_id]
        shapes = data.setdefault(service_id, _read(f"data/{service_id}.json", shapes={}))["shapes"]
        empty = {"service": model.service_name, "waiters": {}}
        path = f"tests/cases/states/{service_id}.json"
        lines = tables.setdefault(service_id, _read(path, **empty))["waiters"]
        for each in drafted(decision):
            namespace = aws_namespace(model.service_id)
            shape = shapes.setdefault(f"{namespace}#{each.definition.operation}", {"type": "apply"})
            waiters = shape.setdefault("traits", {}).setdefault(WAITABLE, {})
            if each.definition.name in waiters and each.definition.name not in lines:
                raise SystemExit(f"{service_id} {each.definition.name} is generated")
            waiters[each.definition.name] = _ordered(each.definition)
            lines[each.definition.name] = each.line
            found.append((service_id, each.definition))
    for service_id, document in data.items():
        shapes = {
            shape_id: {
                "type": "apply",
                "traits": {WAITABLE: dict(sorted(s["traits"][WAITABLE].items()))},
            }
            for shape_id, s in sorted(document["shapes"].items())
        }
        text = file_text({"smithy": "2.0", "shapes": shapes})
        _write(f"data/{service_id}.json", text)
        table = tables[service_id]
        table["waiters"] = dict(sorted(table["waiters"].items()))
        _write(f"tests/cases/states/{service_id}.json", rows_text(table))
    reasons = {service: dict(sorted(reasons[service].items())) for service in sorted(reasons)}
    _write("data/no-waiter.json", json.dumps(reasons, indent=2, ensure_ascii=False) + "\n")
    return found


def _ordered(definition: WaiterDefinition) -> dict[str, Any]:
    body = definition.to_json()
    return {"documentation": definition.documentation, **body}


def _read(path: str, **otherwise: Any) -> dict[str, Any]:
    file = ROOT / path
    found: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else otherwise
    return found


def _write(path: str, text: str) -> None:
    (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
