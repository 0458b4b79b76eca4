"""The page about effects: what is said of them, and how many operations of each service have one.

python tools/effects_page.py PAGE
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from rules_again import weak_deletions

from boto_waiters_plus.definitions.shipped import shipped_json, shipped_services
from boto_waiters_plus.service.catalog import client_name, effects_of

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

What [`begin`](begin.md) waits for after a call is on the page of the service, and `boto-wait list
--changes` lists all of it. The first effect of an operation is the default. The basis is
`outcome.basis` where the state is certain.

**Settles in.** {settle_for}

| service | operations with an effect |
|---|---|
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
    counts = Counter(service for service, _ in {each[:2] for each in effects_of(None)})
    pages = {client_name(service_id): service_id for service_id in shipped_services()}
    for service, count in sorted(counts.items()):
        yield f"| [{service}](reference/{pages[service]}.md#effects) | {count} |"


def _weak_rows() -> Iterator[str]:
    for service, found in groupby(sorted(weak_deletions()), key=itemgetter(0)):
        yield f"| {service} | {', '.join(f'`{name}`' for _, name in found)} |"


if __name__ == "__main__":
    main()
