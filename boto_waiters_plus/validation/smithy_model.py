"""Shapes, operations and services of a Smithy model in JSON AST form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.model import Shape, ShapeResolver

from ..definitions.smithy import UNIT
from .shapes import ModelledError, Operation, members_of

# Smithy's types as botocore names them; types of one name are left out.
_TYPES = {
    **dict.fromkeys(("union",), "structure"),
    **dict.fromkeys(("set",), "list"),
    **dict.fromkeys(("enum",), "string"),
    **dict.fromkeys(("byte", "short", "intEnum", "bigInteger", "bigDecimal"), "integer"),
}
_PRELUDE = "smithy.api#"
_STREAMING = "smithy.api#streaming"
_MIXIN = "smithy.api#mixin"
_LIFECYCLE = ("create", "put", "read", "update", "delete", "list")


class SmithyModel:
    """The shapes of one or several documents.

    Args:
        shapes: shape definitions by absolute shape id, `apply` statements excluded.
    """

    def __init__(self, shapes: Mapping[str, Mapping[str, Any]]) -> None:
        self.shapes = shapes
        # The stub expects shapes where the resolver takes their descriptions.
        self._resolver = ShapeResolver(_ConvertedShapes(self))  # type: ignore[arg-type]

    def shape(self, shape_id: str) -> Shape:
        """Return a shape by its id; a shape that the model lacks has the type `unknown`."""
        return self._resolver.get_shape_by_name(shape_id)

    def operation(self, shape_id: str) -> Operation:
        """Return an operation by its id."""
        definition = self._with_mixins(shape_id)
        traits = self.traits(shape_id)
        method = as_mapping(traits.get("smithy.api#http")).get("method")
        items = as_mapping(traits.get("smithy.api#paginated")).get("items")
        structures = [self._structure(definition, member) for member in ("input", "output")]
        return Operation(
            shape=shape_id,
            input=structures[0],
            output=structures[1],
            errors=tuple(self._errors(definition)),
            http_method=method if isinstance(method, str) else None,
            read_only="smithy.api#readonly" in traits,
            event_stream=any(map(self._streams_events, structures)),
            pages=(items,) if isinstance(items, str) else (),
        )

    def services(self) -> list[str]:
        """Return the ids of the services, sorted."""
        return sorted(i for i, shape in self.shapes.items() if shape.get("type") == "service")

    def operations_of(self, service: str) -> set[str]:
        """Return the operations in a service's closure, those of its resources included."""
        found: set[str] = set()
        visited: set[str] = set()
        waiting = [service]
        while waiting:
            shape_id = waiting.pop()
            if shape_id in visited:
                continue
            visited.add(shape_id)
            shape = self._with_mixins(shape_id)
            for member in ("operations", "collectionOperations"):
                found.update(_targets(shape.get(member)))
            found.update(_targets([shape.get(member) for member in _LIFECYCLE]))
            waiting += _targets(shape.get("resources"))
        return found

    def traits(self, shape_id: str) -> Mapping[str, Any]:
        """Return the traits of a shape and those that it inherits from its mixins."""
        traits: dict[str, Any] = {}
        shape = as_mapping(self.shapes.get(shape_id))
        for mixin in self._mixins(shape_id):
            inherited = self.traits(mixin)
            local = as_mapping(inherited.get(_MIXIN)).get("localTraits")
            not_inherited = [_MIXIN, *(local if isinstance(local, list) else ())]
            traits |= {name: v for name, v in inherited.items() if name not in not_inherited}
        return {**traits, **as_mapping(shape.get("traits"))}

    def members(self, shape_id: str) -> dict[str, Mapping[str, Any]]:
        """Return the members of a shape, those of its mixins first."""
        members: dict[str, Mapping[str, Any]] = {}
        for mixin in self._mixins(shape_id):
            members |= self.members(mixin)
        own = as_mapping(as_mapping(self.shapes.get(shape_id)).get("members"))
        return members | {name: as_mapping(member) for name, member in own.items()}

    def _mixins(self, shape_id: str) -> list[str]:
        """Return the mixins of a shape, without those that mix it in (in a broken model)."""
        direct = _targets(as_mapping(self.shapes.get(shape_id)).get("mixins"))
        return [mixin for mixin in direct if shape_id not in self._mixed_into(mixin)]

    def _mixed_into(self, shape_id: str) -> set[str]:
        """Return a shape with all its mixins and theirs."""
        found: set[str] = set()
        waiting = [shape_id]
        while waiting:
            mixin = waiting.pop()
            if mixin not in found:
                found.add(mixin)
                waiting += _targets(as_mapping(self.shapes.get(mixin)).get("mixins"))
        return found

    def _with_mixins(self, shape_id: str) -> dict[str, Any]:
        """Return an operation, service or resource with what its mixins add."""
        shape = dict(as_mapping(self.shapes.get(shape_id)))
        for mixin in self._mixins(shape_id):
            for name, value in self._with_mixins(mixin).items():
                own = shape.get(name)
                if isinstance(own, list) and isinstance(value, list):
                    shape[name] = [*value, *own]
                elif name not in ("type", "traits"):
                    shape.setdefault(name, value)
        return shape

    def _structure(self, operation: Mapping[str, Any], member: str) -> Shape | None:
        target = as_mapping(operation.get(member)).get("target", UNIT)
        return None if target == UNIT else self.shape(str(target))

    def _errors(self, operation: Mapping[str, Any]) -> Iterator[ModelledError]:
        for shape_id in _targets(operation.get("errors")):
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
            as_mapping(self.shapes.get(member.name)).get("type") == "union"
            and _STREAMING in self.traits(member.name)
            for member in members_of(structure).values()
        )


class _ConvertedShapes(dict[str, dict[str, Any]]):
    """The shapes of a model in botocore's form, each converted when it is first looked up."""

    def __init__(self, model: SmithyModel) -> None:
        super().__init__()
        self._model = model

    def __missing__(self, shape_id: str) -> dict[str, Any]:
        definition = as_mapping(self._model.shapes.get(shape_id))
        name = str(definition.get("type") or _prelude_type(shape_id))
        kind = _TYPES.get(name, name)
        members = self._model.members(shape_id)
        traits = self._model.traits(shape_id)
        shape: dict[str, Any] = {"type": kind}
        if kind == "structure":
            shape["members"] = {name: _reference(member) for name, member in members.items()}
        for part in {"list": ("member",), "map": ("key", "value")}.get(kind, ()):
            # Smithy 2.0 has these beside `type`, a mixin of a list among the members.
            shape[part] = _reference(as_mapping(definition.get(part)) or members.get(part, {}))
        bounds = traits.get("smithy.api#length", traits.get("smithy.api#range"))
        shape |= {n: b for n, b in as_mapping(bounds).items() if isinstance(b, (int, float))}
        if values := list(_enum_values(name, members, traits)):
            shape["enum"] = values
        self[shape_id] = shape
        return shape


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return an object as it is, anything else as an empty one: broken models are checked too."""
    return value if isinstance(value, Mapping) else {}


def _reference(member: Mapping[str, Any]) -> dict[str, str]:
    return {"shape": str(member.get("target", ""))}


def _targets(references: Any) -> list[str]:
    if not isinstance(references, list):
        return []
    targets = [as_mapping(reference).get("target") for reference in references]
    return [target for target in targets if isinstance(target, str)]


def _prelude_type(shape_id: str) -> str:
    """Return the type of a shape of the prelude: `smithy.api#PrimitiveLong` is a `long`."""
    if shape_id == UNIT:
        return "structure"
    if not shape_id.startswith(_PRELUDE):
        return "unknown"
    name = shape_id.removeprefix(_PRELUDE).removeprefix("Primitive")
    return name[:1].lower() + name[1:]


def _enum_values(
    kind: str, members: Mapping[str, Mapping[str, Any]], traits: Mapping[str, Any]
) -> Iterator[str]:
    if kind == "enum":
        for name, member in members.items():
            yield str(as_mapping(member.get("traits")).get("smithy.api#enumValue", name))
    values = traits.get("smithy.api#enum")
    if kind == "string" and isinstance(values, list):
        for value in values:
            yield str(as_mapping(value).get("value", ""))
