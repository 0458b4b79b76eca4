"""Smithy JSON AST to definitions; refuses what the specification forbids.

Read are `smithy.waiters#waitable` traits on `operation` shapes and in `apply` statements. Members
that the specification does not know are passed over, as the reference loader only warns of them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

import jmespath

from ..engine.model import (
    DEFAULT_MAX_DELAY,
    DEFAULT_MIN_DELAY,
    Acceptor,
    AcceptorState,
    ErrorTypeMatcher,
    InputOutputMatcher,
    Matcher,
    OutputMatcher,
    PathComparator,
    PathMatcher,
    SuccessMatcher,
    WaiterDefinition,
)
from ..exceptions import WaiterDefinitionError

WAITABLE = "smithy.waiters#waitable"
SERVICE_TRAIT = "aws.api#service"
AWS_NAMESPACE = "com.amazonaws."
UNIT = "smithy.api#Unit"

WAITER_NAME_PROBLEM = "a waiter name is UpperCamelCase and alphanumeric"

MAX_INTEGER = 2**31 - 1
"""The largest value of Smithy's type integer."""

MAX_EXPRESSION_DEPTH = 200
"""Nested parts of an expression; beyond it, evaluating could use up Python's stack."""

MAX_EXPRESSION_LENGTH = 10_000
"""Characters. The longest of AWS's own has 160; beyond this only parser bombs are to be had."""

EnumT = TypeVar("EnumT", bound=enum.Enum)
PartT = TypeVar("PartT")

_WAITER_NAME = re.compile(r"[A-Z]+[A-Za-z0-9]*\Z")
_SHAPE_ID = re.compile(r"[A-Za-z_][\w.]*#[A-Za-z_]\w*\Z")


class RuleError(WaiterDefinitionError):
    """A definition breaks a rule, whose id in Smithy's validator is `rule`."""

    rule: str = "Model"


class Place:
    """Where in a document the parser is, and what becomes of a problem there.

    Args:
        source: the file, or what stands for it.
        waiter: the waiter's name, in one.
        acceptor: the index of the acceptor, in one.
        problems: where problems are collected; by default the first problem is raised.
    """

    def __init__(
        self,
        source: str,
        waiter: str | None = None,
        acceptor: int | None = None,
        problems: list[RuleError] | None = None,
    ) -> None:
        self.source = source
        self.waiter = waiter
        self.acceptor = acceptor
        self.problems = problems

    def in_waiter(self, name: str) -> Place:
        """The place of a waiter in this document."""
        return Place(self.source, name, None, self.problems)

    def in_acceptor(self, index: int) -> Place:
        """The place of an acceptor of this waiter."""
        return Place(self.source, self.waiter, index, self.problems)

    def error(self, problem: str, rule: str = "Model") -> RuleError:
        """The error that names this place."""
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


def parse_model(
    model: Mapping[str, Any], *, source: str, service: str | None = None
) -> list[WaiterDefinition]:
    """The waiters of a Smithy model in JSON AST form.

    Args:
        model: the model; its waiters' names must be unique without regard to case.
        source: what messages call it.
        service: the service, where neither the model nor an AWS namespace tells it.

    Raises:
        WaiterDefinitionError: the model breaks a rule of the specification.
    """
    place = Place(source)
    shapes = require_mapping(model.get("shapes", {}), "shapes", place)
    definitions: list[WaiterDefinition] = []
    seen: dict[str, WaiterDefinition] = {}
    for found in shapes_with(WAITABLE, shapes, place, service):
        for definition in _waiters_of(found, shapes, place):
            earlier = seen.setdefault(definition.name.lower(), definition)
            if earlier is not definition:
                raise place.in_waiter(definition.name).error(
                    f"name already taken by {earlier.name} of {earlier.operation} "
                    "(names must differ by more than case)"
                )
            definitions.append(definition)
    return definitions


@dataclass(frozen=True, slots=True)
class UnreadWaiter:
    """A waiter of a document that is known to be right; its acceptors are parsed when asked for."""

    name: str
    operation: str
    service: str | None
    read: Callable[[], WaiterDefinition]


def unread_waiters(model: Mapping[str, Any], *, source: str) -> Iterator[UnreadWaiter]:
    """The waiters of `apply` statements, nothing of which is checked."""
    for found in shapes_with(WAITABLE, model["shapes"], Place(source), None):
        for name, body in found.waiters.items():
            read = partial(
                parse_waiter,
                name,
                body,
                operation=found.operation,
                source=source,
                service=found.service,
            )
            yield UnreadWaiter(name, found.operation, found.service, read)


def parse_waiter(
    name: str,
    body: Any,
    *,
    operation: str,
    source: str,
    service: str | None = None,
) -> WaiterDefinition:
    """One waiter of a `waitable` trait.

    Raises:
        WaiterDefinitionError: the waiter breaks a rule of the specification.
    """
    place = Place(source, name)
    definition = read_waiter(name, body, place, operation=operation, service=service)
    require_waiter_rules(definition, place)
    return definition


def read_waiter(
    name: str, body: Any, place: Place, *, operation: str, service: str | None = None
) -> WaiterDefinition:
    """One waiter of the right form; `require_waiter_rules` checks what its values mean."""
    place.attempt(_require_name, name)
    waiter = require_mapping(body, "a waiter", place)
    return WaiterDefinition(
        name=name,
        operation=operation,
        acceptors=place.attempt(_read_acceptors, waiter),
        min_delay=place.attempt(parse_delay, waiter, "minDelay", DEFAULT_MIN_DELAY),
        max_delay=place.attempt(parse_delay, waiter, "maxDelay", DEFAULT_MAX_DELAY),
        documentation=place.attempt(parse_typed, waiter, "documentation", str, default=""),
        deprecated=place.attempt(parse_typed, waiter, "deprecated", bool, default=False),
        tags=place.attempt(parse_tags, waiter.get("tags", [])),
        service=service,
        source=place.source,
    )


def require_waiter_rules(definition: WaiterDefinition, place: Place) -> None:
    """Refuse a waiter of the right form whose values break a rule."""
    for index, acceptor in enumerate(definition.acceptors):
        require_acceptor_rules(acceptor, place.in_acceptor(index))
    require_success(definition.acceptors, place)
    if definition.min_delay > definition.max_delay:
        raise place.error(
            f"minDelay ({definition.min_delay}) is more than maxDelay ({definition.max_delay})"
        )


def _require_name(name: Any, place: Place) -> None:
    if not isinstance(name, str) or not _WAITER_NAME.match(name):
        raise place.error(WAITER_NAME_PROBLEM, "TraitValue")


def _read_acceptors(waiter: Mapping[str, Any], place: Place) -> tuple[Acceptor, ...]:
    acceptors = waiter.get("acceptors")
    if not isinstance(acceptors, list) or not acceptors:
        rule = "TraitValue" if acceptors == [] else "Model"
        raise place.error("acceptors must be a list of at least one acceptor", rule)
    return tuple(
        place.in_acceptor(index).attempt(read_acceptor, acceptor)
        for index, acceptor in enumerate(acceptors)
    )


def require_success(acceptors: tuple[Acceptor, ...], place: Place) -> None:
    """Refuse a waiter that could never succeed."""
    if not any(acceptor.state is AcceptorState.SUCCESS for acceptor in acceptors):
        raise place.error("at least one acceptor must have the state success")


def require_expression(path: Any, place: Place, member: str = "path") -> str:
    """Refuse what is no JMESPath expression, or too long to be an honest one."""
    if not isinstance(path, str):
        raise place.error(f"{member} must be a string, not {_kind(path)}")
    if len(path) > MAX_EXPRESSION_LENGTH:
        raise place.error(f"{member} is longer than {MAX_EXPRESSION_LENGTH} characters")
    try:
        tree = jmespath.compile(path).parsed
    # jmespath raises RecursionError and builtin errors beside its own.
    except Exception as error:
        raise place.error(
            f"{member} {path[:80]!r} is not a JMESPath expression: {error}"
        ) from error
    if _depth(tree) > MAX_EXPRESSION_DEPTH:
        raise place.error(f"{member} is nested more than {MAX_EXPRESSION_DEPTH} deep")
    return path


def _depth(tree: Any) -> int:
    """The depth of an expression's tree, found without recursion."""
    deepest, rest = 0, [(tree, 1)]
    while rest:
        node, depth = rest.pop()
        deepest = max(deepest, depth)
        # The bounds of a slice are numbers, or nothing, among its children.
        children = node.get("children", ()) if isinstance(node, Mapping) else ()
        rest += [(child, depth + 1) for child in children]
    return deepest


@dataclass(frozen=True, slots=True)
class Traited:
    """A shape with a trait of waiters, and what its id tells."""

    shape: Mapping[str, Any]
    operation: str
    service: str | None
    waiters: Mapping[str, Any]
    """The value of the trait, by the names of waiters."""


def shapes_with(
    trait: str, shapes: Mapping[str, Any], place: Place, service: str | None
) -> Iterator[Traited]:
    """The operations of a model, and `apply` statements, that have a trait of waiters.

    Raises:
        WaiterDefinitionError: something else has it, or it has no waiter.
    """
    sdk_id = _sdk_id_of(shapes, place)
    for shape_id, body in shapes.items():
        if not isinstance(shape_id, str):
            raise place.error("the id of a shape must be a string")
        shape = require_mapping(body, f"shape {shape_id}", place)
        traits = require_mapping(shape.get("traits", {}), f"the traits of {shape_id}", place)
        if trait not in traits:
            continue
        if shape.get("type") not in ("operation", "apply"):
            raise place.error(f"{trait} on {shape_id}, which is no operation")
        if not _SHAPE_ID.match(shape_id):
            raise place.error(f"{shape_id!r} is no absolute shape id")
        waiters = require_mapping(traits[trait], f"{trait} of {shape_id}", place)
        if not waiters:
            raise place.error(f"{trait} of {shape_id} has no waiter")
        namespace, _, operation = shape_id.partition("#")
        told = (
            namespace.removeprefix(AWS_NAMESPACE) if namespace.startswith(AWS_NAMESPACE) else None
        )
        yield Traited(shape, operation, sdk_id or told or service, waiters)


def _waiters_of(
    found: Traited, shapes: Mapping[str, Any], place: Place
) -> Iterator[WaiterDefinition]:
    for name, body in found.waiters.items():
        definition = parse_waiter(
            name, body, operation=found.operation, source=place.source, service=found.service
        )
        if found.shape.get("type") == "operation":
            _check_operation(definition, found.shape, shapes, place.in_waiter(name))
        yield definition


def _check_operation(
    definition: WaiterDefinition, shape: Mapping[str, Any], shapes: Mapping[str, Any], place: Place
) -> None:
    """What only a whole operation can show: an output to match on, and no event stream."""
    targets = {
        member: _target(shape.get(member)) for member in ("input", "output") if member in shape
    }
    if targets.get("output", UNIT) == UNIT:
        for index, acceptor in enumerate(definition.acceptors):
            if isinstance(acceptor.matcher, OutputMatcher):
                raise place.in_acceptor(index).error(
                    "an output matcher on an operation with no output"
                )
    for target in targets.values():
        members = _shape(shapes, target, place).get("members", {})
        for member in require_mapping(members, f"the members of {target}", place).values():
            of_member = _shape(shapes, _target(member), place)
            traits = require_mapping(of_member.get("traits", {}), f"the traits of {target}", place)
            if of_member.get("type") == "union" and "smithy.api#streaming" in traits:
                raise place.error("a waiter on an operation that uses an event stream")


def _shape(shapes: Mapping[str, Any], shape_id: str, place: Place) -> Mapping[str, Any]:
    """The shape of this id; empty where the model does not have it."""
    return require_mapping(shapes.get(shape_id, {}), f"shape {shape_id}", place)


def _target(member: Any) -> str:
    target = member.get("target") if isinstance(member, Mapping) else None
    return target if isinstance(target, str) else UNIT


def _sdk_id_of(shapes: Mapping[str, Any], place: Place) -> str | None:
    """The SDK id of the one service of the model, if it has one."""
    ids = []
    for shape_id, shape in shapes.items():
        if isinstance(shape, Mapping) and shape.get("type") == "service":
            traits = require_mapping(shape.get("traits", {}), f"the traits of {shape_id}", place)
            trait = traits.get(SERVICE_TRAIT)
            if isinstance(trait, Mapping):
                ids.append(trait.get("sdkId"))
    return ids[0] if len(ids) == 1 and isinstance(ids[0], str) else None


def parse_acceptor(body: Any, place: Place) -> Acceptor:
    """One acceptor."""
    acceptor = read_acceptor(body, place)
    require_acceptor_rules(acceptor, place)
    return acceptor


def read_acceptor(body: Any, place: Place) -> Acceptor:
    """One acceptor of the right form; `require_acceptor_rules` checks what its values mean."""
    acceptor = require_mapping(body, "an acceptor", place)
    has_message = "message" in acceptor
    return Acceptor(
        state=place.attempt(_enum, AcceptorState, acceptor.get("state"), "state"),
        matcher=place.attempt(_matcher, acceptor.get("matcher")),
        message=place.attempt(_string, acceptor, "message") if has_message else None,
    )


def require_acceptor_rules(acceptor: Acceptor, place: Place) -> None:
    """Refuse an acceptor of the right form whose values break a rule."""
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
            raise place.error("message is for acceptors with the state failure")
        require_expression(acceptor.message, place, "message")


def _matcher(body: Any, place: Place) -> Matcher:
    union = require_mapping(body, "matcher", place)
    if len(union) != 1:
        names = ", ".join(sorted(str(name) for name in union))
        raise place.error(f"matcher must have exactly one member, not {len(union)} ({names})")
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
        path=place.attempt(_string, matcher, "path"),
        expected=place.attempt(_string, matcher, "expected"),
        comparator=place.attempt(_enum, PathComparator, matcher.get("comparator"), "comparator"),
    )


def _string(body: Mapping[str, Any], member: str, place: Place) -> str:
    value = body.get(member)
    if not isinstance(value, str):
        raise place.error(f"{member} must be a string, not {_kind(value)}")
    return value


def parse_delay(waiter: Mapping[str, Any], member: str, default: int, place: Place) -> int:
    """A delay of a waiter, in seconds."""
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
    """The tags of a waiter."""
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag for tag in tags):
        has_strings = isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)
        rule = "TraitValue" if has_strings else "Model"
        raise place.error("tags must be a list of non-empty strings", rule)
    return tuple(tags)


def parse_typed(
    waiter: Mapping[str, Any], member: str, kind: type, *, default: Any, place: Place
) -> Any:
    """A member of a waiter that has one type."""
    value = waiter.get(member, default)
    if not isinstance(value, kind):
        raise place.error(f"{member} must be a {kind.__name__}, not {_kind(value)}")
    return value


def _enum(kind: type[EnumT], value: Any, member: str, place: Place) -> EnumT:
    known = [item.value for item in kind]
    if not isinstance(value, str) or value not in known:
        raise place.error(f"{member} must be one of {', '.join(known)}, not {_shown(value)}")
    return kind(value)


def require_mapping(value: Any, what: str, place: Place) -> Mapping[str, Any]:
    """Refuse what is no object."""
    if not isinstance(value, Mapping):
        raise place.error(f"{what} must be an object, not {_kind(value)}")
    return value


def _shown(value: Any) -> str:
    return repr(value[:40]) if isinstance(value, str) else _kind(value)


def _kind(value: Any) -> str:
    """The JSON name of a value's type: values themselves are not quoted."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    return {int: "a number", float: "a number", str: "a string", list: "a list"}.get(
        type(value), "an object"
    )
