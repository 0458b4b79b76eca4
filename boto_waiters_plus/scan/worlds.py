"""The ways in which a service may answer a loop, and what a waiter makes of each."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from botocore.model import OperationModel, Shape

from ..engine.acceptors import AcceptorState, DocumentMatcher, ErrorTypeMatcher
from ..engine.matching import Matching
from ..engine.model import WaiterDefinition
from ..service.catalog import squashed
from ..service.shapes import element_of, inner_shape, item_names, members_of
from .calls import ReadCall
from .names import spend
from .passes import ABSENT, EACH, ERROR, THERE, Document, Part, Path, error_key

OTHER: Final = "SomethingElse"
"""A state, or the code of an error, that neither the loop nor a waiter names."""
_MOST: Final = 100
"""Answers that a loop is tried with, about."""
_ONE_ITEM: Final = re.compile(
    r"=\[[^,]*\]\Z|['\"]Name['\"]: ['\"][\w-]*-(id|name)['\"], ['\"]Values['\"]: \[[^,\]]*\]"
)
_NUMBERS: Final = ("integer", "long", "float", "double")


class Leaf(NamedTuple):
    """What a loop compares in an answer."""

    path: Path
    """Where, as the loop reads it."""
    members: Path
    """Where, in the model."""
    shape: Shape
    told: frozenset[Any]
    """What the loop compares it with."""

    @property
    def expression(self) -> str:
        """The JMESPath expression."""
        return ".".join(self.members).replace(f".{EACH}", "[]")

    @property
    def names(self) -> list[str]:
        """The texts that the loop compares it with."""
        return [e for e in self.told if isinstance(e, str) and not _is_part(e)]

    def alike(self, value: Any) -> Any:
        """Return what stands for a value: that of all texts that the loop does not name."""
        if not isinstance(value, str) or any(isinstance(e, str) and _is_part(e) for e in self.told):
            return value
        return value if error_key(value) in map(error_key, self.names) else OTHER

    @property
    def is_asked_for(self) -> bool:
        """Whether the loop asks only whether it is there."""
        return self.told == {THERE}


def _is_part(text: str) -> bool:
    """Return whether a text stands for all that begin or end with a part of it."""
    return text.startswith("ANY") or text.endswith("ANY")


class Answer(NamedTuple):
    """One answer."""

    read: Document
    """As the loop reads it."""
    document: Any
    """As a waiter reads it."""
    error: str | None
    """The code of an error, in place of an answer."""
    told: frozenset[str]
    """The texts in it that the loop names."""
    values: tuple[Any, ...] = ()
    """What each of the leaves has, of the first item."""
    alike: tuple[Any, ...] = ()
    """What it has in common with all answers that are the same to the loop."""


def leaves(
    operation: OperationModel, observed: Mapping[Path, set[Any]], base: Path
) -> list[Leaf] | None:
    """Return what a loop compares in the answers of an operation; None if one is no member of it.

    Args:
        operation: the operation.
        observed: the paths, and what is compared.
        base: what leads to the object that the paths begin at, of a resource object.
    """
    found = []
    for place, compared in observed.items():
        # That an item of a list is there says that the list has one.
        is_item = place[-1:] == (EACH,) and compared == {THERE}
        path = place[:-1] if is_item else place
        if path == ERROR or not path or not compared or (is_item and path in observed):
            continue
        reached = _reached(operation, path, base)
        if reached is None:
            above = _reached(operation, path[:-1], base)
            # `"IN_PROGRESS" in status` asks for no member.
            if compared != {THERE} and not (above and is_value(above[1])):
                return None
        elif is_value(reached[1]) or (path[-1] != EACH and THERE in compared):
            told = compared if is_value(reached[1]) else {THERE}
            found.append(Leaf(path, *reached, frozenset(told)))
    return found


def is_value(shape: Shape) -> bool:
    """Return whether a member is no structure and no list."""
    return shape.type_name not in ("structure", "list", "map")


def _reached(operation: OperationModel, path: Path, base: Path) -> tuple[Path, Shape] | None:
    shape: Shape | None = operation.output_shape
    members: list[str] = []
    for name in (*base, *path):
        known = [
            e for e in members_of(shape) if e == name or (base and squashed(e) == squashed(name))
        ]
        members += [name if name == EACH else next(iter(known), name)]
        is_list = element_of(shape) is not None
        shape = (
            element_of(shape)
            if name == EACH
            else None
            if is_list
            else inner_shape(shape, members[-1])
        )
    return None if shape is None else (tuple(members), shape)


def is_one_item(operation: OperationModel, call: ReadCall) -> bool:
    """Return whether a call asks for one item of the lists in its answer."""
    names = item_names(operation.input_shape, operation.output_shape)
    members = members_of(operation.input_shape)
    given = {each: element_of(members.get(each.partition("=")[0])) for each in call.parameters}
    return call.resource is not None or any(
        _ONE_ITEM.search(each) or (each.partition("=")[0] in names and is_list is None)
        for each, is_list in given.items()
    )


def answers(
    found: Sequence[Leaf], waiters: Sequence[WaiterDefinition], *, is_one: bool
) -> Iterator[Answer]:
    """Yield answers in which what a loop compares has each value that matters, in lists of one.

    Args:
        found: what the loop compares.
        waiters: those of the operation.
        is_one: whether its lists have one item.
    """
    texts = {text for waiter in waiters for text in texts_of(waiter)}
    ways = [[*_values(leaf, texts, is_one=is_one)] for leaf in found]
    if math.prod(map(len, ways)) > _MOST:
        ways = [_fewer(*pair) for pair in zip(found, ways, strict=True)]
    for chosen in itertools.product(*ways):
        spend(50)
        empty = [e.path for e, value in zip(found, chosen, strict=True) if value in (ABSENT, [])]
        # What is not there has no members: one answer for all of them.
        if all(
            value == way[0]
            for leaf, value, way in zip(found, chosen, ways, strict=True)
            if any(leaf.path[: len(path)] == path != leaf.path for path in empty)
        ):
            yield _answer(found, [chosen])


def _fewer(leaf: Leaf, values: list[Any]) -> list[Any]:
    """Return the values that a loop names, and two others."""
    told = [each for each in values if isinstance(each, str) and each in leaf.told]
    return [*told, *[each for each in values if each not in told][-2:]]


def mixed(found: Sequence[Leaf], one: Answer, other: Answer) -> list[Answer]:
    """Return answers with two items, each as in one of two answers."""
    if not any(EACH in leaf.path for leaf in found):
        return []
    return [_answer(found, [a.values, b.values]) for a, b in ((one, other), (other, one))]


def _answer(found: Sequence[Leaf], rows: Sequence[Sequence[Any]]) -> Answer:
    """Return an answer with a row of values for each item."""
    read, document = Document(), dict[str, Any]()
    told: set[str] = set()
    for index, row in enumerate(rows):
        pairs = [*zip(found, row, strict=True)]
        for leaf, value in sorted(pairs, key=lambda pair: len(pair[0].path)):
            keys = set(map(error_key, leaf.names))
            if isinstance(value, str) and error_key(value) in keys:
                told.add(value)
            _put(read, _at(leaf.path, index), value)
            _put(document, _at(leaf.members, index), value)
    alike = tuple(leaf.alike(value) for row in rows for leaf, value in zip(found, row, strict=True))
    return Answer(read, _plain(document), None, frozenset(told), tuple(rows[0]), alike)


def documents(value: Any, part: Part) -> Any:
    """Return an answer, or what is in it, with the place of each structure."""
    if isinstance(value, list):
        return [documents(e, part._replace(path=(*part.path, EACH))) for e in value]
    if not isinstance(value, Document):
        return value
    made = Document(
        {k: documents(v, part._replace(path=(*part.path, k))) for k, v in value.items()}
    )
    made.part = part
    return made


def _at(path: Path, index: int) -> tuple[str | int, ...]:
    """Return a path with an index in its first list; in those inside, the first item."""
    places = itertools.chain([index], itertools.repeat(0))
    return tuple(next(places) if name == EACH else name for name in path)


def _put(at: Any, path: Sequence[str | int], value: Any) -> None:
    """Set a value in a document, unless something on the way is not there."""
    made: Any = None
    for position, name in enumerate(path):
        rest = path[position + 1 :]
        new = value if not rest else [] if isinstance(rest[0], int) else Document()
        if isinstance(new, list):
            new = [Document() for _ in new]
        elif isinstance(new, Document):
            new = Document(new)
        if isinstance(at, list) and isinstance(name, int):
            if not at and at is not made:
                return
            at += [new] * (name >= len(at))
        elif at.setdefault(name, new) is ABSENT:
            return
        at, made = at[name], new


def _plain(value: Any) -> Any:
    """Return a document without what is not there."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if each is not ABSENT}
    return value


def _values(leaf: Leaf, texts: Collection[str], *, is_one: bool) -> Iterator[Any]:
    """Yield the values that what a loop compares may have."""
    shape, told = leaf.shape, leaf.told
    if element_of(shape) is not None:
        yield from ([], [Document()])
        if not is_one:
            yield [Document(), Document()]
        return
    if THERE in told:
        yield ABSENT
    if shape.type_name == "boolean":
        yield from (True, False)
    elif shape.type_name in _NUMBERS:
        numbers = {n for n in told if isinstance(n, int | float)}
        around = {m for n in numbers for m in (n - 1, n, n + 1)} | {0, 1}
        yield from sorted(each for each in around if each >= 0)
    elif shape.type_name == "string" and not leaf.is_asked_for:
        yield from spelled_texts(leaf, texts)
    else:
        yield OTHER if is_value(shape) else Document(any=OTHER)


def spelled_texts(leaf: Leaf, texts: Collection[str] = ()) -> list[str]:
    """Return the texts that a member may have: of the model, the loop and the waiters."""
    known = list(leaf.shape.metadata.get("enum", ()))
    keys = {error_key(each) for each in known}
    told = sorted(each for each in leaf.told if isinstance(each, str))
    # A state that is made of a part of its name, where none is known.
    told = [each for each in told if not (known and _is_part(each))]
    if keys & set(map(error_key, told)):
        told = []  # What the model does not list, the service does not answer.
    more = [each for each in (*told, *sorted(texts)) if error_key(each) not in keys]
    return list(dict.fromkeys((*known, *more, OTHER)))


# --- what a waiter makes of an answer


def texts_of(waiter: WaiterDefinition) -> Iterator[str]:
    """Yield the texts that a waiter compares the output with."""
    for acceptor in waiter.acceptors:
        match acceptor.matcher:
            case DocumentMatcher(matcher=path):
                quoted = re.findall(r"'([^']+)'", path.path)
                yield from quoted if path.expected in ("true", "false") else [path.expected]


def error_names(waiter: WaiterDefinition) -> list[str]:
    """Return the codes of errors that a waiter names."""
    matchers = (each.matcher for each in waiter.acceptors)
    return [each.name for each in matchers if isinstance(each, ErrorTypeMatcher)]


def verdict(
    waiter: WaiterDefinition, matching: Matching, answer: Answer, given: Mapping[str, Any]
) -> AcceptorState:
    """Return what a waiter makes of an answer or an error."""
    spend(30)
    if answer.error is None:
        index = matching.match_response(answer.document, given).index
        return AcceptorState.RETRY if index is None else waiter.acceptors[index].state
    # An error has several spellings.
    key = error_key(answer.error)
    spelled = [each for each in error_names(waiter) if error_key(each) == key]
    index = matching.match_error(spelled or [answer.error]).index
    return AcceptorState.FAILURE if index is None else waiter.acceptors[index].state
