"""Documentation of waiters is CommonMark (section "Waiter structure")."""

import sys

import pytest

from boto_waiters_plus.definitions.words import documentation_text


@pytest.mark.parametrize(("markdown", "text"), [
    ("# Ready\n\nWaits *until* it is **ready**:\non", "Ready\n\nWaits *until* it is **ready**: on"),
    ("<R>Exists, 5 < 6 &amp; 7, `a < b && c`", "<R>Exists, 5 < 6 & 7, ``a < b && c``"),
    ("a [link](https://example.com/a?b=1&c=2)", "a `link <https://example.com/a?b=1&c=2>`__"),
    ("- one `x`\n- two\n  - nested", "* one ``x``\n\n* two\n\n  * nested"),
    ("1. first", "* first"),
    ('```python\nif x < 2:\n    y = "&"\n```', '    if x < 2:\n        y = "&"'),
    ("> quoted", "quoted"),
])  # fmt: skip
def test_commonmark_becomes_text(markdown, text):
    assert documentation_text(f"begin\n\n{markdown}\n\nend\n") == f"begin\n\n{text}\n\nend"


def test_without_a_parser_the_source_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    assert documentation_text(" *as* it `is`\n") == "*as* it `is`"
