"""Rules of effects: what the answer of a call refuses, though its status is 200.

A part of `tools/effect_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from botocore.model import Shape
from effect_of import EffectOf, Found, path_of

from boto_waiters_plus.engine.acceptors import AcceptorState

WORDS: Final = re.compile(
    r"""
    fail(s|ed|ures?)? | errors? | exceptions? | warnings? | un[a-z]+ed | unsuccessful(ly)? | invalid
    | unavailable | unknown | ineligible | rejected | rejections? | refused | refusals? | denied
    | skipped | ignored | missing | problems? | conflicts?
    """,
    re.VERBOSE,
)
"""The words of lists that name what was not done."""

CODES: Final = re.compile(
    r"(?i)(error|failure|exception|return)_?(codes?|types?|messages?|reasons?|details?|info)?"
)
"""A member of an item that may say that it was not done."""

OF_POLL: Final = re.compile(r"(?<!call\.)\b(input|output)\b")


def refusals_unread(effect: EffectOf) -> Iterator[Found]:
    """A list of the answer that names what was refused needs the trait.

    One at the top of the answer, by its name or that of its items, is about the call. One that is
    a structure further down, or whose items only have a code of an error, describes the resource
    if the poll shows such items, too.
    """
    read = (effect.refused_items or {}).get("path", "")
    for path, shape in _refusals(effect):
        if not re.search(rf"\bcall\.output\.{re.escape(path)}\b", read):
            text = f"{effect.mutation.name} answers {path} ({shape.member.name})"
            yield Found("EffectRefusalsUnread", f"{text}, and no refusedItems reads it")


def _refusals(effect: EffectOf) -> Iterator[tuple[str, Shape]]:
    shown = {*_shown(effect.polled.output_shape)}
    for name, member in getattr(effect.mutation.output_shape, "members", {}).items():
        below = getattr(member, "members", {}) if member.type_name == "structure" else {}
        for path, shape in [(name, member), *((f"{name}.{n}", m) for n, m in below.items())]:
            if shape.type_name != "list" or shape.member.type_name not in ("structure", "string"):
                continue
            is_named = _refuses(path.rpartition(".")[2]) or _refuses(shape.member.name)
            has_code = any(map(CODES.fullmatch, getattr(shape.member, "members", ())))
            is_text = shape.member.type_name == "string"
            is_shown = (path.rpartition(".")[2] if is_text else shape.member.name) in shown
            if (is_named and path == name) or ((is_named or has_code) and not is_shown):
                yield path, shape


def _refuses(name: str) -> bool:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    is_word = any(WORDS.fullmatch(each.lower()) for each in words)
    return is_word or re.search(r"(?i)not_?found|not_?[a-z]+ed\b", name) is not None


def _shown(shape: Shape | None, *above: str) -> Iterator[str]:
    """Yield the names of the structures in a shape, and of the members of these."""
    if shape is not None and shape.name not in above:
        yield shape.name
        parts = (getattr(shape, each, None) for each in ("member", "value"))
        for name, part in [*getattr(shape, "members", {}).items(), *(("", each) for each in parts)]:
            yield name
            yield from _shown(part, *above, shape.name)


def refusal_in_acceptor(effect: EffectOf) -> Iterator[Found]:
    """A failure that only the call tells is known before the first poll."""
    for each in effect.acceptors:
        path = path_of(each) if each.state is AcceptorState.FAILURE else ""
        if "call." in path and not OF_POLL.search(path):
            yield Found("EffectRefusalInAcceptor", f"{path}: refusedItems or refusals tell it")


def awaits_refused(effect: EffectOf) -> Iterator[Found]:
    """What was refused is not waited for: its items are those of `call.accepted`."""
    trait = effect.refused_items
    if trait is None or "ignored" in trait:
        return
    items = [
        name
        for name, member in getattr(effect.mutation.input_shape, "members", {}).items()
        if member.type_name == "list"
    ]
    paths = {**effect.body["parameters"], "each": effect.body.get("each", "")}
    paths |= {f"acceptors[{i}]": path_of(each) for i, each in enumerate(effect.acceptors)}
    for place, path in paths.items():
        # The first of several is that of a call which may name one only.
        named = [name for name in items if re.search(rf"call\.input\.{name}\b(?!\[0\])", path)]
        if named and "call.accepted" not in path:
            yield Found("EffectAwaitsRefused", f"{place} has call.input.{named[0]}: {path}")


RULES: Final = (refusals_unread, refusal_in_acceptor, awaits_refused)
