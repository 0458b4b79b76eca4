"""What a new botocore means for `data/`, as far as rules tell; see `tools/raise_botocore.py`.

A rule gives an answer only where nothing speaks against it. What is left, a person reads.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from botocore.model import OperationModel, ServiceModel
from draft_waiters import Decision
from model_states import IN_PROGRESS, gone_errors, passing_states

from boto_waiters_plus.check.absence_rules import processes_of
from boto_waiters_plus.definitions.state_words import (
    ENDINGS,
    FAILED_WORDS,
    is_underway,
    means_absence,
    means_gone,
    says_failure,
    sort_states,
    state_words,
)
from boto_waiters_plus.definitions.words import LEADS, READS, listed, resource_of, verb_of, words_of
from boto_waiters_plus.engine.acceptors import ErrorTypeMatcher
from boto_waiters_plus.engine.model import WaiterDefinition

_BEGINNINGS: Final = ("Create", "Import", "Register", "Start")
_STARTS: Final = (*_BEGINNINGS, "Run", "Submit", "Update")
_ENDINGS_OF_CALLS: Final = ("Delete", "Deregister", "Terminate")
_SETTLE: Final = 60
"""Seconds, as in most effects."""

_DELETION: Final = ("DELET", "DEREGIST", "PURG", "TERMINAT")
_BACKWARDS: Final = listed(
    "ARCHIV CANCEL DEACTIV DEALLOC DEPROVISION DETACH DISABL DISASSOC DISSOC EXPIR OFFBOARD PAUS "
    "REJECT RELEAS REMOV RESIGN REVOK ROLL SHUT SKIP STOP SUSPEND UNASSIGN UNSUBSCRI"
)
_UNCLEAR: Final = listed(
    "ABSENT AFTER DESTROYED ERASED FAILING FROM GONE INACTIVE LONGER MISSING NEVER NO NONE NOT "
    "PARTIAL PARTIALLY PROTECTED RESPONDING RETRYABLE WITH WITHOUT"
)
_OF_DELETIONS: Final = listed("COMPLETE COMPLETED IN PENDING PROGRESS REQUESTED SCHEDULED STARTED")

_READING: Final = re.compile(
    r"(Use \w+ to )?(count|describe|get|list|look|read|retrieve|return|search|show|view)(e?s)?\b",
    re.IGNORECASE,
)
_ALARMING: Final = re.compile(
    r"(?i)\b(bill(ed|ing)|charge[sd]?|consum\w+|costs?|credentials?|creates?|deletes?|marks?|mint\w*"
    r"|next|one-time|passwords?|pre-?signed|pric\w+|quer(y|ies)|secrets?|sends?|starts?|tokens?|updates?|urls?)\b"
)

_ENDS: Final = ("Status", "State")

# A second request is no time.
_DURATION: Final = re.compile(
    r"\b(\d+|(?:an?|one)(?! second)) (second|minute|hour|day|year)s?\b", re.IGNORECASE
)
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "year": 31_536_000}
_SENTENCE: Final = re.compile(r"(?<=[.!?]) +")


class Answer(NamedTuple):
    """What a rule says."""

    text: str
    """`failure`, the name of a waiter, and so on."""
    rule: str
    """Why, in words."""


# --- a new state --------------------------------------------------------------------------------


def verdict_on(waiter: str, value: str, known: Mapping[str, str]) -> Answer | None:
    """Return what a new state is for a waiter: success, failure or retry.

    Args:
        waiter: its name.
        value: the state.
        known: what the other states are for it.
    """
    words = state_words(value)
    is_named = words <= {word.upper() for word in words_of(waiter)}
    if is_named or words & _UNCLEAR or (_ends(value) and not _goes(value)):
        return None
    fails, goes = bool(words & FAILED_WORDS), _goes(value)
    if means_gone(waiter):
        ends = any(word.startswith(tuple(ENDINGS)) for word in words)
        if fails and ends:
            return Answer("failure", "the deletion failed") if _just_fails(value) else None
        is_end = not is_underway(words) and (ends or _is_backwards(value))
        if words <= FAILED_WORDS or is_end:
            return None
        return Answer("retry", "what is not gone can be deleted, whatever its state")
    if fails and (not _just_fails(value) or _is_backwards(value) or _is_anothers(waiter, value)):
        return None
    if fails or goes:
        rule = "says failure" if fails else "is being deleted, or is gone"
        alike = [
            verdict
            for other, verdict in known.items()
            if (bool(state_words(other) & FAILED_WORDS) if fails else _goes(other))
        ]
        is_clear = all(verdict == "failure" for verdict in alike) and not means_absence(waiter)
        return Answer("failure", _beside(rule, alike)) if is_clear else None
    if is_underway(words):
        alike = [
            verdict
            for other, verdict in known.items()
            if _is_on_its_way(other) and _is_backwards(other) == _is_backwards(value)
        ]
        is_clear = all(verdict == "retry" for verdict in alike)
        is_clear = is_clear and (bool(alike) or not _is_backwards(value))
        return Answer("retry", _beside("another state follows", alike)) if is_clear else None
    return None


def _beside(rule: str, alike: Sequence[str]) -> str:
    return f"{rule}, as {len(alike)} known" if alike else rule


def _ends(value: str) -> bool:
    return any(word.startswith(_DELETION) for word in state_words(value))


def _goes(value: str) -> bool:
    """Whether a state is of a deletion, and of nothing else."""
    others = {word for word in state_words(value) if not word.startswith(_DELETION)}
    return _ends(value) and others <= _OF_DELETIONS | FAILED_WORDS


def _just_fails(value: str) -> bool:
    """Whether a state is a failure, and the last word says so."""
    return says_failure(value) and words_of(value)[-1].upper() in FAILED_WORDS


def _is_on_its_way(value: str) -> bool:
    words = state_words(value)
    return is_underway(words) and not words & FAILED_WORDS and not _goes(value)


def _is_anothers(waiter: str, value: str) -> bool:
    """Whether a state is of another process than the one that a waiter is named after."""
    own = processes_of(waiter)
    return bool(own) and not processes_of(value) <= own


def _is_backwards(value: str) -> bool:
    return any(word.startswith(tuple(_BACKWARDS)) for word in state_words(value))


# --- a new operation ----------------------------------------------------------------------------


def waiter_for(operation: OperationModel) -> tuple[Decision, str] | None:
    """Return the draft of a waiter for a read operation with a rule behind it, and the rule.

    The operation has one state, of an enumeration, and every value is a success, a failure or on
    its way, or says that the resource is being deleted.
    """
    states, noun = list(passing_states(operation)), noun_of(operation)
    is_one = len(states) == 1 and "[]" not in states[0][0]
    if noun is None or not is_one or verb_of(operation.name) not in READS:
        return None
    path, values = states[0]
    sorted_states = sort_states(values)
    left = [v for v in sorted_states.passing if not _passes(v)]
    name = operation.name
    # What is at rest without being wanted is a person's to judge.
    if not all(_just_fails(each) or _goes(each) for each in sorted_states.failure):
        return None
    begun = _resource(operation)
    if _ends(operation.name) or not _calls(operation) & {f"{verb}{begun}" for verb in _STARTS}:
        return None
    is_own = re.fullmatch(r"(?i)(status|state)", path.rpartition(".")[2]) or path in _own(operation)
    is_plain = len(sorted_states.success) == 1 and sorted_states.failure and not left and is_own
    if not is_plain or len(gone_errors(operation)) > 1 or not name.startswith(("Get", "Describe")):
        return None
    rule = f"every value of {path} says what it is"
    return Decision(operation, noun, {"pace": "short"}), rule


def deletion_for(
    operation: OperationModel, shipped: Iterable[WaiterDefinition]
) -> tuple[Decision, str] | None:
    """Return the draft of a waiter for the end of what an operation reads, and the rule."""
    errors = gone_errors(operation)
    used = {
        each.matcher.name
        for waiter in shipped
        if waiter.operation == operation.name
        for each in waiter.acceptors
        if isinstance(each.matcher, ErrorTypeMatcher)
    }
    states, noun = list(passing_states(operation)), noun_of(operation)
    is_one = len(states) == 1 and "[]" not in states[0][0]
    if noun is None or not is_one or len(errors) != 1 or used - {*errors}:
        return None
    members = {"only": "", "name": f"{_resource(operation)}Deleted"}
    rule = f"it can be deleted, and {errors[0]} says that it is gone"
    return Decision(operation, noun, members), rule


def _calls(operation: OperationModel) -> set[str]:
    return {*operation.service_model.operation_names}


def _passes(value: str) -> bool:
    words = state_words(value)
    return is_underway(words) or bool(words & IN_PROGRESS)


def _own(operation: OperationModel) -> tuple[str, ...]:
    """Return the names of a state that is named after what an operation reads."""
    resource = resource_of(operation.name)
    return tuple(
        f"{name}{end}" for name in (resource, resource[:1].lower() + resource[1:]) for end in _ENDS
    )


def noun_of(operation: OperationModel) -> str | None:
    """Return what an operation is about, with its article; None for several things."""
    words = words_of(_resource(operation))
    noun = " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words)
    if not noun or re.search(r"[^aiousy]s$", noun):
        return None
    return f"{'an' if re.match('[aeio]|u(?!s|ni)', noun) else 'a'} {noun}"


def _resource(operation: OperationModel) -> str:
    """Return the name of an operation without its verb."""
    return re.sub(f"^({'|'.join(LEADS)})?{verb_of(operation.name)}", "", operation.name)


def may_be_polled(operation: OperationModel, text: str) -> bool:
    """Return whether the documentation of a read operation says that it does nothing else."""
    first = _SENTENCE.split(text)[0]
    reads = verb_of(operation.name) in ("Describe", "Get", "List")
    return (
        reads and bool(_READING.match(first)) and not _ALARMING.search(f"{operation.name} {text}")
    )


# --- a new mutation -----------------------------------------------------------------------------


def effect_for(
    mutation: OperationModel,
    polled: Mapping[str, OperationModel],
    names: Mapping[str, Sequence[str]],
) -> tuple[str, dict[str, Any], str] | None:
    """Return the effect of a mutation: the waiter, the trait, and the rule.

    Args:
        mutation: the call.
        polled: the operations that waiters of the service poll, by name.
        names: the waiters of each.
    """
    verb, noun = verb_of(mutation.name), _noun(mutation)
    reads = [each for name, each in polled.items() if _noun(each) == noun]
    is_end = verb in _ENDINGS_OF_CALLS
    if len(reads) != 1 or not (is_end or verb in _BEGINNINGS):
        return None
    [read] = reads
    waiters = [name for name in names[read.name] if means_gone(name) == is_end]
    trait = trait_of(mutation, read, waiters[0]) if len(waiters) == 1 else None
    if trait is None:
        return None
    rule = f"{read.name} reads what {mutation.name} {'ends' if is_end else 'begins'}"
    return waiters[0], trait, rule


def trait_of(
    mutation: OperationModel,
    read: OperationModel,
    waiter: str,
    given: Mapping[str, str] | None = None,
) -> dict[str, Any] | None:
    """Return an effect as the data have it; None if the call does not name what is read.

    Args:
        mutation: the call.
        read: the operation that the waiter polls.
        waiter: its name.
        given: the parameters of the read, if the call has them under other names.
    """
    begins = verb_of(mutation.name) in _BEGINNINGS
    parameters = given or parameters_from(mutation, read, of_answer=begins)
    if parameters is None:
        return None
    if begins:
        return {"parameters": parameters, "basis": "identity"}
    # What was active before may still be.
    basis = "goal" if means_gone(waiter) else "transition"
    return {"parameters": parameters, "basis": basis, "settleFor": _SETTLE}


def stop_of(mutation: OperationModel, service: ServiceModel) -> dict[str, Any] | None:
    """Return the call that stops what a mutation begins, as the trait has it."""
    begun = re.sub(r"^(Create|Start)", "", mutation.name)
    for name in (f"Stop{begun}", f"Cancel{begun}"):
        if begun != mutation.name and name in service.operation_names:
            parameters = parameters_from(mutation, service.operation_model(name), of_answer=True)
            return parameters and {"operation": name, "parameters": parameters}
    return None


def parameters_from(
    mutation: OperationModel, read: OperationModel, *, of_answer: bool
) -> dict[str, str] | None:
    """Return where the call has what a read requires; None if it lacks one of it."""
    sides = {"input": mutation.input_shape, "output": mutation.output_shape}
    order = ("output", "input") if of_answer else ("input", "output")
    found = {}
    required = read.input_shape.required_members if read.input_shape else ()
    for name in (each for each in required if each not in read.idempotent_members):
        places = [side for side in order if name in getattr(sides[side], "members", {})]
        if not places:
            return None
        found[name] = f"call.{places[0]}.{name}"
    return found or None


def _noun(operation: OperationModel) -> tuple[str, ...]:
    words = [word for word in words_of(operation.name) if word not in LEADS][1:]
    return tuple(word.lower() for word in words)


# --- a changed sentence -------------------------------------------------------------------------


def lifetime_told(text: str) -> tuple[str, int] | None:
    """Return the only sentence of a token's documentation that says a time, and the seconds."""
    sentences = [each for each in _SENTENCE.split(text) if _DURATION.search(each)]
    times = [time for each in sentences for time in _DURATION.findall(each)]
    return (sentences[0], _seconds(*times[0])) if len(times) == 1 else None


def lifetime_instead(quoted: str, text: str) -> tuple[str, int] | None:
    """Return the sentence that says another time than a quoted one, and the seconds."""
    for sentence in _SENTENCE.split(text):
        times = _DURATION.findall(sentence)
        if len(times) == 1 and _DURATION.sub("", sentence) == _DURATION.sub("", quoted):
            return sentence, _seconds(*times[0])
    return None


def _seconds(number: str, unit: str) -> int:
    return (int(number) if number.isdigit() else 1) * _SECONDS[unit.lower()]


def nearest_sentence(quoted: str, text: str) -> str:
    """Return the sentence that is most like a quoted one; empty if none is."""
    return next(iter(difflib.get_close_matches(quoted, _SENTENCE.split(text), 1, 0.5)), "")
