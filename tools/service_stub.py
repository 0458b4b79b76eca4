"""The stub of one service: its clients with typed waits.

What boto3-stubs and types-aiobotocore know (the client's own methods, the types of responses) is
looked up by the type checker where they are installed. The names of their types cannot be derived
from a model, so the stub names none but `Client` and `ServiceResource`: the type of a response is
what the client's method for the operation returns, by a protocol.

Without them a base class is missing, which a checker takes for Any without a word, because it
reports no errors of installed packages. So the parameters are declared here, from the model. Their
members are read-only, so that the dictionaries of boto3-stubs fit, which are narrower.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from botocore import xform_name
from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from boto_waiters_plus.aws.bound_waiter import BoundWaiter
from boto_waiters_plus.definitions.waiter_names import summary_of
from boto_waiters_plus.engine.model import (
    AcceptorState,
    ErrorTypeMatcher,
    SuccessMatcher,
    WaiterDefinition,
)

SCALARS = {
    "blob": "bytes | bytearray | IO[bytes]",
    "boolean": "bool",
    "double": "float",
    "float": "float",
    "integer": "int",
    "long": "int",
    "string": "str",
    "timestamp": "datetime | str | float",
}
"""What botocore takes for the types of its models."""

RESPONSE = "ResponseOutcome[_T]"
EXCEPTION = "ExceptionOutcome"
EITHER = f"{RESPONSE} | {EXCEPTION}"

FAILS = SuccessMatcher(success=False)

HEADER = '''\
"""Waits of `{service}`, for type checkers; generated."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import datetime
from typing import IO, Any, Generic, Literal, Protocol, TypedDict, TypeVar, overload

from botocore.waiter import Waiter as _BotocoreWaiter
from mypy_boto3_{package} import Client as _Client
from types_aiobotocore_{package} import Client as _AsyncClient
from typing_extensions import NotRequired, ReadOnly, Unpack

from ..definitions.files import Source
from ..options import Seconds, WaitOptions
from ..outcome import ExceptionOutcome, ResponseOutcome
from ..settings import Observer
from ._keywords import Options, StockConfig, WaiterConfig

_T = TypeVar("_T")
_R = TypeVar("_R")
_T_co = TypeVar("_T_co", covariant=True)

'''

ENABLE = '''
def {function}(
    {argument}: {given},
    /,
    *,
    definitions: Source | Iterable[Source] = ...,
    defaults: WaitOptions | Mapping[str, Any] | None = ...,
    on_event: Observer | None = ...,
) -> {returned}:
    """Type the waits of {what}, and do what `boto_waiters_plus.enable` does."""
'''

OPERATION = """\
class _{name}Call(Protocol[_T_co]):
    @property
    def {method}(self) -> Callable[..., _T_co]: ...

class _{name}Parameters(TypedDict):
{members}

class _{name}Wait(_{name}Parameters, Options): ...
"""

WAITER = """\
class _{name}Waiter(_BotocoreWaiter, Generic[_T, _R]):
    outcome: {outcome} | None
    def wait(
        self,
        *,
        max_wait: Seconds | None = ...,
        WaiterConfig: WaiterConfig | StockConfig = ...,
        **parameters: Unpack[_{name}Wait],
    ) -> _R: ...

"""

METHOD = '''\
    {define} wait_until_{name}(
        self{own}, *, max_wait: Seconds | None, **parameters: Unpack[_{operation}Wait]
    ) -> {outcome}:
        """{summary}"""
'''

GET_WAITER = """\
    def get_waiter(
        self: _{name}Call[{returned}], waiter_name: Literal[{names}], /
    ) -> _{name}Waiter[_T, {waited}]: ...
"""

RESOURCES = """
from mypy_boto3_{package} import ServiceResource as _ServiceResource
from mypy_boto3_{package} import service_resource as _service_resource

class _Meta(Protocol[_T_co]):
    @property
    def client(self) -> _T_co: ...

class _Resource(Protocol[_T_co]):
    @property
    def meta(self) -> _Meta[_T_co]: ...
"""

RESOURCE_WAIT = '''\
    def {method}(
        self: _Resource[_{operation}Call[_T]],
        *,
        max_wait: Seconds | None = ...,
        WaiterConfig: WaiterConfig | StockConfig = ...,
        **options: Unpack[Options],
    ) -> {outcome}:
        """{summary}"""
'''


class WaitingResource(NamedTuple):
    """A resource of boto3 with waiters."""

    name: str
    identifiers: Sequence[str]
    """The arguments that make one, in snake case."""
    waiters: Mapping[str, str]
    """Its methods, with the names of their waiters in snake case."""


def resources_of(service: str) -> list[WaitingResource]:
    """Return the resources with waiters that boto3 has for a service."""
    import boto3  # noqa: PLC0415 - few services have resources

    session = boto3.Session()
    if service not in session.get_available_resources():
        return []
    # The session's own loader reads boto3's data; no public function gives the model alone.
    loader = session._session.get_component("data_loader")  # noqa: SLF001 - see above
    document = loader.load_service_model(service, "resources-1")
    return [
        WaitingResource(
            name,
            [xform_name(each["name"]) for each in resource.get("identifiers", ())],
            {
                f"wait_until_{xform_name(method)}": xform_name(waiter["waiterName"])
                for method, waiter in resource["waiters"].items()
            },
        )
        for name, resource in document["resources"].items()
        if "waiters" in resource
    ]


def service_stub(
    service: str, waiters: Sequence[BoundWaiter], resources: Sequence[WaitingResource]
) -> str:
    """Return the stub of a service.

    Args:
        service: its name as in `boto3.client`.
        waiters: all its waiters.
        resources: what boto3 makes of them.
    """
    by_operation: dict[str, list[BoundWaiter]] = {}
    for waiter in sorted(waiters, key=lambda each: each.method_name):
        by_operation.setdefault(waiter.operation.name, []).append(waiter)
    groups = [by_operation[name] for name in sorted(by_operation)]
    package = service.replace("-", "_")
    parts = [HEADER.format(service=service, package=package)]
    parts += _structures([group[0].operation for group in groups])
    for group in groups:
        parts += _operation(group[0].operation)
    parts += [_client("Client", "_Client", groups), _client("AsyncClient", "_AsyncClient", groups)]
    for function, given, returned, what in (
        ("enable", "_Client", "Client", f'`boto3.client("{service}")`'),
        ("enable_async", "_AsyncClient", "AsyncClient", f"an aiobotocore client of `{service}`"),
    ):
        parts.append(_enable(function, "client", given, returned, what))
    if resources:
        parts += [RESOURCES.format(package=package), *_resources(resources, waiters)]
        what = f'`boto3.resource("{service}")`'
        parts.append(
            _enable("enable_resource", "resource", "_ServiceResource", "ServiceResource", what)
        )
    return "".join(parts)


def _enable(function: str, argument: str, given: str, returned: str, what: str) -> str:
    return ENABLE.format(
        function=function, argument=argument, given=given, returned=returned, what=what
    )


# --- parameters ----------------------------------------------------------------------------------


def _operation(operation: OperationModel) -> Iterator[str]:
    """Yield the classes that the waits on one operation share."""
    shape = operation.input_shape
    members = ["    pass"]
    if shape is not None and shape.members:
        members = list(_members(shape, "{}"))
    method = xform_name(operation.name)
    yield OPERATION.format(name=operation.name, method=method, members="\n".join(members)) + "\n"
    yield WAITER.format(name=operation.name, outcome=EITHER)


def _structures(operations: Iterable[OperationModel]) -> Iterator[str]:
    """Yield a class for each structure that is nested in parameters."""
    found: dict[str, StructureShape] = {}
    for operation in operations:
        if operation.input_shape is not None:
            _collect(operation.input_shape.members.values(), found)
    for name, shape in sorted(found.items()):
        members = "\n".join(_members(shape, "ReadOnly[{}]"))
        yield f"class _{name}Structure(TypedDict):\n{members}\n\n"


def _collect(shapes: Iterable[Shape], found: dict[str, StructureShape]) -> None:
    for shape in shapes:
        if isinstance(shape, ListShape):
            _collect([shape.member], found)
        elif isinstance(shape, MapShape):
            _collect([shape.value], found)
        elif isinstance(shape, StructureShape) and _has_class(shape) and shape.name not in found:
            found[shape.name] = shape
            _collect(shape.members.values(), found)


def _members(shape: StructureShape, form: str) -> Iterator[str]:
    for name, member in shape.members.items():
        if not name.isidentifier() or keyword.iskeyword(name):
            continue  # a class cannot declare it; AWS has none so far
        type_ = _type(member)
        if name not in shape.required_members:
            type_ = f"NotRequired[{type_}]"
        yield f"    {name}: {form.format(type_)}"


def _has_class(shape: StructureShape) -> bool:
    return bool(shape.members) and not shape.is_document_type


def _type(shape: Shape) -> str:
    """Return the type of what botocore takes for a shape."""
    if isinstance(shape, ListShape):
        return f"Sequence[{_type(shape.member)}]"
    if isinstance(shape, MapShape):
        return f"Mapping[str, {_type(shape.value)}]"
    if isinstance(shape, StructureShape):
        return f"_{shape.name}Structure" if _has_class(shape) else "Any"
    return SCALARS.get(shape.type_name, "Any")


# --- clients and resources -----------------------------------------------------------------------


def _client(name: str, base: str, groups: Sequence[Sequence[BoundWaiter]]) -> str:
    is_async = base == "_AsyncClient"
    returned = "Awaitable[_T]" if is_async else "_T"
    methods = [_method(waiter, returned) for group in groups for waiter in group]
    get_waiter = [
        GET_WAITER.format(
            name=group[0].operation.name,
            returned=returned,
            names=", ".join(f'"{xform_name(each.definition.name)}"' for each in group),
            waited="Coroutine[Any, Any, _T]" if is_async else EITHER,
        )
        for group in groups
    ]
    if len(get_waiter) > 1:
        get_waiter = [f"    @overload\n{each}" for each in get_waiter]
    return "".join([f"class {name}({base}):\n", *methods, *get_waiter, "\n"])


def _method(waiter: BoundWaiter, returned: str) -> str:
    operation = waiter.operation.name
    outcome = _outcome(waiter.definition)
    return METHOD.format(
        define="def" if returned == "_T" else "async def",
        name=xform_name(waiter.definition.name),
        own="" if outcome == EXCEPTION else f": _{operation}Call[{returned}]",
        operation=operation,
        outcome=outcome,
        summary=_summary(waiter),
    )


def _resources(
    resources: Sequence[WaitingResource], waiters: Sequence[BoundWaiter]
) -> Iterator[str]:
    by_name = {xform_name(waiter.definition.name): waiter for waiter in waiters}
    for resource in resources:
        yield f"\nclass _{resource.name}(_service_resource.{resource.name}):\n"
        for method, name in resource.waiters.items():
            waiter = by_name[name]
            operation = waiter.operation.name
            yield RESOURCE_WAIT.format(
                method=method, operation=operation, outcome=EITHER, summary=_summary(waiter)
            )
    yield "\nclass ServiceResource(_ServiceResource):\n"
    for resource in resources:
        arguments = ", ".join(f"{name}: str" for name in resource.identifiers)
        yield f"    def {resource.name}(self, {arguments}) -> _{resource.name}: ...\n"


def _outcome(definition: WaiterDefinition) -> str:
    """Return the type of the outcome, by the acceptors that can end the wait with success."""
    by_error = {
        isinstance(acceptor.matcher, ErrorTypeMatcher) or acceptor.matcher == FAILS
        for acceptor in definition.acceptors
        if acceptor.state is AcceptorState.SUCCESS
    }
    return EITHER if len(by_error) > 1 else EXCEPTION if True in by_error else RESPONSE


def _summary(waiter: BoundWaiter) -> str:
    return summary_of(waiter.definition).replace("\\", "\\\\").replace('"', '\\"')
