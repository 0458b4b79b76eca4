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
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import jmespath
from botocore.model import OperationModel, Shape, StringShape
from botocore.utils import parse_to_aware_datetime

from ..definitions.parsing import nodes_of
from ..engine.computed_once import computed_once
from .shapes import Reached, inner_shape, is_sensitive, walk

# Functions whose results may have members that the expression does not name, unless they are given
# a member of this type: the text of a number has none.
_OPAQUE_FUNCTIONS = {"to_string": "integer", "values": "map", "merge": None}

# Strings of JSON that handlers of botocore decode: policies of IAM, templates of CloudFormation.
_DECODED = frozenset({"policyDocumentType", "TemplateBody"})


_Test = Callable[[Shape, Shape | None, str], bool]

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
        self._paths = paths = tuple(paths)
        self._convert = any(self._touches(kind, path, _needs_converting) for kind, path in paths)
        self._sees_input = any(kind == "inputOutput" for kind, _ in paths)
        self.sensitive = any(self._touches(kind, path, is_sensitive) for kind, path in paths)
        """Whether a path passes a sensitive member."""

    @computed_once
    def has_booleans(self) -> bool:
        """Whether a path passes a member that may be a boolean, which Python calls equal to 1."""
        return any(self._touches(kind, path, _may_be_boolean) for kind, path in self._paths)

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

    def _touches(self, kind: str, path: str, test: _Test) -> bool:
        roots = [self._operation.output_shape]
        if kind == "inputOutput":
            roots.append(self._operation.input_shape)

        def reached(names: frozenset[str] | None) -> list[Reached]:
            return [each for root in roots for each in walk(root, names)]

        named = reached(member_names(path))
        nodes = _nodes_of(path)
        # `{Count: @}` gives the name of a number to anything.
        is_renamed = any(node["type"] == "multi_select_dict" for node in nodes)
        types = {(each.name, each.shape.type_name) for each in named if not is_renamed}
        is_opaque = any(_opaque(node, types) for node in nodes)
        seen = reached(None) if is_opaque else named
        return any(test(each.shape, each.owner, each.name) for each in seen)


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
        if isinstance(value, Mapping):
            return {name: converted(inner_shape(shape, name), item) for name, item in value.items()}
        inner = inner_shape(shape)
        return [converted(inner, item) for item in value]
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
    names = member_names(path)
    known = {each.name for each in walk(operation.output_shape, names)}
    return operation.output_shape is not None and known.issuperset(names)


def has_sensitive_output(operation: OperationModel) -> bool:
    """Return whether a response may have sensitive members."""
    output = operation.output_shape
    return any(is_sensitive(each.shape, each.owner, each.name) for each in walk(output))


def _needs_converting(shape: Shape, *_: object) -> bool:
    if shape.type_name in ("timestamp", "blob") or shape.name in _DECODED:
        return True
    # A header of JSON, which botocore decodes.
    return bool(shape.serialization.get("jsonvalue"))


def _may_be_boolean(shape: Shape, *_: object) -> bool:
    return shape.type_name == "boolean" or getattr(shape, "is_document_type", False)


def member_names(path: str) -> frozenset[str]:
    """Return the members that an expression names."""
    return frozenset(node["value"] for node in _nodes_of(path) if node["type"] == "field")


def _nodes_of(path: str) -> list[Any]:
    return [node for node, _ in nodes_of(jmespath.compile(path).parsed)]


def _opaque(node: Mapping[str, Any], types: set[tuple[str, str]]) -> bool:
    """Whether a result may have members that the expression does not name."""
    if node["type"] != "function_expression" or node["value"] not in _OPAQUE_FUNCTIONS:
        return bool(node["type"] == "value_projection")
    operand = next(iter(node["children"]), node)
    while operand["type"] == "subexpression":
        operand = operand["children"][-1]
    found = {
        kind for name, kind in types if operand["type"] == "field" and name == operand["value"]
    }
    return found != {_OPAQUE_FUNCTIONS[node["value"]]}
