"""Parsing shared by the formats: the place that an error names, and the members of a waiter."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar, cast

import jmespath
from jmespath.functions import Functions
from jmespath.lexer import Lexer

from ..common.arguments import unknown
from ..common.errors import WaiterDefinitionError
from ..engine.acceptors import (
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    Matcher,
    OutputMatcher,
    PathComparator,
    PathMatcher,
    SuccessMatcher,
)

MAX_INTEGER = 2**31 - 1
"""The largest value of Smithy's type integer."""

MAX_EXPRESSION_DEPTH = 200
"""The nesting allowed in an expression. Deeper ones could exhaust Python's stack."""

MAX_EXPRESSION_LENGTH = 10_000
"""The characters allowed in an expression. The longest in AWS's own definitions has 160."""

_METHOD_NAME = r"[A-Za-z][A-Za-z0-9_]*\Z"

_FUNCTIONS = tuple(Functions.FUNCTION_TABLE)

EnumT = TypeVar("EnumT", bound=enum.Enum)
PartT = TypeVar("PartT")


class RuleError(WaiterDefinitionError):
    """A definition breaks a rule, whose id in Smithy's validator is `rule`."""

    rule: str = "Model"


class Place(NamedTuple):
    """A place in a document, named in error messages.

    Args:
        source: the file, or what stands for it.
        waiter: the waiter's name, if the place is in one.
        acceptor: the index of the acceptor, if the place is in one.
        problems: where problems are collected; by default the first problem is raised.
    """

    source: str
    waiter: str | None = None
    acceptor: int | None = None
    problems: list[RuleError] | None = None

    def in_waiter(self, name: str) -> Place:
        """Return the place of a waiter in this document."""
        return Place(self.source, name, None, self.problems)

    def in_acceptor(self, index: int) -> Place:
        """Return the place of an acceptor of this waiter."""
        return Place(self.source, self.waiter, index, self.problems)

    def error(self, problem: str, rule: str = "Model") -> RuleError:
        """Return an error that names this place."""
        error = RuleError(problem, source=self.source, waiter=self.waiter, acceptor=self.acceptor)
        error.rule = rule
        return error

    def attempt(self, parse: Callable[..., PartT], *args: Any, **options: Any) -> PartT:
        """Return the part that a function parses at this place.

        Where problems are collected, a part with a problem becomes None, and the parts beside it
        are parsed all the same.
        """
        try:
            return parse(*args, place=self, **options)
        except RuleError as error:
            if self.problems is None:
                raise
            self.problems.append(error)
            return cast("PartT", None)


def require_mapping(value: Any, what: str, place: Place) -> Mapping[str, Any]:
    """Return the value; refuse anything but an object."""
    if not isinstance(value, Mapping):
        raise place.error(f"{what} must be an object, not {_kind(value)}")
    return value


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return an object as it is, anything else as an empty one: broken models are checked too."""
    return value if isinstance(value, Mapping) else {}


def require_method_name(name: Any, place: Place) -> None:
    """Refuse a name that no method can have; botocore's form has looser ones than Smithy's."""
    if not isinstance(name, str) or not re.match(_METHOD_NAME, name):
        raise place.error("a waiter name is alphanumeric")


def require_success(acceptors: tuple[Acceptor, ...], place: Place) -> None:
    """Refuse a waiter that can never succeed."""
    if not any(acceptor.state is AcceptorState.SUCCESS for acceptor in acceptors):
        raise place.error("at least one acceptor must have the state success")


def require_expression(path: Any, place: Place, member: str = "path") -> str:
    """Return the path; refuse anything but a JMESPath expression with literals that are JSON."""
    require_known_functions(path, place, member)
    if not has_json_literals(path):
        raise place.error(
            f"{member} {path[:80]!r} is not a JMESPath expression: a literal is not JSON"
        )
    return str(path)


def require_known_functions(path: Any, place: Place, member: str = "path") -> None:
    """Refuse anything but an expression with functions that JMESPath has."""
    for node, _ in nodes_of(expression_tree(path, place, member)):
        if node["type"] == "function_expression" and node["value"] not in _FUNCTIONS:
            problem = unknown(node["value"], _FUNCTIONS, "function")
            raise place.error(f"{member} {path[:80]!r}: {problem}")


def has_json_literals(expression: str) -> bool:
    """Tell whether each literal is JSON; jmespath.py takes any other for text, and only warns."""
    for token in Lexer().tokenize(expression) if "`" in expression else ():
        if token["type"] != "literal" or expression[token["start"]] != "`":
            continue
        is_quoted = expression[token["start"] + 1 :].lstrip().startswith('"')
        if isinstance(token["value"], str) and not is_quoted:
            return False
        try:
            json.dumps(token["value"], allow_nan=False)
        except ValueError:
            return False
    return True


def expression_tree(path: Any, place: Place, member: str = "path") -> Any:
    """Return the tree of a path; refuse anything but a JMESPath expression of reasonable size."""
    if not isinstance(path, str):
        raise place.error(f"{member} must be a string, not {_kind(path)}")
    if len(path) > MAX_EXPRESSION_LENGTH:
        raise place.error(f"{member} is longer than {MAX_EXPRESSION_LENGTH} characters")
    try:
        tree = jmespath.compile(path).parsed
    # jmespath lets RecursionError and other builtin errors through.
    except Exception as error:
        raise place.error(
            f"{member} {path[:80]!r} is not a JMESPath expression: {error}"
        ) from error
    if _depth(tree) > MAX_EXPRESSION_DEPTH:
        raise place.error(f"{member} is nested more than {MAX_EXPRESSION_DEPTH} deep")
    return tree


def depth_of(path: str) -> int:
    """Return how deep an expression is nested."""
    return _depth(jmespath.compile(path).parsed)


def _depth(tree: Any) -> int:
    return max(depth for _, depth in nodes_of(tree))


def nodes_of(tree: Any) -> Iterator[tuple[Any, int]]:
    """Yield the nodes of an expression's tree with their depths, without recursion."""
    rest = [(tree, 1)]
    while rest:
        node, depth = rest.pop()
        # The children of a slice are its bounds: numbers or None.
        if isinstance(node, dict):
            yield node, depth
            rest += [(child, depth + 1) for child in node.get("children", ())]


def read_acceptor(body: Any, place: Place) -> Acceptor:
    """Parse the form of one acceptor; `require_acceptor_rules` checks its values."""
    acceptor = require_mapping(body, "an acceptor", place)
    has_message = "message" in acceptor
    return Acceptor(
        state=place.attempt(parse_enum, acceptor, "state", AcceptorState),
        matcher=place.attempt(_matcher, acceptor.get("matcher")),
        message=place.attempt(parse_typed, acceptor, "message", str) if has_message else None,
    )


def require_acceptor_rules(acceptor: Acceptor, place: Place) -> None:
    """Refuse an acceptor whose values break a rule."""
    match acceptor.matcher:
        case OutputMatcher(matcher=matcher) | InputOutputMatcher(matcher=matcher):
            require_expression(matcher.path, place)
            is_boolean = matcher.comparator is PathComparator.BOOLEAN_EQUALS
            if is_boolean and matcher.expected not in ("true", "false"):
                raise place.error(
                    f'booleanEquals expects "true" or "false", not {matcher.expected!r}'
                )
    if acceptor.message is not None:
        if acceptor.state is not AcceptorState.FAILURE:
            raise place.error("'message' is only allowed where the state is 'failure'")
        require_expression(acceptor.message, place, "message")


def _matcher(body: Any, place: Place) -> Matcher:
    union = require_mapping(body, "matcher", place)
    if len(union) != 1:
        names = " and ".join(sorted(str(name) for name in union)) or "none"
        raise place.error(f"matcher must have exactly one member, not {names}")
    [(kind, value)] = union.items()
    match kind:
        case "output":
            return OutputMatcher(_path_matcher(value, place))
        case "inputOutput":
            return InputOutputMatcher(_path_matcher(value, place))
        case "success":
            if not isinstance(value, bool):
                raise place.error(f"success must be true or false, not {_kind(value)}")
            return SuccessMatcher(value)
        case "errorType":
            if not isinstance(value, str) or not value.rpartition("#")[2]:
                raise place.error("errorType must be the name of an error")
            return ErrorTypeMatcher(value)
        case _:
            raise place.error(
                f"unknown matcher {kind!r} (output, inputOutput, success and errorType are known)",
                f"TraitValue.UnknownMember.smithy.waiters#Matcher.{kind}",
            )


def _path_matcher(body: Any, place: Place) -> PathMatcher:
    matcher = require_mapping(body, "a path matcher", place)
    return PathMatcher(
        path=place.attempt(parse_typed, matcher, "path", str),
        expected=place.attempt(parse_typed, matcher, "expected", str),
        comparator=place.attempt(parse_enum, matcher, "comparator", PathComparator),
    )


def parse_delay(waiter: Mapping[str, Any], member: str, default: int | None, place: Place) -> int:
    """Parse a delay of a waiter, in seconds."""
    value = waiter.get(member, default)
    if isinstance(value, bool) or not isinstance(value, int):
        rule = "TraitValue" if isinstance(value, float) else "Model"
        raise place.error(f"{member} must be a whole number of seconds, not {_kind(value)}", rule)
    if value < 1:
        rule = "TraitValue.Target.InvalidRange"
        raise place.error(f"{member} must be at least 1, not {value}", rule)
    if value > MAX_INTEGER:
        raise place.error(f"{member} must be at most {MAX_INTEGER}", "TraitValue")
    return value


def parse_tags(tags: Any, place: Place) -> tuple[str, ...]:
    """Parse the tags of a waiter."""
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag for tag in tags):
        has_strings = isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)
        rule = "TraitValue" if has_strings else "Model"
        raise place.error("tags must be a list of non-empty strings", rule)
    return tuple(tags)


def parse_typed(
    body: Mapping[str, Any], member: str, kind: type, place: Place, *, default: Any = None
) -> Any:
    """Parse a member that must be of one type; without a default it must be there."""
    value = body.get(member, default)
    if not isinstance(value, kind):
        raise place.error(f"{member} must be {_kind(kind())}, not {_kind(value)}")
    return value


def parse_enum(body: Mapping[str, Any], member: str, kind: type[EnumT], place: Place) -> EnumT:
    """Parse a member that has one of the values of an enumeration."""
    value = body.get(member)
    known = [item.value for item in kind]
    if not isinstance(value, str) or value not in known:
        found = repr(value[:40]) if isinstance(value, str) else _kind(value)
        raise place.error(f"{member} must be one of {', '.join(known)}, not {found}")
    return kind(value)


def _kind(value: Any) -> str:
    """Return the JSON name of a value's type, for messages that must not quote the value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    return {int: "a number", float: "a number", str: "a string", list: "a list"}.get(
        type(value), "an object"
    )
