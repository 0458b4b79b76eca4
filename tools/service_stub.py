"""The stub of one service: its clients with typed waits.

What boto3-stubs and types-aiobotocore know (the client's own methods, the types of responses) is
looked up by the type checker where they are installed. The names of their types cannot be derived
from a model, so the stub names none but `Client` and `ServiceResource`: the type of a response is
what the client's method for the operation returns, by a protocol.

Without them a base class is missing, which a checker takes for Any without a word, because it
reports no errors of installed packages. So the parameters are declared here, from the model. Their
members are read-only, so that the dictionaries of boto3-stubs fit, which are narrower.

There are 300 stubs, and disks give each file whole blocks. So they are terse: what they share is in
`_shared.pyi` (SHARED below, which also abbreviates the names of `typing`), a level of indentation
is one blank, and what belongs to an operation is numbered:

| name | the operation's |
|---|---|
| `_C1` | client: has the method, whose result is the type of a response |
| `_P1` | parameters, with the options of every wait |
| `_S1` | parameters of a waiter object's `wait` |
| `_W1` | waiter object, by what the method returns and what `wait` does |
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

from botocore import xform_name
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from boto_waiters_plus.definitions.words import summary_of
from boto_waiters_plus.engine.acceptors import AcceptorState, ErrorTypeMatcher, SuccessMatcher
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.options import WaitOptions
from boto_waiters_plus.service.bound_waiter import BoundWaiter

SCALARS = {
    "blob": "_Blob",
    "boolean": "bool",
    "double": "float",
    "float": "float",
    "integer": "int",
    "long": "int",
    "string": "str",
    "timestamp": "_Time",
}
"""What botocore takes for the types of its models."""

RESPONSE = "_Re[_T]"
EXCEPTION = "_Ex"
EITHER = "_Ou[_T]"

FAILS = SuccessMatcher(success=False)

SHARED = '''\
"""What the stubs of all services share; generated."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import datetime
from typing import IO, Any, Generic, Literal, Protocol, TypedDict, TypeVar

from botocore.waiter import Waiter
from typing_extensions import ReadOnly

# mypy knows these by their imports alone.
from collections.abc import Awaitable as _A, Callable as _Fn, Mapping as _Map
from collections.abc import Sequence as _Seq
from typing import Any as _Any, Literal as _L, Protocol as _P
from typing import TypedDict as _TD, overload as _o
from typing_extensions import NotRequired as _N, ReadOnly as _RO
from typing_extensions import Unpack as _U

from ..definitions.files import Source
from ..engine.machine import RetryTransient
from ..engine.wait_event import WaitEvent
from ..history import History
from ..options import CancelEvent, Seconds, Subscribable, WaitOptions, WakeSignal
from ..outcome import ExceptionOutcome, ResponseOutcome
from ..settings import Observer

__all__ = [
{exported}
]

_T = TypeVar("_T")
_R = TypeVar("_R")
_T_co = TypeVar("_T_co", covariant=True)

_Blob = bytes | bytearray | IO[bytes]
_Time = datetime | str | float
_M = Seconds | None

_Re = ResponseOutcome
_Ex = ExceptionOutcome
_Ou = ResponseOutcome[_T] | ExceptionOutcome
_Co = Coroutine[Any, Any, _T]

class _Options(TypedDict, total=False):
{options}

class _StockConfig(TypedDict, total=False):
    Delay: ReadOnly[float]
    MaxAttempts: ReadOnly[int]

class _WaiterConfig(_StockConfig, total=False):
    MaxWait: ReadOnly[Seconds]

class _Stock(TypedDict, total=False):
    """What waiter objects take besides."""

    max_wait: _M
    WaiterConfig: _WaiterConfig | _StockConfig

class _ResourceOptions(_Options, _Stock): ...

class _Settings(TypedDict, total=False):
    """What `enable` takes."""

    definitions: Source | Iterable[Source]
    defaults: WaitOptions | Mapping[str, Any] | None
    on_event: Observer | None

class _Waiter(Waiter, Generic[_T, _R]):
    outcome: _Ou[_T] | None

class _Meta(Protocol[_T_co]):
    @property
    def client(self) -> _T_co: ...

class _Resource(Protocol[_T_co]):
    @property
    def meta(self) -> _Meta[_T_co]: ...
'''

EXPORTED = (
    *("_Any", "_A", "_Blob", "_Fn", "_Co", "_Ex"),
    *("_L", "_Map", "_M", "_N", "_Options", "_Ou"),
    *("_P", "_R", "_RO", "_Resource", "_ResourceOptions", "_Re"),
    *(
        "_Seq",
        "_Settings",
        "_Stock",
        "_T",
        "_T_co",
        "_Time",
        "_TD",
        "_U",
        "_Waiter",
        "_o",
    ),
)

HEADER = '''\
"""Waits of `{service}`; generated."""

from mypy_boto3_{package} import Client as _Client
from types_aiobotocore_{package} import Client as _AsyncClient

from ._shared import *

'''

ENABLE = '''
def {function}({argument}: {given}, /, **settings: _U[_Settings]) -> {returned}:
    """`boto_waiters_plus.enable` for {what}."""
'''

OPERATION = """\
class _C{number}(_P[_T_co]):
    @property
    def {method}(self) -> _Fn[..., _T_co]: ...

class _P{number}(_Options):
{members}

class _S{number}(_P{number}, _Stock): ...

class _W{number}(_Waiter[_T, _R]):
    def wait(self, **parameters: _U[_S{number}]) -> _R: ...

"""

METHOD = """\
    {define} wait_until_{name}({own}, *, max_wait: _M, **parameters: _U[_P{number}]) \
-> {outcome}:{summary}
"""

GET_WAITER = """\
    def get_waiter(self: _C{number}[{given}], waiter_name: _L[{names}], /) \
-> _W{number}[_T, {waited}]: ...
"""

RESOURCES = """
from mypy_boto3_{package} import ServiceResource as _ServiceResource
from mypy_boto3_{package} import service_resource as _service_resource
"""

RESOURCE_WAIT = '''\
    def {method}(self: _Resource[_C{number}[_T]], **options: _U[_ResourceOptions]) \
-> {outcome}:
        """{summary}"""
'''


class WaitingResource(NamedTuple):
    """A resource of boto3 with waiters."""

    name: str
    identifiers: Sequence[str]
    """The arguments that make one, in snake case."""
    waiters: Mapping[str, str]
    """Its methods, with the names of their waiters in snake case."""


def resources_of(service: str, loader: Loader) -> list[WaitingResource]:
    """Return the resources with waiters of a service; the loader reads boto3's data."""
    try:
        document = loader.load_service_model(service, "resources-1")
    except UnknownServiceError:
        return []
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


class Operation(NamedTuple):
    """An operation that waiters of a service poll."""

    number: int
    waiters: Sequence[BoundWaiter]

    @property
    def model(self) -> OperationModel:
        """The model of the operation."""
        return self.waiters[0].operation


def shared_stub() -> str:
    """Return the stub of what all services share."""
    exported = "\n".join(f'    "{name}",' for name in EXPORTED)
    options = "\n".join(f"    {option.name}: {option.type}" for option in fields(WaitOptions))
    return SHARED.format(exported=exported, options=options)


def service_stub(
    service: str, waiters: Sequence[BoundWaiter], resources: Sequence[WaitingResource]
) -> str:
    """Return the stub of a service.

    Args:
        service: its name as in `boto3.client`.
        waiters: all its waiters.
        resources: what boto3 makes of them.
    """
    by_name: dict[str, list[BoundWaiter]] = {}
    for waiter in sorted(waiters, key=lambda each: each.method_name):
        by_name.setdefault(waiter.operation.name, []).append(waiter)
    operations = [
        Operation(number, by_name[name]) for number, name in enumerate(sorted(by_name), 1)
    ]
    package = service.replace("-", "_")
    parts = [HEADER.format(service=service, package=package)]
    parts += _structures([each.model for each in operations])
    parts += map(_operation, operations)
    parts += _client("Client", "_Client", operations)
    parts += _client("AsyncClient", "_AsyncClient", operations)
    for function, given, returned, what in (
        ("enable", "_Client", "Client", f'`boto3.client("{service}")`'),
        ("enable_async", "_AsyncClient", "AsyncClient", f"an aiobotocore client of `{service}`"),
    ):
        parts.append(_enable(function, "client", given, returned, what))
    if resources:
        parts += [RESOURCES.format(package=package), *_resources(resources, operations)]
        what = f'`boto3.resource("{service}")`'
        parts.append(
            _enable("enable_resource", "resource", "_ServiceResource", "ServiceResource", what)
        )
    # No text of more than one line is among them.
    terse = re.sub(
        r"(?m)^(?: {4})+", lambda indented: " " * (len(indented[0]) // 4), "".join(parts)
    )
    return re.sub(r"\n{2,}", "\n", terse)


def _enable(function: str, argument: str, given: str, returned: str, what: str) -> str:
    return ENABLE.format(
        function=function, argument=argument, given=given, returned=returned, what=what
    )


# --- parameters ----------------------------------------------------------------------------------


def _operation(operation: Operation) -> str:
    """Return the classes that the waits on one operation share."""
    shape = operation.model.input_shape
    members = ["    pass"]
    if shape is not None and shape.members:
        members = list(_members(shape, "{}"))
    return OPERATION.format(
        number=operation.number,
        method=xform_name(operation.model.name),
        members="\n".join(members),
    )


def _structures(operations: Iterable[OperationModel]) -> Iterator[str]:
    """Yield a class for each structure that is nested in parameters."""
    found: dict[str, StructureShape] = {}
    for operation in operations:
        if operation.input_shape is not None:
            _collect(operation.input_shape.members.values(), found)
    for name, shape in sorted(found.items()):
        members = "\n".join(_members(shape, "_RO[{}]"))
        yield f"class _{name}Structure(_TD):\n{members}\n\n"


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
            type_ = f"_N[{type_}]"
        yield f"    {name}: {form.format(type_)}"


def _has_class(shape: StructureShape) -> bool:
    return bool(shape.members) and not shape.is_document_type


def _type(shape: Shape) -> str:
    """Return the type of what botocore takes for a shape."""
    if isinstance(shape, ListShape):
        return f"_Seq[{_type(shape.member)}]"
    if isinstance(shape, MapShape):
        return f"_Map[str, {_type(shape.value)}]"
    if isinstance(shape, StructureShape):
        return f"_{shape.name}Structure" if _has_class(shape) else "_Any"
    return SCALARS.get(shape.type_name, "_Any")


# --- clients and resources -----------------------------------------------------------------------


def _client(name: str, base: str, operations: Sequence[Operation]) -> Iterator[str]:
    is_async = base == "_AsyncClient"
    given = "_A[_T]" if is_async else "_T"
    yield f"class {name}({base}):\n"
    for operation in operations:
        for waiter in operation.waiters:
            yield _method(waiter, operation.number, given)
    for operation in operations:
        if len(operations) > 1:
            yield "    @_o\n"
        yield GET_WAITER.format(
            number=operation.number,
            given=given,
            names=", ".join(f'"{xform_name(each.definition.name)}"' for each in operation.waiters),
            waited="_Co[_T]" if is_async else EITHER,
        )
    yield "\n"


def _method(waiter: BoundWaiter, number: int, given: str) -> str:
    outcome = _outcome(waiter.definition)
    is_async = given != "_T"
    return METHOD.format(
        define="async def" if is_async else "def",
        name=xform_name(waiter.definition.name),
        own="self" if outcome == EXCEPTION else f"self: _C{number}[{given}]",
        number=number,
        outcome=outcome,
        # Documented once.
        summary=" ..." if is_async else f'\n        """{_summary(waiter)}"""',
    )


def _resources(
    resources: Sequence[WaitingResource], operations: Sequence[Operation]
) -> Iterator[str]:
    by_name = {
        xform_name(waiter.definition.name): (waiter, each.number)
        for each in operations
        for waiter in each.waiters
    }
    for resource in resources:
        yield f"\nclass _{resource.name}(_service_resource.{resource.name}):\n"
        for method, name in resource.waiters.items():
            waiter, number = by_name[name]
            yield RESOURCE_WAIT.format(
                method=method, number=number, outcome=EITHER, summary=_summary(waiter)
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
