"""Parameters and responses in the specification's data model (section "JMESPath data model").

botocore returns timestamps as `datetime`, blobs as `bytes` and some JSON texts decoded; the data
model has epoch seconds, base64 text and strings. Conversion takes longer than evaluation, and few
waiters need it. It is therefore decided once per waiter whether one of its paths can reach such a
member. Parameters are converted once per wait, if a path can see them.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import jmespath
from botocore.model import (
    ListShape,
    MapShape,
    OperationModel,
    Shape,
    StringShape,
    StructureShape,
)
from botocore.utils import parse_to_aware_datetime

# Functions whose results have members that the expression does not name.
_OPAQUE_FUNCTIONS = frozenset({"to_string", "values", "merge"})

# Strings of JSON that handlers of botocore decode: policies of IAM, templates of CloudFormation.
_DECODED = frozenset({"policyDocumentType", "TemplateBody"})


LONGEST_WHOLE_NUMBER = 400
"""Digits of a decimal that becomes an int; a longer one is infinite for a float anyway."""


class DataModel:
    """The parts of an operation's input and output that the paths of a waiter can see.

    Args:
        operation: the operation's model.
        paths: the waiter's distinct expressions, as pairs of matcher kind and text.
    """

    def __init__(self, operation: OperationModel, paths: Iterable[tuple[str, str]]) -> None:
        self._operation = operation
        paths = tuple(paths)
        self._convert = any(self._touches(kind, path, _needs_converting) for kind, path in paths)
        self._sees_input = any(kind == "inputOutput" for kind, _ in paths)
        self.sensitive = any(self._touches(kind, path, _is_sensitive) for kind, path in paths)
        """Whether a path passes a member that is sensitive in the model."""

    def output(self, response: Any) -> Any:
        """Return the output as paths see it: without `ResponseMetadata`."""
        if not isinstance(response, Mapping):
            return response
        output = {name: value for name, value in response.items() if name != "ResponseMetadata"}
        return converted(self._operation.output_shape, output) if self._convert else output

    def input(self, parameters: Mapping[str, Any]) -> Any:
        """Return the caller's parameters as paths see them."""
        if not self._sees_input:
            return parameters
        return converted(self._operation.input_shape, parameters)

    def _touches(self, kind: str, path: str, test: Callable[[Shape], bool]) -> bool:
        names = None if any(map(_opaque, _nodes_of(path))) else member_names(path)
        roots = [self._operation.output_shape]
        if kind == "inputOutput":
            roots.append(self._operation.input_shape)
        return any(
            test(shape)
            for root in roots
            if root is not None
            for shape in _reached(root, names, set())
        )


def converted(shape: Shape | None, value: Any) -> Any:
    """Convert a value of this shape to the JMESPath data model.

    Without a shape, the type of the value decides.
    """
    kind = None if shape is None else shape.type_name
    if isinstance(value, dt.datetime) or (kind == "timestamp" and isinstance(value, str)):
        return _epoch_seconds(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        if isinstance(shape, StringShape):
            return json.dumps(value, ensure_ascii=False, default=str)
        return _with_members(shape, value)
    if isinstance(value, Decimal):
        return _number_of(value)
    if kind == "blob":
        # A caller may pass a blob as text or as a file. A streaming body is not read here.
        return base64.b64encode(value.encode()).decode("ascii") if isinstance(value, str) else None
    return value


def plain(value: Any) -> Any:
    """Return a value of any callable in the JMESPath data model: tuples as arrays, and so on."""
    try:
        return converted(None, value)
    except RecursionError:  # It contains itself; a path may still reach what is asked for.
        return value


def _with_members(shape: Shape | None, value: Any) -> Any:
    if not isinstance(value, Mapping):
        member = shape.member if isinstance(shape, ListShape) else None
        return [converted(member, item) for item in value]
    if isinstance(shape, MapShape):
        return {name: converted(shape.value, item) for name, item in value.items()}
    members = shape.members if isinstance(shape, StructureShape) else {}
    return {name: converted(members.get(name), item) for name, item in value.items()}


def _epoch_seconds(moment: Any) -> Any:
    """Return epoch seconds, as botocore understands the moment; a text that it refuses as it is."""
    try:
        return _number(parse_to_aware_datetime(moment).timestamp())
    except ValueError:
        return moment


def _number(value: float) -> float:
    return int(value) if value.is_integer() else value


def _number_of(value: Decimal) -> float:
    """Return a decimal as int or float; the numbers of DynamoDB are exact up to 38 digits."""
    is_short = value.is_finite() and value.adjusted() < LONGEST_WHOLE_NUMBER
    if is_short and value == value.to_integral_value():
        return int(value)
    return math.nan if value.is_nan() else float(value)


def has_members_of(operation: OperationModel, path: str) -> bool:
    """Return whether the members that a path names are reached by one another in the output."""
    output = operation.output_shape
    if output is None:
        return False
    names = member_names(path)
    known = {
        name
        for shape in _reached(output, names, set())
        if isinstance(shape, StructureShape)
        for name in shape.members
    }
    return known.issuperset(names)


def has_sensitive_output(operation: OperationModel) -> bool:
    """Return whether a response may have members that are sensitive in the model."""
    output = operation.output_shape
    return output is not None and any(map(_is_sensitive, _reached(output, None, set())))


def _reached(shape: Shape, names: frozenset[str] | None, seen: set[str]) -> Iterator[Shape]:
    """Yield the shape and the shapes reached by members in `names`; by any member if it is None."""
    yield shape
    if shape.name in seen:
        return
    seen.add(shape.name)
    if isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            if names is None or name in names:
                yield from _reached(member, names, seen)
    elif isinstance(shape, ListShape):
        yield from _reached(shape.member, names, seen)
    elif isinstance(shape, MapShape):
        yield from _reached(shape.value, names, seen)


def _needs_converting(shape: Shape) -> bool:
    if shape.type_name in ("timestamp", "blob") or shape.name in _DECODED:
        return True
    # A header of JSON, which botocore decodes.
    return bool(shape.serialization.get("jsonvalue"))


def _is_sensitive(shape: Shape) -> bool:
    return bool(shape.metadata.get("sensitive"))


def member_names(path: str) -> frozenset[str]:
    """Return the members that an expression names."""
    return frozenset(node["value"] for node in _nodes_of(path) if node["type"] == "field")


def _nodes_of(path: str) -> Iterator[Mapping[str, Any]]:
    return _nodes(jmespath.compile(path).parsed)


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:
    # The children of a slice are its bounds: numbers or None.
    if isinstance(tree, Mapping):
        yield tree
        for child in tree.get("children", ()):
            yield from _nodes(child)


def _opaque(node: Mapping[str, Any]) -> bool:
    if node["type"] == "function_expression":
        return node["value"] in _OPAQUE_FUNCTIONS
    return bool(node["type"] == "value_projection")
