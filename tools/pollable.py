"""Show which operations of the installed botocore nobody has read yet, for `data/pollable.json`.

    python tools/pollable.py
    python tools/pollable.py --allow SERVICE.OPERATION ...

A definition that comes over HTTP may poll what `data/pollable.json` allows, and nothing else. An
operation is new if botocore marks it as read-only, or a waiter polls it, and the file neither
allows nor refuses it; one whose output is a stream or has a sensitive member needs no decision.

Read the documentation of each. If it may change, send, start, take or reveal anything, or each call
is billed, write it into `refused` by hand, with the reason as the end of a sentence. Else allow it;
that also brings the file into its form.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import botocore.session
from botocore.model import OperationModel, ServiceModel
from model_documentation import plain_text

from boto_waiters_plus.calls.private_names import is_marked_readonly
from boto_waiters_plus.check.installed import botocores_definitions
from boto_waiters_plus.definitions.shipped import from_groups, shipped_definitions
from boto_waiters_plus.definitions.words import LEADS, READS, words_of
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.on_the_spot import known_against, reason_not_to_poll

FILE = Path(__file__).resolve().parents[1] / "data/pollable.json"


def new_operations() -> Iterator[OperationModel]:
    """Yield the operations that nobody has read."""
    session = botocore.session.get_session()
    for name in session.get_available_services():
        model = session.get_service_model(name)
        yield from unread_reads(model, botocores_definitions(model))


def unread_reads(
    model: ServiceModel, botocores: Iterable[WaiterDefinition]
) -> Iterator[OperationModel]:
    """Yield the read operations that `data/pollable.json` neither allows nor refuses.

    Those are the operations that botocore marks as read-only, and those that a waiter polls.

    Args:
        model: the service.
        botocores: botocore's own waiters.
    """
    polled = {
        each.operation
        for each in (*shipped_definitions(str(model.service_id.hyphenize())), *botocores)
    }
    for operation in map(model.operation_model, model.operation_names):
        is_meant = operation.name in polled or is_marked_readonly(operation)
        problem = reason_not_to_poll(operation) if is_meant else None
        # A stream or a sensitive member needs no decision.
        is_open = problem is not None and not problem.startswith("the output of")
        if is_open and known_against(operation) is None:
            yield operation


def service_id(operation: OperationModel) -> str:
    """Return the name of the service in the file."""
    return str(operation.service_model.service_id.hyphenize())


def rewritten(body: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the content of the file in its form, with further operations allowed."""
    allowed = {service: set(from_groups(text)) for service, text in body["allowed"].items()}
    for name in names:
        service, _, operation = name.partition(".")
        allowed.setdefault(service, set()).add(operation)
    refused = {k: dict(sorted(v.items())) for k, v in sorted(body["refused"].items())}
    left = {service: names - refused.get(service, {}).keys() for service, names in allowed.items()}
    return {"allowed": {k: as_groups(v) for k, v in sorted(left.items())}, "refused": refused}


def file_text(body: dict[str, Any]) -> str:
    """Return the text of the file."""
    return json.dumps(body, indent=1) + "\n"


def as_groups(operations: Iterable[str]) -> str:
    """Return the names of operations, by their verbs: `Get Key User, List Keys`."""
    groups: dict[str, list[str]] = {}
    for name in sorted(operations):
        verb = ""
        for word in words_of(name):
            verb += word
            if word not in LEADS:
                break
        is_read = words_of(verb)[-1] in READS and len(name) > len(verb)
        groups.setdefault(verb if is_read else "=", []).append(
            name.removeprefix(verb) if is_read else name
        )
    return ", ".join(" ".join([verb, *names]) for verb, names in sorted(groups.items()))


def main() -> None:
    """Print the new operations, or allow some."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--allow", nargs="+", default=[], metavar="NAME")
    names = parser.parse_args().allow
    if names:
        body = rewritten(json.loads(FILE.read_text(encoding="utf-8")), names)
        FILE.write_text(file_text(body), encoding="utf-8")
        return
    for operation in new_operations():
        text = plain_text(operation).partition(". ")[0]
        print(f"{service_id(operation)}.{operation.name}  {text}")


if __name__ == "__main__":
    main()
