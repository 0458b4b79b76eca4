"""The parameters of an operation as options, spelled and parsed as aws-cli does.

The model of the operation decides how a value is read: `--bucket b`, `--instance-ids i-1 i-2`,
`--include-all-instances`, `--filters Name=tag:Name,Values=a,b`, JSON for anything, `file://NAME`
for the contents of a file.
"""

from __future__ import annotations

import argparse
import codecs
import html
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from botocore import xform_name
from botocore.model import ListShape, MapShape, OperationModel, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator

from ..definitions.files import MAX_FILE_SIZE
from ..engine.redaction import printable
from ..service.shapes import members_of, required_of
from .exit_codes import UsageError
from .parser import Parser, complete_with
from .service_lookup import UnknownNameError

_MARK = "\ufeff"
"""The byte order mark, as text."""

PREFIX = "parameter "
"""Marks parameters among parsed arguments, so that they do not clash with other options."""

LONGEST = 240
"""Characters of two sentences about a parameter."""

_BLOCK = re.compile(r"</?(?:p|ul|ol|li|dl|dt|dd|br|note|important|table|h\d)\b[^>]*>")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.) +(?=[A-Z])")

_NUMBERS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
}


def option_of(member: str) -> str:
    """Return the option of a parameter: `--instance-ids` for `InstanceIds`."""
    return "--" + xform_name(member, "-")


def add_operation_parameters(parser: Parser, operation: OperationModel) -> None:
    """Add an option for each parameter of the operation; the help begins with them.

    One that has the name of another option can be given by `--cli-input-json` only: the help says
    so, and `only_by_json` of the parsed arguments has their names.
    """
    only_by_json: list[str] = []
    members, required = members_of(operation.input_shape), required_of(operation.input_shape)
    group = parser.add_argument_group(f"parameters of {operation.name}")
    parser.put_first(group)
    # The sort is stable: the model's order remains.
    for name, shape in sorted(members.items(), key=lambda m: m[0] not in required):
        text = "required. " * (name in required) + first_sentences(shape.documentation)
        keywords: dict[str, Any] = {"metavar": _metavar(shape)}
        if shape.type_name == "boolean":
            keywords = {"action": argparse.BooleanOptionalAction}
        elif isinstance(shape, ListShape):
            keywords["nargs"] = "*"
        try:
            option = group.add_argument(
                option_of(name),
                dest=PREFIX + name,
                default=argparse.SUPPRESS,
                help=text.replace("%", "%%"),
                **keywords,
            )
        except argparse.ArgumentError:
            only_by_json.append(name)
            continue
        complete_with(option, partial(_completions, shape))
    group.add_argument(
        "--cli-input-json",
        metavar="JSON",
        help="all parameters as a JSON object, or file://NAME; other options take precedence",
    )
    parser.set_defaults(only_by_json=only_by_json)
    if only_by_json:
        options = ", ".join(map(option_of, only_by_json))
        names = ", ".join(only_by_json)
        group.description = f"{names}: by --cli-input-json, as boto-wait itself has {options}"


def first_sentences(documentation: str) -> str:
    """Return the first sentence of a model's documentation, or two short ones, as plain text."""
    blocks = _BLOCK.split(documentation, maxsplit=6)
    texts = (" ".join(re.sub(r"<[^>]*>", "", each).split()) for each in blocks)
    text, *others = _SENTENCE_END.split(html.unescape(next(filter(None, texts), "")), maxsplit=2)
    # Links and lists are left out, and so is what leads to them.
    if others and len(text + others[0]) < LONGEST and not re.match("For more|.*:$", others[0]):
        text += f" {others[0]}"
    return printable(text.removesuffix(":"))


def given_parameters(arguments: argparse.Namespace, operation: OperationModel) -> dict[str, Any]:
    """Return the parameters that were given on the command line.

    Raises:
        UsageError: a value does not fit the model.
    """
    parameters: dict[str, Any] = {}
    if arguments.cli_input_json is not None:
        text = arguments.cli_input_json
        parameters = json_object(_contents(text, "--cli-input-json"), "--cli-input-json")
    for name, shape in members_of(operation.input_shape).items():
        if (given := getattr(arguments, PREFIX + name, None)) is not None:
            parameters[name] = parsed(shape, given, option_of(name))
    return parameters


def check_parameters(
    operation: OperationModel,
    parameters: Mapping[str, Any],
    only_by_json: Sequence[str] = (),
    where: str = "",
) -> None:
    """Check parameters against the model, as botocore does before it sends them.

    Args:
        operation: the operation.
        parameters: the parameters.
        only_by_json: those whose names are options of the command already.
        where: how the message begins: which line of stdin they are from, or value of `--each`.

    Raises:
        UsageError: there is no such parameter, a required one is missing, or a value is of the
            wrong type.
    """
    shape = operation.input_shape
    known = members_of(shape)
    for name in parameters:
        if name not in known:
            problem = UnknownNameError(f"{operation.name} parameter", name, known)
            raise UsageError(f"{where}{problem}")
    if shape is None:
        return
    missing = [
        f"{name} in --cli-input-json" if name in only_by_json else option_of(name)
        for name in shape.required_members
        if name not in parameters
    ]
    if missing:
        raise UsageError(f"{where}{operation.name} needs {', '.join(missing)}")
    errors = ParamValidator().validate(parameters, shape)
    if errors.has_errors():
        # botocore's report quotes values, which may be sensitive.
        hidden = [name for name in parameters if shape.members[name].metadata.get("sensitive")]
        for line in errors.generate_report().splitlines():
            about = next((name for name in hidden if name in line), None)
            text = printable(re.sub(r", value: (.*(?=, valid )|.*)", "", line))
            raise UsageError(where + (text if about is None else f"{option_of(about)} is invalid"))


def member_named(operation: OperationModel, name: str) -> str:
    """Return the parameter that `instance-ids`, `--instance-ids` or `InstanceIds` means.

    Raises:
        UsageError: there is none.
    """
    members = members_of(operation.input_shape)
    for member in members:
        if name in (member, option_of(member), option_of(member)[2:]):
            return member
    known = [option_of(member)[2:] for member in members]
    raise UnknownNameError(f"{operation.name} parameter", name, known)


def json_object(text: str, where: str) -> dict[str, Any]:
    """Return the value of a JSON text that has to be an object.

    Raises:
        UsageError: it is not.
    """
    value = _json(text, where)
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be a JSON object")
    return value


def parsed(shape: Shape, given: Any, where: str) -> Any:
    """Return the value of an option: of one word, or of a list of words for a list.

    Raises:
        UsageError: it does not fit the shape.
    """
    if isinstance(given, bool):
        return given
    if not isinstance(shape, ListShape):
        return _value(shape, given, where)
    if len(given) == 1:
        text = _contents(given[0], where)
        if text.lstrip().startswith("["):
            return _json(text, where)
    return [_value(shape.member, word, where) for word in given]


def _value(shape: Shape, word: str, where: str) -> Any:
    if shape.type_name == "blob":
        is_file = word.startswith("fileb://")
        return _read(word[8:], where) if is_file else _contents(word, where).encode()
    text = _contents(word, where)
    if isinstance(shape, (StructureShape, MapShape, ListShape)):
        if text.lstrip()[:1] in ("{", "["):
            return _json(text, where)
        return _shorthand(shape, text, where)
    if shape.type_name == "boolean":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"{where} must be true or false, not {text!r}")
        return text.lower() == "true"
    try:
        return _NUMBERS.get(shape.type_name, str)(text)
    except ValueError:
        raise UsageError(f"{where} must be a number, not {text!r}") from None


def _shorthand(shape: Shape, text: str, where: str) -> Any:
    """Return the value of `Key=value,Key2=value`; quotes and backslashes as in a shell.

    A part that does not begin with a key belongs to the list before it: `Values=a,b`.
    """
    members: Mapping[str, Shape] | None = getattr(shape, "members", None)
    pairs: dict[str, list[str]] = {}
    key: str | None = None
    for part in _parts(text, where):
        name, equals, value = part.partition("=")
        if equals and (members is None or name in members):
            key = name
            pairs[key] = [value]
        elif key is None or (members is None and not equals):
            raise UsageError(f"{where} must be Key=value,Key2=value or JSON")
        else:
            pairs[key].append(part)
    if isinstance(shape, MapShape):
        return {key: _value(shape.value, ",".join(values), where) for key, values in pairs.items()}
    assert members is not None, "only structures and maps have pairs"
    return {name: _of_parts(members[name], parts, where) for name, parts in pairs.items()}


def _of_parts(shape: Shape, parts: list[str], where: str) -> Any:
    if isinstance(shape, ListShape):
        if parts[0].startswith("[") and parts[-1].endswith("]"):
            parts = [part for part in ",".join(parts)[1:-1].split(",") if part]
        return [_value(shape.member, part, where) for part in parts]
    if isinstance(shape, StructureShape):
        raise UsageError(f"{where} has nested values: give it as JSON")
    return _value(shape, ",".join(parts), where)


def _parts(text: str, where: str) -> Sequence[str]:
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = ",", True, ""
    try:
        return list(lexer)
    except ValueError as error:
        raise UsageError(f"{where}: {str(error).lower()}") from None


def _contents(word: str, where: str) -> str:
    """Return the contents of the file if a word is `file://NAME`, else the word."""
    return file_text(word[7:], where) if word.startswith("file://") else word.lstrip(_MARK)


def file_text(name: str, where: str) -> str:
    """Return the text of a file.

    Raises:
        UsageError: it cannot be read, or is no text.
    """
    return decoded(_read(name, where), f"{where}: {name}")


def decoded(data: bytes, where: str) -> str:
    """Return the text of UTF-8, or of UTF-16 with a byte order mark; without the mark.

    Raises:
        UsageError: it is neither.
    """
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{where} is not UTF-8 text") from None


def _read(name: str, where: str) -> bytes:
    try:
        with Path(name).expanduser().open("rb") as file:
            data = file.read(MAX_FILE_SIZE + 1)
    except (OSError, ValueError, RuntimeError) as error:
        problem = getattr(error, "strerror", None) or error
        raise UsageError(f"{where}: cannot read {printable(name)}: {problem}") from None
    if len(data) > MAX_FILE_SIZE:
        raise UsageError(f"{where}: {printable(name)} is larger than {MAX_FILE_SIZE} bytes")
    return data


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        # The line is that of the text, which may be a line of stdin itself.
        problem = str(error).replace(": line 1 column", " in column")
        raise UsageError(f"{where}: not JSON: {problem}") from None


def _completions(shape: Shape, _: object) -> Sequence[str]:
    item = shape.member if isinstance(shape, ListShape) else shape
    return item.enum if isinstance(item, StringShape) else ()


def _metavar(shape: Shape) -> str:
    if isinstance(shape, ListShape):
        return _metavar(shape.member)
    if isinstance(shape, StructureShape):
        return ",".join(f"{name}=..." for name in list(shape.members)[:3]) or "JSON"
    if isinstance(shape, MapShape):
        return "KEY=VALUE,..."
    return "NUMBER" if shape.type_name in _NUMBERS else shape.type_name.upper()
