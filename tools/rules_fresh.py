"""Rules of effects: what was there before the call is no success of it.

A part of `tools/effect_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from botocore.model import Shape
from effect_rules import EffectOf, Found

from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.engine.acceptors import AcceptorState, ErrorTypeMatcher, SuccessMatcher

OTHERWISE: Final = re.compile(
    r"""(?ix)
    \blatest\b | \bmost\ recent\b | \bdefault:?\ (is|describes|that)\b | \bby\ default\b | \bomit
    | (\bnot|n't)\ (be\ )?(specified|provided|specify|provide|include|supplied)\b | \bis\ null\b
    | \bto\ (retrieve|describe|return)\b.*\bdo\ not\ include\b
    """
)
"""In the documentation of a parameter: what the operation does without it."""

OF_CALL: Final = re.compile(r"\bcall\.(input|output)\.(\w+)")


def documentation(shape: Shape | None) -> str:
    """Return the documentation of a shape without its tags."""
    return " ".join(re.sub(r"<[^>]*>", "", getattr(shape, "documentation", "")).split())


def parameter_dropped(effect: EffectOf) -> Iterator[Found]:
    """A parameter that the call may not give is needed if the poll without it is of another.

    A list of one value cannot be dropped. What the call does not require and has a default of its
    own, in its documentation, means the same there and in the poll; a parent that is assumed, as
    the default cluster, has no item of this id. A refusal may name the case.
    """
    input_shape, given = effect.polled.input_shape, effect.mutation.input_shape
    for name, path in effect.trait.parameters.items():
        terms = OF_CALL.findall(path)
        if name in (*input_shape.required_members, *effect.trait.needed) or not terms:
            continue
        text = documentation(input_shape.members[name])
        if path.startswith("[") or "is assumed" in text or not OTHERWISE.search(text):
            continue
        of_input = [member for side, member in terms if side == "input"]
        refused = "".join(each.path for each in effect.trait.refusals)
        if any(
            member in given.required_members
            or OTHERWISE.search(documentation(given.members[member]))
            or f"call.input.{member} == `null`" in refused
            for member in of_input
        ):
            continue
        text = f"{effect.polled.name} means another without {name}: {path} may be null"
        yield Found("EffectParameterDropped", text)


PARTIAL: Final = re.compile(r"(?i)partial|with_?(errors?|failures?|issues?|warnings?|exceptions?)")
UNDONE: Final = re.compile(r"(?i)cancel|abort|expired|skipped|time_?d?_?out|stopped|interrupted")
"""Words of an end that is not all that was asked for; the second are states at rest, too."""

ENDING_VERBS: Final = ("Cancel", "Stop", "Abort", "Terminate", "Reject", "Delete")
LITERAL: Final = re.compile(r"""[`'"]([^`'"\[\], ]+)[`'"]""")


def partial_end(effect: EffectOf) -> Iterator[Found]:
    """An end in part is a success only where the effect says so.

    The documentation of the effect, or of its waiter, says "with errors" or "stopped"; or the
    words of the acceptor do; or the effect is named after that end.
    """
    if effect.mutation.name.startswith(ENDING_VERBS):
        return
    waiter = effect.trait.waiter
    if isinstance(waiter, str):
        service_id = effect.polled.service_model.service_id.hyphenize()
        [waiter] = [each for each in shipped_definitions(service_id) if each.name == waiter]
    told = f"{effect.name} {effect.trait.documentation} {waiter.documentation}".lower()
    says = {index for index, each in enumerate(effect.trait.says) if each}
    failures: set[str] = set()
    for index, each in enumerate(effect.acceptors):
        if isinstance(each.matcher, ErrorTypeMatcher | SuccessMatcher):
            continue
        words = {*LITERAL.findall(each.matcher.matcher.path), each.matcher.matcher.expected}
        if each.state is AcceptorState.FAILURE:
            failures |= words
        if each.state is not AcceptorState.SUCCESS or index in says:
            continue
        for word in sorted(words - failures):
            found = PARTIAL.search(word)
            if found is None and effect.trait.basis == "identity":
                found = UNDONE.search(word)
                if effect.mutation.name.startswith("Create") and "stopped" in word.lower():
                    continue  # Many things are stopped when they are made.
            stem = found and re.sub(r"(?i)with_?|s$|(p?ed)$", "", found[0]).lower()
            if stem and stem not in told:
                yield Found("EffectPartialEnd", f"{word} is a success: {each.matcher.matcher.path}")


RULES: Final = (parameter_dropped, partial_end)
