"""Shapes, operations and services of a Smithy model in JSON AST form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..definitions.smithy import UNIT
from .shapes import Kind, Member, ModelledError, Operation, Shape

_KINDS = {
    "blob": Kind.BLOB,
    "boolean": Kind.BOOLEAN,
    "document": Kind.DOCUMENT,
    "timestamp": Kind.TIMESTAMP,
    **dict.fromkeys(("string", "enum"), Kind.STRING),
    **dict.fromkeys(
        ("byte", "short", "integer", "long", "float", "double", "intEnum"), Kind.NUMBER
    ),
    **dict.fromkeys(("bigInteger", "bigDecimal"), Kind.NUMBER),
    **dict.fromkeys(("list", "set"), Kind.LIST),
    "map": Kind.MAP,
    **dict.fromkeys(("structure", "union"), Kind.STRUCTURE),
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
        self._views: dict[str, Shape] = {}

    def shape(self, shape_id: str) -> Shape:
        """A shape by its id; one that is not in the model is of kind `UNKNOWN`."""
        if shape_id not in self._views:
            self._views[shape_id] = self._view(shape_id)
        return self._views[shape_id]

    def operation(self, shape_id: str) -> Operation:
        """An operation by its id."""
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

    def services(self) -> Iterator[str]:
        """The ids of the services, sorted."""
        return iter(sorted(i for i, shape in self.shapes.items() if shape.get("type") == "service"))

    def operations_of(self, service: str) -> set[str]:
        """The operations in a service's closure, those of its resources included."""
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
        """The traits of a shape: its own, and those its mixins do not keep to themselves."""
        traits: dict[str, Any] = {}
        shape = as_mapping(self.shapes.get(shape_id))
        for mixin in self._mixins(shape_id):
            inherited = dict(self.traits(mixin))
            settings = as_mapping(inherited.pop(_MIXIN, None))
            for local in settings.get("localTraits") or ():
                inherited.pop(local, None)
            traits |= inherited
        return {**traits, **as_mapping(shape.get("traits"))}

    def members(self, shape_id: str) -> dict[str, Mapping[str, Any]]:
        """The members of a shape, those of its mixins first."""
        members: dict[str, Mapping[str, Any]] = {}
        shape = as_mapping(self.shapes.get(shape_id))
        for mixin in self._mixins(shape_id):
            members.update(self.members(mixin))
        members.update(
            (name, as_mapping(member)) for name, member in as_mapping(shape.get("members")).items()
        )
        return members

    def _mixins(self, shape_id: str) -> list[str]:
        """The mixins of a shape, without those that mix it in themselves (a broken model's)."""
        direct = _targets(as_mapping(self.shapes.get(shape_id)).get("mixins"))
        return [mixin for mixin in direct if shape_id not in self._mixed_into(mixin)]

    def _mixed_into(self, shape_id: str) -> set[str]:
        """A shape with all its mixins and theirs."""
        found: set[str] = set()
        waiting = [shape_id]
        while waiting:
            mixin = waiting.pop()
            if mixin not in found:
                found.add(mixin)
                waiting += _targets(as_mapping(self.shapes.get(mixin)).get("mixins"))
        return found

    def _view(self, shape_id: str) -> Shape:
        definition = as_mapping(self.shapes.get(shape_id))
        name = str(definition.get("type") or _prelude_type(shape_id))
        kind = _KINDS.get(name, Kind.UNKNOWN)
        traits = self.traits(shape_id)
        bound = "smithy.api#range" if kind is Kind.NUMBER else "smithy.api#length"
        bounds = as_mapping(traits.get(bound))
        return Shape(
            shape_id,
            kind,
            lambda: self._parts(shape_id, kind),
            minimum=bounds.get("min"),
            maximum=bounds.get("max"),
            enum=_enum_values(name, self.members(shape_id), traits),
        )

    def _parts(self, shape_id: str, kind: Kind) -> dict[str, Member]:
        definition = as_mapping(self.shapes.get(shape_id))
        parts: dict[str, Mapping[str, Any]] = self.members(shape_id)
        for name in {Kind.LIST: ("member",), Kind.MAP: ("key", "value")}.get(kind, ()):
            # Smithy 2.0 has them beside `type`, a mixin of a list among the members.
            parts[name] = as_mapping(definition.get(name)) or parts.get(name, {})
        return {
            name: Member(f"{shape_id}${name}", self.shape(str(part.get("target", ""))))
            for name, part in parts.items()
        }

    def _with_mixins(self, shape_id: str) -> dict[str, Any]:
        """An operation, service or resource with what its mixins add."""
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
        if structure is None:
            return False
        return any(
            as_mapping(self.shapes.get(member.target.name)).get("type") == "union"
            and _STREAMING in self.traits(member.target.name)
            for member in structure.members.values()
        )


def as_mapping(value: Any) -> Mapping[str, Any]:
    """The value itself if it is an object, else an empty one: broken models are checked too."""
    return value if isinstance(value, Mapping) else {}


def _targets(references: Any) -> list[str]:
    if not isinstance(references, list):
        return []
    targets = [as_mapping(reference).get("target") for reference in references]
    return [target for target in targets if isinstance(target, str)]


def _prelude_type(shape_id: str) -> str:
    """The type of a shape that is not in the model: `smithy.api#PrimitiveLong` is a `long`."""
    if shape_id == UNIT:
        return "structure"
    name = shape_id.removeprefix(_PRELUDE) if shape_id.startswith(_PRELUDE) else ""
    name = name.removeprefix("Primitive")
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
