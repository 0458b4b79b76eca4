"""Draw when a waiter polls, beside botocore's waiter: SVG that is readable on light and dark pages.

    python tools/schedule_picture.py [SERVICE WAITER MAX_WAIT FILE]

Without arguments it draws `docs/pictures/schedule.svg`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

from botocore import xform_name

from boto_waiters_plus.cli.output import span
from boto_waiters_plus.cli.schedule_command import drawn_schedules
from boto_waiters_plus.service.catalog import definitions_of

SHOWN = ("ec2", "instance_running", "300", "docs/pictures/schedule.svg")

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


def picture(service: str, waiter: str, max_wait: float) -> str:
    """Return the picture of a waiter: a line for each schedule, with a stroke for each attempt."""
    found = {xform_name(each.name): each for each in definitions_of(service)}
    schedules = drawn_schedules(service, found[waiter], max_wait)
    width, left, row = 760, 20, 64
    scale = (width - 2 * left) / max_wait
    height = 40 + row * len(schedules) + 24
    parts = []
    for index, schedule in enumerate(schedules):
        top = 40 + row * index
        parts.append(svg_text(left, top + 14, f"{schedule.name}: {schedule.facts}"))
        parts.append(f'<path class="axis" d="M{left} {top + 38}H{width - left}"/>')
        strokes = "".join(f"M{left + time * scale:.1f} {top + 24}v28" for time in schedule.times)
        parts.append(f'<path class="attempt" d="{strokes}"/>')
    parts.append(svg_text(left, height - 8, "0 s", "small"))
    parts.append(svg_text(width - left, height - 8, span(max_wait), "small", "end"))
    title = f"{service} {waiter.replace('_', '-')}, {span(max_wait)}"
    return svg_picture(width, height, title, parts)


if __name__ == "__main__":
    name, waiter_name, seconds, file = sys.argv[1:] or SHOWN
    Path(file).write_text(picture(name, waiter_name, float(seconds)), encoding="utf-8")
