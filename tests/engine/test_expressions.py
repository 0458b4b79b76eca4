"""Expressions as functions give what jmespath gives."""

import functools

import jmespath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.engine.expressions import compiled

LEAVES = st.sampled_from([None, True, False, 0, 1.5, "", "up", "a", [], {}])


def documents(names):
    """JSON whose objects have these members, so that paths lead somewhere."""
    keys = st.sampled_from(sorted(names) or ["a"])
    return st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=12,
    )


def fields(node):
    if not isinstance(node, dict):
        return set()
    own = {node["value"]} if node["type"] == "field" else set()
    return own.union(*(fields(child) for child in node.get("children", ())))


def outcome(function, document):
    try:
        return function(document)
    except Exception as error:
        return type(error)


@functools.cache
def shipped_paths():
    """Every distinct expression that acceptors of the package's own definitions look at."""
    acceptors = [
        acceptor
        for service in shipped_services()
        for definition in shipped_definitions(service)
        for acceptor in definition.acceptors
    ]
    matchers = [getattr(acceptor.matcher, "matcher", None) for acceptor in acceptors]
    return sorted({matcher.path for matcher in matchers if matcher is not None})


TEXTS = [
    "@",
    "a",
    '"a b"',
    "a.b.c.d",
    "a[]",
    "a[][]",
    "a[].b[].c",
    "a[*].b",
    "a[*].b[]",
    "a[*].b[*].c",
    "[]",
    "[].a[]",
    "@.a",
    "a[0].b",
    "a[-1]",
    "a[1:]",
    "a.*",
    "a[?b=='up'].c[]",
    "a[].[b, c]",
    "a[].{x: b}",
    "length(a[]) > `1`",
    "a | b",
    "a || b",
    "a && !b",
]


@given(data=st.data())
@settings(max_examples=500)
def test_an_expression_gives_what_jmespath_gives(data):
    text = data.draw(st.sampled_from(TEXTS))
    parsed = jmespath.compile(text)
    document = data.draw(documents({"a", "b", "c", "a b"} | fields(parsed.parsed)))
    assert outcome(compiled(text), document) == outcome(parsed.search, document)


@given(data=st.data())
@settings(max_examples=500)
def test_shipped_expressions_give_what_jmespath_gives(data):
    text = data.draw(st.sampled_from(shipped_paths()))
    parsed = jmespath.compile(text)
    document = data.draw(documents(fields(parsed.parsed)))
    assert outcome(compiled(text), document) == outcome(parsed.search, document)


def test_most_shipped_expressions_need_no_tree_to_be_walked():
    left = [text for text in shipped_paths() if hasattr(compiled(text), "__self__")]
    assert len(left) < len(shipped_paths()) / 3


def test_what_is_no_expression_is_refused():
    with pytest.raises(jmespath.exceptions.JMESPathError):
        compiled("a[")


def test_an_expression_too_deep_for_python_is_left_to_jmespath():
    assert outcome(compiled("a" + "[]" * 5000), {"a": []}) == outcome(
        jmespath.compile("a" + "[]" * 5000).search, {"a": []}
    )


def test_a_result_is_not_part_of_the_document():
    document = {"a": [[1], [2]]}
    compiled("a[]")(document).append(3)
    assert document == {"a": [[1], [2]]}
