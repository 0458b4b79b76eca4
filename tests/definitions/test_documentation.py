"""Documentation of waiters is CommonMark (section "Waiter structure")."""

import sys

from boto_waiters_plus.definitions.words import documentation_text

MARKDOWN = """\
# Ready

Waits *until* it is **ready**: `a < b && c`, <Resource>Exists, 5 < 6 &amp; 7,
on two lines.

- two [link](https://example.com/a?b=1&c=2)
  - nested `x`

1. first

```python
if x < 2: y = "&"
```
> quoted
"""

TEXT = """\
Ready

Waits *until* it is **ready**: ``a < b && c``, <Resource>Exists, 5 < 6 & 7, on two lines.

* two `link <https://example.com/a?b=1&c=2>`__

  * nested ``x``

* first

    if x < 2: y = "&"

quoted"""


def test_commonmark_becomes_text():
    assert documentation_text(MARKDOWN) == TEXT


def test_without_a_parser_the_source_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    assert documentation_text(MARKDOWN) == MARKDOWN.strip()
