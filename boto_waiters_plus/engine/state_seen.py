"""The state seen: a value of the response that the acceptors are about, or what is missing.

An acceptor's path may give the state itself (`Table.TableStatus`), or compare it inside
(`length(Parts[?State != 'ok']) == 0`), which gives true or false. The parts of such a path that it
compares are its *facts*. The first kind of fact that the response has a value for is what was seen:

| fact | in the path | in words |
|---|---|---|
| state | `State != 'ok'` | the strings |
| state by the model | | the strings of the one state member of the response |
| number | `Running == Desired`, `Count > 0` | `running 2, desired 3` |
| flag | `Enabled`, `Enabled == false` | `not enabled` |
| presence, count | `Link != null`, `length(Parts)` | `3 parts`, `no part` |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

import jmespath

from .path_interpreter import kinds_in
from .redaction import counted, flat, is_number

Kind = Literal["state", "number", "flag", "presence", "count"]

_WORD: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_MARKER: Final = r"(?i).*(token|marker)"
_STATE_NAME: Final = r"(?i).*(state|status|phase|stage|health|lifecycle)"
_PLAIN: Final = ("field", "subexpression", "index_expression", "projection", "flatten",
                 "filter_projection", "value_projection", "pipe", "current", "index")  # fmt: skip
_ES: Final = ("sses", "uses", "iases", "xes", "shes", "nches", "rches", "tches")
"""How plurals end in the models of services to which two letters were added."""
_MANY: Final = 5

MOST_NODES: Final = 500
"""Nodes of an expression whose parts are looked at; the time grows with their square."""

Node = dict[str, Any]

Evaluate = Callable[[Node, Any], Any]
"""Returns the value of a node on a document; None if it cannot be evaluated."""


class Fact(NamedTuple):
    """A part of a path that is compared, as an expression on the document."""

    kind: Kind
    node: Node
    document: str = "output"
    """Or `"inputOutput"`: it is `{"input": ..., "output": ...}`."""
    path: str | None = None
    """The acceptor's path, if the fact is all of it."""


class Seen(NamedTuple):
    """What a response shows."""

    value: Any = None
    """The state or states; None if there is none."""
    text: str | None = None
    """In words, where the value does not tell it."""


class StateReader:
    """Reads the state seen from responses. Threads may share it.

    Args:
        paths: the acceptors' paths in order: of each the document, `"output"` or `"inputOutput"`,
            its text, and whether it is compared with a boolean.
        by_model: is given the members that lead from the root of a response to something, and
            returns the path of its state by the model of the operation; None: it has none.
    """

    def __init__(
        self,
        paths: Sequence[tuple[str, str, bool]],
        by_model: Callable[[Sequence[str]], str | None],
    ) -> None:
        found = [
            fact._replace(document=document)
            for document, path, is_boolean in dict.fromkeys(paths)
            for fact in _facts_of_path(path, is_boolean=is_boolean)
        ]
        facts = [fact for fact in found if not _reads_input(fact)]
        # Of two strings beside each other, `Name == 'a' && State == 'b'`, one is called a state.
        facts.sort(key=lambda fact: not re.fullmatch(_STATE_NAME, _last_name(fact.node)))
        self._compared = [fact for fact in facts if fact.kind == "state"]
        self._others = [fact for fact in facts if fact.kind != "state"]
        counted = [_members(fact) for fact in self._others if fact.kind == "count"]
        # A wait that counts items is about the items; one that compares nothing, about the whole.
        modelled = [by_model(names) for names in (counted or [[]]) if not self._compared]
        self._states = [
            *self._compared,
            *(Fact("state", _parsed(path)) for path in modelled if path),
        ]

    def read(
        self,
        output: Any,
        input: Any,
        value_of: Callable[[str, str], Any],
        evaluated: Evaluate,
    ) -> Seen:
        """Return what a response shows.

        Args:
            output: the response in the JMESPath data model.
            input: the parameters.
            value_of: returns the value of an acceptor's path, given `output` or `inputOutput`, and
                the path; None if it cannot be evaluated.
            evaluated: evaluates parts of such paths.
        """
        documents = {"output": output, "inputOutput": {"input": input, "output": output}}
        values = []
        for fact in self._states:
            if fact.path is None:
                value = evaluated(fact.node, documents[fact.document])
            else:
                value = value_of(fact.document, fact.path)
            found = [each for each in flat(value) if isinstance(each, str) or is_number(each)]
            if found:
                return Seen(found, counted(found)) if isinstance(value, list) else Seen(found[0])
            values.append(value)
        empty: list[Any] | None = [] if [] in values[: len(self._compared)] else None
        for kind in ("number", "flag", "missing", "presence", "count"):
            facts = [fact for fact in self._others if fact.kind == kind]
            texts = [_in_words(fact, documents[fact.document], evaluated) for fact in facts]
            if kind == "missing":
                texts = [_missing(fact.node, documents[fact.document]) for fact in self._compared]
            said = list(dict.fromkeys(filter(None, texts)))
            if said:
                return Seen(empty, ", ".join(said[:_MANY]))
        facts = [*self._others, *self._states]
        texts = [_missing(fact.node, documents[fact.document]) for fact in facts]
        return Seen(None, next(filter(None, texts), None))


def compared_members(path: str, *, is_boolean: bool, of_both: bool) -> dict[str, bool]:
    """Return the members of the output that a path compares, and whether each is a state.

    Args:
        path: the path of an acceptor.
        is_boolean: whether it is compared with a boolean.
        of_both: whether the document is `{"input": ..., "output": ...}`. What is compared with a
            part of it other than the output is left out.
    """
    try:
        root = _parsed(path)
        if of_both:
            root = _without_comparisons_to(("input", "call", "item"), root)
        is_compared = is_boolean and not _has_many_nodes(root)
        facts = [*_facts(root)] if is_compared else [Fact("state", root)]
    except Exception:  # jmespath lets RecursionError and other builtin errors through
        return {}
    # A part of it gives members other names.
    if "multi_select_dict" in kinds_in(root):
        return {}
    before = ["output"] if of_both else []
    names = [(fact.kind == "state", _names(fact.node)) for fact in facts]
    return {
        ".".join(found[len(before) :]): is_state
        for is_state, found in names
        if len(found) > len(before) and found[: len(before)] == before
        if not re.fullmatch(_MARKER, found[-1])
    }


def _without_comparisons_to(names: Sequence[str], node: Node) -> Node:
    first = [name for each in _children(node) for name in _names(each)[:1]]
    if node["type"] in ("comparator", "function_expression") and not {*names}.isdisjoint(first):
        return {"type": "literal", "value": True, "children": []}
    children = [
        _without_comparisons_to(names, each) if isinstance(each, dict) else each
        for each in node["children"]
    ]
    return {**node, "children": children}


def _parsed(path: str) -> Node:
    root: Any = jmespath.compile(path).parsed
    return dict(root)


def _facts_of_path(path: str, *, is_boolean: bool) -> list[Fact]:
    try:
        root = _parsed(path)
        if _has_many_nodes(root):
            return []
        _names(root)  # raises what any other use of a path too deep would
        return list(_facts(root)) if is_boolean else [Fact("state", root, path=path)]
    except Exception:  # jmespath lets RecursionError and other builtin errors through
        return []


def _has_many_nodes(root: Node) -> bool:
    return len([*kinds_in(root)]) > MOST_NODES


def _facts(node: Node) -> Iterator[Fact]:
    """Yield what an expression that gives true or false compares."""
    match node["type"]:
        case "comparator":
            yield from _compared(*node["children"])
        case "function_expression":
            yield from _of_function(node)
        case kind if kind in _PLAIN:
            inside = list(_inside(node))
            yield from inside
            if not inside and not re.fullmatch(_MARKER, _last_name(node)):
                yield Fact("flag", node)
        case _:
            for child in _children(node):
                yield from _facts(child)


def _compared(left: Node, right: Node) -> Iterator[Fact]:
    for one, other in ((left, right), (right, left)):
        if one["type"] not in _PLAIN:
            yield from _facts(one)
            continue
        yield from _inside(one)
        literal = other["value"] if other["type"] == "literal" else 0
        kind: Kind = "number"
        if isinstance(literal, str):
            kind = "state"
        elif isinstance(literal, bool):
            kind = "flag"
        elif literal is None or literal == []:
            kind = "presence"
        yield Fact(kind, one)


def _of_function(node: Node) -> Iterator[Fact]:
    children = node["children"]
    if node["value"] == "length":
        yield from _inside(children[0])
        yield Fact("count", _alternative(children[0]))
    elif node["value"] == "contains":
        is_list = children[0]["type"] in ("literal", "multi_select_list")
        yield Fact("state", children[1] if is_list else children[0])
    else:
        for child in children:
            yield from _facts(child)


def _alternative(node: Node) -> Node:
    """Return the first of `Parts || []`."""
    while node["type"] == "or_expression":
        node = node["children"][0]
    return node


def _inside(node: Node) -> Iterator[Fact]:
    """Yield what the filters on the way of an expression compare."""
    match node["type"]:
        case "filter_projection":
            left, right, condition = node["children"]
            yield from _inside(left)
            for fact in (*_facts(condition), *_inside(right)):
                yield fact._replace(node=_each(left, fact.node))
        case "projection" | "value_projection":
            left, right = node["children"]
            yield from _inside(left)
            for fact in _inside(right):
                yield fact._replace(node=_each(left, fact.node, of=node["type"]))
        case "subexpression" | "pipe" | "index_expression":
            before: list[Node] = []
            for child in node["children"]:
                for fact in _inside(child):
                    whole = {"type": "subexpression", "children": [*before, fact.node]}
                    yield fact._replace(node=whole if before else fact.node)
                before.append(child)
        case "function_expression" | "flatten" | "or_expression":
            for child in _children(node):
                yield from _inside(child)


def _each(items: Node, node: Node, of: str = "projection") -> Node:
    """Return an expression for a part of each item of a list."""
    source = items if of == "value_projection" else {"type": "flatten", "children": [items]}
    return {"type": of, "children": [source, node]}


def _children(node: Node) -> list[Node]:
    return [child for child in node["children"] if isinstance(child, dict)]


def _names(node: Node) -> list[str]:
    """Return the members on the way of an expression; conditions of filters left out."""
    if node["type"] == "field":
        return [node["value"]]
    children = _children(node)
    if node["type"] == "filter_projection":
        children = children[:2]
    return [name for child in children for name in _names(child)]


def _last_name(node: Node) -> str:
    return (_names(node) or [""])[-1]


def _members(fact: Fact) -> list[str]:
    """Return the members of the output that a fact leads to."""
    names = _names(fact.node)
    return names if fact.document == "output" else names[1:]


def _reads_input(fact: Fact) -> bool:
    return fact.document != "output" and _names(fact.node)[:1] == ["input"]


def _in_words(fact: Fact, document: Any, evaluated: Evaluate) -> str | None:
    """Return the value of a fact in words; None if there is none."""
    value = evaluated(fact.node, document)
    names = [name for name in _names(fact.node) if name != "output"]
    noun = _words(names[-1]) if names else "item"
    match fact.kind, value:
        case "number", [*items] if items:
            numbers = ", ".join(str(each) for each in flat(items)[:_MANY] if is_number(each))
            return f"{noun} {numbers}" if numbers else None
        case "number", _ if is_number(value):
            return f"{noun} {value}"
        case "flag", _:
            flags = [each for each in flat(value) if isinstance(each, bool)]
            return (noun if all(flags) else f"not {noun}") if flags else None
        case "presence", [_, *_] | {}:
            return f"{_counted(len(value), noun)}" if isinstance(value, list) else f"a {noun}"
        case "presence", _ if value is not None and value != []:
            return f"a {noun}"
        case "count", [_, *_] | {}:
            return _counted(len(value), noun) if value else None
    return None


def _counted(count: int, noun: str) -> str:
    one = _singular(noun)
    return f"1 {one}" if count == 1 else f"{count} {noun if noun != one else f'{noun}s'}"


def _words(name: str) -> str:
    return " ".join(word if word.isupper() else word.lower() for word in re.findall(_WORD, name))


def _singular(noun: str) -> str:
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    if noun.endswith(("indices", "vertices")):
        return f"{noun[:-4]}ex"
    if noun.endswith(_ES):
        return noun[:-2]
    return noun if noun.endswith(("ss", "us", "is", "ias")) else noun.removesuffix("s")


def _missing(node: Node, document: Any) -> str | None:
    """Return the first member on the way of an expression that the document lacks, in words."""
    names = _names(node)
    values = [document]
    if "function_expression" in kinds_in(node) or not isinstance(document, dict):
        return None
    for name in names:
        found = [each.get(name) for each in values if isinstance(each, dict)]
        values = flat(found)
        if not values and not any(found):
            return f"no {_singular(_words(name))}"
    return f"no {_singular(_words(names[-1]))} that the wait is about" if names else None
