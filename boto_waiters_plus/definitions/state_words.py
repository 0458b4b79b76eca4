"""The meaning of a resource's states, guessed from the words of their names.

It stands alone: its expressions take 4 ms to compile, and the lookup of a method needs none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from html import unescape
from typing import Final, NamedTuple

from .words import listed, words_of

FAILED_WORDS = listed(
    "FAIL FAILED FAILURE FAILURES FAULT FAULTED ERROR ERRORED ERRORS CRASHED REJECTED TIMED "
    "TIMEDOUT TIMEOUT UNSUCCESSFUL UNRECOVERABLE"
)
GONE_WORDS = listed("DELETED TERMINATED REMOVED DEREGISTERED DISASSOCIATED DETACHED")
ENDED_WORDS = GONE_WORDS | listed(
    "ABORTED CANCELED CANCELLED EXPIRED STOPPED REVOKED RETIRED SHUT SHUTDOWN DEACTIVATED"
)
UNDERWAY_WORDS = listed("PROGRESS PENDING RETRY REQUESTED PARTIALLY TEMPORARY")
# Beginnings of words, so that DELETE, DELETING, DELETED and DELETION are one.
ENDINGS = listed("DELET DEREGIST DETACH DISASSOCIAT PURG REMOV TERMINAT")

_PROBLEMS = FAILED_WORDS | listed(
    "ABANDONED BLOCKED CLOSED DEGRADED DENIED DISALLOWED DISCARDED EXCEEDED EXCEPTION "
    "INACCESSIBLE INCOMPATIBLE INCOMPLETE INSUFFICIENT INTERRUPTED INVALID ISSUES MALWARE "
    "MISCONFIGURED PROBLEMS QUARANTINED RECLAIMED RESTRICTED SUPERSEDED UNHEALTHY UNSUPPORTED "
    "VIOLATIONS"
)
_BACKWARDS = ENDINGS | listed("CANCEL DEPROVISION DISABL ISOLAT REVERS REVOK ROLL STOP UNINSTALL")
_NEGATIONS = listed("NEVER NO NOT")
# Beside a failure: of something else, or of another time.
_OF_ANOTHER = listed(
    "BACK LAST LESS MAY NONE OVER PREVIOUS PREVIOUSLY RECOVERED RECOVERING RETRYING SAFE SOME "
    "WITHOUT ZERO"
)
# What a process reaches at its end, and what it may also pass through.
_GOALS = listed(
    "ACTIVATED ACTIVE ADVERTISED APPROVED ASSIGNED ASSOCIATED ATTACHED AVAILABLE COMMITTED "
    "COMPLETE COMPLETED CONFIRMED CONNECTED COPIED DELIVERED DEPLOYED DONE ENABLED ENDED EXECUTED "
    "FINISHED FULFILLED GRANTED HEALTHY IMPORTED INDEXED INSTALLED ISSUED LINKED MOUNTED OK ONLINE "
    "OPERATIONAL PASS PASSED PROCESSED PROVISIONED PUBLISHED READY RESOLVED SERVICE SUCCEEDED "
    "SUCCESS SUCCESSFUL SYNC SYNCED TRAINED VALID VALIDATED VERIFIED"
)
_LESSER_GOALS = listed(
    "ACCEPTED CREATED INITIALIZED OPEN REGISTERED RUNNING SCHEDULED STARTED UPDATED USE"
)

_ABSENT: Final = ENDINGS | listed(
    "CANCEL DEPROVISION DISABL DISCONNECT EMPTY INACTIVE NO NOT RELEAS"
)
_GONE_NAME: Final = re.compile(r"\w*(DeleteComplete|NotExists?)")

_OF_STATES: Final = (
    _PROBLEMS | ENDED_WORDS | UNDERWAY_WORDS | _GOALS | _LESSER_GOALS | {"INACTIVE", "STANDBY"}
)

_TAG: Final = re.compile(r"<[^>]+>")
_MARKED: Final = re.compile(r"<code>(.*?)</code>|<li>\s*(?:<p>)?(.*?)(?:</p>|</li>|\Z)", re.DOTALL)
_PLAIN: Final = re.compile(r"\b[A-Z]{2,}(?:[_ -][A-Z]+)*\b|[\w -]+(?:\|[\w -]+)+")
"""Capitals, or words between bars."""
_END_OF_STATE: Final = re.compile(r" [-–—] |[:.(,]")  # noqa: RUF001 - dashes of documentation
_BETWEEN_STATES: Final = re.compile(r"[|,>/]| -?or-? ")
_STATE: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[ _-][A-Za-z0-9]+){0,3}\Z")


class SortedStates(NamedTuple):
    """The states of a resource in three groups, each in the order in which they were given."""

    success: tuple[str, ...]
    failure: tuple[str, ...]
    passing: tuple[str, ...]

    def in_words(self) -> str:
        """Return the groups that have a state: `success: ACTIVE; failure: FAILED`."""
        return "; ".join(f"{k}: {', '.join(v)}" for k, v in self._asdict().items() if v)


def sort_states(
    values: Iterable[str], success: Iterable[str] = (), failure: Iterable[str] = ()
) -> SortedStates:
    """Sort the states of a resource into success, failure and passing, by the words of their names.

    Without `success`, the states that end a process well are success; if there are none, those
    that a process may also pass through, then those in which a resource is gone. `success` is
    empty if every state is on its way or a failure. A state that another follows, or that says
    nothing, is passing.

    Args:
        values: the states, such as the values of an enumeration.
        success, failure: the states that are one or the other, if the caller knows them.
    """
    success, failure = tuple(success), tuple(failure)
    states = tuple(dict.fromkeys((*values, *success, *failure)))
    wanted = {*success}
    if not wanted:
        chosen = (_is_goal, _is_lesser_goal, _is_gone, _says_nothing)
        free = [state for state in states if state not in failure]
        found = (tuple(filter(is_success, free)) for is_success in chosen)
        wanted = {*next(filter(None, found), ())}
    others = [state for state in states if state not in wanted]
    failure = tuple(dict.fromkeys(failure)) or _failures(others, wanted)
    sorted_states = {*wanted, *failure}
    passing = tuple(state for state in states if state not in sorted_states)
    return SortedStates(tuple(s for s in states if s in wanted), failure, passing)


def _failures(others: Sequence[str], wanted: Collection[str]) -> tuple[str, ...]:
    """Return the states that are failure where others are wanted."""
    if wanted and all(map(_is_gone, wanted)):
        # A resource can be deleted whatever else has failed.
        return tuple(filter(_fails_to_end, others)) or tuple(filter(_just_failed, others))
    return tuple(filter(_is_failure, others))


@lru_cache(maxsize=64)
def documented_states(documentation: str) -> tuple[str, ...]:
    """Return the states that the documentation of a member lists.

    Args:
        documentation: HTML, as models have it. States are marked as code, items of a list,
            separated by bars, or in capitals.
    """
    texts = []
    for code, item in _MARKED.findall(documentation):
        # An item explains its state.
        texts.append(code or _END_OF_STATE.split(_without_tags(item).strip(), maxsplit=1)[0])
    texts += _PLAIN.findall(_without_tags(documentation))
    parts = (part for text in texts for part in _BETWEEN_STATES.split(_without_tags(text)))
    found = (part.strip(" \"'\n") for part in parts)
    return tuple(dict.fromkeys(filter(_is_like_a_state, found)))


def _without_tags(text: str) -> str:
    return unescape(_TAG.sub("", text))


def _is_like_a_state(text: str) -> bool:
    words = _words(text) if _STATE.match(text) else []
    return any(word in _OF_STATES or word.endswith(("ED", "ING")) for word in words)


def state_words(value: str) -> frozenset[str]:
    """Return the words of a state, in capitals; of a sentence, those behind its last `is`."""
    return frozenset(_words(value))


def _words(value: str) -> list[str]:
    return [word.upper() for word in words_of(value.rpartition(" is ")[2])]


def is_underway(words: Iterable[str]) -> bool:
    """Whether a word says that another state follows."""
    return any(word in UNDERWAY_WORDS or _is_activity(word) for word in words)


def means_absence(name: str) -> bool:
    """Whether the name of a waiter says that it waits for an end or an absence."""
    words = [word.upper() for word in words_of(name)]
    return any(word in ENDED_WORDS or word.startswith(tuple(_ABSENT)) for word in words)


def means_gone(name: str) -> bool:
    """Whether the name of a waiter says that it waits until a resource no longer exists."""
    words = words_of(name)
    return bool(words) and (words[-1].upper() in GONE_WORDS or bool(_GONE_NAME.fullmatch(name)))


def gone_states(values: Iterable[str], operation: str) -> tuple[str, ...]:
    """Return the states in which what an operation describes is gone."""
    # `RUNS_DELETED` is about a part, and what was detached is there, unless it is an attachment.
    is_relation = re.search("Associat|Attach", operation)
    starts = ENDINGS if is_relation else ENDINGS - {"DETACH", "DISASSOCIAT"}
    return tuple(v for v in values if _is_gone(v) and v.upper().startswith(tuple(starts)))


def _is_activity(word: str) -> bool:
    return word.endswith("ING") and word not in ("MISSING", "RUNNING", "WARNING")


def says_failure(value: str) -> bool:
    """Whether the name of a state says that something failed, and that no other state follows."""
    words = state_words(value)
    return bool(words & FAILED_WORDS) and is_problem(value) and not words & _NEGATIONS


def says_it_failed(value: str, wanted: Collection[str]) -> bool:
    """Whether a text that no model lists is a state that says failure, where others are wanted.

    `CREATE FAILED` is one. `NO_ERRORS`, `FAILED_RETRYING` and sentences are none; nor is, where all
    that is wanted is that something is gone, a failure of anything else.
    """
    words, parts = _words(value), value.split()
    # Small letters after the first word are those of a sentence.
    is_state = _STATE.match(value) and (len(parts) < 3 or value.isupper() or value.istitle())
    if not is_state or value in wanted or not _OF_ANOTHER.isdisjoint(words):
        return False
    is_at_end = words[-1] in FAILED_WORDS or words[-2:] == ["TIMED", "OUT"]
    is_at_start = words[0] == "FAILED" and words[-1] not in _GOALS
    is_meant = _fails_to_end(value) or not all(map(_is_gone, wanted))
    return (is_at_end or is_at_start) and is_meant and says_failure(value)


def is_problem(value: str) -> bool:
    """Whether a state means failure: `PAUSING_FAILED` does, `FAILED_RETRYING` does not."""
    words = _words(value)
    if "PARTIAL" in words and _GOALS & {*words}:
        return True
    is_temporary = "TEMPORARY" in words and len(words) == 2
    follows = is_underway(words[-1:]) and " is " not in value
    return bool(_PROBLEMS & {*words}) and not follows and not is_temporary


def _is_backwards(value: str) -> bool:
    """Whether a state is the good end of a process that undoes another."""
    words = state_words(value)
    is_end = bool(words & (_GOALS | ENDED_WORDS))
    return is_end and any(word.startswith(tuple(_BACKWARDS)) for word in words)


def _is_end(value: str) -> bool:
    words = state_words(value)
    return not is_underway(words) and (bool(words & ENDED_WORDS) or _is_backwards(value))


def _is_failure(value: str) -> bool:
    return is_problem(value) or _is_end(value)


def _is_gone(value: str) -> bool:
    words = state_words(value)
    ending = any(word.startswith(tuple(ENDINGS)) for word in words)
    return ending and _is_end(value) and not is_problem(value)


def _fails_to_end(value: str) -> bool:
    return is_problem(value) and any(w.startswith(tuple(ENDINGS)) for w in state_words(value))


def _just_failed(value: str) -> bool:
    return state_words(value) <= FAILED_WORDS


def _says_nothing(value: str) -> bool:
    words = state_words(value)
    return not is_problem(value) and not is_underway(words) and not words & _NEGATIONS


def _reaches(value: str, goals: frozenset[str]) -> bool:
    words = state_words(value)
    is_clear = not _is_failure(value) and not is_underway(words) and not words & _NEGATIONS
    return is_clear and bool(words & goals)


def _is_goal(value: str) -> bool:
    return _reaches(value, _GOALS)


def _is_lesser_goal(value: str) -> bool:
    return _reaches(value, _LESSER_GOALS)
