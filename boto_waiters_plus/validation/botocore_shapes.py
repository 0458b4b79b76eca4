"""Shapes, operations and errors of botocore's services."""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import botocore.model
from botocore.exceptions import DataNotFoundError
from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, StructureShape

from ..aws.service_waiters import default_loader
from ..definitions.smithy import AWS_NAMESPACE
from .shapes import Kind, Member, ModelledError, Operation, Shape

_KINDS = {
    "blob": Kind.BLOB,
    "boolean": Kind.BOOLEAN,
    "timestamp": Kind.TIMESTAMP,
    **dict.fromkeys(("string", "char", "character"), Kind.STRING),
    **dict.fromkeys(("integer", "long", "float", "double"), Kind.NUMBER),
    "list": Kind.LIST,
    "map": Kind.MAP,
    "structure": Kind.STRUCTURE,
}

_SERVICE_ID = re.compile(r'"serviceId"\s*:\s*"([^"]+)"')
_HEAD = 4096  # bytes


class BotocoreModel:
    """A service of the installed botocore.

    Args:
        service: the model; its `service_name` must be the one botocore has it under.
    """

    def __init__(self, service: ServiceModel) -> None:
        self.service = service
        self.namespace = AWS_NAMESPACE + _squashed(str(service.service_id))
        self._pages = _pages(service)

    @property
    def operation_names(self) -> list[str]:
        """The names of its operations."""
        return list(self.service.operation_names)

    def operation(self, name: str) -> Operation:
        """An operation by its name."""
        model = self.service.operation_model(name)
        errors = tuple(map(self._error, model.error_shapes))
        return Operation(
            shape=f"{self.namespace}#{name}",
            input=_view(model.input_shape),
            output=_view(model.output_shape),
            errors=errors,
            codes_count=True,
            other_errors=self._error_names,
            http_method=None if _posts_everything(model) else model.http.get("method"),
            event_stream=model.has_event_stream_input or model.has_event_stream_output,
            pages=self._pages.get(name, ()),
        )

    @cached_property
    def _error_names(self) -> tuple[str, ...]:
        return tuple(
            name
            for shape in self.service.error_shapes
            for name in (shape.name, self._error(shape).code)
            if name is not None
        )

    def _error(self, shape: botocore.model.Shape) -> ModelledError:
        details = shape.metadata.get("error", {})
        return ModelledError(
            shape=f"{self.namespace}#{shape.name}",
            code=details.get("code"),
            status=details.get("httpStatusCode"),
        )


def service_by_name(name: str) -> BotocoreModel:
    """A service by its botocore name.

    Raises:
        botocore.exceptions.UnknownServiceError: there is none.
    """
    return BotocoreModel(
        ServiceModel(default_loader().load_service_model(name, "service-2"), service_name=name)
    )


@functools.cache
def service_by_namespace(namespace: str) -> BotocoreModel | None:
    """The service whose definitions are in this Smithy namespace; None if botocore has none.

    Namespaces are the service's id in small letters: `com.amazonaws.autoscaling`.
    """
    wanted = namespace.removeprefix(AWS_NAMESPACE)
    if not namespace.startswith(AWS_NAMESPACE) or wanted not in _names_by_id():
        return None
    return service_by_name(_names_by_id()[wanted])


@functools.cache
def _names_by_id() -> dict[str, str]:
    """The names botocore has for its services, by their ids in small letters.

    An id stands in the first lines of a model; to load all models takes ten seconds.
    """
    names: dict[str, str] = {}
    for root in default_loader().search_paths:
        for path in sorted(Path(root).glob("*/*/service-2.json*")):
            found = _SERVICE_ID.search(_head(path))
            if found:
                names.setdefault(_squashed(found[1]), path.parts[-3])
    return names


def _head(path: Path) -> str:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read(_HEAD).decode(errors="replace")


def _squashed(service_id: str) -> str:
    return re.sub(r"[^a-z0-9]", "", service_id.lower())


def _view(shape: botocore.model.Shape | None) -> Shape | None:
    return None if shape is None else _shape(shape)


def _shape(shape: botocore.model.Shape) -> Shape:
    is_document = bool(getattr(shape, "is_document_type", False))
    return Shape(
        shape.name,
        Kind.DOCUMENT if is_document else _KINDS.get(shape.type_name, Kind.UNKNOWN),
        lambda: {
            name: Member(f"{shape.name}${name}", _shape(part)) for name, part in _parts(shape)
        },
        minimum=shape.metadata.get("min"),
        maximum=shape.metadata.get("max"),
        enum=shape.metadata.get("enum", ()),
    )


def _parts(shape: botocore.model.Shape) -> Iterator[tuple[str, botocore.model.Shape]]:
    if isinstance(shape, StructureShape):
        yield from shape.members.items()
    elif isinstance(shape, ListShape):
        yield "member", shape.member
    elif isinstance(shape, MapShape):
        yield "key", shape.key
        yield "value", shape.value


def _posts_everything(operation: OperationModel) -> bool:
    """Whether the method says nothing: only in REST protocols it is the operation's own."""
    return not str(operation.service_model.metadata.get("protocol", "")).startswith("rest")


def _pages(service: ServiceModel) -> dict[str, tuple[str, ...]]:
    try:
        document = default_loader().load_service_model(
            service.service_name, "paginators-1", service.api_version
        )
    except DataNotFoundError:
        return {}
    pagination = document["pagination"].items()
    return {name: tuple(_keys(body.get("result_key"))) for name, body in pagination}


def _keys(result_key: str | list[str] | None) -> Iterator[str]:
    if isinstance(result_key, str):
        yield result_key
    elif result_key is not None:
        yield from result_key
