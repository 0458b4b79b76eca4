"""Positions in expressions, and the wording of what is refused."""

import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jmespath.exceptions import JMESPathError

from boto_waiters_plus.validation.expressions import ExpressionSyntaxError, parse


def outline(node):
    """A node as text: kind, value and position, with its children."""
    text = node.kind if node.value is None else f"{node.kind}={node.value}"
    text += f"@{node.position.column}"
    return f"{text}({', '.join(map(outline, node.children))})" if node.children else text


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a", "field=a@1"),
        (" a . b", "sub@4(field=a@2, field=b@6)"),
        ("a.b.c", "sub@4(sub@2(field=a@1, field=b@3), field=c@5)"),
        ("a[0]", "sub@2(field=a@1, index=0@3)"),
        ("a[0][-1]", "sub@5(sub@2(field=a@1, index=0@3), index=-1@6)"),
        ("[1]", "index=1@2"),
        ("a[*].b", "projection@3(field=a@1, field=b@6)"),
        ("a[].b", "projection@4(flatten@1(field=a@1), field=b@5)"),
        ("[]", "projection@3(flatten@1(current@1), current@3)"),
        ("a[1:2].b", "sub@2(field=a@1, projection@3(slice@3, field=b@8))"),
        ("a.*.b", "object_projection@3(field=a@1, field=b@5)"),
        ("*", "object_projection@1(current@1, current@2)"),
        (
            "a[?b == `1`].c",
            "filter@9(field=a@1, field=c@14, comparator===@9(field=b@4, literal=1@9))",
        ),
        ("f(a, &b)", "function=f@1(field=a@3, expref@6(field=b@7))"),
        ("a == (b)", "comparator===@6(field=a@1, field=b@7)"),
        ("!(a && b) || c", "or@11(not@1(and@5(field=a@3, field=b@8)), field=c@14)"),
        ("[a, b]", "list@2(field=a@2, field=b@5)"),
        ("a.[b]", "sub@2(field=a@1, list@4(field=b@4))"),
        ("{x: a, y: b}", "hash=('x', 'y')@2(field=a@5, field=b@11)"),
        ("a | b", "sub@3(field=a@1, field=b@5)"),
        ("((a)).b", "sub@6(field=a@3, field=b@7)"),
        ("f((a), g(b))", "function=f@1(field=a@4, function=g@8(field=b@10))"),
    ],
)
def test_each_node_has_the_position_smithy_reports(expression, expected):
    assert outline(parse(expression).root) == expected


def test_lines_are_counted():
    root = parse("a ||\n\r\n  b.c\r").root
    assert root.children[1].children[1].position == (3, 5)


def test_columns_count_what_lies_beyond_the_basic_plane_twice():
    assert parse('"\U0001f600" || b').root.children[1].position == (1, 9)


@pytest.mark.parametrize(
    ("expression", "grammar"),
    [
        ("a.*.b.c", "values(a)[*].b.c"),
        ("a.*.b[0].c", "values(a)[*].b[0].c"),
        ("a.*.b[?c]", "values(a)[*].b[?c]"),
        ("a.*.b.*.c.d", "values(a)[*].b.* | [].c.d"),
    ],
)
def test_what_jmespath_takes_apart_is_put_together_and_reported(expression, grammar):
    document = {"a": {"x": {"b": {"c": {"d": 1}}}, "y": {"b": [{"c": 2}]}}}
    assert parse(expression).read_differently
    # The bug itself: should a release mend it, `read_differently` has served its time.
    assert jmespath.search(expression, document) != jmespath.search(grammar, document)


@pytest.mark.parametrize("expression", ["(a.*.b).c", "*.b.c", "a.*.*.b.c", "a[*].b.c", "a.* | b"])
def test_what_jmespath_reads_as_the_grammar_says_is_left_alone(expression):
    assert not parse(expression).read_differently


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        (
            "",
            (
                "1 column 1: Expected ['@', 'A-Z|a-z|_', '`', '*', '{', '[', '[]', '&', '!', '[?', "
                "'('], but found EOF"
            ),
        ),
        ("a.@", "1 column 3: Expected ['[', '{', '*', 'A-Z|a-z|_'], but found '@'"),
        ("a b", "1 column 3: Expected EOF, but found 'b'"),
        ("a\n[", "2 column 2: Expected ['-|0-9', ':', '*'], but found EOF"),
        ("a[1 2]", "1 column 5: Expected [':', ']'], but found '2'"),
        ("[1:2:3:4]", "1 column 8: Too many colons in slice expression"),
        ("a[*]*", "1 column 5: Invalid projection"),
        ("f(a,)", "1 column 5: Invalid token after ',': ')'"),
        ("{a: b c: d}", "1 column 7: Expected [']', ','], but found 'c'"),
        ("{a b}", "1 column 4: Expected ':', but found 'b'"),
        ("(a", "1 column 3: Expected ')', but found EOF"),
        ("a[?b", "1 column 5: Expected ']', but found EOF"),
        ("a = b", "1 column 4: Expected: '=', but found ' '"),
        ("a[-]", "1 column 4: Invalid number '-': '-' must be followed by a digit"),
        ("'a", "1 column 3: Unclosed raw string: a"),
        ('"a', "1 column 3: Unclosed quotes"),
        (r'"a\x"', "1 column 4: Invalid escape: x"),
        ("a #", "1 column 3: Unexpected syntax: #"),
        ("`tru`", "1 column 5: Expected: 'e', but found '`'"),
        ("`1 2`", "1 column 4: Expected: '`', but found '2'"),
        (
            'a `{"b": [1, null, true, "it\'s"]}`',
            ("1 column 3: Expected EOF, but found '{b=[1, null, true, it\\'s]}'"),
        ),
        (
            "a.[0]",
            (
                "1 column 4: Expected ['@', 'A-Z|a-z|_', '`', '*', '{', '[', '[]', '&', '!', '[?', "
                "'('], but found '0'"
            ),
        ),
        (
            "f(a ]",
            (
                "1 column 5: Expected ['@', 'A-Z|a-z|_', '`', '*', '{', '[', '[]', '&', '!', '[?', "
                "'('], but found ']'"
            ),
        ),
        ("a[*", "1 column 4: Expected ']', but found EOF"),
        ("{a: b", "1 column 6: Expected [']', ','], but found EOF"),
        ("[?a]*", "1 column 5: Invalid projection"),
        ("`1", "1 column 3: Expected: '`', but found '[EOF]'"),
        ("a || `foo`", "1 column 8: Expected: 'a', but found 'o'"),
        (
            "`bar`",
            (
                "1 column 2: Found 'b', but expected one of the following tokens: '\"' '{' '[' "
                "'t' 'f' 'n' '0' '1' '2' '3' '4' '5' '6' '7' '8' '9' '-'"
            ),
        ),
    ],
)
def test_refusals_are_worded_as_smithy_words_them(expression, problem):
    with pytest.raises(ExpressionSyntaxError) as caught:
        parse(expression)
    assert str(caught.value) == f"Syntax error at line {problem}"


def test_what_only_jmespath_refuses_is_refused_in_its_words():
    with pytest.raises(ExpressionSyntaxError, match="column 6: Quoted identifier not allowed"):
        parse('a || "f"(b)')


def test_an_expression_nested_beyond_measure_is_refused():
    with pytest.raises(ExpressionSyntaxError, match="nested too deeply"):
        parse("[" * 3000 + "a" + "]" * 3000)


PARTS = ["a", "b", '"q"', "`1`", "'s'", "*", "{", "}", "[", "]", "[]", "[?", "[0]", "[*]", "[1:]"]
PARTS += [".", "||", "&&", "|", "==", "<", "!", "&", "@", ",", "a:", "f(", "(", ")"]
STRICTER = ("Invalid token after ','", "Expected [']', ',']")


@given(st.lists(st.sampled_from(PARTS), max_size=9).map(" ".join))
def test_jmespath_and_the_checker_refuse_the_same(expression):
    try:
        jmespath.compile(expression)
        accepted = True
    except JMESPathError:
        accepted = False
    try:
        root, problem = parse(expression).root, ""
    except ExpressionSyntaxError as error:
        root, problem = None, str(error)
    assert (root is not None) == (accepted and not any(text in problem for text in STRICTER))
    for node in walk(root):
        assert 1 <= node.position.column <= len(expression) + 1


def walk(node):
    if node is not None:
        yield node
        for child in node.children:
            yield from walk(child)
