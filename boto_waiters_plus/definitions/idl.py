"""Smithy IDL (`.smithy` files) to JSON AST.

All statements of version 2.0 are supported except members without a target (`$name`), which are
refused. Each file is read on its own: a name that is neither imported by `use`, nor defined in the
file, nor part of the prelude belongs to the namespace of the file. Importing this module requires
lark.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from .parsing import Place
from .smithy import RESOURCE_OPERATIONS, UNIT, WAITABLE
from .words import listed

# --- lark's parse tree of a `.smithy` file as statements. Importing this module requires lark
# The names of shapes, traits and members are lark's tokens, which know their place in the text;
# quoted strings are plain strings.

DOCUMENTATION = "smithy.api#documentation"

_WORDS = {"true": True, "false": False, "null": None}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|\r?\n|.)", re.DOTALL)
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class IdlError(ValueError):
    """The text is not Smithy IDL, or uses a feature that is not supported."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class Trait(NamedTuple):
    """`@name(value)`."""

    name: Token
    value: Any


class Item(NamedTuple):
    """An item of a body: a member, a property or an inline structure."""

    traits: Sequence[Trait]
    key: Token
    value: tuple[Any, ...] = ()
    """The target of a member, the value of a property, an inline structure; empty if not given."""
    assigned: tuple[Any, ...] = ()
    """The value after `=`; empty if not given."""


class ShapeStatement(NamedTuple):
    """A shape. An inline shape has the name of its member."""

    traits: Sequence[Trait]
    kind: Token
    name: Token
    mixins: Sequence[Token]
    items: Sequence[Item]


class Statement(NamedTuple):
    """A statement of another kind: control, metadata, namespace, use or apply."""

    kind: str
    name: Token
    content: Any


def _statement(kind: str) -> Callable[..., Statement]:
    def read(_: Any, traits: Sequence[Trait] | None, name: Token, content: Any = None) -> Any:
        _comments_only(traits)
        return Statement(kind, name, content)

    return read


@v_args(inline=True)
class Reader(Transformer[Token, Any]):
    """Transforms each rule of `smithy.lark` by the method of the same name.

    Raises:
        IdlError: the text is allowed by the grammar but not by Smithy.
    """

    def start(self, *parts: Any) -> list[ShapeStatement | Statement]:
        *statements, trailing = parts
        _comments_only(trailing)
        return [statement for statement in statements if statement is not None]

    control = _statement("control")
    metadata = _statement("metadata")
    namespace = _statement("namespace")
    use = _statement("use")
    apply = _statement("apply")

    def shape(self, traits: Any, kind: Token, name: Token, *rest: Any) -> ShapeStatement:
        # Only elided targets need the resource before the mixins.
        return ShapeStatement(traits or (), kind, name, rest[-2] or (), rest[-1] or ())

    def inline(self, traits: Any, key: Token, inner: Any, *rest: Any) -> Item:
        shape = self.shape(inner, key.update(value="structure"), key, *rest)
        return Item(traits or (), key, (shape,))

    def body(self, *parts: Any) -> list[Item]:
        *items, trailing = parts
        _comments_only(trailing)
        without_duplicates((item.key, item) for item in items)
        return items

    def member(self, traits: Any, key: Token, value: Any, assigned: Any) -> Item:
        return Item(traits or (), key, value or (), assigned or ())

    def elided(self, _: Any, name: Token) -> Item:
        raise IdlError(f"${name}: elided targets are not supported; write the target", name.line)

    def value(self, *nodes: Any) -> tuple[Any, ...]:
        return nodes

    assigned = arguments = mixins = pair = value

    def traits(self, *found: Trait) -> list[Trait]:
        """Return the traits; the comments before the first one are the documentation.

        The trait `documentation` takes precedence. Other comments are ignored.
        """
        comments = list(itertools.takewhile(_is_comment, found))
        traits = [trait for trait in found if not _is_comment(trait)]
        if comments and all(trait.name.rpartition("#")[2] != "documentation" for trait in traits):
            lines = [trait.value[3:].removeprefix(" ").rstrip() for trait in comments]
            traits.append(Trait(comments[0].name, "\n".join(lines)))
        return traits

    def trait(self, name: Token, arguments: Any) -> Trait:
        return Trait(name, arguments[0] if arguments else {})

    def documentation(self, comment: Token) -> Trait:
        return Trait(comment.update(value=DOCUMENTATION), comment)

    def pairs(self, *pairs: tuple[Token, Any]) -> dict[Token, Any]:
        return without_duplicates(pairs)

    object = pairs

    def array(self, *nodes: Any) -> list[Any]:
        return list(nodes)

    def key(self, token: Token) -> Token:
        if token.type != "STRING" and not token.isidentifier():
            raise IdlError(f"{token} must be quoted here", token.line)
        return token.update("ID", self.string(token) if token.type == "STRING" else None)

    def string(self, token: Token) -> str:
        if token.type == "TEXT_BLOCK":
            return _unquoted(_unindented(token[3:-3].partition("\n")[2]), token.line)
        return _unquoted(token[1:-1], token.line)

    def number(self, token: Token) -> Any:
        try:
            return json.loads(token)
        except ValueError as error:
            # Python limits the number of digits.
            raise IdlError(str(error), token.line) from error

    def word(self, token: Token) -> Any:
        return _WORDS.get(token, token)


def without_duplicates(pairs: Iterable[tuple[Token, Any]]) -> dict[Any, Any]:
    """Return the pairs as a dict.

    Raises:
        IdlError: a name occurs twice.
    """
    found: dict[Any, Any] = {}
    for name, value in pairs:
        if name in found:
            raise IdlError(f"{name} occurs twice", name.line)
        found[name] = value
    return found


def _is_comment(trait: Trait) -> bool:
    return isinstance(trait.value, Token) and trait.value.type == "DOCUMENTATION"


def _comments_only(traits: Sequence[Trait] | None) -> None:
    """Refuse traits that no shape follows; documentation comments are allowed there."""
    for trait in traits or ():
        if trait.name != DOCUMENTATION:
            raise IdlError(f"@{trait.name} applies to nothing", trait.name.line)


def _unquoted(text: str, line: int | None) -> str:
    """Return the content of a quoted string with its escapes replaced."""

    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] == "u" and len(escape) > 1:
            return chr(int(escape[1:], 16))
        if escape[-1] == "\n":
            return ""
        if escape not in _ESCAPED:
            raise IdlError(f"unknown escape \\{escape}", line)
        return _ESCAPED[escape]

    plain = _ESCAPE.sub(character, text)
    try:
        # A character beyond U+FFFF is written as two escapes.
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise IdlError("incomplete surrogate pair", line) from None


def _unindented(text: str) -> str:
    """Return a text block, from its second line on, without the indentation of all lines."""
    lines = text.replace("\r\n", "\n").split("\n")
    counted = [line for line in lines[:-1] if line.strip()] + lines[-1:]
    indentation = min(len(line) - len(line.lstrip(" ")) for line in counted)
    return "\n".join(line[indentation:].rstrip(" \t") for line in lines)


# --- statements of Smithy IDL as JSON AST, with absolute shape ids -------------------------------

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
            case (Token() as target,) if key in RESOURCE_OPERATIONS:
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


# --- the reading --------------------------------------------------------------------------------


def parse_idl(
    text: str, *, source: str
) -> tuple[dict[str, Any], Mapping[tuple[str | int, ...], int]]:
    """Return the model of a `.smithy` file as JSON AST, as `parse_document` accepts it.

    Args:
        text: the content of the file.
        source: the file that error messages name.

    Returns:
        The model, and the offset in the text of each part of it, by path.

    Raises:
        WaiterDefinitionError: the text is not Smithy IDL.
    """
    place = Place(source)
    try:
        model = IdlModel(_parser().parse(text))
        return model.to_json(), model.offsets
    except UnexpectedInput as error:
        problem = _unexpected(error, text)
        raise place.error(f"not Smithy IDL: {problem} (line {error.line})") from error
    except IdlError as error:
        where = f" (line {error.line})" if error.line is not None else ""
        raise place.error(f"not Smithy IDL: {error}{where}") from error
    except RecursionError as error:
        raise place.error("nested too deeply") from error


def _unexpected(error: Any, text: str) -> str:
    if getattr(getattr(error, "token", None), "type", None) == "$END":
        return "the text ends too early"
    return f"unexpected {text[error.pos_in_stream :][:20].split(maxsplit=1)[0]!r}"


@functools.cache
def _parser() -> Any:
    grammar = (resources.files("boto_waiters_plus.definitions") / "smithy.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=Reader())
