"""What of a response may be shown."""

import pytest

from boto_waiters_plus.engine.redaction import cut, may_show, shown

PLAIN = ["ACTIVE", "", 5, 1.5, True, 0, [], ["a", 1, False], ["a"] * 5]
OTHER = [
    ["a"] * 6,
    [["a"]],
    [{"a": 1}],
    [None],
    {"Password": "x"},
    None,
    b"bytes",
    ("a",),
    object(),
]


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
