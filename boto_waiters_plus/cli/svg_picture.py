"""The frame of a picture: SVG that is readable on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

STYLE = """\
text { font: 13px sans-serif; fill: #1f2328 }
.small { font-size: 11px } .title, .name { font-weight: bold }
.paper { fill: #ffffff } .box { fill: #eef2f7; stroke: #59636e }
.axis { stroke: #b7bdc4; fill: none } .line { stroke: #59636e; fill: none }
.attempt { stroke: #0550ae; stroke-width: 2; fill: none }
.call { fill: #0550ae } .delay { fill: #c9d3df } .ready { stroke: #1a7f37; stroke-dasharray: 4 3 }
.tip { fill: #59636e }
@media (prefers-color-scheme: dark) {
  text { fill: #dfe3e8 }
  .paper { fill: #1a1c1e } .box { fill: #2a2f36; stroke: #9198a1 }
  .axis { stroke: #59636e } .line { stroke: #9198a1 }
  .attempt { stroke: #79b8ff }
  .call { fill: #79b8ff } .delay { fill: #3d4752 } .ready { stroke: #4ac26b }
  .tip { fill: #9198a1 }
}"""
"""The colours by class. Browsers choose by the reader's setting, or by the page around the picture;
the paper comes with them, so that the text is readable where they choose otherwise."""


def svg_picture(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """Return the picture with this title above the parts, which begin at y=40."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{STYLE}\n</style>",
            f'<rect class="paper" width="{width}" height="{height}" rx="6"/>',
            svg_text(20, 24, title, "title"),
            *parts,
            "</svg>\n",
        ]
    )


def svg_text(x: float, y: float, text: str, names: str = "", anchor: str = "start") -> str:
    """Return a line of text; `names` are classes of `STYLE`."""
    style = f' class="{names}"' if names else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}"{style}{place}>{escape(text)}</text>'
