"""Show which operations of the installed botocore nobody has read yet, for `data/pollable.json`.

    python tools/pollable.py
    python tools/pollable.py --allow SERVICE.OPERATION ...
    python tools/pollable.py --secrets
    python tools/pollable.py --harmless SERVICE.STRUCTURE.MEMBER ...

A definition that comes over HTTP may poll what `data/pollable.json` allows, and nothing else. An
operation is new if botocore marks it as read-only, or a waiter polls it, and the file has it in no
group; one whose output is a stream or has a sensitive member needs no decision.

Read the documentation of each. If it may change, send, start, take or reveal anything, or each call
is billed, write it into `refused` by hand, with the reason as the end of a sentence. If it answers
rows of a query or the content of a file, write it into `private`, with what it answers. Else allow
it; that also brings the file into its form.

`--secrets` lists what people may keep secrets in, though no model marks it: members of what allowed
operations answer that are maps of strings, or whose names say environment, parameters, body and the
like. Read each. If secrets are put there in plain text, write it into `answers` of
`data/sensitive.json`. If it is rows or content, its operation is `private`. Else it is harmless;
those that are stand in `tools/harmless.json`, by structure.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import botocore.session
from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape
from model_documentation import plain_text

from boto_waiters_plus.calls.private_names import is_marked_readonly
from boto_waiters_plus.check.installed import botocores_definitions
from boto_waiters_plus.definitions.shipped import (
    from_groups,
    pollable_list,
    shipped_definitions,
)
from boto_waiters_plus.definitions.words import LEADS, READS, listed, words_of
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.on_the_spot import known_against, reason_not_to_poll
from boto_waiters_plus.service.shapes import has_sensitive_names, inner_shape, is_sensitive

FILE = Path(__file__).resolve().parents[1] / "data/pollable.json"
HARMLESS = Path(__file__).with_name("harmless.json")


def new_operations() -> Iterator[OperationModel]:
    """Yield the operations that nobody has read."""
    session = botocore.session.get_session()
    for name in session.get_available_services():
        model = session.get_service_model(name)
        yield from unread_reads(model, botocores_definitions(model))


def unread_reads(
    model: ServiceModel, botocores: Iterable[WaiterDefinition]
) -> Iterator[OperationModel]:
    """Yield the read operations that `data/pollable.json` has in no group.

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
        is_private = operation.name in pollable_list().private.get(service_id(operation), {})
        if is_open and not is_private and known_against(operation) is None:
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
    reasons = {
        group: {k: dict(sorted(v.items())) for k, v in sorted(body[group].items())}
        for group in ("refused", "private")
    }
    left = {
        service: allowed[service].difference(
            *(group.get(service, ()) for group in reasons.values())
        )
        for service in sorted(allowed)
    }
    groups = {service: as_groups(operations) for service, operations in left.items() if operations}
    return {"allowed": groups, **reasons}


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


# --- what people may keep secrets in ---------------------------------------------------------

_WORDS: Final = listed(
    "args argument arguments body buildspec command commands config configuration configurations "
    "content contents context cookie credential credentials data definition definitions document "
    "entrypoint env environment environments header headers input inputs json log logs output "
    "outputs param parameter parameters params password payload prompt properties property queries "
    "query raw record records result results row rows script scripts secret secrets settings sql "
    "statement text userdata value values variable variables yaml"
)
"""A text is a candidate if one of these is in the name of its member."""
_FACTS: Final = listed(
    "alias arn arns bucket code color count date description details encoding format group groups "
    "id identifier identifiers ids key keys language location marker name names path paths prefix "
    "reason region role roles schema size state status stream time title token type types uri url "
    "version"
)
"""Unless it ends with one of these. Keys, tokens and URLs are named by how they end."""


def unread_members() -> Iterator[tuple[str, Shape]]:
    """Yield the unread candidates, as `SERVICE.STRUCTURE.MEMBER`, and their shapes."""
    read = harmless()
    for name, shape in candidates().items():
        if name not in read:
            yield name, shape


def candidates() -> dict[str, Shape]:
    """Return the members of what allowed operations answer that may hold secrets, by name."""
    session, found = botocore.session.get_session(), {}
    for name in session.get_available_services():
        model = session.get_service_model(name)
        for operation in map(model.operation_model, model.operation_names):
            if pollable_list().allows(service_id(operation), operation.name):
                for owner, member, shape in _shown(operation.output_shape):
                    if may_hold_secrets(member, shape) and "Tag" not in words_of(owner.name):
                        found[f"{service_id(operation)}.{owner.name}.{member}"] = shape
    return found


def _shown(output: Shape | None) -> Iterator[tuple[StructureShape, str, Shape]]:
    """Yield the members of structures in an output, but nothing inside of what is sensitive."""
    found, entered = [output], set()
    for shape in found:  # It grows meanwhile.
        if shape is None or shape.name in entered:
            continue
        entered.add(shape.name)
        if isinstance(shape, StructureShape):
            for name, member in shape.members.items():
                if not is_sensitive(member, shape, name) and not has_sensitive_names(member):
                    yield shape, name, member
                    found.append(member)
        elif not is_sensitive(inner_shape(shape)):
            found.append(inner_shape(shape))


def may_hold_secrets(name: str, shape: Shape) -> bool:
    """Return whether a member of an answer is a candidate, by its type and its name."""
    inner = _item(shape)
    words = [word.lower() for word in words_of(name)]
    if isinstance(inner, MapShape):
        return _is_free(_item(inner.value)) and not words[-1].startswith("tag")
    is_text = inner.type_name == "string" and _is_free(inner)
    return _is_free(inner) and (
        not is_text or (not _WORDS.isdisjoint(words) and words[-1] not in _FACTS)
    )


def _item(shape: Shape) -> Shape:
    while isinstance(shape, ListShape):
        shape = shape.member
    return shape


def _is_free(shape: Shape) -> bool:
    """Return whether a value is a text that the model does not list, bytes or a document."""
    if shape.type_name == "structure":
        return bool(getattr(shape, "is_document_type", False))
    return shape.type_name == "blob" or (
        shape.type_name == "string" and not shape.metadata.get("enum")
    )


def harmless() -> frozenset[str]:
    """Return the candidates that a person has found harmless."""
    body = json.loads(HARMLESS.read_text(encoding="utf-8"))
    groups = [(service, *group.split()) for service, t in body.items() for group in t.split(", ")]
    return frozenset(
        f"{service}.{owner}.{member}" for service, owner, *members in groups for member in members
    )


def harmless_text(names: Iterable[str]) -> str:
    """Return the text of the file of the harmless: by service, members behind their structure."""
    body: dict[str, dict[str, list[str]]] = {}
    for name in sorted(names):
        service, owner, member = name.split(".")
        body.setdefault(service, {}).setdefault(owner, []).append(member)
    return file_text(
        {
            service: ", ".join(" ".join([owner, *members]) for owner, members in owners.items())
            for service, owners in body.items()
        }
    )


def main() -> None:
    """Print what has not been read, or record what has."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--allow", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--secrets", action="store_true")
    parser.add_argument("--harmless", nargs="+", default=[], metavar="NAME")
    arguments = parser.parse_args()
    if arguments.allow:
        body = rewritten(json.loads(FILE.read_text(encoding="utf-8")), arguments.allow)
        FILE.write_text(file_text(body), encoding="utf-8")
    elif arguments.harmless:
        # What is no candidate any more is forgotten.
        text = harmless_text({*harmless(), *arguments.harmless} & candidates().keys())
        HARMLESS.write_text(text, encoding="utf-8")
    elif arguments.secrets:
        for name, shape in unread_members():
            print(f"{name}  {plain_text(shape).partition('. ')[0]}")
    else:
        for operation in new_operations():
            text = plain_text(operation).partition(". ")[0]
            print(f"{service_id(operation)}.{operation.name}  {text}")


if __name__ == "__main__":
    main()
