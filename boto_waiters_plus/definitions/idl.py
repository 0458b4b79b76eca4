"""Smithy IDL (`.smithy` files) to JSON AST.

All statements of version 2.0 are supported except members without a target (`$name`), which are
refused. Each file is read on its own: a name that is neither imported by `use`, nor defined in the
file, nor part of the prelude belongs to the namespace of the file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from .idl_statements import Apply, IdlError, Item, Name, Shape, Statements, Trait
from .parsing import Place
from .smithy import UNIT, WAITABLE

Path = tuple[str | int, ...]

PRELUDE = "smithy.api"
NEEDS_LARK = "Smithy IDL requires lark; install it with: pip install 'boto-waiters-plus[idl]'"

PRELUDE_SHAPES = frozenset(
    (  # noqa: SIM905 - more readable as words
        "BigDecimal BigInteger Blob Boolean Byte Document Double Float Integer Long "
        "PrimitiveBoolean PrimitiveByte PrimitiveDouble PrimitiveFloat PrimitiveInteger "
        "PrimitiveLong PrimitiveShort Short String Timestamp Unit"
    ).split()
)

PRELUDE_TRAITS = frozenset(
    (  # noqa: SIM905 - more readable as words
        "addedDefault auth authDefinition box clientOptional cors default deprecated "
        "documentation endpoint enum enumValue error eventHeader eventPayload examples "
        "externalDocumentation hostLabel http httpApiKeyAuth httpBasicAuth httpBearerAuth "
        "httpChecksumRequired httpDigestAuth httpError httpHeader httpLabel httpPayload "
        "httpPrefixHeaders httpQuery httpQueryParams httpResponseCode idRef "
        "idempotencyToken idempotent input internal jsonName length mediaType mixin "
        "nestedProperties noReplace notProperty optionalAuth output paginated pattern "
        "private property protocolDefinition range readonly recommended references "
        "requestCompression required requiresLength resourceIdentifier retryable "
        "sensitive since sparse streaming suppress tags timestampFormat title trait "
        "traitValidators uniqueItems unitType unstable xmlAttribute xmlFlattened xmlName "
        "xmlNamespace"
    ).split()
)

SIMPLE = frozenset(
    (  # noqa: SIM905 - more readable as words
        "bigDecimal bigInteger blob boolean byte document double float integer long short "
        "string timestamp"
    ).split()
)

_VERSIONS = {"1": "1.0", "1.0": "1.0", "2": "2.0", "2.0": "2.0"}
_LIFECYCLE = ("create", "put", "read", "update", "delete", "list")
_LISTS = ("operations", "collectionOperations", "resources", "errors")


def parse_idl(text: str, *, source: str) -> dict[str, Any]:
    """Return the model of a `.smithy` file as JSON AST, as `parse_document` accepts it.

    Args:
        text: the content of the file.
        source: the file that error messages name.

    Raises:
        WaiterDefinitionError: the text is not Smithy IDL, or lark is not installed.
    """
    return parse_idl_with_offsets(text, source=source)[0]


def parse_idl_with_offsets(text: str, *, source: str) -> tuple[dict[str, Any], Mapping[Path, int]]:
    """Like `parse_idl`; also return the offset in the text of each part of the model, by path.

    Raises:
        WaiterDefinitionError: the text is not Smithy IDL, or lark is not installed.
    """
    place = Place(source)
    try:
        model = _Model(_statements(text))
        return model.to_json(), model.offsets
    except ImportError as error:
        raise place.error(NEEDS_LARK) from error
    except IdlError as error:
        where = f" (line {error.line})" if error.line is not None else ""
        raise place.error(f"not Smithy IDL: {error}{where}") from error
    except RecursionError as error:
        raise place.error("nested too deeply") from error


def _statements(text: str) -> Statements:
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - an optional dependency

    try:
        found = _parser().parse(text)
    except UnexpectedInput as error:
        raise IdlError(_unexpected(error, text), error.line) from error
    assert isinstance(found, Statements)
    return found


def _unexpected(error: Any, text: str) -> str:
    if getattr(getattr(error, "token", None), "type", None) == "$END":
        return "the text ends too early"
    return f"unexpected {text[error.pos_in_stream :][:20].split(maxsplit=1)[0]!r}"


@functools.cache
def _parser() -> Any:
    from lark import Lark  # noqa: PLC0415 - an optional dependency

    from .idl_reader import Reader  # noqa: PLC0415 - needs lark to be imported

    grammar = (resources.files("boto_waiters_plus.definitions") / "smithy.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=Reader())


class _Model:
    """Statements as JSON AST, with absolute shape ids."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._namespace = statements.namespace
        self._used = {name.rpartition("#")[2]: str(name) for name in statements.uses}
        self._defined = {str(shape.name) for shape in statements.shapes}
        self._suffixes = {
            member: self._control(f"operation{member.capitalize()}Suffix", member.capitalize())
            for member in ("input", "output")
        }
        self._shapes: dict[str, dict[str, Any]] = {}
        self.offsets: dict[Path, int] = {}

    def to_json(self) -> dict[str, Any]:
        """Return the model."""
        version = self._control("version", "2.0")
        if version not in _VERSIONS:
            raise IdlError(f"unknown version of Smithy: {version}")
        for name in self._statements.uses:
            if "#" not in name:
                raise IdlError(f"use {name}: not an absolute shape id", name.line)
        for shape in self._statements.shapes:
            self._define(shape)
        for apply in self._statements.applied:
            self._apply(apply)
        model: dict[str, Any] = {"smithy": _VERSIONS[version]}
        if self._statements.metadata:
            model["metadata"] = self._value(self._statements.metadata, ("metadata",))
        return {**model, "shapes": self._shapes}

    def _control(self, name: str, default: str) -> str:
        value = self._statements.controls.get(name, default)
        if not isinstance(value, str):
            raise IdlError(f"${name} must be a string")
        return value

    def _define(self, shape: Shape) -> None:
        if not re.fullmatch(r"\w+", shape.name):
            raise IdlError(f"{shape.name} is not a valid name of a shape", shape.name.line)
        shape_id = f"{self._namespace}#{shape.name}"
        if shape_id in self._shapes:
            raise IdlError(f"{shape.name} is defined twice", shape.name.line)
        body: dict[str, Any] = {"type": str(shape.kind)}
        self._shapes[shape_id] = body
        path = ("shapes", shape_id)
        self.offsets[path] = shape.name.offset
        body |= self._content(shape, path)
        if shape.mixins:
            body["mixins"] = [self._target(name) for name in shape.mixins]
        body |= self._traits(shape.traits, path)

    def _content(self, shape: Shape, path: Path) -> dict[str, Any]:
        items = shape.items or ()
        match shape.kind:
            case kind if kind in SIMPLE:
                if items:
                    raise IdlError(f"a {kind} has no members", items[0].key.line)
                return {}
            case "structure" | "union":
                return {"members": self._members(items, (*path, "members"))}
            case "list" | "set" | "map":
                return self._members(items, path)
            case "enum" | "intEnum":
                return {"members": self._enumerated(items, (*path, "members"))}
            case "operation":
                return self._operation(shape, items)
            case "service" | "resource":
                return dict(self._property(item, path) for item in items)
        raise IdlError(f"unknown type of shape: {shape.kind}", shape.kind.line)

    def _members(self, items: Sequence[Item], path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for item in items:
            if not isinstance(item.value, Name):
                raise IdlError(f"the member {item.key} has no target", item.key.line)
            traits = [*item.traits]
            if "assigned" in item.has:
                traits.append(
                    Trait(Name(f"{PRELUDE}#default", item.key.line, item.key.offset), item.assigned)
                )
            place = (*path, str(item.key))
            self.offsets[place] = item.key.offset
            members[item.key] = {**self._target(item.value), **self._traits(traits, place)}
        return members

    def _enumerated(self, items: Sequence[Item], path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for item in items:
            key = item.key
            if "value" in item.has:
                raise IdlError(f"{key}: the value of an enum member follows =", key.line)
            value = item.assigned if "assigned" in item.has else str(key)
            traits = [*item.traits]
            if not any(trait.name.rpartition("#")[2] == "enumValue" for trait in traits):
                traits.append(Trait(Name(f"{PRELUDE}#enumValue", key.line, key.offset), value))
            place = (*path, str(key))
            self.offsets[place] = key.offset
            members[key] = {"target": UNIT, **self._traits(traits, place)}
        return members

    def _operation(self, shape: Shape, items: Sequence[Item]) -> dict[str, Any]:
        content: dict[str, Any] = {"input": {"target": UNIT}, "output": {"target": UNIT}}
        for item in items:
            if item.key in content and isinstance(item.value, Shape):
                content[item.key] = self._inline(shape, item.key, item.value)
            elif item.key in content and isinstance(item.value, Name):
                content[item.key] = self._target(item.value)
            elif item.key == "errors":
                content["errors"] = self._targets(item)
            else:
                raise IdlError(f"unknown property of an operation: {item.key}", item.key.line)
        return content

    def _inline(self, operation: Shape, member: Name, shape: Shape) -> dict[str, Any]:
        name = Name(operation.name + self._suffixes[member], member.line, member.offset)
        traits = [Trait(Name(f"{PRELUDE}#{member}", member.line, member.offset), {}), *shape.traits]
        self._defined.add(name)
        self._define(
            Shape(kind=shape.kind, name=name, traits=traits, mixins=shape.mixins, items=shape.items)
        )
        return {"target": f"{self._namespace}#{name}"}

    def _property(self, item: Item, path: Path) -> tuple[str, Any]:
        if "value" not in item.has or isinstance(item.value, Shape):
            raise IdlError(f"{item.key} has no value", item.key.line)
        if item.key in _LISTS:
            return item.key, self._targets(item)
        if item.key in _LIFECYCLE and isinstance(item.value, Name):
            return item.key, self._target(item.value)
        if item.key in ("identifiers", "properties") and isinstance(item.value, dict):
            members = item.value.items()
            return item.key, {
                name: self._target(target) if isinstance(target, Name) else target
                for name, target in members
            }
        return item.key, self._value(item.value, (*path, str(item.key)))

    def _targets(self, item: Item) -> list[dict[str, str]]:
        if not isinstance(item.value, list) or not all(isinstance(n, Name) for n in item.value):
            raise IdlError(f"{item.key} must be a list of shapes", item.key.line)
        return [self._target(name) for name in item.value]

    def _apply(self, apply: Apply) -> None:
        target = self._resolve(apply.target)
        shape_id, _, member = target.partition("$")
        path: Path = ("shapes", shape_id)
        shape = self._shapes.get(shape_id, {"type": "apply"})
        if shape["type"] == "apply":
            path = ("shapes", target)
            self.offsets.setdefault(path, apply.target.offset)
            shape = self._shapes.setdefault(target, {"type": "apply"})
        elif member:
            path = (*path, "members", member) if "members" in shape else (*path, member)
            members = shape.get("members", shape)
            if not isinstance(members.get(member), dict):
                raise IdlError(f"{shape_id} has no member {member}", apply.target.line)
            shape = members[member]
        known = shape.setdefault("traits", {})
        for name, value in self._traits(apply.traits, path)["traits"].items():
            if known.setdefault(name, value) != value:
                raise IdlError(f"{name} of {apply.target} has two values", apply.target.line)

    def _traits(self, traits: Sequence[Trait], path: Path) -> dict[str, dict[str, Any]]:
        """Return the member `traits` if there are any.

        Args:
            traits: the traits.
            path: the path of the shape or member that has them.
        """
        values: dict[str, Any] = {}
        for trait in traits:
            name = self._resolve(trait.name, PRELUDE_TRAITS)
            if trait.name == "waitable" and name not in (WAITABLE, *self._own("waitable")):
                raise IdlError(f"unknown trait @waitable; add: use {WAITABLE}", trait.name.line)
            place = (*path, "traits", name)
            self.offsets.setdefault(place, trait.name.offset)
            value = self._value(trait.value, place)
            if values.setdefault(name, value) != value:
                raise IdlError(f"the trait {trait.name} has two values", trait.name.line)
        return {"traits": values} if values else {}

    def _value(self, node: Any, path: Path) -> Any:
        """Return a node as JSON; the names in it are shape ids."""
        if isinstance(node, Name):
            self.offsets.setdefault(path, node.offset)
            return self._resolve(node)
        if isinstance(node, Mapping):
            for name in node:
                # The offset of a list's element is that of its first member.
                self.offsets.setdefault(path, name.offset)
                self.offsets.setdefault((*path, str(name)), name.offset)
            return {str(name): self._value(part, (*path, str(name))) for name, part in node.items()}
        if isinstance(node, list):
            return [self._value(part, (*path, index)) for index, part in enumerate(node)]
        return node

    def _own(self, name: str) -> Iterator[str]:
        if name in self._defined:
            yield f"{self._namespace}#{name}"

    def _target(self, name: Name) -> dict[str, str]:
        return {"target": self._resolve(name)}

    def _resolve(self, name: Name, prelude: frozenset[str] = PRELUDE_SHAPES) -> str:
        if "#" in name:
            return str(name)
        shape, mark, member = name.partition("$")
        return self._absolute(shape, prelude) + mark + member

    def _absolute(self, name: str, prelude: frozenset[str]) -> str:
        if name in self._used:
            return self._used[name]
        if name in prelude and name not in self._defined:
            return f"{PRELUDE}#{name}"
        return f"{self._namespace}#{name}"
