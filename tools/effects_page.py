"""The page of the mutations whose effect is known.

python tools/effects_page.py PAGE
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from rules_again import weak_deletions

from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions.changes import EFFECTS_FILE, EffectTrait, shipped_effects
from boto_waiters_plus.definitions.shipped import shipped_json

DOCUMENTATION = "smithy.api#documentation"

WEAK_DELETIONS = """
## Deletions that poll by a name

These poll by a name that may be given again, and nothing in the poll shows when the resource was
made. If another one gets the name during the wait, `begin` waits until that one is gone, too.

| service | operations |
|---|---|
"""

INTRODUCTION = """\
# Changes and their effects

What [`begin`](begin.md) waits for after a call; the first effect of an operation is the default.
The basis is `outcome.basis` where the state is certain.

**Settles in.** {settle_for}

| operation | effect | basis | settles in | stop |
|---|---|---|---|---|
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description="List the mutations with an effect.")
    parser.add_argument("page", type=Path, help="the file to write")
    page: Path = parser.parse_args(arguments).page
    traits = shipped_json("traits.json")["shapes"]
    settle_for = traits["boto.waiters#Effect"]["members"]["settleFor"]["traits"][DOCUMENTATION]
    introduction = INTRODUCTION.format(settle_for=settle_for)
    text = f"{introduction}{_lines(_rows())}{WEAK_DELETIONS}{_lines(_weak_rows())}"
    page.write_text(text, encoding="utf-8", newline="\n")


def _lines(rows: Iterator[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def _rows() -> Iterator[str]:
    for shape_id in shipped_json(EFFECTS_FILE)["shapes"]:
        namespace, _, name = shape_id.partition("#")
        service = service_by_namespace(namespace)
        if service is None or name not in service.operation_names:
            continue  # in an older botocore
        for effect in shipped_effects(shape_id):
            yield _row(service.name, name, effect)


def _weak_rows() -> Iterator[str]:
    for service, found in groupby(sorted(weak_deletions()), key=itemgetter(0)):
        yield f"| {service} | {', '.join(f'`{name}`' for _, name in found)} |"


def _row(service: str, operation: str, effect: EffectTrait) -> str:
    settles = f"{effect.settle_for:g} s" if effect.settle_for else ""
    stop = "" if effect.stop is None else f"`{effect.stop.operation}`"
    cells = (f"{service} `{operation}`", f"`{effect.name}`", effect.basis, settles, stop)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
