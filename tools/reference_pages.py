"""Write the reference pages: one for each service with shipped waiters, and an index.

python tools/reference_pages.py OUTPUT_FOLDER
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from botocore import xform_name

from boto_waiters_plus.cli.service_lookup import client_name, confidence
from boto_waiters_plus.cli.text import acceptor_rows, delay_range, reason_paths
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.engine.model import WaiterDefinition

INDEX = """\
# Waiters by service

| service | waiters |
|---|---|
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write every page, and remove the pages of services that no longer exist."""
    parser = argparse.ArgumentParser(description="Write the reference pages of all waiters.")
    parser.add_argument("folder", type=Path, help="where to write; other .md files are removed")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    pages = reference_pages()
    for file in folder.glob("*.md"):
        if file.name not in pages:
            file.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(pages)} pages")


def reference_pages() -> dict[str, str]:
    """Return every page by its file name."""
    services = {
        service_id: sorted(found, key=lambda definition: definition.name)
        for service_id in shipped_services()
        if (found := shipped_definitions(service_id))
    }
    pages = {
        f"{service_id}.md": _service_page(service_id, definitions)
        for service_id, definitions in services.items()
    }
    rows = sorted((client_name(each), each, len(found)) for each, found in services.items())
    index = "".join(f"| [{name}]({file}.md) | {count} |\n" for name, file, count in rows)
    return {"index.md": INDEX + index, **pages}


def _service_page(service_id: str, definitions: Iterable[WaiterDefinition]) -> str:
    name = client_name(service_id)
    title = name if name == service_id else f"{name} ({service_id})"
    lines = [f"# {title}", "", f'Methods of `boto3.client("{name}")`. [All services](index.md)', ""]
    lines += ["| waiter | operation | delays | confidence |", "|---|---|---|---|"]
    lines += [
        f"| [{definition.name}](#{definition.name.lower()}) | {definition.operation} "
        f"| {delay_range(definition)} | {confidence(definition)} |"
        for definition in definitions
    ]
    for definition in definitions:
        lines += ["", *_section(definition)]
    return "\n".join(lines) + "\n"


def _section(definition: WaiterDefinition) -> Iterator[str]:
    yield f"## {definition.name}"
    yield ""
    if definition.documentation:
        yield definition.documentation.strip()
        yield ""
    if definition.deprecated:
        yield "**Deprecated.**"
        yield ""
    yield (
        f"`client.wait_until_{xform_name(definition.name)}(max_wait=..., ...)` polls "
        f"`{definition.operation}`. Delays: {delay_range(definition)}. "
        f"Confidence: {confidence(definition)}."
    )
    yield ""
    yield "| | state | condition |"
    yield "|---|---|---|"
    for number, state, condition in acceptor_rows(definition):
        text = condition if number == "-" else _code(condition)
        yield f"| {number} | {state} | {text} |"
    paths = reason_paths(definition)
    if paths:
        yield ""
        yield f"Reason of a failure: {', '.join(map(_code, paths))}."


def _code(text: str) -> str:
    """Return a code span for a table cell; JMESPath may contain backticks and bars."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


if __name__ == "__main__":
    main()
