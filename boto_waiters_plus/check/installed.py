"""What the installed botocore has that the shipped definitions do not know.

| id | severity | what is new |
|---|---|---|
| `BotocoreNewWaiter.W` | NOTE | a waiter of botocore, which works by its own acceptors |
| `BotocoreNewAcceptors.W` | NOTE | acceptors of botocore's waiter; they count, too |
| `BotocoreNewState.W` | WARNING | a state that looks like a failure; no acceptor mentions it |
| | NOTE | another state that no acceptor mentions |
| `BotocoreNewOperation.O` | NOTE | a read operation that `data/pollable.json` lacks |
| `BotocoreTokenLifetime.O` | WARNING | the documentation no longer says how long a token is known |
| `BotocoreUnknownForm` | WARNING | botocore's waiters of a service have a form that is not known |
"""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from botocore.exceptions import DataNotFoundError
from botocore.model import OperationModel, ServiceModel, Shape

from ..calls.private_names import is_marked_readonly
from ..definitions.explains_trait import EXPLAINS
from ..definitions.idempotency_traits import IDEMPOTENCY_FILE, TOKEN, TOKEN_LIFETIME
from ..definitions.services import aws_namespace
from ..definitions.shipped import read_shipped, shipped_definitions
from ..engine.model import GENERATED, WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..service.definition_places import botocores_loader
from ..service.installed_botocore import botocore_is_newer
from ..service.new_states import comparisons_of, mentions, new_failures, new_states
from ..service.pollable import known_against, reason_not_to_poll
from ..service.service_waiters import generated_definitions
from ..service.tokens import shape_id_of, token_member
from .botocore_services import BotocoreService
from .events import Severity, ValidationEvent
from .paths import traced_path

_TAG = re.compile(r"<[^>]+>")
_QUOTED = re.compile(r'"([^"]+)"')


def check_installed(service: str | None = None) -> list[ValidationEvent]:
    """Return what the installed botocore has that the shipped definitions do not know.

    Args:
        service: the botocore name of the only service that is meant; None: all of them.

    Returns:
        The events, service by service; empty for the botocore that `data/` was written from, and
        for an older one. What lies on the search path is not botocore's.

    Raises:
        botocore.exceptions.UnknownServiceError: botocore has no service of that name.
    """
    loader = botocores_loader()
    if service is not None:
        loader.load_service_model(service, "service-2")  # it exists
    if not botocore_is_newer():
        return []
    names = loader.list_available_services("service-2") if service is None else [service]
    models = (ServiceModel(loader.load_service_model(each, "service-2"), each) for each in names)
    return [event for model in models for event in _news(model)]


def _news(model: ServiceModel) -> Iterator[ValidationEvent]:
    try:
        own = {each.name: each for each in botocores_definitions(model)}
    except WaiterDefinitionError as error:
        service = f"{aws_namespace(str(model.service_id))}#{model.service_name}"
        yield ValidationEvent(Severity.WARNING, "BotocoreUnknownForm", service, str(error))
        own = {}
    shipped = {each.name: each for each in shipped_definitions(_service_id(model))}
    for definition in own.values():
        yield from _new_in_botocores(model, definition, shipped.get(definition.name))
    for name, definition in {**own, **shipped}.items():
        if definition.operation in model.operation_names:
            botocores = own.get(name, definition)
            yield from _new_states(model, definition, botocores, is_shipped=name in shipped)
    for operation in unread_reads(model, own.values()):
        text = "the read operation is new: whether waiters from outside may poll it is not judged"
        yield _event(Severity.NOTE, f"BotocoreNewOperation.{operation.name}", operation, text)
    for shape_id, trait, quoted, _ in lost_evidence(model):
        if trait == TOKEN_LIFETIME:
            operation = model.operation_model(shape_id.partition("#")[2])
            text = f"the documentation no longer says of its token: {quoted}"
            yield _event(
                Severity.WARNING, f"BotocoreTokenLifetime.{operation.name}", operation, text
            )


def _new_in_botocores(
    model: ServiceModel, own: WaiterDefinition, shipped: WaiterDefinition | None
) -> Iterator[ValidationEvent]:
    operation = model.operation_model(own.operation)
    if shipped is None:
        text = f"Waiter `{own.name}` is new in botocore, and works by botocore's acceptors"
        yield _event(Severity.NOTE, f"BotocoreNewWaiter.{own.name}", operation, text)
        return
    new = [each.describe() for each in own.acceptors if each not in shipped.acceptors]
    if new and shipped.operation == own.operation and GENERATED in shipped.tags:
        text = f"Waiter `{own.name}`: botocore has new acceptors, which count: {'; '.join(new)}"
        yield _event(Severity.NOTE, f"BotocoreNewAcceptors.{own.name}", operation, text)


def _new_states(
    model: ServiceModel, definition: WaiterDefinition, own: WaiterDefinition, *, is_shipped: bool
) -> Iterator[ValidationEvent]:
    """Yield the states that no acceptor mentions; of a new waiter only those that say failure."""
    operation = model.operation_model(definition.operation)
    comparisons = comparisons_of(definition)
    failures = new_failures(definition.name, comparisons, operation)
    shapes = BotocoreService(model).operation(operation.name)
    traced = filter(None, (traced_path(each, shapes) for each in definition.acceptors))
    compared = {each.shape.name for path in traced for each in path.comparisons}
    for enum, values in new_states(comparisons, operation).items():
        if compared and enum not in compared:
            continue
        left = [each for each in values if not mentions(comparisons_of(own), each)]
        failed = [each for each in left if each in failures]
        others = [each for each in left if each not in failures and is_shipped]
        for severity, states, text in (
            (
                Severity.WARNING,
                failed,
                "looks like a failure, and no acceptor mentions it: a wait warns",
            ),
            (Severity.NOTE, others, "is a retry"),
        ):
            for state in states:
                message = f"Waiter `{definition.name}`: {state}, new in {enum}, {text}"
                yield _event(severity, f"BotocoreNewState.{definition.name}", operation, message)


def _event(severity: Severity, rule: str, operation: OperationModel, text: str) -> ValidationEvent:
    return ValidationEvent(severity, rule, shape_id_of(operation), text)


def _service_id(model: ServiceModel) -> str:
    return str(model.service_id.hyphenize())


def botocores_definitions(model: ServiceModel) -> list[WaiterDefinition]:
    """Return botocore's own waiters of a service, converted as those of `data/` are."""
    try:
        document = botocores_loader().load_service_model(
            model.service_name, "waiters-2", model.api_version
        )
    except DataNotFoundError:
        return []
    return generated_definitions(model, document)


def unread_reads(
    model: ServiceModel, botocores: Iterable[WaiterDefinition]
) -> Iterator[OperationModel]:
    """Yield the read operations that `data/pollable.json` neither allows nor refuses.

    Those are the operations that botocore marks as read-only, and those that a waiter polls.

    Args:
        model: the service.
        botocores: botocore's own waiters.
    """
    polled = {each.operation for each in (*shipped_definitions(_service_id(model)), *botocores)}
    for operation in map(model.operation_model, model.operation_names):
        is_meant = operation.name in polled or is_marked_readonly(operation)
        problem = reason_not_to_poll(operation) if is_meant else None
        # A stream or a sensitive member needs no decision.
        is_open = problem is not None and not problem.startswith("the output of")
        if is_open and known_against(operation) is None:
            yield operation


# --- what the documentation says ----------------------------------------------------------------


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
        shapes = json.loads(read_shipped(file) or '{"shapes": {}}')["shapes"]
        for shape_id, shape in shapes.items():
            of_service = found.setdefault(shape_id.partition("#")[0], {})
            rows = {name: row for name, row in shape["traits"].items() if "evidence" in row}
            of_service.setdefault(shape_id, {}).update(rows)
    return found
