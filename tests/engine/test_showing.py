"""What of a response may be shown."""

import pytest

from boto_waiters_plus.engine.redaction import cut, may_show, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ACTIVE", "ACTIVE"),
        ("", ""),
        (5, "5"),
        (1.5, "1.5"),
        (True, "True"),
        (0, "0"),
        ([], "[]"),
        (["a", 1, False], "['a', 1, False]"),
        (["a"] * 5, "['a', 'a', 'a', 'a', 'a']"),
        (["a"] * 6, None),
        ([["a"]], None),
        ([{"a": 1}], None),
        ([None], None),
        ({"Password": "x"}, None),
        (None, None),
        (b"bytes", None),
        (("a",), None),
        (object(), None),
    ],
)
def test_only_plain_values_and_short_lists_of_them_are_shown(value, text):
    assert shown(value) == text
    assert may_show(value) is (text is not None)


def test_long_values_are_cut_at_the_limit():
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 201) == "x" * 197 + "..."
    assert shown("x" * 5000) == "x" * 197 + "..."
    assert len(shown(["x" * 300] * 5)) == 200
