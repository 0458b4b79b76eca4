"""What the installed botocore has that the shipped definitions do not know.

| id | severity | what is new |
|---|---|---|
| `BotocoreNewWaiter.W` | NOTE | a waiter of botocore, which works by its own acceptors |
| `BotocoreNewAcceptors.W` | NOTE | acceptors of botocore's waiter; they count, too |
| `BotocoreNewState.W` | WARNING | a state that looks like a failure; no acceptor mentions it |
| | NOTE | another state that no acceptor mentions |
| `BotocoreUnknownForm` | WARNING | botocore's waiters of a service have a form that is not known |
"""

from __future__ import annotations

from collections.abc import Iterator

from botocore.exceptions import DataNotFoundError
from botocore.model import OperationModel, ServiceModel

from ..definitions.shipped import shipped_definitions
from ..engine.model import GENERATED, WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..service.new_states import comparisons_of, mentions, new_failures, new_states
from ..service.places import botocore_is_newer, botocores_loader
from ..service.service_waiters import generated_definitions
from ..service.shapes import shape_id_of
from .events import Severity, ValidationEvent
from .model import BotocoreService
from .paths import TracedWaiter


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
        service = BotocoreService(model).shape
        yield ValidationEvent(Severity.WARNING, "BotocoreUnknownForm", service, str(error))
        own = {}
    shipped = {each.name: each for each in shipped_definitions(str(model.service_id.hyphenize()))}
    for definition in own.values():
        yield from _new_in_botocores(model, definition, shipped.get(definition.name))
    for name, definition in {**own, **shipped}.items():
        if definition.operation in model.operation_names:
            botocores = own.get(name, definition)
            yield from _new_states(model, definition, botocores, is_shipped=name in shipped)


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
    waiter = TracedWaiter(definition, BotocoreService(model).operation(operation.name))
    compared = {each.shape.name for path in waiter.paths.values() for each in path.comparisons}
    for enum, values in new_states(comparisons, operation).items():
        if compared and enum not in compared:
            continue
        left = [each for each in values if not mentions(comparisons_of(own), each)]
        for state in sorted(left, key=lambda each: each not in failures):
            severity, text = Severity.NOTE, "is a retry"
            if state in failures:
                severity = Severity.WARNING
                text = "looks like a failure, and no acceptor mentions it: a wait warns"
            elif not is_shipped:
                continue
            message = f"Waiter `{definition.name}`: {state}, new in {enum}, {text}"
            yield _event(severity, f"BotocoreNewState.{definition.name}", operation, message)


def _event(severity: Severity, rule: str, operation: OperationModel, text: str) -> ValidationEvent:
    return ValidationEvent(severity, rule, shape_id_of(operation), text)


def botocores_definitions(model: ServiceModel) -> list[WaiterDefinition]:
    """Return botocore's own waiters of a service, converted as those of `data/` are."""
    try:
        document = botocores_loader().load_service_model(
            model.service_name, "waiters-2", model.api_version
        )
    except DataNotFoundError:
        return []
    return generated_definitions(model, document)
