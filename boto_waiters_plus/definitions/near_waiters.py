"""The waiters that a name which does not exist may have meant, by the words of their names.

A name is about a resource and a state: `crawler_complete` is about a crawler that is done. States
of one meaning are near (complete, succeeded, finished, done); states of opposite meanings (deleted,
stopped, failed, not exists) are never taken for one another, however alike their letters are.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, NamedTuple

from ..common.labels import common_start
from .state_words import ENDED_WORDS, FAILED_WORDS, GONE_WORDS, is_underway
from .words import listed, words_of

MOST: Final = 3
"""Suggestions in one text."""

# Found by trial: of 8,882 names with another word of the same meaning, all but two have the right
# name among their suggestions; of 16,338 with a letter too few or two exchanged, all but 42.
_LEAST_SCORE: Final = 0.45
_MARGIN: Final = 0.25
"""A suggestion is no further behind the best one: half as far if that has the state given, and not
at all if it has the resource, too."""
_LEAST_LIKENESS: Final = 0.75
"""Two words that are more alike than this may be slips of one another."""
_LEAST_SLIP: Final = 0.88
"""The likeness of two names, so that one may be a slip of the other."""
_LEAST_STEM: Final = 4
_ENDINGS: Final = listed("S D E ED ES IES Y ING ION IONS MENT MENTS CATION AL") | {""}
"""How words of one stem may end: `modified` and `modification`, `import` and `imported`."""

_GOOD: Final = ("done", "usable", "underway")
_MEANINGS: Final = {
    "done": listed(
        "COMPLETE COMPLETED COMPLETES COMPLETION DONE ENDED FINISH FINISHED FINISHES PASSED "
        "PROCESSED SUCCEED SUCCEEDED SUCCEEDS SUCCESS SUCCESSFUL SUCCESSFULLY"
    ),
    "usable": listed(
        "ACTIVE AVAILABLE ENABLED EXIST EXISTS HEALTHY OK ONLINE OPERATIONAL PRESENT READY RUNNING "
        "SERVICE STABLE STEADY UP USABLE USE VALID"
    ),
    "gone": GONE_WORDS
    | listed(
        "ABSENT DELETABLE DELETE DELETES DELETION DEALLOCATED DEPROVISIONED DESTROYED GONE "
        "RELEASED REMOVAL TERMINATE TERMINATION UNASSIGNED"
    ),
    "halted": (ENDED_WORDS - GONE_WORDS)
    | listed(
        "CLOSED DEAUTHORIZED DISABLED DISCONNECTED INACTIVE INCOMPLETE LEFT OFFLINE PAUSED STANDBY "
        "SUSPENDED UNINITIALIZED UNROUTED"
    ),
    "failed": FAILED_WORDS | listed("INVALID REJECTED"),
    "back": listed("BACK ROLLBACK ROLLED"),
}
_WORDS: Final = {
    **{f"UN{word}": "halted" for word in _MEANINGS["done"] | _MEANINGS["usable"]},
    **{word: meaning for meaning, words in _MEANINGS.items() for word in words},
}
_OPPOSITES: Final = ("DE", "DIS", "IN", "UN")
"""How the opposite of a word begins: `disassociated`."""
_BEGUN: Final = listed("CREATED LAUNCHED STARTED")
"""States that may mean that something is usable."""
_PRESENT: Final = listed("EXIST EXISTS PRESENT USE")
"""What `ready` means only where there is nothing else."""
_GLUED: Final = re.compile(f"(.{{4,}}?)({'|'.join(w for w in {*_WORDS, *_BEGUN} if w[3:])})")
"""A resource and a state in one word: `instanceready`."""
_FILLERS: Final = listed("BE FOR HAS IN IS NOT ON TO UNTIL WAIT")
_ACTIONS: Final = listed(
    "CREATE CREATED CREATION EXECUTE EXECUTED IMPORT IMPORTED LAUNCHED START STARTED UPDATE "
    "UPDATED V"
)
"""Words that a name may leave out: `stack_complete`."""
_ACTION_WEIGHT: Final = 0.3


class _Name(NamedTuple):
    """What a name is about."""

    words: tuple[str, ...]
    """The resource, and what was done to it."""
    meaning: str | None = None
    """None: there is no state."""
    state: str = ""
    """The state in a word."""


def near_waiters(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that were probably meant, the most probable first; at most three.

    Args:
        name: a name that does not exist, in any spelling.
        known: the names of waiters, in the spelling to return.
    """
    others = {each: _parsed(each) for each in sorted({*known})}
    given, letters = _parsed(name), _letters(name)
    same = [each for each in others if _letters(each) == letters]
    if same:
        return same

    def score(each: str) -> float:
        of_states = _of_states(given, others[each])
        ratio = _ratio(letters, _letters(each)) if of_states else 0
        of_letters = ratio if ratio >= _LEAST_SLIP else 0
        return of_states and of_states * max(of_letters, _of_words(given.words, others[each].words))

    scores = {each: score(each) for each in others}
    found = sorted(scores, key=lambda each: (-scores[each], len(each)))[:MOST]
    best = scores[found[0]] if found else 0
    is_state = best > 0 and _likeness(given.state, others[found[0]].state) > 0
    margin = 0 if best == 1 else _MARGIN / 2 if is_state else _MARGIN
    return [each for each in found if scores[each] >= max(_LEAST_SCORE, best - margin)]


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return the end of a message about a waiter that does not exist; empty without suggestions.

    Args:
        name, known: as for `near_waiters`.
        prefix: what the suggested names begin with.
    """
    near = [repr(prefix + each) for each in near_waiters(name, known)]
    texts = [", ".join(near[:-1]), *near[-1:]]
    return f"; did you mean {' or '.join(filter(None, texts))}?" if near else ""


@lru_cache(maxsize=1024)
def _parsed(name: str) -> _Name:
    words = [word.upper() for word in words_of(name) if not word.isdigit()]
    glued = _GLUED.fullmatch(words[0]) if len(words) == 1 else None
    words = [*glued.groups()] if glued else words
    words = ["NOT" if word in ("NO", "NT", "NTO", "ONT", "OUT") else word for word in words]
    if "OR" in words[1:]:
        # The first state of `completed_or_stopped` is the one to wait for.
        words = words[: words.index("OR")]
    while words[1:] and words[-1] == "V":
        del words[-1]
    states = [word for word in words if word in _WORDS] or [*filter(_is_state, words[:1])]
    if states and not _is_state(_state(words[-1])):
        # `stopped_instance`
        words.append(states[-1])
        words.remove(states[-1])
    state = _state(words[-1]) if words else ""
    meaning = _WORDS.get(state)
    if meaning is None and is_underway([state]):
        meaning = "underway"
    elif meaning is None and state.endswith("ED"):
        meaning = "done"
    if meaning is None:
        return _Name(_content(words))
    rest = words[:-1]
    if "NOT" in rest:
        is_end = meaning not in _GOOD
        meaning = "usable" if is_end else "gone" if state.startswith("EXIST") else "halted"
    elif meaning in ("done", "usable"):
        meaning = next((_WORDS[each] for each in reversed(rest) if _is_end(each)), meaning)
    is_plain = state in _WORDS or meaning == "underway"
    return _Name(_content(rest if is_plain else words), meaning, state)


def _is_state(word: str) -> bool:
    return word in _WORDS or word.endswith("ED")


def _content(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in _FILLERS and not _is_end(word))


def _is_end(word: str) -> bool:
    return _WORDS.get(word, "done") not in _GOOD


@lru_cache(maxsize=1024)
def _state(word: str) -> str:
    """Return the state that a word is, or is a slip of; else the word."""
    if word in _WORDS or len(word) < _LEAST_STEM:
        return word
    letters = sorted(word)
    others = [state for state in _WORDS if not _are_opposite(word, state)]
    *like, state = max((letters == sorted(each), _ratio(word, each), each) for each in others)
    return state if max(like) >= _LEAST_SLIP else word


def _of_words(given: Sequence[str], other: Sequence[str]) -> float:
    """Return how probably a resource is meant, from 0 to 1."""
    if not given:
        return 0.0
    weights = [_ACTION_WEIGHT if word in _ACTIONS else 1.0 for word in given]
    # The last noun is what the wait is about: the run of `job_run`.
    nouns = [place for place, word in enumerate(given) if not word.endswith("ED")]
    weights[nouns[-1] if nouns else 0] = 2.0
    best = [max((_likeness(word, each) for each in other), default=0) for word in given]
    found = sum(map(operator.mul, weights, best)) / sum(weights)
    lacking = {word for word, likeness in zip(given, best, strict=True) if not likeness}
    unasked = {each for each in other if not any(_likeness(word, each) for word in given)}
    extra = sum(_ACTION_WEIGHT if each in _ACTIONS else 1.0 for each in unasked)
    score = 0.75 * found + 0.25 * len(given) / (len(given) + extra) if found else 0.0
    if unasked - _ACTIONS:
        score *= 0.9  # `volume_complete` is `volume_available`, not `volume_modification_completed`
    if _ACTIONS & lacking and _ACTIONS & unasked:
        score *= 0.7  # `stack_updated` and `stack_create_complete`
    of_letters = _ratio("".join(given), "".join(other))
    return max(score, of_letters - 0.05 if of_letters >= _LEAST_SLIP else 0.0)


def _of_states(given: _Name, other: _Name) -> float:
    """Return how probably a state is meant, from 0 to 1; 0 for one of another meaning."""
    if any(_are_opposite(one, each) for one in given.words for each in other.words):
        return 0.0
    if None in (given.meaning, other.meaning) and given.meaning is not other.meaning:
        return 0.85 if {given.meaning, other.meaning} <= {None, *_GOOD} else 0.0
    if given.meaning == other.meaning:
        if _likeness(given.state, other.state) > _LEAST_SLIP:
            return 1.0
        if other.state not in _WORDS:
            return 0.85
        return 0.9 if other.state in _PRESENT else 0.97
    if given.meaning not in _GOOD or other.meaning not in _GOOD:
        return 0.0
    if "underway" in (given.meaning, other.meaning):
        return 0.6
    likely = 1.0 if given.state in _BEGUN else 0.9
    return likely - 0.02 if other.state in _PRESENT else likely


def _are_opposite(one: str, other: str) -> bool:
    """Return whether the words are as `associated` and `disassociated` are."""
    short, long = sorted((one, other), key=len)
    return long.endswith(short) and long.removesuffix(short) in _OPPOSITES


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def _ratio(one: str, other: str) -> float:
    # Most names are not alike, which is seen at once.
    if 2 * min(len(one), len(other)) < _LEAST_LIKENESS * (len(one) + len(other)):
        return 0.0
    matcher = SequenceMatcher(None, one, other)
    return 0.0 if matcher.quick_ratio() < _LEAST_LIKENESS else matcher.ratio()


@lru_cache(maxsize=4096)
def _likeness(one: str, other: str) -> float:
    """Return how probably two words are one, from 0 to 1."""
    if one == other:
        return 1.0
    if one.removesuffix("S") == other.removesuffix("S"):
        return 0.99
    common = common_start((one, other))
    if common >= _LEAST_STEM and {one[common:], other[common:]} <= _ENDINGS:
        return 0.95
    ratio = 0.0 if _are_opposite(one, other) else _ratio(one, other)
    return ratio if ratio > _LEAST_LIKENESS else 0.0
