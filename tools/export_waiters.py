"""Print shipped waiters of a service in a form that AWS takes.

    python tools/export_waiters.py ecs --format waiters-2
    python tools/export_waiters.py service-catalog ProductAvailable --format smithy

`waiters-2` is the format of botocore's data, `smithy` an `apply` statement in the IDL of AWS's
models. Without names, all curated waiters of the service are printed. `waiters-2` has neither
messages nor matchers on the input: a waiter with the latter is left out and named on stderr, and
the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.definitions.smithy import AWS_NAMESPACE, WAITABLE
from boto_waiters_plus.definitions.waiters2 import to_waiters2
from boto_waiters_plus.engine.acceptors import InputOutputMatcher
from boto_waiters_plus.engine.model import WaiterDefinition


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the waiters; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("service", help="the hyphenised service id: a file name in data/")
    parser.add_argument("waiters", nargs="*", help="names of waiters, such as ServiceActive")
    parser.add_argument("--format", choices=("waiters-2", "smithy"), required=True)
    given = parser.parse_args(arguments)
    shipped = {each.name: each for each in shipped_definitions(given.service)}
    curated = [name for name, each in shipped.items() if "curated" in each.tags]
    names = given.waiters or curated
    unknown = [name for name in names if name not in shipped]
    if unknown or not names:
        parser.error(f"data/ has no waiter {', '.join(unknown) or 'at all'} of {given.service}")
    definitions = [shipped[name] for name in names]
    if given.format == "smithy":
        print(smithy_idl(definitions), end="")
        return 0
    left_out = [each.name for each in definitions if reads_input(each)]
    for name in left_out:
        print(f"{name} compares the input, which waiters-2 cannot express", file=sys.stderr)
    document = waiters2(each for each in definitions if each.name not in left_out)
    print(json.dumps(document, indent=2))
    return int(bool(left_out))


def reads_input(definition: WaiterDefinition) -> bool:
    """Whether a waiter has matchers on the input."""
    matchers = (acceptor.matcher for acceptor in definition.acceptors)
    return any(isinstance(matcher, InputOutputMatcher) for matcher in matchers)


def waiters2(definitions: Iterable[WaiterDefinition]) -> dict[str, Any]:
    """Return a document in botocore's format."""
    waiters = {each.name: to_waiters2(each) for each in definitions}
    return {"version": 2, "waiters": dict(sorted(waiters.items()))}


def smithy_idl(definitions: Iterable[WaiterDefinition]) -> str:
    """Return a document in Smithy's IDL: an `apply` statement for each operation."""
    ordered = sorted(definitions, key=lambda each: (each.operation, each.name))
    lines = ['$version: "2"', f"namespace {AWS_NAMESPACE}{ordered[0].service}"]
    lines.append(f"use {WAITABLE}")
    for operation, group in groupby(ordered, key=lambda each: each.operation):
        # The tags are of this project.
        waiters = {each.name: replace(each, tags=()).to_json() for each in group}
        members = "\n".join(f"    {name}: {_node(body, 1)}" for name, body in waiters.items())
        lines.append(f"\napply {operation} @waitable(\n{members}\n)")
    return "\n".join(lines) + "\n"


def _node(value: Any, depth: int) -> str:
    """Return a node value; the members of objects are on lines of their own."""
    inner, outer = "    " * (depth + 1), "    " * depth
    if isinstance(value, dict):
        members = [f"{inner}{name}: {_node(member, depth + 1)}" for name, member in value.items()]
        return "\n".join(["{", *members, f"{outer}}}"])
    if isinstance(value, list):
        return "\n".join(
            ["[", *(f"{inner}{_node(each, depth + 1)}" for each in value), f"{outer}]"]
        )
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
