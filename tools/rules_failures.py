"""Rules of effects: what ends badly ends the wait, and what failed before the call does not.

They judge the verdict of an effect on answers made from the models. A part of
`tools/effect_rules.py`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from botocore.model import Shape
from effect_answers import ASKED, OLD, answers_matched_by, expressions, made, names_in
from effect_of import EffectOf, Found, effects
from model_documentation import plain_text
from rules_fresh import PARTIAL, is_made, is_update
from rules_moves import CHANGE_STEMS, compared_texts, states_read, values_of

from boto_waiters_plus.definitions.state_words import (
    ENDINGS,
    FAILED_WORDS,
    is_problem,
    is_underway,
    says_failure,
    state_words,
)
from boto_waiters_plus.definitions.words import verb_of, words_of
from boto_waiters_plus.engine.acceptors import AcceptorState

_ENDINGS: Final = (*ENDINGS, "RELEAS", "SHUTTING")
"""Beginnings of the words of an end; EC2 says `shutting-down`."""
_FAILS: Final = FAILED_WORDS - {"REJECTED"} | {"OUT"}
"""Words of a failure. What is rejected may be no failure of the verb."""
_PROCESSES: Final = frozenset(("ARCHIV", "DISABL", "ENABL", "LINK"))
"""Beginnings of words of processes that operations of other names begin."""
_CANCELLED: Final = frozenset(("ABORTED", "CANCELED", "CANCELLED", "EXPIRED"))
"""Words of an end that came before all was done."""
_MADE_ANEW: Final = ("Rebuild", "Replace", "Restore")
"""Verbs that begin with the end of something."""
_GOES_ON: Final = re.compile(r"\battempting\b|\brecover")
"""In the documentation of a state: another follows."""

_SUCCESS, _FAILURE = AcceptorState.SUCCESS, AcceptorState.FAILURE


def own_failure(effect: EffectOf) -> Iterator[Found]:
    """A state that says that the mutation itself has failed ends the wait."""
    for path, value in own_failures(effect):
        if not _is_told(effect, path, value):
            yield Found("EffectOwnFailure", f"no verdict on {value} of {path}")


def known_failure(effect: EffectOf) -> Iterator[Found]:
    """What another effect with the same poll takes for a failure is one for this, too.

    That is a problem at rest, of no other verb than this mutation's, or the end of what is polled.
    A deletion may begin with any of them, a stop with a problem.
    """
    if _is_deletion(effect):
        return
    own, stems = {*own_failures(effect)}, tuple(_stems(effect))
    others = tuple(_verbs_of(effect) - {*stems})
    nouns = {word.upper() for word in words_of(effect.mutation.name)[1:]}
    for path, (shape, _) in _members(effect).items():
        known = _known(effect, path)
        for value in sorted(known - {each for at, each in own if at == path}):
            words = state_words(value)
            if _is_problem(value):
                is_meant = not any(word.startswith(others) for word in words - _FAILS)
                is_meant &= words.isdisjoint(nouns) and not _GOES_ON.search(_said(shape, value))
                is_meant &= not effect.mutation.name.startswith(("Pause", "Stop"))
            else:
                is_of = any(word.startswith(stems) for word in words)
                is_meant = not is_of and not effect.mutation.name.startswith(_MADE_ANEW)
            spellings = {each for each in known if each.casefold() == value.casefold()}
            if is_meant and not any(_is_told(effect, path, each) for each in spellings):
                yield Found("EffectKnownFailure", f"no verdict on {value} of {path}")


def end_in_part(effect: EffectOf) -> Iterator[Found]:
    """An end in part ends the wait: badly, unless the effect says that it is a success.

    So does, of what the call has made, one that came before all was done.
    """
    if _is_deletion(effect):
        return
    for path, (shape, literals) in _members(effect).items():
        for value in values_of(shape, (), literals):
            words = state_words(value)
            is_end = PARTIAL.search(value) and not is_underway(words - {"PARTIALLY"})
            is_end = is_end and not _GOES_ON.search(_said(shape, value))
            is_cancelled = not _CANCELLED.isdisjoint(words) or {"CANCEL", "COMPLETED"} <= words
            is_meant = is_end or (is_cancelled and _is_new(effect))
            if is_meant and not _is_told(effect, path, value):
                yield Found("EffectPartialEnd", f"no verdict on {value} of {path}")


def failure_from_before(effect: EffectOf) -> Iterator[Found]:
    """A failure that was there before the call ends the wait only once it has held.

    An acceptor that is certain, and each of an effect without `settleFor`, compares something that
    the call has made. What is gone was not there for the call.
    """
    if not has_a_state_before(effect):
        return
    names = names_in(*expressions(effect))
    asked = made(effect.mutation.input_shape, names, ASKED)
    for index, acceptor in enumerate(effect.acceptors):
        is_at_once = index in effect.trait.certain or not effect.trait.settle_for
        if acceptor.state is not _FAILURE or not is_at_once:
            continue
        is_state = bool(states_read(effect, [acceptor]))
        is_gone = all(_ends(state_words(each)) for each in compared_texts([acceptor]))
        if is_state and not is_gone:
            answers = answers_matched_by(effect, index, asked, time=1500, most=500)
            for answer in answers:
                yield Found("EffectFailureFromBefore", f"may be from before: {answer}")
                break


def has_a_state_before(effect: EffectOf) -> bool:
    """Whether what an effect polls was there before the call, and may have failed."""
    parameters = effect.trait.parameters.values()
    return not _is_new(effect) and not any(is_made(effect, path) for path in parameters)


def own_failures(effect: EffectOf) -> Iterator[tuple[str, str]]:
    """Yield the states that say that the mutation has failed: the member, and its value.

    They have no other verb; of a deletion one without a verb is that of another change, unless it
    is the only one that may come after a state of the deletion.
    """
    stems, is_deletion = tuple(_stems(effect)), _is_deletion(effect)
    verb, *words = (word.upper() for word in words_of(effect.mutation.name))
    others = () if verb == "START" else tuple(_verbs_of(effect))
    nouns = [word for word in words if not is_deletion and not word.startswith(others)]
    for path, (shape, literals) in _members(effect).items():
        known = () if shape.metadata.get("enum") else _known(effect, path)
        values = {*values_of(shape, (), literals), *known}
        for value in sorted(filter(says_failure, values)):
            rest = state_words(value) - _FAILS
            is_own = all(word.startswith(stems) or word in nouns for word in rest)
            if is_own and (rest or not is_deletion or _may_fail_to_end(shape, values, value)):
                yield path, value


def _may_fail_to_end(shape: Shape, values: Collection[str], value: str) -> bool:
    """Whether a failure without a verb may be that of a deletion."""
    endings = [words for words in map(state_words, values) if _ends(words)]
    has_own = any(words & FAILED_WORDS for words in endings)
    is_of_creation = re.search("creat", _said(shape, value)) is not None
    return any(map(is_underway, endings)) and not has_own and not is_of_creation


def _said(shape: Shape, value: str) -> str:
    """Return what the documentation of a member says of a value, as far as the next one."""
    names = "|".join(map(re.escape, {value, *getattr(shape, "enum", ())}))
    parts = re.split(rf"\b({names})\b", plain_text(shape))
    return " ".join(
        said for name, said in zip(parts[1::2], parts[2::2], strict=True) if name == value
    )


def _is_problem(value: str) -> bool:
    return is_problem(value) or "FULL" in state_words(value)


def _ends(words: Collection[str]) -> bool:
    return any(word.startswith(_ENDINGS) for word in words)


def _is_new(effect: EffectOf) -> bool:
    return effect.trait.basis == "identity" and not is_update(effect.mutation.name)


def _is_deletion(effect: EffectOf) -> bool:
    """Whether a mutation ends what it names: `BatchDelete` and `StartDelete` do, too."""
    return _ends([word.upper() for word in words_of(effect.mutation.name)[:2]])


def _stems(effect: EffectOf) -> frozenset[str]:
    """Return the beginnings of the words of the verb of a mutation."""
    if _is_deletion(effect):
        return frozenset(_ENDINGS)
    stem = _stem(verb_of(effect.mutation.name))
    return frozenset((stem, *CHANGE_STEMS * (stem in CHANGE_STEMS), *["CREAT"] * _is_new(effect)))


def _verbs_of(effect: EffectOf) -> frozenset[str]:
    """Return the beginnings of the words of the verbs of a service."""
    stems = {_stem(verb_of(name)) for name in effect.polled.service_model.operation_names}
    return _PROCESSES.union(stem for stem in stems if len(stem) > 2)


def _stem(verb: str) -> str:
    return verb.upper().rstrip("EY")[:6]


def _members(effect: EffectOf) -> Mapping[str, tuple[Shape, set[str]]]:
    """Return the states that an effect reads."""
    ends = [each for each in effect.acceptors if each.state is not AcceptorState.RETRY]
    return states_read(effect, ends) or states_read(effect, effect.acceptors)


def _known(effect: EffectOf, path: str) -> frozenset[str]:
    """Return what shipped effects with the same poll take for a failure."""
    at = effect.polled.service_model.service_name, effect.polled.name, path
    return frozenset(_failures_of_effects().get(at, ()))


@functools.cache
def _failures_of_effects() -> Mapping[tuple[str, str, str], set[str]]:
    """Return problems and ends that are failures, by service, polled operation and member."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for effect in effects():
        failures = [each for each in effect.acceptors if each.state is _FAILURE]
        for path, (_, literals) in states_read(effect, failures).items():
            at = effect.polled.service_model.service_name, effect.polled.name, path
            known = found.setdefault(at, set())
            for value in literals - known:
                is_meant = _is_problem(value) or _ends(state_words(value))
                if is_meant and any(True for _ in acceptors_on(effect, path, value)):
                    known.add(value)
    return found


def _is_told(effect: EffectOf, path: str, value: str) -> bool:
    """Whether a state of a member ends the wait."""
    ends = (_FAILURE, _SUCCESS)
    return any(True for state in ends for _ in acceptors_on(effect, path, value, state))


def acceptors_on(
    effect: EffectOf, path: str, value: str, state: AcceptorState = _FAILURE
) -> Iterator[int]:
    """Yield acceptors of a state that match answers of the poll with this value of a member."""
    names = names_in(*expressions(effect))
    at = tuple(filter(None, re.split(r"\.|\[\]|\*", path)))
    asked = made(effect.mutation.input_shape, names, ASKED)
    # Most acceptors compare the value alone, or ids; what is of another item is no success.
    ways = [(ASKED, None, 1), (ASKED, 0, 1), (ASKED, None, 500)]
    if state is _FAILURE:
        ways.insert(1, (OLD, None, 1))
    for shown, time, most in ways:
        for index, acceptor in enumerate(effect.acceptors):
            if acceptor.state is state and path in states_read(effect, [acceptor]):
                values = {**shown, at: value}
                found = answers_matched_by(effect, index, asked, values, time=time, most=most)
                yield from (index for _ in found)


RULES = (own_failure, known_failure, end_in_part, failure_from_before)
