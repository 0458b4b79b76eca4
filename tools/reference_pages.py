"""Write the reference pages: one for each service with shipped waiters, and an index.

python tools/reference_pages.py OUTPUT_FOLDER

docs/conf.py calls it with docs/reference.
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from botocore import xform_name
from botocore.exceptions import UnknownServiceError
from botocore.model import OperationModel, OperationNotFoundError
from botocore.session import Session
from waiter_coverage import CONFIDENCE_MEANINGS, breakable

from boto_waiters_plus.cli.output import acceptor_rows, delays_text
from boto_waiters_plus.cli.service_lookup import confidence
from boto_waiters_plus.definitions.changes import shipped_effects
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.catalog import KnownEffect, client_name, effects_of
from boto_waiters_plus.service.reasons import quoted_reasons

EFFECTS = """
## Effects

What follows these operations. [What the columns mean](../effects.md)

| operation | effect | polls | basis | settles in | stop |
|---|---|---|---|---|---|
{rows}"""

INDEX = """\
# Waiters by service

{count} waiters of {services} services. To find one, search for a part of its name, such as
`stack_create` or `deleted`. `boto-wait list SERVICE` also shows the waiters that your botocore and
your own definitions add.

Each page says what a waiter rests on:

| confidence | meaning |
|---|---|
{confidences}
```{{toctree}}
:hidden:

{documents}
```

| service | waiters |
|---|---|
{rows}"""


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
        file = folder / name
        # Sphinx reads a file again that is newer than the last build.
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(pages)} pages")


@functools.cache
def reference_pages() -> Mapping[str, str]:
    """Return every page by its file name; reading the models takes seconds."""
    services = {
        service_id: sorted(found, key=lambda definition: definition.name)
        for service_id in shipped_services()
        if (found := shipped_definitions(service_id))
    }
    session = Session()
    pages = {
        f"{service_id}.md": _service_page(service_id, definitions, session)
        for service_id, definitions in services.items()
    }
    rows = sorted((client_name(each), each, len(found)) for each, found in services.items())
    index = INDEX.format(
        count=f"{sum(map(len, services.values())):,}",
        services=len(services),
        confidences="".join(f"| {name} | {text} |\n" for name, text in CONFIDENCE_MEANINGS.items()),
        documents="\n".join(file for _, file, _ in rows),
        rows="".join(f"| [{name}]({file}.md) | {count} |\n" for name, file, count in rows),
    )
    return {"index.md": index, **pages}


LONGEST_UNBROKEN = 50
"""The characters of a name that has room on a phone."""


def _service_page(
    service_id: str, definitions: Iterable[WaiterDefinition], session: Session
) -> str:
    name = client_name(service_id)
    title = name if name == service_id else f"{name} ({service_id})"
    lines = [f"# {title}", "", f'Methods of `boto3.client("{name}")`. [All services](index.md)', ""]
    lines += ["`keywords` are options of the wait and further parameters of the operation.", ""]
    lines += ["| waiter | operation | delays | confidence |", "|---|---|---|---|"]
    lines += [
        f"| [{breakable(definition.name, LONGEST_UNBROKEN)}](#{definition.name.lower()}) "
        f"| {breakable(definition.operation)} "
        f"| {_unbroken(delays_text(definition))} | {confidence(definition)} |"
        for definition in definitions
    ]
    for definition in definitions:
        operation = _operation(session, name, definition.operation)
        shape = None if operation is None else operation.input_shape
        required = shape.required_members if shape else []
        method = f"{name.replace('-', '_')}.wait_until_{xform_name(definition.name)}"
        signature = f"{method}(*, {''.join(f'{each}, ' for each in required)}max_wait, **keywords)"
        lines += ["", *_section(definition, operation, signature)]
    effects = "".join(f"| {' | '.join(row)} |\n" for row in _effect_rows(service_id))
    return "\n".join(lines) + "\n" + (EFFECTS.format(rows=effects) if effects else "")


def _effect_rows(service_id: str) -> Iterator[tuple[str, ...]]:
    for effect in _effects_by_service().get(client_name(service_id), ()):
        traits = shipped_effects(f"{aws_namespace(service_id)}#{effect.after}")
        trait = next(each for each in traits if each.name == effect.name)
        settles = f"{trait.settle_for:g} s" if trait.settle_for else ""
        stop = "" if trait.stop is None else trait.stop.operation
        # The search finds a name that is whole.
        names = (f"`{effect.after}`", f"`{effect.name}`", breakable(effect.operation))
        yield (*names, effect.basis, _unbroken(settles), breakable(stop))


@functools.cache
def _effects_by_service() -> Mapping[str, Sequence[KnownEffect]]:
    return {
        service: [*found] for service, found in groupby(effects_of(None), attrgetter("service"))
    }


def _operation(session: Session, service: str, operation: str) -> OperationModel | None:
    try:
        return session.get_service_model(service).operation_model(operation)
    except (UnknownServiceError, OperationNotFoundError):
        return None  # an older botocore


def _section(
    definition: WaiterDefinition, operation: OperationModel | None, signature: str
) -> Iterator[str]:
    yield f"## {definition.name}"
    yield ""
    if definition.documentation:
        yield definition.documentation.strip()
        yield ""
    if definition.deprecated:
        yield "**Deprecated.**"
        yield ""
    # An object of Sphinx's: the search finds it by any part of its name.
    yield f"```{{py:method}} {signature}"
    yield ":no-index-entry:"
    yield ":no-contents-entry:"
    yield "```"
    yield ""
    yield (
        f"`{xform_name(definition.name)}` polls `{definition.operation}`. "
        f"Delays: {delays_text(definition)}. Confidence: {confidence(definition)}."
    )
    yield ""
    yield "| | state | condition |"
    yield "|---|---|---|"
    for number, state, condition in acceptor_rows(definition):
        text = condition if number == "-" else _code(condition).replace("|", "\\|")
        yield f"| {number} | {state} | {text} |"
    reasons = quoted_reasons(definition, operation).items()
    if reasons:
        yield ""
        texts = [f"{_code(path)}{' (sensitive)' if hidden else ''}" for path, hidden in reasons]
        yield f"Reason of a failure: {', '.join(texts)}."


def _unbroken(text: str) -> str:
    """Return text that stays on one line of a table's cell."""
    return text.replace(" ", "\u00a0")


def _code(text: str) -> str:
    """Return a code span; JMESPath may contain backticks."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


if __name__ == "__main__":
    main()
