"""Services of the installed botocore, by name and by Smithy namespace."""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import botocore.model
from botocore.exceptions import DataNotFoundError, UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ServiceModel

from ..definitions.smithy import AWS_NAMESPACE, aws_namespace, service_key
from ..definitions.words import resource_of
from ..service.places import default_loader
from .shapes import ModelledError, OperationShapes

_SERVICE_ID = re.compile(r'"serviceId"\s*:\s*"([^"]+)"')
_HEAD = 4096  # bytes


@functools.cache
def _loader() -> Loader:
    """Return one loader for all services: every new one lists all their folders."""
    return default_loader()


class BotocoreService:
    """A service of the installed botocore.

    Args:
        model: the service model; its `service_name` must be botocore's name of the service.
    """

    def __init__(self, model: ServiceModel) -> None:
        self.model = model
        self.name = model.service_name
        self.namespace = aws_namespace(str(model.service_id))
        self.operation_names = list(model.operation_names)

    @property
    def shape(self) -> str:
        """The id that events give the service."""
        return f"{self.namespace}#{self.name}"

    def operation(self, name: str) -> OperationShapes:
        """Return an operation by its name."""
        model = self.model.operation_model(name)
        # Only in REST protocols does the HTTP method belong to the operation.
        is_rest = str(self.model.metadata.get("protocol", "")).startswith("rest")
        return OperationShapes(
            shape=f"{self.namespace}#{name}",
            input=model.input_shape,
            output=model.output_shape,
            errors=tuple(map(self._error, model.error_shapes)),
            matches_codes=True,
            other_errors=self._error_names,
            sibling_errors=tuple(map(self._error, self._siblings_errors(name))),
            http_method=model.http.get("method") if is_rest else None,
            event_stream=model.has_event_stream_input or model.has_event_stream_output,
            pages=self._pages.get(name, ()),
        )

    @cached_property
    def _error_names(self) -> tuple[str, ...]:
        errors = map(self._error, self.model.error_shapes)
        return tuple(name for error in errors for name in (error.name, error.code) if name)

    def _siblings_errors(self, name: str) -> Iterator[botocore.model.Shape]:
        resource = resource_of(name)
        for other in self.operation_names:
            if other != name and resource_of(other) == resource:
                yield from self.model.operation_model(other).error_shapes

    def _error(self, shape: botocore.model.Shape) -> ModelledError:
        details = shape.metadata.get("error", {})
        return ModelledError(
            shape=f"{self.namespace}#{shape.name}",
            code=details.get("code"),
            status=details.get("httpStatusCode"),
        )

    @cached_property
    def _pages(self) -> dict[str, tuple[str, ...]]:
        try:
            document = _loader().load_service_model(
                self.name, "paginators-1", self.model.api_version
            )
        except DataNotFoundError:
            return {}
        keys = {name: body.get("result_key", ()) for name, body in document["pagination"].items()}
        return {name: (key,) if isinstance(key, str) else tuple(key) for name, key in keys.items()}


def service_by_name(name: str) -> BotocoreService:
    """Return a service by its botocore name.

    Raises:
        botocore.exceptions.UnknownServiceError: botocore has no such service.
    """
    description = _loader().load_service_model(name, "service-2")
    return BotocoreService(ServiceModel(description, service_name=name))


@functools.cache
def service_by_namespace(namespace: str) -> BotocoreService | None:
    """Return the service of a Smithy namespace; None if botocore has none.

    AWS's namespaces end in the service id, lowercase: `com.amazonaws.autoscaling`.
    """
    service_id = namespace.removeprefix(AWS_NAMESPACE)
    if not namespace.startswith(AWS_NAMESPACE) or service_id not in _names_by_id():
        return None
    return service_by_name(_names_by_id()[service_id])


def service_by_any_name(name: str | None) -> BotocoreService | None:
    """Return a service by the name or id that a definition gives it; None if there is none."""
    if name is None:
        return None
    try:
        return service_by_namespace(aws_namespace(name)) or service_by_name(name)
    except UnknownServiceError:
        return None


@functools.cache
def _names_by_id() -> dict[str, str]:
    """Return botocore's names of all services by their ids in small letters.

    The id stands in the first lines of a model; to load all models would take seconds.
    """
    names: dict[str, str] = {}
    for root in _loader().search_paths:
        for path in sorted(Path(root).glob("*/*/service-2.json*")):
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
                head = file.read(_HEAD).decode(errors="replace")
            if found := _SERVICE_ID.search(head):
                names.setdefault(service_key(found[1]), path.parts[-3])
    return names
