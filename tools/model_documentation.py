"""The documentation of a service's model, and what `data/` quotes of it."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.model import OperationModel, ServiceModel, Shape

from boto_waiters_plus.definitions.changes import (
    IDEMPOTENCY_FILE,
    TOKEN,
    TOKEN_LIFETIME,
)
from boto_waiters_plus.definitions.shipped import shipped_json
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.service.causes import EXPLAINS
from boto_waiters_plus.service.tokens import token_member

_TAG = re.compile(r"<[^>]+>")
_QUOTED = re.compile(r'"([^"]+)"')


def lost_evidence(model: ServiceModel) -> Iterator[tuple[str, str, str, str]]:
    """Yield what `data/` quotes of the documentation of a service that is no longer there.

    Yields:
        The shape, the trait, the quotation, and the documentation where it should be.
    """
    namespace = aws_namespace(str(model.service_id))
    for shape_id, traits in _quoting().get(namespace, {}).items():
        name = shape_id.partition("#")[2]
        if name in {*model.operation_names, *model.shape_names}:
            for trait, row in traits.items():
                text = _text_for(model, name, trait, row)
                for quoted in _quotations(trait, row):
                    if quoted not in text:
                        yield shape_id, trait, quoted, text


def _quotations(trait: str, row: Mapping[str, Any]) -> list[str]:
    evidence = row.get("evidence", "")
    return _QUOTED.findall(evidence) if trait == EXPLAINS else [evidence]


def _text_for(model: ServiceModel, name: str, trait: str, row: Mapping[str, Any]) -> str:
    """Return the documentation that a quotation is of."""
    if trait == EXPLAINS:
        return _whole_text(model)
    if trait in (TOKEN, TOKEN_LIFETIME):
        operation = model.operation_model(name)
        member = token_member(operation)
        return plain_text(*([member.shape] if member else []), operation)
    shape = model.shape_for(name)
    # Of an error that stands for several, a parameter of the operation tells.
    raising = map(model.operation_model, model.operation_names if "members" in row else ())
    raised = [each for each in raising if shape.name in {e.name for e in each.error_shapes}]
    told = [m for e in raised if e.input_shape for m in e.input_shape.members.values()]
    return plain_text(shape, *told)


@functools.lru_cache(maxsize=1)
def _whole_text(model: ServiceModel) -> str:
    shapes = list(map(model.shape_for, model.shape_names))
    members = [m for each in shapes for m in getattr(each, "members", {}).values()]
    return plain_text(*members, *shapes, *map(model.operation_model, model.operation_names))


def plain_text(*shapes: Shape | OperationModel) -> str:
    """Return documentation without its HTML, in one line."""
    return as_plain(" ".join(shape.documentation for shape in shapes))


def as_plain(text: str) -> str:
    """Return a text without its HTML, in one line."""
    return " ".join(html.unescape(_TAG.sub("", text)).split())


@functools.cache
def _quoting() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the traits that quote the documentation, by namespace and shape."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for file in (IDEMPOTENCY_FILE, "explains.json"):
        shapes = shipped_json(file)["shapes"]
        for shape_id, shape in shapes.items():
            of_service = found.setdefault(shape_id.partition("#")[0], {})
            rows = {name: row for name, row in shape["traits"].items() if "evidence" in row}
            of_service.setdefault(shape_id, {}).update(rows)
    return found
