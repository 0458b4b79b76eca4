"""Shapes, operations and services of a Smithy model in JSON AST form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.model import Shape, ShapeResolver

from ..definitions.parsing import as_mapping
from ..definitions.smithy import UNIT, closures, targets_of
from .shapes import ModelledError, OperationShapes, members_of

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
