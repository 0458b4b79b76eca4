"""Documentation of waiters, which is CommonMark (section "Waiter structure").

markdown-it-py makes HTML of it, and botocore's own converter makes of that the text of docstrings.
Without markdown-it-py, which the extra `cli` installs, the source is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

_TAGS = {"strong": "b", "em": "i"} | dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "p")
"""Elements that botocore's converter has under another name, or as a paragraph."""

_CODE_BLOCKS = ("fence", "code_block")


def documentation_text(documentation: str) -> str:
    """Return documentation as plain text, in the way of docstrings."""
    # Only docstrings and `boto-wait show` need it.
    from botocore.docs.bcdoc.restdoc import ReSTDocument  # noqa: PLC0415

    document = ReSTDocument()
    for is_html, part in _parts(documentation.strip()):
        if is_html:
            document.include_doc_string(part)
        else:
            document.write(part)
    text = document.getvalue().decode()
    return re.sub(r"\n\s*\n( *)(?=\S)", r"\n\n\1", text).strip()


def _parts(documentation: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a text: HTML, or lines to be kept as they are."""
    try:
        # Optional, and 20 ms to import.
        from markdown_it import MarkdownIt  # noqa: PLC0415
    except ModuleNotFoundError:
        yield False, documentation
        return
    # What looks like HTML is mostly a placeholder: `<Resource>Exists`.
    parser = MarkdownIt("commonmark", {"html": False})
    tokens = parser.parse(documentation)
    for token in tokens:
        for part in (token, *(token.children or ())):
            part.tag = _TAGS.get(part.tag, part.tag)
    for is_code, group in groupby(tokens, lambda t: t.level == 0 and t.type in _CODE_BLOCKS):
        if is_code:
            lines = [f"    {line}" for token in group for line in token.content.splitlines()]
            yield False, "\n".join(["\n", *lines, "\n"])
        else:
            yield True, str(parser.renderer.render(list(group), parser.options, {}))
