"""The positions of nodes, and what the parser refuses."""

import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jmespath.exceptions import JMESPathError

from boto_waiters_plus.validation.expressions import ExpressionSyntaxError, parse


def outline(node):
    """A node as text: kind, value and children."""
    text = node.kind if node.value is None else f"{node.kind}={node.value}"
    return f"{text}({', '.join(map(outline, node.children))})" if node.children else text


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a.b.c", "sub(sub(field=a, field=b), field=c)"),
        ('a[0]."b"[-1]', "sub(sub(field=a, index=0), sub(field=b, index=-1))"),
        ("a[*].b", "projection(field=a, field=b)"),
        ("[*]", "projection(current, current)"),
        ("a[].b", "projection(flatten(field=a), field=b)"),
        ("a[1:2:].b", "sub(field=a, projection(slice, field=b))"),
        ("a.*.b", "object_projection(field=a, field=b)"),
        ("*", "object_projection(current, current)"),
        ("a[?b==`1`].c", "filter(field=a, field=c, comparator===(field=b, literal=1))"),
        ("f(a, &b)", "function=f(field=a, expref(field=b))"),
        ("g()", "function=g"),
        ("!(a && b) || c", "or(not(and(field=a, field=b)), field=c)"),
        ("a.[b, @]", "sub(field=a, list(field=b, current))"),
        ("{x: a, y: b}", "hash=('x', 'y')(field=a, field=b)"),
        ("a | b", "sub(field=a, field=b)"),
    ],
)
def test_expression_is_parsed_by_the_grammar(expression, expected):
    assert outline(parse(expression).root) == expected


@pytest.mark.parametrize(
    ("expression", "child", "position"),
    [
        (" a . bc", 1, (1, 6)),
        ("a ||\n  b", 1, (2, 3)),
        ("f(a, (bc))", 1, (1, 7)),
        ("a == (b) && c", 0, (1, 6)),
    ],
)
def test_node_has_the_position_smithy_reports(expression, child, position):
    assert parse(expression).root.children[child].position == position


@pytest.mark.parametrize(
    ("expression", "grammar"),
    [
        ("a.*.b.c", "values(a)[*].b.c"),
        ("a.*.b[0].c", "values(a)[*].b[0].c"),
        ("a.*.b[?c]", "values(a)[*].b[?c]"),
        ("a.*.b.*.c.d", "values(a)[*].b.* | [].c.d"),
    ],
)
def test_expression_that_jmespath_groups_differently_is_marked(expression, grammar):
    document = {"a": {"x": {"b": {"c": {"d": 1}}}, "y": {"b": [{"c": 2}]}}}
    assert parse(expression).parsed_differently
    # The bug itself: once a release mends it, `parsed_differently` can go.
    assert jmespath.search(expression, document) != jmespath.search(grammar, document)


@pytest.mark.parametrize("expression", ["(a.*.b).c", "*.b.c", "a.*.*.b.c", "a[*].b.c", "a.* | b"])
def test_expression_that_jmespath_groups_alike_is_not_marked(expression):
    assert not parse(expression).parsed_differently


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("", "1 column 1: "),
        ("a.@", "1 column 3: Expected ['[', '{', '*', 'A-Z|a-z|_'], but found '@'"),
        ("a b", "1 column 3: Expected EOF, but found 'b'"),
        ("a\n[", "2 column 2: Expected"),
        ("a[1 2]", "1 column 5: Expected"),
        ("[1:2:3:4]", "1 column 8: Too many colons"),
        ("a[*]*", "1 column 5: "),
        ("f(a,)", "1 column 5: "),
        ("f(a)(b)", "1 column 5: "),
        ("{a: b c: d}", "1 column 7: Expected"),
        ("{a b}", "1 column 4: Expected ':', but found 'b'"),
        ("(a", "1 column 3: Expected ')', but found EOF"),
        ("a[?b", "1 column 5: Expected ']', but found EOF"),
        ("a = b", "1 column 3: "),
        ("'a", "1 column 1: "),
        ('"a', "1 column 1: "),
        ("a #", "1 column 3: "),
        ("a &&", "1 column 5: Expected an expression, but found EOF"),
        ("`tru`", "1 column 1: "),
        ("`[NaN]`", "1 column 1: "),
    ],
)
def test_syntax_error_names_the_position(expression, problem):
    with pytest.raises(ExpressionSyntaxError) as caught:
        parse(expression)
    assert str(caught.value).startswith(f"Syntax error at line {problem}")


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("[" * 3000 + "a" + "]" * 3000, "nested too deeply"),
        ("!" * 220 + "a", "nested more than 200 deep"),
        ("a" * 10_001, "longer than 10000 characters"),
    ],
)
def test_expression_that_the_loader_refuses_is_refused(expression, problem):
    with pytest.raises(ExpressionSyntaxError, match=problem):
        parse(expression)


PARTS = ["a", "b", '"q"', "`1`", "'s'", "*", "{", "}", "[", "]", "[]", "[?", "[0]", "[*]", "[1:]"]
PARTS += [".", "||", "&&", "|", "==", "<", "!", "&", "@", ",", "a:", "f(", "(", ")"]


STRICTER = ("Expected an expression, but found ')'", "Expected [',', '}']")


@given(st.lists(st.sampled_from(PARTS), max_size=9).map(" ".join))
def test_parser_refuses_what_jmespath_refuses(expression):
    try:
        jmespath.compile(expression)
        accepted = True
    except JMESPathError:
        accepted = False
    try:
        parse(expression)
        problem = None
    except ExpressionSyntaxError as error:
        problem = str(error)
    # jmespath.py allows a comma before a parenthesis, and a hash without commas.
    stricter = problem is not None and any(text in problem for text in STRICTER)
    assert accepted == (problem is None) or stricter
