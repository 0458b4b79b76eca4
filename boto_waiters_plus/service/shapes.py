"""Botocore's shapes: what is inside of them, what is sensitive, where states are, and lists."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from ..definitions.shipped import shipped_json
from ..definitions.smithy import aws_namespace
from ..definitions.words import listed, resource_of, words_of

_STEP = r"([A-Za-z_]\w*)((?:\[(?:\*|-?\d+)?\])?)\Z"


def shape_id_of(operation: OperationModel) -> str:
    """Return the Smithy shape id of an operation: `com.amazonaws.ec2#RunInstances`."""
    return f"{aws_namespace(str(operation.service_model.service_id))}#{operation.name}"


class Reached(NamedTuple):
    """A shape inside of another one."""

    path: str
    """The expression that leads to it: `Jobs[].Status`, `Tags.*`."""
    shape: Shape
    owner: Shape | None
    """The structure that has it as a member; None: it is an element, a key or a value."""
    name: str
    """Its name there."""


def walk(root: Shape | None, names: Collection[str] | None = None) -> Iterator[Reached]:
    """Yield a shape and those inside of it, the nearest first.

    What is in several places is yielded with each, and entered once.

    Args:
        root: the shape; None: there is none.
        names: the members that are followed; None: all of them.
    """
    found = [] if root is None else [Reached("", root, None, "")]
    entered = set()
    for reached in found:  # It grows meanwhile.
        yield reached
        path, shape = reached.path, reached.shape
        if shape.name in entered:
            continue
        entered.add(shape.name)
        match shape:
            case StructureShape():
                found += [
                    Reached(f"{path}.{name}".lstrip("."), member, shape, name)
                    for name, member in shape.members.items()
                    if names is None or name in names
                ]
            case ListShape():
                found.append(Reached(f"{path}[]", shape.member, None, ""))
            case MapShape():
                found.append(Reached(path, shape.key, None, ""))
                found.append(Reached(f"{path}.*", shape.value, None, ""))


def inner_shape(shape: Shape | None, name: str = "") -> Shape | None:
    """Return the shape of a member, an element or a value; None if it is not known."""
    match shape:
        case StructureShape():
            member: Shape | None = shape.members.get(name)
            return member
        case ListShape():
            return shape.member
        case MapShape():
            return shape.value
    return None


def value_at(document: Any, path: str) -> Any:
    """Return what the members of a path, joined by dots, lead to; None if there is nothing."""
    for name in path.split("."):
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def is_plain(path: str) -> bool:
    """Whether an expression has members joined by dots only, with `[]`, `[*]` or an index."""
    return all(re.match(_STEP, each) for each in path.split("."))


def shape_at(root: Shape | None, path: str) -> Shape | None:
    """Return the shape that a plain expression leads to; None if there is none."""
    shape = root
    for step in filter(None, (re.match(_STEP, each) for each in path.split("."))):
        shape = None if isinstance(shape, ListShape) else inner_shape(shape, step[1])
        shape = element_of(shape) if step[2] else shape
    return shape


# --- members that no text and no store has: those that the model or `data/sensitive.json` names --
# Models do not mark every password, token, key and presigned URL that a service answers with.

_TYPES = ("string", "blob", "map")
"""The types of members that are named by how they end: a structure has members of its own."""


class _Named(NamedTuple):
    """What `data/sensitive.json` names."""

    endings: tuple[str, ...]
    """How the names of such members end, in lower case."""
    members: frozenset[str]
    """Others, each behind the name of its structure: `AuthorizationData.proxyToken`."""
    answers: frozenset[str]
    """`members`, and those in which people keep secrets, such as the environment of a container:
    a caller who gives them has to find them again in what is stored of the call."""


@functools.cache
def _named() -> _Named:
    body = shipped_json("sensitive.json")
    members, answers = (
        frozenset().union(*body.get(part, {}).values()) for part in ("members", "answers")
    )
    return _Named(tuple(body.get("endings", ())), members, members | answers)


def has_sensitive_names(shape: Shape | None) -> bool:
    """Return whether the names in a map are sensitive."""
    return isinstance(shape, MapShape) and is_sensitive(shape.key)


def is_sensitive(
    shape: Shape | None, owner: Shape | None = None, name: str = "", *, is_answer: bool = True
) -> bool:
    """Return whether a value is sensitive: in the model, or as the member of a response.

    Args:
        shape: the shape of the value; None: it is not known.
        owner: the structure that has it.
        name: its name there.
        is_answer: whether it is part of a response, not of the parameters of a call.
    """
    if shape is None:
        return False
    if shape.metadata.get("sensitive"):
        return True
    if owner is None or owner.type_name != "structure":
        return False
    named = _named()
    by_ending = shape.type_name in _TYPES and name.lower().endswith(named.endings)
    return by_ending or f"{owner.name}.{name}" in (named.answers if is_answer else named.members)


# --- the members of a response that have states of the resource ----------------------------------

_STATE = r"(?i)(?!desired|target)\w*(status|state)"
_NAMES = ("Name", "Code")
_DEEPEST = 4


def state_path(operation: OperationModel, members: Sequence[str] = ()) -> str | None:
    """Return the path of the best of `state_members`; None if there is none."""
    return next((path for path, _ in state_members(operation, members)), None)


def state_members(
    operation: OperationModel, members: Sequence[str] = ()
) -> list[tuple[str, Shape]]:
    """Return the states nearest to the root of a response, each with its path, the best first.

    The best is the one that is named `Status`, `State` or after the resource, then one whose values
    the model lists. Members that the model calls sensitive are not among them.

    Args:
        operation: the operation.
        members: those that lead from the root to what the state is of.
    """
    output = operation.output_shape
    level: list[tuple[str, Shape]] = [] if output is None else [("", output)]
    for name in members:
        level = [each for at in level for each in _members(*at) if _last(each[0]) == name]
    for _ in range(_DEEPEST):
        level = [member for path, shape in level for member in _members(path, shape)]
        states = [state for path, shape in level for state in _states(path, shape)]
        if states:
            return sorted(states, key=lambda found: _rank(found[0], found[1], operation.name))
    return []


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _members(path: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    if isinstance(shape, ListShape):
        path, shape = f"{path}[]", shape.member
    if not is_sensitive(shape):
        for name, member in members_of(shape).items():
            if not is_sensitive(member, shape, name):
                yield f"{path}.{name}" if path else name, member


def _states(path: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield the state that a member is, or that a structure such as `State` has as its name."""
    if not re.fullmatch(_STATE, _last(path)):
        return
    if is_text(shape):
        yield path, shape
    elif isinstance(shape, StructureShape):
        named = [each for each in _members(path, shape) if _last(each[0]) in _NAMES]
        yield from [each for each in named if is_text(each[1]) and each[1].metadata.get("enum")]


def is_text(shape: Shape) -> bool:
    """Return whether a member is a text that may be shown."""
    return shape.type_name == "string" and not is_sensitive(shape)


def _rank(path: str, shape: Shape, operation: str) -> int:
    parts = path.lower().split(".")
    name = parts[-1] if re.fullmatch(_STATE, parts[-1]) else parts[-2]
    if name in ("status", "state"):
        return 0
    if re.sub(_STATE, "", name) == "" and name.startswith(resource_of(operation).lower()):
        return 1
    return 2 if shape.metadata.get("enum") else 3


# --- lists of resources: what a request can name, what a page leaves out, what else an answer says

_ID_WORDS = listed("ARN ARNS ID IDENTIFIER IDENTIFIERS IDS KEYS NAME NAMES")
_FILTER = r"(?i)(?!include )(.* )?(filter|quer|search)"
_MARKER = r"(?i)next_?page_?token|next_?(pagination_?)?token|(next_?)?marker"
_FAILURES = (
    r"(?i)(\w*errors|\w*error_?details?|failed\w*|failures|invalid\w*|missing\w*|\w*not_?found\w*"
    r"|unprocessed\w*|unsuccessful\w*)"
)


def members_of(shape: Shape | None) -> Mapping[str, Shape]:
    """Return the members of a structure or union; none of any other shape."""
    return shape.members if isinstance(shape, StructureShape) else {}


def required_of(shape: Shape | None) -> Sequence[str]:
    """Return the members that a structure has to have; none of any other shape."""
    return shape.required_members if isinstance(shape, StructureShape) else ()


def element_of(shape: Shape | None) -> Shape | None:
    """Return the shape of a list's elements; None if the shape is not a list."""
    return shape.member if isinstance(shape, ListShape) else None


def page_tokens(answer: Shape | None) -> list[str]:
    """Return the members of an answer that say that more pages follow."""
    return [name for name in members_of(answer) if re.fullmatch(_MARKER, name)]


def failure_lists(answer: Shape | None) -> list[str]:
    """Return the members of an answer that list what could not be found or read."""
    members = members_of(answer)
    lists = (name for name, each in members.items() if isinstance(each, ListShape))
    return [name for name in lists if re.fullmatch(_FAILURES, name)]


def filters_of(request: Shape | None) -> dict[str, Shape]:
    """Return the filters of a request, by their names."""
    return {
        n: s for n, s in members_of(request).items() if re.match(_FILTER, " ".join(words_of(n)))
    }


def item_names(request: Shape | None, answer: Shape | None) -> list[str]:
    """Return the members by which a request can name the items that the answer has.

    A filter tells what they share.
    """
    required, filters, found = required_of(request), filters_of(request), []
    for name, shape in members_of(request).items():
        words = [word.upper() for word in words_of(name)]
        if words[:1] == ["INCLUDE"] or name in filters:
            continue  # parts of the answer
        # A required identifier is the parent's, a list of them names the items.
        is_id = bool(words) and words[-1] in _ID_WORDS and name not in required
        is_list = lists_names(shape) or (isinstance(shape, ListShape) and name in required)
        if is_list or (is_id and _have(answer, "".join(words[:-1]))):
            found.append(name)
    return found


def _have(answer: Shape | None, noun: str) -> bool:
    """Whether what an answer has is called by a noun, or has a member that is."""
    for name, shape in members_of(answer).items():
        item = element_of(shape) or shape
        if any(noun in each.upper() for each in (name, item.name, *members_of(item))):
            return True
    return False


def lists_names(shape: Shape) -> bool:
    """Whether a shape is a list of names, or of structures with a name and no value beside it."""
    member = element_of(shape)
    if member is None or members_of(member):
        words = [[word.upper() for word in words_of(each)][-1:] for each in members_of(member)]
        return any({*each} & _ID_WORDS for each in words) and ["VALUES"] not in words
    return member.type_name == "string" and not member.metadata.get("enum")
