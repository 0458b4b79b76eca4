"""Compare the shipped waiters with states and errors that were seen in answers of AWS.

    python tools/observed_states.py REFERENCE --problems
    python tools/observed_states.py REFERENCE --evidence data/evidence.json
    python tools/observed_states.py REFERENCE --states

REFERENCE is a JSON file: service -> operation -> `path=value` or `error:Code` -> counts by source
(`recorded`, or a documentation). It is not part of the project; what follows from it is.
`--problems` prints values and errors that a waiter overlooks, `--evidence` writes how often what a
waiter compares was seen, and `--states` measures what the message of a wait shows as its state.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import botocore.session
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape
from generate_data import file_text

from boto_waiters_plus.calls.budget import Reply
from boto_waiters_plus.check.model import BotocoreService
from boto_waiters_plus.check.paths import traced_path
from boto_waiters_plus.cli.service_lookup import EVIDENCE
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.definitions.state_words import means_gone
from boto_waiters_plus.engine.acceptors import AcceptorState, InputOutputMatcher, OutputMatcher
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.engine.redaction import state_text
from boto_waiters_plus.service.bound_waiter import BoundWaiter
from boto_waiters_plus.service.judge import DefinitionJudge
from boto_waiters_plus.service.shapes import state_path

RECORDED = "recorded"

CASES = Path(__file__).resolve().parents[1] / "tests/cases"

RETRY = AcceptorState.RETRY

_STATE = re.compile("(?i)state|status|token|marker")
_STEP = re.compile(r"([^.\[\]]+)(\[\])?")


class Observed(NamedTuple):
    """A value or an error that was seen in answers of an operation."""

    path: str
    """Members, `[]` behind lists; empty for an error."""
    value: str
    recorded: int
    documented: int


class Held(NamedTuple):
    """A waiter beside what was seen of its operation."""

    service_id: str
    waiter: BoundWaiter
    read: frozenset[str]
    """The members that its acceptors read, as `Shape$member`."""
    compared: frozenset[str]
    """The strings that its acceptors compare."""
    observed: tuple[Observed, ...]

    @property
    def place(self) -> str:
        """The waiter with its service."""
        return f"{self.service_id} {self.waiter.definition.name}"

    def of_state(self) -> list[Observed]:
        """Return the values at members that the acceptors read."""
        output = self.waiter.operation.output_shape
        return [
            each
            for each in self.observed
            if each.path and member_at(output, each.path) in self.read
        ]

    def errors(self) -> list[Observed]:
        """Return the errors."""
        return [each for each in self.observed if not each.path]

    def verdict(self, answer: Any) -> str:
        """Return what the waiter makes of an answer: no match is a retry."""
        model = self.waiter.polling.data_model
        index = self.waiter.polling.matching.match_response(model.output(answer), {}).index
        return "retry" if index is None else self.waiter.definition.states[index].value


def held_waiters(reference: Path) -> Iterator[Held]:
    """Yield each shipped waiter whose operation is in the reference."""
    seen = json.loads(reference.read_text(encoding="utf-8"))
    for service_id in shipped_services():
        model = models().get(service_id)
        operations = seen.get(model.service_name, {}) if model is not None else {}
        for definition in shipped_definitions(service_id) if operations else ():
            if definition.operation in operations and definition.operation in model.operation_names:
                observed = tuple(observations(operations[definition.operation]))
                yield held(service_id, model, definition, observed)


def held(
    service_id: str, model: ServiceModel, definition: Any, observed: tuple[Observed, ...]
) -> Held:
    """Return a waiter beside what was seen."""
    shapes = BotocoreService(model).operation(definition.operation)
    paths = [path for each in definition.acceptors if (path := traced_path(each, shapes))]
    read = frozenset[str]().union(*(path.members for path in paths))
    compared = {
        text
        for path in paths
        for found in re.findall(r"'([^']*)'|`\"([^\"]*)\"`", path.expression.text)
        for text in found
    }
    compared |= {
        each.matcher.matcher.expected
        for each in definition.acceptors
        if isinstance(each.matcher, InputOutputMatcher | OutputMatcher)
    }
    waiter = BoundWaiter(definition, model.operation_model(definition.operation))
    return Held(service_id, waiter, read, frozenset(compared), observed)


def observations(entries: dict[str, dict[str, int]]) -> Iterator[Observed]:
    """Yield what was seen of one operation."""
    for key, counts in entries.items():
        path, _, value = ("", "", key[6:]) if key.startswith("error:") else key.partition("=")
        recorded = counts.get(RECORDED, 0)
        yield Observed(path, value, recorded, sum(counts.values()) - recorded)


@functools.cache
def models() -> dict[str, ServiceModel]:
    """Return the services of the installed botocore by hyphenised service id."""
    loader = botocore.session.Session().get_component("data_loader")
    services = [
        ServiceModel(loader.load_service_model(name, "service-2"), service_name=name)
        for name in loader.list_available_services("service-2")
    ]
    return {str(each.service_id.hyphenize()): each for each in services}


def steps(path: str) -> list[str]:
    """Return the members of a path, with `[]` as a step of its own."""
    return [step for name, brackets in _STEP.findall(path) for step in (name, brackets) if step]


def member_at(shape: Shape | None, path: str) -> str | None:
    """Return the last member of a path as `Shape$member`; None if the model lacks it."""
    found = None
    for step in steps(path):
        while isinstance(shape, ListShape):
            shape = shape.member
        if step == "[]":
            continue
        if isinstance(shape, MapShape):
            shape = shape.value
        elif isinstance(shape, StructureShape) and step in shape.members:
            found, shape = f"{shape.name}${step}", shape.members[step]
        else:
            return None
    return found


def answer_with(path: str, value: str) -> Any:
    """Return the least answer that has a value at a path."""
    answer: Any = value
    for step in reversed(steps(path)):
        answer = [answer] if step == "[]" else {step: answer}
    return answer


def problems(reference: Path) -> Iterator[str]:
    """Yield the values and errors that were seen and that nobody has judged for a waiter.

    A value is judged if an acceptor compares it, the model knows it, or a table of the tests has
    it: `tests/cases/states` for curated waiters, `tests/cases/observed-values.json` for others.
    """
    explained = json.loads((CASES / "observed-values.json").read_text(encoding="utf-8"))
    for each in held_waiters(reference):
        output = each.waiter.operation.output_shape
        judged = {*explained.get(each.place, {}), *_judged_values(each)}
        others = {text.lower(): text for text in each.compared - judged}
        for seen in each.of_state():
            if seen.value in each.compared | judged:
                continue
            beside = others.get(seen.value.lower())
            if beside is not None:
                yield f"{each.place}: {seen.path} is {seen.value!r}, compared with {beside!r}"
            elif seen.value not in enum_at(output, seen.path):
                verdict = each.verdict(answer_with(seen.path, seen.value))
                yield f"{each.place}: {seen.path} is {seen.value!r}: {verdict}"
        for seen in each.errors() if means_gone(each.waiter.definition.name) else ():
            match = each.waiter.polling.matching.match_error(_names(each, seen.value))
            if match.index is None and seen.value not in judged:
                yield f"{each.place}: {seen.value} fails the wait"


def _judged_values(held: Held) -> frozenset[str]:
    """Return the values that the table of the tests has for a curated waiter."""
    path = CASES / "states" / f"{held.service_id}.json"
    table = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"waiters": {}}
    line = table["waiters"].get(held.waiter.definition.name, {})
    return frozenset(line.get("values", ()))


def _names(held: Held, code: str) -> list[str]:
    """Return the names of an error: its code, and the modelled shape of the code."""
    shapes = held.waiter.operation.error_shapes
    return [code, *(e.name for e in shapes if e.metadata.get("error", {}).get("code") == code)]


def states(reference: Path) -> Iterator[tuple[Held, Observed, str]]:
    """Yield each value that leaves a wait open, with the state that a message of the wait shows."""
    for each in held_waiters(reference):
        model, matching = each.waiter.polling.data_model, each.waiter.polling.matching
        for seen in _own_states(each):
            answer = full_answer(each, seen)
            match = matching.match_response(model.output(answer), {})
            reply = DefinitionJudge(each.waiter.polling, {}, None).judge(Reply(response=answer))
            if match.index is None or each.waiter.definition.states[match.index] is RETRY:
                yield each, seen, state_text(reply.observed, reply.state) or ""


def states_report(reference: Path) -> Iterator[str]:
    """Yield how many messages name the state or say what is missing, and those that do neither."""
    counts: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    others: list[str] = []
    for held, seen, text in states(reference):
        kind = "name the state" if seen.value in text else "say what is missing"
        if kind != "name the state" and not text.startswith("no "):
            kind = "do neither"
            others.append(
                f"{held.place}: {seen.path} is {seen.value!r}, shown: {text or 'nothing'}"
            )
        counts[kind] += 1
        answers[kind] += seen.recorded
    for kind, count in counts.items():
        share = count / counts.total()
        yield f"{share:.1%} of {counts.total()} messages {kind}, {answers[kind]} recorded answers"
    yield from others


def _own_states(held: Held) -> list[Observed]:
    """Return the values that the waiter reads; if it reads none, those of the model's state."""
    path = state_path(held.waiter.operation)
    return held.of_state() or [each for each in held.observed if path and each.path == path]


def full_answer(held: Held, seen: Observed) -> dict[str, Any]:
    """Return an answer as the model has it: all that was seen of the operation, and one value.

    Lists have one item. Members other than states have any value; a list or state that was never
    seen is left out.
    """
    most: dict[str, Observed] = {}
    for each in held.observed:
        if each.path and each.recorded + each.documented > sum(most.get(each.path, each)[2:]) - 1:
            most[each.path] = each
    answer: dict[str, Any] = _filled(held.waiter.operation.output_shape)
    for each in (*most.values(), seen):
        _put(answer, held.waiter.operation.output_shape, steps(each.path), each.value)
    return answer


def _filled(shape: Shape) -> Any:
    """Return a value for a structure or a list of one: its plain members that are no states."""
    if isinstance(shape, ListShape):
        return [_filled(shape.member)]
    plain = {"string": "text", "integer": 1, "long": 1, "boolean": False}
    return {
        name: plain[member.type_name]
        for name, member in getattr(shape, "members", {}).items()
        if member.type_name in plain and not _STATE.search(name) and not member.metadata.get("enum")
    }


def _put(document: Any, shape: Shape, path: list[str], value: str) -> None:
    name, *rest = path
    member = shape.value if isinstance(shape, MapShape) else shape.members.get(name)
    if member is None:
        return
    while rest[:1] == ["[]"]:
        rest = rest[1:]
    if not rest:
        document[name] = [value] if isinstance(member, ListShape) else value
        return
    inner = document.setdefault(name, _filled(member))
    if isinstance(member, ListShape):
        inner, member = inner[0], member.member
    _put(inner, member, rest, value)


def evidence(reference: Path) -> dict[str, Any]:
    """Return the content of `data/evidence.json`."""
    facts: dict[str, dict[str, dict[str, Any]]] = {}
    for each in held_waiters(reference):
        found = _counts(each)
        if found:
            facts.setdefault(_shape_id(each.waiter), {})[each.waiter.definition.name] = found
    for service_id in shipped_services():
        for definition in shipped_definitions(service_id):
            if "run-on-moto" in definition.tags and _every_value_judged(service_id, definition):
                waiter = BoundWaiter(
                    definition, models()[service_id].operation_model(definition.operation)
                )
                facts.setdefault(_shape_id(waiter), {}).setdefault(definition.name, {})["enum"] = (
                    True
                )
    shapes = {
        shape_id: {"type": "apply", "traits": {EVIDENCE: dict(sorted(facts[shape_id].items()))}}
        for shape_id in sorted(facts)
    }
    return {"smithy": "2.0", "shapes": shapes}


def _counts(held: Held) -> dict[str, Any]:
    """Return how often a waiter's state was seen: at the member that was seen most, and errors."""
    states: dict[str, list[Observed]] = {}
    for seen in held.of_state():
        states.setdefault(seen.path, []).append(seen)
    most = max(states.values(), key=lambda found: sum(e.recorded for e in found), default=[])
    matching = held.waiter.polling.matching
    known = [
        e for e in held.errors() if matching.match_error(_names(held, e.value)).index is not None
    ]
    counts = {
        "documented": sum(each.documented for each in (*most, *known)),
        "recorded": sum(each.recorded for each in (*most, *known)),
    }
    return {name: count for name, count in counts.items() if count}


def _shape_id(waiter: BoundWaiter) -> str:
    service = str(waiter.operation.service_model.service_id)
    return f"{aws_namespace(service)}#{waiter.operation.name}"


def _every_value_judged(service_id: str, definition: WaiterDefinition) -> bool:
    """Whether a table of the tests judges every value of the enumeration of a waiter's state."""
    table = json.loads((CASES / "states" / f"{service_id}.json").read_text(encoding="utf-8"))
    line = table["waiters"][definition.name]
    output = models()[service_id].operation_model(definition.operation).output_shape
    values = enum_at(output, line["state"]) if "state" in line else ()
    return bool(values) and {*values} <= {*line["values"]}


def enum_at(shape: Shape | None, path: str) -> tuple[str, ...]:
    """Return the values of the enumeration at a path; none if it is no enumeration."""
    for step in steps(path):
        while isinstance(shape, ListShape):
            shape = shape.member
        if isinstance(shape, MapShape):
            shape = shape.value
        elif step != "[]" and isinstance(shape, StructureShape):
            shape = shape.members.get(step)
    return tuple(getattr(shape, "enum", ()))


def main(arguments: list[str] | None = None) -> None:
    """Print or write what was asked for."""
    parser = argparse.ArgumentParser(description="Hold the shipped waiters against what was seen.")
    parser.add_argument("reference", type=Path)
    parser.add_argument("--problems", action="store_true")
    parser.add_argument("--evidence", type=Path, metavar="FILE")
    parser.add_argument("--states", action="store_true")
    options = parser.parse_args(arguments)
    if options.evidence:
        text = file_text(evidence(options.reference))
        options.evidence.write_text(text, encoding="utf-8")
    if options.problems:
        print("\n".join(problems(options.reference)))
    if options.states:
        print("\n".join(states_report(options.reference)))


if __name__ == "__main__":
    main()
