"""Rules of documentation: what a text says to end a wait does, and what ends it is said.

`tools/data_rules.py` applies `unsaid` and `undone` to waiters; `EffectText` is a part of
`tools/effect_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from effect_of import EffectOf, Found, path_of
from rules_moves import compared_texts

from boto_waiters_plus.definitions.words import words_of
from boto_waiters_plus.engine.acceptors import Acceptor, AcceptorState, ErrorTypeMatcher
from boto_waiters_plus.service.errors import says_absent

_MEANINGS: Final = {
    "failed": r"fail(?!ed_(to_start|is$))|error|fault|unsuccess|exception|unable",
    "gone": r"(delet|remov|terminat|dis(as)?sociat|detach|deregister|deallocat|deprovision|unassign"
    r"|releas|resign|retir|drain|purg)(ed|ing)|(delet(e|ion)|disassociate|release)_(?!fail|err|un)"
    r"|shutting|missing|no_longer|not_?(exist|found)|no_[a-z]+_any_more",
    "cancelled": r"cancell?(ed|ing)|abort(ed|ing)",
    "stopped": r"stopp|interrupted",
    "timed out": r"timed?_?out",
    "expired": r"expired",
    "rejected": r"reject|declin|denied|not_approved",
    "suspended": r"suspend",
    "disabled": r"disabl|inactive|deactivat",
    "rolled back": r"rollback|roll(ed|ing)_back",
    "degraded": r"degraded|un_?healthy",
}
"""The ends of waits, by the words of states and of texts."""

_CLAUSE: Final = re.compile(r"(?<=[.;]) ")
_PROMISE: Final = re.compile(r"\bends? (it|the wait)\b|\bthe wait ends\b|\bis a failure\b|\bso do")
_NO_STATE: Final = re.compile(
    r"\b(?!exception)\w+(ions?|ment|back|Exception)\b|\b(could|can) ?not be \w+"
)
"""A process, an error, or what was not done: a deletion that failed has deleted nothing."""
_CANNOT: Final = re.compile(r"\b(could|can|may) ?not\b|\bhelp\b")
_ANY_END: Final = re.compile(r"\b(another|own) end\b|\bother than\b|\bended before\b")


def unsaid(text: str, acceptors: Sequence[Acceptor]) -> Iterator[str]:
    """Yield the failures that the documentation of a waiter does not say.

    One word for a failure is enough, or one that leaves open which it is. Of several conditions one
    is.
    """
    said, failures = _promise(text), _failures(acceptors)
    told, words = _told(said), _in_words(said)
    told |= {"failed", "rejected"} if _CANNOT.search(said) else set()
    if failures and not said:
        yield f"it does not say what ends the wait: {failures[0].matcher.describe()}"
    for each in failures if said and not _ANY_END.search(said) else ():
        path, values = path_of(each), sorted(compared_texts([each]))
        missing = [value for value in values if not _is_said(value, told, words, said)]
        if re.search(r"&&|\?", path) and (missing != values or told & _meanings(path)):
            continue
        if missing:
            yield f"it does not say that {', '.join(missing)} ends the wait"


def undone(text: str, acceptors: Sequence[Acceptor], errors: Iterable[str]) -> Iterator[str]:
    """Yield what the documentation says to end a wait, and no failure does.

    Args:
        text: the documentation of a waiter or an effect.
        acceptors: all of its acceptors.
        errors: that the operation may answer: one that no acceptor matches is a failure.
    """
    said, failures = _promise(text), _failures(acceptors)
    named = {each.matcher.name for each in acceptors if isinstance(each.matcher, ErrorTypeMatcher)}
    ends = [each for each in errors if each not in named]
    if not re.search("exist|found", said):
        ends = [each for each in ends if not says_absent(each)]  # it is of what is there
    ends += [f"{each.matcher.describe()} {compared_texts([each])}" for each in failures]
    for each in sorted(_told(said) - _meanings(" ".join(ends))):
        yield f"it says that what is {each} ends the wait, and no failure is of this kind"


def _failures(acceptors: Sequence[Acceptor]) -> list[Acceptor]:
    return [each for each in acceptors if each.state is AcceptorState.FAILURE]


def _promise(text: str) -> str:
    """Return the parts of a text that say what ends a wait."""
    clauses = [each for each in _CLAUSE.split(text) if _PROMISE.search(each)]
    return _PROMISE.sub("", " ".join(clauses))


def _is_said(value: str, told: set[str], words: str, said: str) -> bool:
    found = _meanings(value)
    if found:
        return not told.isdisjoint(found)
    stems = [each[:4] for each in _in_words(value).split("_") if len(each) > 3]
    return bool(_CANNOT.search(said)) or any(each in words for each in stems)


def _told(said: str) -> set[str]:
    return _meanings(_NO_STATE.sub("", said))


def _meanings(text: str) -> set[str]:
    words = _in_words(text)
    return {name for name, pattern in _MEANINGS.items() if re.search(pattern, words)}


def _in_words(text: str) -> str:
    return "_".join(words_of(text)).lower()


_CLAIMS: Final = {
    "asked for": r"call\.input",
    r"of the answer|the call (start|answer)ed": r"call\.(output|accepted)",
}
"""What an effect says of the call, and what it reads then."""


def effect_text(effect: EffectOf) -> Iterator[Found]:
    """What an effect says to be a failure is one, and what it says of the call is read.

    It need not say which failures it has. One may be what the answer of the call refuses, or be
    said in the words of its acceptor.
    """
    trait = effect.trait
    errors = [*(each.name for each in effect.polled.error_shapes), *trait.says]
    errors += ["Failed"] if effect.refused_items else []
    found = [*undone(trait.documentation, effect.acceptors, errors)]
    paths = " ".join([*map(path_of, effect.acceptors), *trait.parameters.values(), f"{trait.each}"])
    for claim, read in _CLAIMS.items():
        if re.search(claim, trait.documentation) and not re.search(read, paths):
            found.append(f"it says {claim!r}, and reads nothing of it")
    if re.search(r"\b(was|were) seen\b", trait.documentation) and not trait.settle_for:
        found.append("it says that something was seen before, and has no `settleFor`")
    for each in found:
        yield Found("EffectText", each)


RULES = (effect_text,)
