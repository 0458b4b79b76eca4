"""Statements of Smithy IDL as JSON AST, with absolute shape ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lark import Token

from .idl_reader import IdlError, Item, ShapeStatement, Statement, Trait, without_duplicates
from .operation_names import listed
from .smithy import UNIT, WAITABLE

Path = tuple[str | int, ...]

PRELUDE = "smithy.api"

PRELUDE_SHAPES = listed(
    "BigDecimal BigInteger Blob Boolean Byte Document Double Float Integer Long "
    "PrimitiveBoolean PrimitiveByte PrimitiveDouble PrimitiveFloat PrimitiveInteger "
    "PrimitiveLong PrimitiveShort Short String Timestamp Unit"
)

PRELUDE_TRAITS = listed(
    "addedDefault auth authDefinition box clientOptional cors default deprecated documentation "
    "endpoint enum enumValue error eventHeader eventPayload examples externalDocumentation "
    "hostLabel http httpApiKeyAuth httpBasicAuth httpBearerAuth httpChecksumRequired "
    "httpDigestAuth httpError httpHeader httpLabel httpPayload httpPrefixHeaders httpQuery "
    "httpQueryParams httpResponseCode idRef idempotencyToken idempotent input internal jsonName "
    "length mediaType mixin nestedProperties noReplace notProperty optionalAuth output paginated "
    "pattern private property protocolDefinition range readonly recommended references "
    "requestCompression required requiresLength resourceIdentifier retryable sensitive since "
    "sparse streaming suppress tags timestampFormat title trait traitValidators uniqueItems "
    "unitType unstable xmlAttribute xmlFlattened xmlName xmlNamespace"
)

_SIMPLE = {name[0].lower() + name[1:] for name in PRELUDE_SHAPES - {"Unit"}}
_VERSIONS = {"1": "1.0", "1.0": "1.0", "2": "2.0", "2.0": "2.0"}
_LIFECYCLE = ("create", "put", "read", "update", "delete", "list")
_LISTS = ("operations", "collectionOperations", "resources", "errors")


class IdlModel:
    """The model that a file defines."""

    def __init__(self, statements: Sequence[ShapeStatement | Statement]) -> None:
        self._shape_statements = [each for each in statements if isinstance(each, ShapeStatement)]
        self._others = [each for each in statements if isinstance(each, Statement)]
        self._controls = without_duplicates(self._of_kind("control"))
        self._namespace = next((name for name, _ in self._of_kind("namespace")), None)
        self._used = {name.rpartition("#")[2]: str(name) for name, _ in self._of_kind("use")}
        self._defined = {str(shape.name) for shape in self._shape_statements}
        self._shapes: dict[str, dict[str, Any]] = {}
        self.offsets: dict[Path, int] = {}

    def _of_kind(self, kind: str) -> Iterator[tuple[Token, Any]]:
        return ((each.name, each.content) for each in self._others if each.kind == kind)

    def to_json(self) -> dict[str, Any]:
        """Return the model as JSON AST."""
        version = self._control("version", "2.0")
        if version not in _VERSIONS:
            raise IdlError(f"unknown version of Smithy: {version}")
        for name, _ in self._of_kind("use"):
            if "#" not in name:
                raise IdlError(f"use {name}: not an absolute shape id", name.line)
        for shape in self._shape_statements:
            self._define(shape)
        for target, traits in self._of_kind("apply"):
            self._apply(target, [traits] if isinstance(traits, Trait) else traits)
        model: dict[str, Any] = {"smithy": _VERSIONS[version]}
        if metadata := without_duplicates(self._of_kind("metadata")):
            model["metadata"] = self._value(metadata, ("metadata",))
        return {**model, "shapes": self._shapes}

    def _control(self, name: str, default: str) -> str:
        value = self._controls.get(name, default)
        if not isinstance(value, str):
            raise IdlError(f"${name} must be a string")
        return value

    def _define(self, shape: ShapeStatement) -> None:
        if not re.fullmatch(r"\w+", shape.name):
            raise IdlError(f"{shape.name} is not a valid name of a shape", shape.name.line)
        shape_id = f"{self._namespace}#{shape.name}"
        if shape_id in self._shapes:
            raise IdlError(f"{shape.name} is defined twice", shape.name.line)
        body: dict[str, Any] = {"type": str(shape.kind)}
        self._shapes[shape_id] = body
        path = self._place(("shapes", shape_id), shape.name)
        body |= self._content(shape, path)
        if shape.mixins:
            body["mixins"] = [self._target(name) for name in shape.mixins]
        body |= self._traits(shape.traits, path)

    def _content(self, shape: ShapeStatement, path: Path) -> dict[str, Any]:
        items = shape.items
        match str(shape.kind):
            case kind if kind in _SIMPLE:
                if items:
                    raise IdlError(f"a {kind} has no members", items[0].key.line)
                return {}
            case "structure" | "union":
                return {"members": dict(self._members(items, (*path, "members")))}
            case "list" | "set" | "map":
                return dict(self._members(items, path))
            case "enum" | "intEnum":
                return {"members": dict(self._enumerated(items, (*path, "members")))}
            case "operation":
                return self._operation(shape)
            case "service" | "resource":
                return {str(item.key): self._property(item, path) for item in items}
        raise IdlError(f"unknown type of shape: {shape.kind}", shape.kind.line)

    def _members(self, items: Iterable[Item], path: Path) -> Iterator[tuple[str, Any]]:
        for traits, key, value, assigned in items:
            if not value or not isinstance(value[0], Token):
                raise IdlError(f"the member {key} has no target", key.line)
            default = [Trait(key.update(value=f"{PRELUDE}#default"), node) for node in assigned]
            yield self._member(key, self._target(value[0]), [*traits, *default], path)

    def _enumerated(self, items: Iterable[Item], path: Path) -> Iterator[tuple[str, Any]]:
        for traits, key, value, assigned in items:
            if value:
                raise IdlError(f"{key}: the value of an enum member follows =", key.line)
            found = [*traits]
            if not any(trait.name.rpartition("#")[2] == "enumValue" for trait in traits):
                name = key.update(value=f"{PRELUDE}#enumValue")
                found.append(Trait(name, assigned[0] if assigned else str(key)))
            yield self._member(key, {"target": UNIT}, found, path)

    def _member(
        self, key: Token, target: dict[str, str], traits: Sequence[Trait], path: Path
    ) -> tuple[str, Any]:
        place = self._place((*path, str(key)), key)
        return str(key), {**target, **self._traits(traits, place)}

    def _operation(self, shape: ShapeStatement) -> dict[str, Any]:
        content: dict[str, Any] = {"input": {"target": UNIT}, "output": {"target": UNIT}}
        for item in shape.items:
            match str(item.key), item.value:
                case "input" | "output" as member, (ShapeStatement() as inner,):
                    content[member] = self._inline(shape, item.key, inner)
                case "input" | "output" as member, (Token() as target,):
                    content[member] = self._target(target)
                case "errors", _:
                    content["errors"] = self._targets(item)
                case unknown, _:
                    raise IdlError(f"unknown property of an operation: {unknown}", item.key.line)
        return content

    def _inline(
        self, operation: ShapeStatement, member: Token, shape: ShapeStatement
    ) -> dict[str, str]:
        default = member.capitalize()
        name = member.update(
            value=operation.name + self._control(f"operation{default}Suffix", default)
        )
        trait = Trait(member.update(value=f"{PRELUDE}#{member}"), {})
        self._defined.add(str(name))
        self._define(shape._replace(name=name, traits=[trait, *shape.traits]))
        return {"target": f"{self._namespace}#{name}"}

    def _property(self, item: Item, path: Path) -> Any:
        key = str(item.key)
        match item.value:
            case () | (ShapeStatement(),):
                raise IdlError(f"{key} has no value", item.key.line)
            case _ if key in _LISTS:
                return self._targets(item)
            case (Token() as target,) if key in _LIFECYCLE:
                return self._target(target)
            case (dict() as members,) if key in ("identifiers", "properties"):
                return {
                    str(name): self._target(target) if isinstance(target, Token) else target
                    for name, target in members.items()
                }
        return self._value(item.value[0], (*path, key))

    def _targets(self, item: Item) -> list[dict[str, str]]:
        match item.value:
            case (list() as names,) if all(isinstance(name, Token) for name in names):
                return [self._target(name) for name in names]
        raise IdlError(f"{item.key} must be a list of shapes", item.key.line)

    def _apply(self, name: Token, traits: Sequence[Trait]) -> None:
        target = self._resolve(name)
        shape_id, _, member = target.partition("$")
        path: Path = ("shapes", shape_id)
        shape = self._shapes.get(shape_id, {"type": "apply"})
        if shape["type"] == "apply":
            path = self._place(("shapes", target), name)
            shape = self._shapes.setdefault(target, {"type": "apply"})
        elif member:
            path = (*path, "members", member) if "members" in shape else (*path, member)
            members = shape.get("members", shape)
            if not isinstance(members.get(member), dict):
                raise IdlError(f"{shape_id} has no member {member}", name.line)
            shape = members[member]
        known = shape.setdefault("traits", {})
        for trait, value in self._traits(traits, path)["traits"].items():
            if known.setdefault(trait, value) != value:
                raise IdlError(f"{trait} of {name} has two values", name.line)

    def _traits(self, traits: Sequence[Trait], path: Path) -> dict[str, dict[str, Any]]:
        """Return the member `traits` of the shape or member with a path, if it has any."""
        values: dict[str, Any] = {}
        for written, node in traits:
            name = self._resolve(written, PRELUDE_TRAITS)
            is_own = str(written) in self._defined
            if str(written) == "waitable" and name != WAITABLE and not is_own:
                raise IdlError(f"unknown trait @waitable; add: use {WAITABLE}", written.line)
            place = self._place((*path, "traits", name), written)
            value = self._value(node, place)
            if values.setdefault(name, value) != value:
                raise IdlError(f"the trait {written} has two values", written.line)
        return {"traits": values} if values else {}

    def _value(self, node: Any, path: Path) -> Any:
        """Return a node as JSON; the names in it are shape ids."""
        if isinstance(node, Token):
            self._place(path, node)
            return self._resolve(node)
        if isinstance(node, Mapping):
            for name in node:
                # The offset of a list's element is that of its first member.
                self._place(path, name)
                self._place((*path, str(name)), name)
            return {str(name): self._value(part, (*path, str(name))) for name, part in node.items()}
        if isinstance(node, list):
            return [self._value(part, (*path, index)) for index, part in enumerate(node)]
        return node

    def _place(self, path: Path, token: Token) -> Path:
        """Note where a part of the model is, unless that is known; return its path."""
        self.offsets.setdefault(path, token.start_pos or 0)
        return path

    def _target(self, name: Token) -> dict[str, str]:
        return {"target": self._resolve(name)}

    def _resolve(self, name: Token, prelude: frozenset[str] = PRELUDE_SHAPES) -> str:
        if "#" in name:
            return str(name)
        shape, mark, member = name.partition("$")
        if shape in self._used:
            found = self._used[shape]
        elif shape in prelude and shape not in self._defined:
            found = f"{PRELUDE}#{shape}"
        else:
            found = f"{self._namespace}#{shape}"
        return found + mark + member
