"""What of a response may be shown."""

import pytest

from boto_waiters_plus.engine.redaction import counted, cut, listed, may_show, shown, state_text

PLAIN = [
    "ACTIVE", "", "a=b", "https://a/?signature", 5, 1.5, True, 0,
    [], ["a", 1, False], ["a"] * 5,
]  # fmt: skip
OTHER = [
    ["a"] * 6, [["a"]], [{"a": 1}], [None], {"Password": "x"}, None, b"bytes", ("a",), object(),
    "https://a/b?X-Amz-Signature=c", ["https://a/b?x=1&Signature=c"],
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=str)
def test_plain_values_and_short_lists_of_them_are_shown(value):
    assert shown(value) == str(value)
    assert may_show(value)


@pytest.mark.parametrize("value", OTHER, ids=lambda value: type(value).__name__)
def test_other_values_are_not_shown(value):
    assert shown(value) is None
    assert not may_show(value)


def test_long_values_are_cut_at_the_limit():
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 201) == shown("x" * 5000) == "x" * 197 + "..."
    assert len(shown(["x" * 300] * 5)) == 200


def test_values_that_are_not_plain_are_not_counted():
    assert counted([{"a": 1}] * 6) is None
    assert counted([{"a": 1}, *"bbbbb"]) == "5 b"


@pytest.mark.parametrize(("observed", "words", "text"), [
    ("up", "2 parts", "up"), (5, "2 parts", "5"), (["up"], "2 parts", "up"),
    (["up", "down"], None, "up, down"), ([], None, "no item"),
    *((value, None, None) for value in (True, False, [True, False])),
    # The value does not tell the state.
    (None, "no part", "no part"), (None, None, None), ({"Password": "x"}, None, None),
    *((value, "2 parts", "2 parts") for value in ([], True, False, {"Password": "x"})),
], ids=str)  # fmt: skip
def test_state_is_the_value_or_else_its_words(observed, words, text):
    assert state_text(observed, words) == text


@pytest.mark.parametrize(("values", "most", "text"), [
    ("abc", 3, "a, b, c"), ("abcd", 3, "a, b and 2 more"), ("abc", 2, "a and 2 more"),
    ("ab", 1, "a and 1 more"), (["x" * 101], 3, "x" * 97 + "..."),
    (["a\nb", "c"], 1, "a\\nb and 1 more"),
])  # fmt: skip
def test_values_beyond_the_most_are_counted(values, most, text):
    assert listed(list(values), most) == text
