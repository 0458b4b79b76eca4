"""Rules of effects of calls that begin several things: all of them are waited for.

| rule | what it finds |
|---|---|
| EffectListByItsEnds | an acceptor reads some items of a list of the call by their indexes |
| EffectOneOfSeveral | a parameter of the poll, or of the stop, is one item of a list of the call |
| EffectSomeOfSeveral | several things are polled, and an answer that lacks one is a success |
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import jmespath

from boto_waiters_plus.check.botocore_services import service_by_namespace
from boto_waiters_plus.check.list_rules import check_lists
from boto_waiters_plus.check.paths import traced_path
from boto_waiters_plus.engine.acceptors import (
    Acceptor,
    ErrorTypeMatcher,
    InputOutputMatcher,
    OutputMatcher,
    SuccessMatcher,
)
from boto_waiters_plus.engine.model import WaiterDefinition

if TYPE_CHECKING:
    from effect_rules import EffectOf, Found

Node = Mapping[str, Any]

_CALL = re.compile(r"\bcall\b")


def _path(acceptor: Acceptor) -> str:
    """Return the expression of an acceptor; "" if it has none."""
    match acceptor.matcher:
        case OutputMatcher(matcher) | InputOutputMatcher(matcher):
            return str(matcher.path)
        case ErrorTypeMatcher() | SuccessMatcher():
            return ""
    raise AssertionError


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node["children"]:
        yield from _nodes(child)


def _text(node: Node) -> str:
    """Return what tells one expression from another."""
    inner = ",".join(map(_text, node["children"]))
    return f"{node['type']}:{node.get('value', '')}({inner})"


def _is_null(node: Node) -> bool:
    return node["type"] == "literal" and node["value"] is None


def _indexed(path: str) -> dict[str, set[int]]:
    """Return the lists whose items a path reads by index, with the indexes.

    Whether a list is empty may be asked by `list[0] == null`.
    """
    found: dict[str, set[int]] = defaultdict(set)

    def visit(node: Node, before: str = "", *, is_tested: bool = False) -> str:
        kind, children = node["type"], node["children"]
        if kind == "slice":
            return f"{children}"
        if kind == "comparator" and any(map(_is_null, children)):
            return "".join(visit(each, is_tested=True) for each in children)
        if kind in ("subexpression", "pipe"):
            for number, each in enumerate(children, start=1):
                before += visit(each, before, is_tested=is_tested and number == len(children))
            return before
        if kind == "index_expression" and children[1]["type"] == "index":
            items, index = before + visit(children[0]), children[1]["value"]
            if not is_tested:
                found[items].add(index)
            return f"{items}[{index}]"
        inner = ",".join(map(visit, children))
        return f" {node.get('value', kind)}" + (f"({inner})" if inner else "")

    visit(jmespath.compile(path).parsed)
    return found


def list_by_its_ends(effect: EffectOf) -> Iterator[Found]:
    """Find acceptors that read some items of a list: those between them may have failed."""
    for acceptor in effect.acceptors:
        for items, indexes in _indexed(_path(acceptor) or "@").items():
            # The ends of a sorted list are the least and the largest.
            is_sorted = items.lstrip().startswith("sort(")
            if (len(indexes) > 1 and not is_sorted) or _CALL.search(items):
                which = ", ".join(map(str, sorted(indexes)))
                yield _found("EffectListByItsEnds", f"a {acceptor.state.value} reads [{which}]")
                break


def one_of_several(effect: EffectOf) -> Iterator[Found]:
    """Find parameters of the poll or of the stop that are one item of a list of the call."""
    refused = [each.path for each in effect.trait.refusals]
    stop = effect.trait.stop
    given = [("the poll", effect.trait.parameters), ("the stop", stop.parameters if stop else {})]
    for of, parameters in given:
        for name, path in parameters.items():
            lists = re.findall(r"(call\.[\w.]+)(?:\[\][\w.]*)?(?: \| )?\[-?\d+\]", path)
            if not _indexed(path) or (
                all(
                    any(f"length(not_null({each}," in refusal for refusal in refused)
                    for each in lists
                )
                and lists
            ):
                continue
            yield _found("EffectOneOfSeveral", f"{name} of {of} is {path}")


def some_of_several(effect: EffectOf) -> Iterator[Found]:
    """Find effects that succeed by an answer that leaves out some of what their poll names."""
    service = service_by_namespace(effect.shape.partition("#")[0])
    if service is None or "operation" not in effect.body or effect.trait.each is not None:
        return
    operation = service.operation(effect.polled.name)
    waiter = WaiterDefinition(
        name=effect.name, operation=effect.polled.name, acceptors=effect.acceptors
    )
    paths = [traced_path(each, operation) for each in effect.acceptors]
    for finding in check_lists(waiter, operation, paths):
        path = _path(effect.acceptors[finding.acceptor or 0])
        if finding.rule == "WaiterNamedNotReturned" and not _CALL.search(path):
            yield _found("EffectSomeOfSeveral", finding.message)


def _found(rule: str, text: str) -> Found:
    from effect_rules import Found  # noqa: PLC0415 - it has this module's rules

    return Found(rule, text)


RULES = (list_by_its_ends, one_of_several, some_of_several)
