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
from typing import Any

import jmespath
from effect_of import EffectOf, Found, path_of

from boto_waiters_plus.check.list_rules import check_lists
from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.check.paths import TracedWaiter
from boto_waiters_plus.definitions.state_words import ENDINGS
from boto_waiters_plus.definitions.words import verb_of
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.model import WaiterDefinition

Node = Mapping[str, Any]

_CALL = re.compile(r"\bcall\b")

_ENDING = (*ENDINGS, "CANCEL", "DISABL", "RELEAS")
"""Verbs: what the answer lacks is gone, as it should be."""
_SEVERAL = re.compile(r"\Acall\.[\w.]+\Z|\bcall\.[\w.]+\[\]")
_COUNT = re.compile(r"\blength\([^=<>]*\b(call|input)\.")


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
        for items, indexes in _indexed(path_of(acceptor) or "@").items():
            # The ends of a sorted list are the least and the largest.
            is_sorted = items.lstrip().startswith("sort(")
            if (len(indexes) > 1 and not is_sorted) or _CALL.search(items):
                which = ", ".join(map(str, sorted(indexes)))
                yield Found("EffectListByItsEnds", f"a {acceptor.state.value} reads [{which}]")
                break


def one_of_several(effect: EffectOf) -> Iterator[Found]:
    """Find parameters of the poll or of the stop that are one item of a list of the call."""
    refused = [each.path for each in effect.trait.refusals]
    stop, of_each = effect.trait.stop, effect.trait.each or ""
    given = [("the poll", effect.trait.parameters), ("the stop", stop.parameters if stop else {})]
    for of, parameters in given:
        for name, path in parameters.items():
            lists = re.findall(r"(call[\w.]+)(?=\[)", path)
            # A call with several of them is refused.
            is_one = any(f"length(not_null({each}," in text for each in lists for text in refused)
            # What is the same in all items is the parent's, such as the cluster.
            of_parent = of_each.partition("[]")[0] in lists and path.replace("[0]", "[]") != of_each
            if _indexed(path) and not (is_one or of_parent):
                yield Found("EffectOneOfSeveral", f"{name} of {of} is {path}")


def some_of_several(effect: EffectOf) -> Iterator[Found]:
    """Find effects that succeed by an answer that leaves out some of what their poll names."""
    service = service_by_namespace(effect.shape.partition("#")[0])
    if service is None or effect.trait.each is not None:
        return
    if "operation" not in effect.body:
        yield from _some_by_waiter(effect)
        return
    operation = service.operation(effect.polled.name)
    waiter = WaiterDefinition(
        name=effect.name, operation=effect.polled.name, acceptors=effect.acceptors
    )
    for finding in check_lists(TracedWaiter(waiter, operation)):
        path = path_of(effect.acceptors[finding.acceptor or 0])
        if finding.rule == "WaiterNamedNotReturned" and not _CALL.search(path):
            yield Found("EffectSomeOfSeveral", finding.message)


def _some_by_waiter(effect: EffectOf) -> Iterator[Found]:
    """Find named waiters, which do not know what the call has made."""
    is_ending = verb_of(effect.mutation.name).upper().startswith(_ENDING)
    paths = [(each.state, path_of(each)) for each in effect.acceptors]
    is_counted = any(state is AcceptorState.RETRY and _COUNT.search(path) for state, path in paths)
    successes = [path for state, path in paths if state is AcceptorState.SUCCESS]
    if is_ending or is_counted or all(not path or _COUNT.search(path) for path in successes):
        return
    shape = effect.polled.input_shape
    for name, path in effect.trait.parameters.items():
        is_list = shape is not None and shape.members[name].type_name == "list"
        if is_list and _SEVERAL.search(path) and not _indexed(path):
            yield Found("EffectSomeOfSeveral", f"{name} of the poll is {path}")


RULES = (list_by_its_ends, one_of_several, some_of_several)
