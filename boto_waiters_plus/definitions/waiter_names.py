"""What a waiter waits for, in words of the resource, from its name and its acceptors."""

from __future__ import annotations

import re

from ..engine.model import WaiterDefinition
from ..engine.redaction import cut
from .operation_names import words_of

_NOUNS = {"create": "creation", "delete": "deletion", "restore": "restoration"}

_HAS = ("succeeded", "failed", "finished", "ended", "expired")
"""States that a resource *has* reached; in any other it *is*."""

_ADJECTIVES = (
    "ed", "ful", "able", "ible", "ing", "ive", "ete", "thy", "by", "line", "idle", "stable",
    "steady", "ready", "valid", "ok", "present", "built",
)  # fmt: skip
"""How the states end that a resource can be in."""

_PHRASES = {
    ("in", "service"): "in service",
    ("in", "use"): "in use",
    ("in", "sync"): "in sync",
    ("not", "exists"): "not exist",
}
_OUTER_PATH = re.compile(r"\b(any|every) \S*\]\.(?=\w)")


def summary_of(definition: WaiterDefinition) -> str:
    """Return the first line of the documentation of a waiter's method.

    It is the first line of the definition's own documentation if it has one.
    """
    own = definition.documentation.strip()
    if own:
        return re.sub(r"\AWaits(?= )", "Wait", own.splitlines()[0])
    goal = _OUTER_PATH.sub(r"\1 ", definition.goal).replace("the call ", f"{definition.operation} ")
    state = _state_in_words(definition.name)
    return f"Wait until {cut(goal)}." if state is None else f"Wait until {state} ({cut(goal)})."


def _state_in_words(name: str) -> str | None:
    """Return `the bucket exists` for `BucketExists`; None if the name does not tell."""
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in words_of(name)]
    *subject, last = words
    if not subject:
        return None
    pair = (subject[-1], last)
    if pair in _PHRASES and len(subject) > 1:
        del subject[-1]
        last = _PHRASES[pair]
    elif last != "exists" and not last.endswith(_ADJECTIVES):
        return None
    # `StackCreateComplete` is about an action.
    subject[-1] = _NOUNS.get(subject[-1], subject[-1])
    what = " ".join(subject if subject[0] == "any" else ["the", *subject])
    is_plural = re.search(r"[^s]s\Z", subject[-1]) is not None and not subject[-1].endswith(
        "status"
    )
    if last == "exists":
        return f"{what} {'exist' if is_plural else 'exists'}"
    if last == "not exist":
        return f"{what} {'do' if is_plural else 'does'} not exist"
    if last in _HAS:
        return f"{what} {'have' if is_plural else 'has'} {last}"
    return f"{what} {'are' if is_plural else 'is'} {last}"
