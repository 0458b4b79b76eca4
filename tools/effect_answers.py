"""Answers made from the models, in which an effect finds what it takes for success.

The laws of effects are judged on them, by `tools/rules_fresh.py` and by the tests of data. A value
of an answer is the one of `OLD` for its type, and what a call asks for is the one of `ASKED`; the
states of the poll are those that an acceptor names.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import jmespath
from botocore.model import ListShape, MapShape, Shape, StructureShape
from effect_of import EffectOf, path_of

from boto_waiters_plus.check.model import enum_of
from boto_waiters_plus.engine.acceptors import Acceptor, AcceptorState
from boto_waiters_plus.engine.matching import Matching

OLD: Final = {"string": "1" * 64, "boolean": False, "timestamp": 1000, "number": 1}
ASKED: Final = {"string": "2" * 64, "boolean": True, "timestamp": 2000, "number": 2}

MOST_ANSWERS: Final = 5000
"""How many answers are tried for an acceptor."""

STATES: Final = ("stat", "phase", "stage", "code", "progress", "health", "condition", "type")
"""Parts of the names of members that have a state, where the model does not list the states."""

PAGE: Final = re.compile(r"(?i)(next\w*token|marker)$")
"""The members that tell that there is another page."""

Path = tuple[str, ...]
"""The members that lead to a value; lists are passed through."""


def certain_successes(effect: EffectOf) -> set[int]:
    """Return the acceptors that are a success at once, whatever was seen before."""
    trait = effect.trait
    found = {i for i, each in enumerate(effect.acceptors) if each.state is AcceptorState.SUCCESS}
    named = isinstance(trait.waiter, str) and trait.basis not in ("transition", "held")
    return found if named or not trait.settle_for else found & {*trait.certain}


def answers_of_success(effect: EffectOf, asked: Mapping[str, Any]) -> Iterator[Any]:
    """Yield answers of the poll, from before the call, whose states are a certain success of it.

    Args:
        effect: whose poll it is.
        asked: the input of the call, whose answer has the values of `ASKED`.
    """
    for index in certain_successes(effect):
        yield from answers_matched_by(effect, index, asked)


def answers_matched_by(
    effect: EffectOf,
    index: int,
    asked: Mapping[str, Any],
    shown: Mapping[Any, Any] = OLD,
    *,
    time: float | None = 0,
    most: int = MOST_ANSWERS,
) -> Iterator[Any]:
    """Yield answers of the poll, the last page of it, that an acceptor matches.

    Args:
        effect: whose poll it is.
        index: of the acceptor.
        asked: the input of the call, whose answer has the values of `ASKED`.
        shown: the values of the poll, by type or path; states vary where no path has them.
        time: of the call.
        most: how many answers are tried.
    """
    names = names_in(*expressions(effect))
    acceptor, polled = effect.acceptors[index], effect.polled.output_shape
    pages = {(name,): None for name in getattr(polled, "members", ()) if PAGE.search(name)}
    sides = [choices(acceptor, shape, names) for shape in (polled, effect.mutation.output_shape)]
    varied = [(side, *each) for side, found in enumerate(sides) for each in found.items()]
    fixed = {
        path[:end] for path in shown if isinstance(path, tuple) for end in range(len(path) + 1)
    }
    varied = [(side, path, values) for side, path, values in varied if side or path not in fixed]
    while math.prod(len(values) for *_, values in varied) > most:
        varied.pop()
    for chosen in itertools.product(*(values for *_, values in varied)):
        values: list[dict[Any, Any]] = [{**pages, **shown}, {**ASKED}]
        for (side, path, _), value in zip(varied, chosen, strict=True):
            values[side][path] = value
        output = made(polled, names, values[0])
        answer = made(effect.mutation.output_shape, names, values[1])
        if matched(effect, output, {"input": asked, "output": answer, "time": time}) == index:
            yield output


def matched(effect: EffectOf, output: Any, call: Mapping[str, Any]) -> int | None:
    """Return the acceptor that matches an answer of the poll; of several items, for all."""
    matching, document = Matching(effect.acceptors), {"call": call}
    given = {
        name: jmespath.search(path, document) for name, path in effect.trait.parameters.items()
    }
    each = effect.trait.each
    items = [None] if each is None else jmespath.search(each, document) or ()
    found = {matching.match_response(output, given, call=call, item=item).index for item in items}
    return found.pop() if len(found) == 1 else None


def expressions(effect: EffectOf) -> tuple[str, ...]:
    """Return the expressions of an effect on its call and its poll."""
    of_poll = filter(None, map(path_of, effect.acceptors))
    return (*of_poll, *effect.trait.parameters.values(), *filter(None, [effect.trait.each]))


@functools.cache
def nodes(expression: str) -> tuple[Mapping[str, Any], ...]:
    """Return all nodes of the tree of an expression."""
    found, rest = [], [jmespath.compile(expression).parsed]
    while rest:
        node = rest.pop()
        found.append(node)
        rest += [each for each in node["children"] if isinstance(each, dict)]
    return tuple(found)


@functools.cache
def names_in(*expressions: str) -> frozenset[str]:
    """Return the names of members in expressions."""
    return frozenset(
        node["value"] for each in expressions for node in nodes(each) if node["type"] == "field"
    )


@functools.cache
def literals_in(*expressions: str) -> frozenset[Any]:
    """Return the strings and numbers in expressions."""
    values = [
        node["value"] for each in expressions for node in nodes(each) if node["type"] == "literal"
    ]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return frozenset(each for each in flat if isinstance(each, str | int | float))


def made(
    shape: Shape | None, names: Collection[str], values: Mapping[Any, Any], at: Path = ()
) -> Any:
    """Return an answer with the members of these names, and with all below the last of them.

    Args:
        shape: of the answer.
        names: what is read.
        values: by type, as `OLD`; by path what is there instead.
        at: the path of the shape.
    """
    if at in values and not (isinstance(shape, ListShape) and values[at] is None):
        return values[at]
    if isinstance(shape, StructureShape):
        inner = read_members(shape, names, at)
        return {name: made(each, names, values, (*at, name)) for name, each in inner.items()}
    if isinstance(shape, ListShape):
        rest = {path: value for path, value in values.items() if path != at}
        return [made(shape.member, names, rest, at)]
    if isinstance(shape, MapShape):
        return {"key": made(shape.value, names, values, at)}
    return {} if shape is None else values.get(shape.type_name, values["number"])


def read_members(shape: StructureShape, names: Collection[str], at: Path) -> Mapping[str, Shape]:
    """Return the members of a structure that an answer has."""
    inner = {name: each for name, each in shape.members.items() if name in names}
    return inner if inner or len(at) > 4 else shape.members


def leaves(
    shape: Shape | None, names: Collection[str], at: Path = ()
) -> Iterator[tuple[Path, Shape]]:
    """Yield what `made` gives a value, with its shape; a list comes before its items."""
    if isinstance(shape, StructureShape):
        for name, each in read_members(shape, names, at).items():
            yield from leaves(each, names, (*at, name))
    elif isinstance(shape, ListShape):
        yield at, shape
        yield from leaves(shape.member, names, at)
    elif shape is not None and not isinstance(shape, MapShape):
        yield at, shape


def choices(
    acceptor: Acceptor, shape: Shape | None, names: Collection[str]
) -> dict[Path, Sequence[Any]]:
    """Return what members of an answer may have for a success, by path."""
    path = path_of(acceptor)
    if not path:
        return {}
    literals = {*literals_in(path), acceptor.matcher.matcher.expected}
    words = sorted(each for each in literals - {"true", "false"} if isinstance(each, str))
    own = names_in(path)
    found: dict[Path, Sequence[Any]] = {}
    for path, each in leaves(shape, names):
        if path[-1] not in own:
            continue
        kind, options = each.type_name, []
        if kind == "string":
            enum = enum_of(each)
            is_state = any(part in path[-1].lower() for part in STATES)
            known = [word for word in words if word in enum] if enum else words * is_state
            options = [*known, OLD["string"]]
        elif isinstance(each, ListShape):
            options = [None, []] if len(path) > 1 else []
        elif kind == "boolean":
            options = [False, True]
        elif kind != "timestamp":
            options = [1, 0] if 0 in literals else []
        if len(options) > 1:
            found[path] = options
    return found
