"""What the site's own style does to messages and tables, in a browser as wide as a phone."""

import sys

import pytest
from docs.page_run import ROOT

sys.path[:0] = [str(ROOT / "tests/operations")]
import browser  # noqa: E402 - found by the line above

pytestmark = pytest.mark.nightly(subject="stores")

PHONE = 390
NAME = "aiobotocore.session.AioSession.create_client"
SENTENCE = (
    "Waiter BucketExists timed out after 60 s for s3 Bucket=logs-03: last state seen: 404. " * 3
)


def code(text):
    return f'<code class="docutils literal"><span class="pre">{text}</span></code>'


def row(cell, *texts):
    return f"<tr>{''.join(f'<{cell}><p>{text}</p></{cell}>' for text in texts)}</tr>"


def block(language, more=""):
    return f'<div class="highlight-{language}"><div><pre {more}>{SENTENCE}</pre></div></div>'


PAGE = f"""<!doctype html><meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="site.css"><body style="width: {PHONE - 20}px"><article>
{block("text")}{block("python", 'style="overflow: auto"')}
<table class="docutils"><thead>{row("th", "name", "meaning", "value")}</thead>
<tbody>{row("td", code(NAME), SENTENCE, code(NAME))}</tbody></table></article>"""


def test_messages_wrap_and_tables_fit_on_a_phone(tmp_path):
    browser.required()
    (tmp_path / "site.css").write_bytes((ROOT / "docs/static/site.css").read_bytes())
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    with browser.browser(tmp_path / "profile", f"--window-size={PHONE},900") as window:
        window.open((tmp_path / "page.html").as_uri())

        def each(selector, value):
            found = f"[...document.querySelectorAll('{selector}')]"
            return window.run(f"return {found}.map(e => {value})")

        assert each("pre", "e.scrollWidth > e.clientWidth") == [False, True]
        first, last = each("td .pre", "e.getClientRects().length")
        assert first == 1
        assert last > 1, "a name elsewhere than in the first column is broken for want of room"
        assert max(each("td, th", "e.getBoundingClientRect().right")) <= PHONE
