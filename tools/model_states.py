"""List the read operations whose answer has a state that passes, and what waits for it.

    python tools/model_states.py
    python tools/model_states.py --open [SERVICE ...]

An operation counts if it gets or describes (Get, Describe, BatchGet, BatchDescribe), and its answer
has a member that is named like a state and whose values, by its enumeration or else its
documentation, are in progress and at rest. It is *covered* by a shipped waiter or effect that polls
it, *reasoned* by a line of `data/no-waiter.json` that says why there is none, else *open*. `--open`
prints the open ones: each state with its values, `+` behind those that are success by their names,
`-` behind failures, and the errors that mean gone. After them it prints the operations that delete
what has a waiter but none for its end.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from botocore.model import OperationModel
from effect_of import effects
from observed_states import models
from state_paths import STATE_NAMES, state_paths, states_at, strings

from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.definitions.state_words import (
    GONE_WORDS,
    documented_states,
    is_underway,
    means_gone,
    sort_states,
    state_words,
)
from boto_waiters_plus.definitions.words import listed, verb_of, words_of
from boto_waiters_plus.service.errors import says_not_found

REASONS = Path(__file__).resolve().parents[1] / "data/no-waiter.json"

_STARTS = (["Get"], ["Describe"], ["Batch", "Get"], ["Batch", "Describe"])
_WAITERS = re.compile(r"\b((?:[A-Z]\w*[a-z][A-Z]\w+ and )?[A-Z]\w*[a-z][A-Z]\w+) waits?\b")
_DELETIONS = ("Delete", "BatchDelete", "Deregister", "Disassociate", "Remove", "Terminate")
IN_PROGRESS = listed("INITIATED QUEUED RUNNING STARTED SUBMITTED WAITING")


class StateOperation(NamedTuple):
    """A read operation whose answer has states that pass."""

    service_id: str
    operation: OperationModel
    states: tuple[tuple[str, tuple[str, ...]], ...]
    """Path and values of each, the best first."""


class Judged(NamedTuple):
    """The operations by what waits for them."""

    covered: list[StateOperation]
    reasoned: list[StateOperation]
    open: list[StateOperation]

    @property
    def total(self) -> int:
        """The number of operations."""
        return sum(map(len, self))


def state_operations() -> Iterator[StateOperation]:
    """Yield each operation of the installed botocore that counts."""
    for service_id, model in sorted(models().items()):
        for name in model.operation_names:
            words = words_of(name)
            operation = model.operation_model(name)
            if any(words[: len(start)] == start for start in _STARTS):
                states = tuple(passing_states(operation))
                if states:
                    yield StateOperation(service_id, operation, states)


def passing_states(operation: OperationModel) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the path and values of each state with values in progress and values at rest."""
    for path in state_paths(operation):
        values = states_at(operation, path)
        if path.removesuffix("[]").lower().endswith(STATE_NAMES) and _pass(values):
            yield path, values
    for steps, shape in strings(operation.output_shape, (), frozenset()):
        path = ".".join(steps)
        if not shape.enum and path.removesuffix("[]").lower().endswith(STATE_NAMES):
            values = documented_states(shape.documentation)
            if _pass(values):
                yield path, values


def _pass(values: Sequence[str]) -> bool:
    passing = [v for v in values if is_underway(words := state_words(v)) or words & IN_PROGRESS]
    return 0 < len(passing) < len(values)


def judged() -> Judged:
    """Return the operations by what waits for them."""
    reasons = json.loads(REASONS.read_text(encoding="utf-8"))
    polled = {
        (service_id, definition.operation)
        for service_id in shipped_services()
        for definition in shipped_definitions(service_id)
    }
    by_effect = {
        (each.polled.service_model.service_id.hyphenize(), each.polled.name) for each in effects()
    }
    found = Judged([], [], [])
    for each in state_operations():
        if (each.service_id, each.operation.name) in polled:
            found.covered.append(each)
        elif each.operation.name in reasons.get(each.service_id, {}):
            found.reasoned.append(each)
        elif (each.service_id, each.operation.name) in by_effect:
            found.covered.append(each)
        else:
            found.open.append(each)
    return found


def unawaited_deletions() -> Iterator[tuple[str, str, str]]:
    """Yield service, deletion and read of what has waiters, but none until it is gone.

    The read has a required parameter, and an error or a state that says that the resource is gone.
    """
    for service_id, model in sorted(models().items()):
        shipped = shipped_definitions(service_id)
        polled = {each.operation for each in shipped} & {*model.operation_names}
        gone = {each.operation for each in shipped if means_gone(each.name)}
        names = {each.name for each in shipped if means_gone(each.name)}
        for name in sorted(polled - gone):
            operation = model.operation_model(name)
            request = operation.input_shape
            noun = re.sub(rf"^(Batch)?{verb_of(name)}", "", name)
            deletions = {f"{verb}{noun}" for verb in _DELETIONS} & {*model.operation_names}
            is_named = any(each.startswith(noun) for each in names)
            if deletions and request and request.required_members and not is_named:
                states = (state for _, values in passing_states(operation) for state in values)
                if gone_errors(operation) or any(state_words(s) & GONE_WORDS for s in states):
                    yield service_id, min(deletions, key=len), name


def unknown_waiters(reasons: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the names of waiters in reasons that no service has."""
    known = {each.name for service in shipped_services() for each in shipped_definitions(service)}
    for text in (reason for each in reasons.values() for reason in each.values()):
        for names in _WAITERS.findall(text):
            yield from {*names.split(" and ")} - known


def gone_errors(operation: OperationModel) -> list[str]:
    """Return the modelled errors that say that the resource does not exist."""
    return [error.name for error in operation.error_shapes if says_not_found(error.name)]


def report(found: Judged) -> str:
    """Return the counts and the share in one line."""
    counts = ", ".join(f"{len(group)} {name}" for name, group in found._asdict().items())
    share = (found.total - len(found.open)) / found.total
    return f"{found.total} operations: {counts}; {share:.1%} covered or reasoned"


def described(each: StateOperation) -> Iterator[str]:
    """Yield the lines about an open operation."""
    operation = each.operation
    request = operation.input_shape
    required = ",".join(request.required_members if request is not None else ())
    yield f"{operation.name}({required}) {' '.join(gone_errors(operation))}"
    for path, values in each.states:
        states = sort_states(values)
        marks = {**dict.fromkeys(states.success, "+"), **dict.fromkeys(states.failure, "-")}
        yield f"    {path}: {' '.join(v + marks.get(v, '') for v in values)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the share, and the open operations if asked to."""
    parser = argparse.ArgumentParser(description="List read operations with a state that passes.")
    parser.add_argument("--open", nargs="*", metavar="SERVICE", help="print the open operations")
    options = parser.parse_args(arguments)
    found = judged()
    for each in found.open if options.open is not None else ():
        if not options.open or each.service_id in options.open:
            print(each.service_id, "\n".join(described(each)))
    for deletion in unawaited_deletions() if options.open is not None else ():
        if not options.open or deletion[0] in options.open:
            print(*deletion)
    print(report(found))


if __name__ == "__main__":
    main()
