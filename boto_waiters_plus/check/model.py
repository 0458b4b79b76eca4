"""What the rules know of a service: its operations and shapes, by a Smithy model or by botocore."""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import botocore.model
from botocore.exceptions import DataNotFoundError, UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ServiceModel, Shape, ShapeResolver

from ..definitions.parsing import as_mapping
from ..definitions.smithy import (
    AWS_NAMESPACE,
    UNIT,
    aws_namespace,
    closures,
    service_key,
    targets_of,
)
from ..definitions.words import resource_of
from ..service.places import default_loader
from ..service.shapes import members_of

# --- operations as the rules see them; their shapes are `botocore.model.Shape`s ------------------

UNKNOWN = Shape("", {"type": "unknown"})
"""A shape that no model defines."""


def enum_of(shape: Shape) -> tuple[str, ...]:
    """Return the values of an enumeration; none of any other shape."""
    return tuple(shape.metadata.get("enum", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelledError:
    """An error that a model defines."""

    shape: str
    """The absolute shape id."""
    code: str | None = None
    """The error code on the wire, where the model states one."""
    status: int | None = None
    """The HTTP status, where the model states one."""

    @property
    def name(self) -> str:
        """The name part of the shape id."""
        return self.shape.rpartition("#")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationShapes:
    """An operation of a Smithy model or of botocore."""

    shape: str
    """The absolute shape id."""
    input: Shape | None
    """None for an operation without input."""
    output: Shape | None
    errors: tuple[ModelledError, ...]
    matches_codes: bool = False
    """Whether an `errorType` may name the code on the wire."""
    other_errors: tuple[str, ...] = ()
    """Names of errors that only other operations of the service have, for suggestions."""
    sibling_errors: tuple[ModelledError, ...] = ()
    """The errors of the other operations on the same resource."""
    http_method: str | None = None
    read_only: bool = False
    """Whether the model has the trait `smithy.api#readonly`."""
    event_stream: bool = False
    known: bool = True
    """Whether the shapes are those of a model; if not, return types are not checked."""
    pages: tuple[str, ...] = ()
    """Expressions on the output for what is spread over pages."""

    @property
    def name(self) -> str:
        """The name part of the shape id."""
        return self.shape.rpartition("#")[2]


# --- those of a Smithy model in JSON AST form ----------------------------------------------------

# Smithy's types as botocore names them; types with the same name in both are left out.
_TYPES = {
    "union": "structure",
    "set": "list",
    "enum": "string",
    **dict.fromkeys(("byte", "short", "intEnum", "bigInteger", "bigDecimal"), "integer"),
}
_REQUIRED = "smithy.api#required"
_PRELUDE = "smithy.api#"
_STREAMING = "smithy.api#streaming"
_MIXIN = "smithy.api#mixin"


class SmithyModel:
    """The shapes of one or several documents, with what they inherit from mixins.

    Args:
        shapes: shape definitions by absolute shape id, `apply` statements excluded.
    """

    def __init__(self, shapes: Mapping[str, Mapping[str, Any]]) -> None:
        self._shapes = {shape_id: _flattened(shape_id, shapes) for shape_id in shapes}
        # The stub expects shapes where the resolver takes their descriptions.
        self._resolver = ShapeResolver(_ConvertedShapes(self._shapes))  # type: ignore[arg-type]

    def shape(self, shape_id: str) -> Shape:
        """Return a shape by its id; a shape that the model lacks has the type `unknown`."""
        return self._resolver.get_shape_by_name(shape_id)

    def operation(self, shape_id: str) -> OperationShapes:
        """Return an operation by its id."""
        definition = self._shapes[shape_id]
        traits = self.traits(shape_id)
        method = as_mapping(traits.get("smithy.api#http")).get("method")
        items = as_mapping(traits.get("smithy.api#paginated")).get("items")
        structures = [self._structure(definition, member) for member in ("input", "output")]
        return OperationShapes(
            shape=shape_id,
            input=structures[0],
            output=structures[1],
            errors=tuple(self._errors(definition)),
            http_method=method if isinstance(method, str) else None,
            read_only="smithy.api#readonly" in traits,
            event_stream=any(map(self._streams_events, structures)),
            pages=(items,) if isinstance(items, str) else (),
        )

    def closures(self) -> dict[str, set[str]]:
        """Return the operations of each service, sorted by service."""
        return closures(self._shapes)

    def traits(self, shape_id: str) -> Mapping[str, Any]:
        """Return the traits of a shape."""
        return _part(self._shapes, shape_id, "traits")

    def _structure(self, operation: Mapping[str, Any], member: str) -> Shape | None:
        target = as_mapping(operation.get(member)).get("target", UNIT)
        return None if target == UNIT else self.shape(str(target))

    def _errors(self, operation: Mapping[str, Any]) -> Iterator[ModelledError]:
        for shape_id in targets_of(operation.get("errors")):
            traits = self.traits(shape_id)
            code = as_mapping(traits.get("aws.protocols#awsQueryError")).get("code")
            status = traits.get("smithy.api#httpError")
            yield ModelledError(
                shape=shape_id,
                code=code if isinstance(code, str) else None,
                status=status if isinstance(status, int) else None,
            )

    def _streams_events(self, structure: Shape | None) -> bool:
        return any(
            as_mapping(self._shapes.get(member.name)).get("type") == "union"
            and _STREAMING in self.traits(member.name)
            for member in members_of(structure).values()
        )


class _ConvertedShapes(dict[str, dict[str, Any]]):
    """The shapes of a model in botocore's form, each converted when it is first looked up."""

    def __init__(self, shapes: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__()
        self._shapes = shapes

    def __missing__(self, shape_id: str) -> dict[str, Any]:
        definition = as_mapping(self._shapes.get(shape_id))
        name = str(definition.get("type") or _prelude_type(shape_id))
        kind = _TYPES.get(name, name)
        members = _part(self._shapes, shape_id, "members")
        traits = _part(self._shapes, shape_id, "traits")
        shape: dict[str, Any] = {"type": kind}
        if kind == "structure":
            shape["members"] = {name: _reference(member) for name, member in members.items()}
            shape["required"] = [n for n in members if _REQUIRED in _part(members, n, "traits")]
        for part in {"list": ("member",), "map": ("key", "value")}.get(kind, ()):
            # Smithy 2.0 has these beside `type`, a mixin of a list among the members.
            shape[part] = _reference(definition.get(part) or members.get(part))
        bounds = traits.get("smithy.api#length", traits.get("smithy.api#range"))
        shape |= {n: b for n, b in as_mapping(bounds).items() if isinstance(b, (int, float))}
        if values := _enum_values(name, members, traits):
            shape["enum"] = values
        self[shape_id] = shape
        return shape


def _part(shapes: Mapping[str, Any], shape_id: str, part: str) -> Mapping[str, Any]:
    return as_mapping(as_mapping(shapes.get(shape_id)).get(part))


def _flattened(
    shape_id: str, shapes: Mapping[str, Mapping[str, Any]], users: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """Return a shape with what its mixins add; `users` are the shapes that mix it in."""
    shape = shapes.get(shape_id, {})
    flat: dict[str, Any] = {}
    for mixin in targets_of(shape.get("mixins")):
        if mixin not in (*users, shape_id):  # else the model is broken
            inherited = dict(_flattened(mixin, shapes, (*users, shape_id)))
            traits = as_mapping(inherited.get("traits"))
            local = as_mapping(traits.get(_MIXIN)).get("localTraits")
            not_inherited = [_MIXIN, *(local if isinstance(local, list) else ())]
            kept = {name: v for name, v in traits.items() if name not in not_inherited}
            flat = _merged(flat, {**inherited, "traits": kept})
    return _merged(flat, shape) if flat else shape


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(one)
    for name, value in other.items():
        own = merged.get(name)
        if isinstance(own, list) and isinstance(value, list):
            merged[name] = [*own, *value]
        elif isinstance(own, Mapping) and isinstance(value, Mapping):
            merged[name] = {**own, **value}
        else:
            merged[name] = value
    return merged


def _reference(member: Any) -> dict[str, str]:
    return {"shape": str(as_mapping(member).get("target", ""))}


def _prelude_type(shape_id: str) -> str:
    """Return the type of a shape of the prelude: `smithy.api#PrimitiveLong` is a `long`."""
    if shape_id == UNIT:
        return "structure"
    if not shape_id.startswith(_PRELUDE):
        return "unknown"
    name = shape_id.removeprefix(_PRELUDE).removeprefix("Primitive")
    return name[:1].lower() + name[1:]


def _enum_values(kind: str, members: Mapping[str, Any], traits: Mapping[str, Any]) -> list[str]:
    values = traits.get("smithy.api#enum")
    if kind == "enum":
        own = {name: _part(members, name, "traits") for name in members}
        return [str(own[name].get("smithy.api#enumValue", name)) for name in members]
    if kind == "string" and isinstance(values, list):
        return [str(as_mapping(value).get("value", "")) for value in values]
    return []


# --- services of the installed botocore, by name and by Smithy namespace -------------------------

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
