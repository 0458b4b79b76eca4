"""The page of the operations whose sibling tells the states of many resources.

python tools/screens_page.py PAGE
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.service.screens import reads_only, shipped_screens

INTRODUCTION = """\
# Screens by operation

[A list for many waits](many.md#a-list-for-many-waits) tells which of them are worth a call of their
own. The package calls these operations for it, if the caller may: without the permission, the waits
are polled one by one.

Some services have no such operation. Textract has no list of jobs. The lists of EKS (add-ons, node
groups, Fargate profiles), DynamoDB (tables) and Firehose give names without states; those of
DynamoDB's exports and imports give only what has ended. The statements of `redshift-data` are
listed once they have finished. The executions of a map run, and those of an express state machine,
are not in the list of the state machine.

An operation that takes a list of identifiers has no row: its calls
[are shared](many.md#one-call-for-many-waits).

| polled operation | list | permission | waiters |
|---|---|---|---|
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description="List the operations with a screen.")
    parser.add_argument("page", type=Path, help="the file to write")
    page: Path = parser.parse_args(arguments).page
    page.write_text(INTRODUCTION + "\n".join(_rows()) + "\n", encoding="utf-8", newline="\n")


def _rows() -> Iterator[str]:
    for shape_id, screen in shipped_screens().items():
        namespace, _, name = shape_id.partition("#")
        service = service_by_namespace(namespace)
        if service is None or name not in service.operation_names:
            continue  # in an older botocore
        model = service.model
        waiters = [
            f"`{each.name}`"
            for each in shipped_definitions(model.service_id.hyphenize())
            if each.operation == name and reads_only(each, screen)
        ]
        permission = f"{model.signing_name}:{screen.operation}"
        cells = (f"{service.name} `{name}`", f"`{screen.operation}`", f"`{permission}`")
        yield f"| {' | '.join((*cells, ', '.join(waiters)))} |"


if __name__ == "__main__":
    main()
