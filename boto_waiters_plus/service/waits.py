"""One wait on a client, hooked or not, from its keywords to its outcome: `wait_until`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar, overload

from botocore.model import OperationModel

from ..calls.client_call import Calls
from ..calls.clients import client_behind, is_async
from ..calls.private_names import marked_as_waiter
from ..common.arguments import unknown
from ..common.signatures import signature_of
from ..common.wrong_arguments import WrongTypeError, wrong_type
from ..engine.model import WaiterDefinition
from ..options import (
    OTHER_NAMES,
    CancelEvent,
    WaitOptions,
    policy_for,
    refuse_other_names,
    split_options,
)
from ..outcome import WaiterOutcome
from ..settings import Resolved, Settings
from ..wait.drivers import PreparedWait
from ..wait.facts import CauseSearch
from ..wait.wait_run import WaitRun
from ..wait.wording import RefusedPart
from .bound_waiter import UNTIL_GONE, BoundWaiter
from .clients import waiters_of
from .judge import DefinitionJudge
from .parameters import SMALLEST_PAGE, copied, refuse_empty_id_list
from .service_waiters import ServiceWaiters
from .shapes import members_of
from .sharing import on_one_page

# --- the request that each attempt of a wait makes -----------------------------------------------


class ClientRequest:
    """The request that each attempt of a wait makes; its parameters never change.

    Args:
        client: a botocore client.
        waiter: the definition on its operation.
        parameters: the operation's parameters.
        call: the `input` and `output` of the call whose effect is waited for.
        reads: has an item for each read about a failure that is left; None: no limit.

    Raises:
        ValueError: a list of identifiers is empty, or has more than an answer can have.
    """

    __slots__ = ("_fixed", "_reads", "call", "client", "parameters", "waiter")

    def __init__(
        self,
        client: Any,
        waiter: BoundWaiter,
        parameters: Mapping[str, Any],
        call: Mapping[str, Any] | None = None,
        reads: Iterator[object] | None = None,
    ) -> None:
        # Those of a `Wait` are within the caller's reach until the batch begins.
        refuse_empty_id_list(waiter.operation, parameters)
        self.client = client
        self.parameters = parameters
        self.waiter = waiter
        self.call, self._reads = call, reads
        self._fixed = parameters
        for value in parameters.values():
            if isinstance(value, list) and len(value) > SMALLEST_PAGE:
                self._fixed = self._on_one_page(parameters)
        if waiter.operation.idempotent_members:
            from .tokens import with_marked_tokens  # noqa: PLC0415 - two waiters in a hundred

            self._fixed = with_marked_tokens(waiter.operation, self._fixed)

    @property
    def operation(self) -> OperationModel:
        """The operation that is called."""
        return self.waiter.operation

    def __call__(self) -> Any:
        """Make the bare call."""
        if self.waiter.polling.reads_pages:
            from .pages import read_pages  # noqa: PLC0415 - one effect in fifty

            return read_pages(self.client, self.operation, self._fixed)
        return getattr(self.client, self.waiter.client_method)(**self._fixed)

    def __str__(self) -> str:
        """Return the label of the resource that the request is about."""
        return self.waiter.polling.resource_label.text(self.parameters)

    def label_under(self, options: WaitOptions) -> object:
        """Return the label of a wait, or the request, of which `str` makes it when it is needed."""
        # Made before the first call: at the deadline it would make the wait late.
        label = self.waiter.polling.resource_label
        return label.service if options.show_parameters is False else self

    def send_for(self, member: str, ids: list[str]) -> Any:
        """Make the bare call for these identifiers."""
        parameters: Mapping[str, Any] = {**self._fixed, member: ids}
        if len(ids) > SMALLEST_PAGE:
            parameters = self._on_one_page(parameters)
        return getattr(self.client, self.waiter.client_method)(**parameters)

    def begin_search(self, response: Mapping[str, Any], elapsed: float) -> CauseSearch | None:
        """Begin the search for the cause of a failure."""
        of_wait = self.client, self.operation, self.parameters, self.call, self._reads
        return SearchedCall(*of_wait).begin_search(response, elapsed)

    def _on_one_page(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        return on_one_page(self.waiter.polling.coalescing, self.waiter.operation, parameters)


class SearchedCall(NamedTuple):
    """What the search for the cause of a failure knows of a wait."""

    client: Any
    operation: OperationModel
    parameters: Mapping[str, Any]
    call: Mapping[str, Any] | None = None
    reads: Iterator[object] | None = None

    def begin_search(self, response: Mapping[str, Any], elapsed: float) -> CauseSearch | None:
        """Begin the search."""
        from .causes import begin_search  # noqa: PLC0415 - for failures only

        return begin_search(*self, response, elapsed)


# --- the wait ------------------------------------------------------------------------------------


def prepared_wait(
    client: Any,
    waiter: BoundWaiter,
    settings: Settings,
    *,
    max_wait: Any,
    keywords: Mapping[str, Any],
    called_at: float | None = None,
    call: Mapping[str, Any] | None = None,
) -> PreparedWait:
    """Return a wait that is ready to start.

    Args:
        client, waiter, settings, max_wait: those of the wait.
        keywords: options and operation parameters together.
        called_at: when the caller called: what `time.monotonic` gave then; None: now.
        call: the `input` and `output` of the call whose effect is waited for.

    Raises:
        TypeError, ValueError: a bad option.
    """
    given, parameters = split_keywords(waiter, keywords)
    waiter = waiter_for(waiter, parameters)
    request = ClientRequest(client, waiter, copied(parameters), call)
    by_definition = partial(policy_for, waiter.definition)
    resolved = settings.resolve(given, max_wait, by_definition, name=waiter.method_name)
    waiter.warn()
    resolved = resolved.with_history(waiter.polling.description, client_behind(client))
    options = resolved.options
    own: Any = {"on_attempt": options.on_attempt, "called_at": called_at}
    return wait_of(request, resolved, client_calls(client, options, options.cancel_event), **own)


def client_calls(client: Any, options: WaitOptions, cancel: CancelEvent | None) -> Calls:
    """Return how a wait under these options calls its client; `cancel` ends a call."""
    return Calls(client=client, cancel=cancel, in_thread=bool(options.call_in_thread))


def wait_of(
    request: ClientRequest,
    resolved: Resolved,
    calls: Calls,
    label: str | None = None,
    **own: Any,
) -> PreparedWait:
    """Return the wait of a request, ready to start.

    Args:
        request: what each attempt sends.
        resolved: what holds for the wait, with its history.
        calls: how it is sent.
        label: the caller's label.
        own: what the `WaitRun` takes besides.
    """
    options, policy, observers = resolved
    polling, parameters = request.waiter.polling, request.parameters
    wait_run = WaitRun(
        polling.description,
        policy,
        DefinitionJudge(polling, parameters, calls.client.meta.endpoint_url, request.call),
        label=label or request.label_under(options),
        show_parameters=options.show_parameters is not False,
        observers=observers,
        searched=request,
        refused=RefusedPart.of(request.call),
        **own,
    )
    return PreparedWait(
        wait_run=wait_run,
        send=request,
        calls=calls,
        wake=options.wake_signal,
        context=marked_as_waiter,
    )


def waiter_for(waiter: BoundWaiter, parameters: Mapping[str, Any]) -> BoundWaiter:
    """Return the waiter for a request with these parameters.

    Raises:
        ValueError: the waiter is for the end of a resource, and none is named.
    """
    if waiter.definition.source != UNTIL_GONE:
        return waiter
    from .absence import waiter_for_end  # noqa: PLC0415 - rarely needed

    return waiter_for_end(waiter, parameters)


def split_keywords(
    waiter: BoundWaiter, keywords: Mapping[str, Any]
) -> tuple[WaitOptions, Mapping[str, Any]]:
    """Return the options and the operation's parameters among the keywords of a wait.

    Raises:
        TypeError: a keyword that is neither.
    """
    if not OTHER_NAMES.keys().isdisjoint(keywords):
        members = members_of(waiter.operation.input_shape)
        refuse_other_names(waiter.method_name, (each for each in keywords if each not in members))
    return split_options(keywords)


# --- `wait_until` and `wait_until_async` ---------------------------------------------------------

T_co = TypeVar("T_co", covariant=True)


class _WaitUntil(Protocol[T_co]):
    """The types of `wait_until`, and of its awaited twin."""

    # fmt: off
    @overload
    def __call__(
        self, client: Any, waiter: str | WaiterDefinition, /, *, until_state: None = None,
        state_path: None = None, max_wait: Any = None, **keywords: Any,
    ) -> T_co: ...
    @overload
    def __call__(
        self, client: Any, operation: str, /, *, until_state: str | Iterable[str],
        state_path: str | None = None, max_wait: Any = None, **keywords: Any,
    ) -> T_co: ...
    # fmt: on


def _wait_until(
    client: Any,
    waiter: str | WaiterDefinition,
    /,
    *,
    until_state: str | Iterable[str] | None = None,
    state_path: str | None = None,
    max_wait: Any = None,
    **keywords: Any,
) -> Callable[[], PreparedWait]:
    own: dict[str, Any] = {"max_wait": max_wait, "called_at": time.monotonic()}
    found = find_waiter(client, waiter, until_state, state_path)
    return partial(prepared_wait, client, *found, keywords=keywords, **own)


def _typed(function: Callable[..., T_co]) -> _WaitUntil[T_co]:
    return signature_of(_wait_until)(function)


@_typed
def wait_until(*arguments: Any, **keywords: Any) -> WaiterOutcome[Any]:
    """Run one wait on any client, hooked or not.

    Args:
        client: a botocore client, or a proxy whose `__wrapped__` it is.
        waiter: `"BucketExists"`, `"bucket_exists"`, or a definition; with `until_state`, an
            operation that only reads, such as `"DescribeTable"`.
        until_state: the state to wait for, or several, each of which is a success. The other states
            that the model lists are failures if their names say so, such as `FAILED`. In a list
            of resources, all must have the state. `"gone"` is the end of the resource: its error
            for what is not found, a state such as `DELETED`, or an empty list where it is named.
        state_path: the JMESPath expression for the state, where a response has several.
        max_wait: seconds (or a `timedelta`) to wait at most.
        keywords: fields of `WaitOptions`, and the operation's parameters.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        ValueError: no such waiter, operation or state, or an option out of range.
        TypeError: `max_wait` is missing, or an option is of the wrong kind.
        WaiterError: the wait did not succeed (section "Waiter workflow").
    """
    prepare = _wait_until(*arguments, **keywords)
    if is_async(type(client_behind(arguments[0]))):
        raise TypeError("client is an aiobotocore client: await wait_until_async instead")
    return prepare().run()


@_typed
async def wait_until_async(*arguments: Any, **keywords: Any) -> WaiterOutcome[Any]:
    """`wait_until` as part of the calling task.

    An aiobotocore client is awaited. Any other is called in a thread, one per call; for many
    waits at once, `wait_all_async` shares a few threads. Cancelling the task ends the wait in
    either case, the request in flight included.

    Args:
        client: an aiobotocore or a botocore client.
        waiter, until_state, state_path, max_wait, keywords: as for `wait_until`.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        ValueError, TypeError, WaiterError: as `wait_until`.
    """
    return await _wait_until(*arguments, **keywords)().run_async()


def find_waiter(
    client: Any,
    waiter: str | WaiterDefinition | BoundWaiter,
    until_state: str | Iterable[str] | None = None,
    state_path: str | None = None,
) -> tuple[BoundWaiter, Settings]:
    """Return a client's waiter, and its settings.

    Args:
        client: the client.
        waiter: a waiter by either form of its name, a definition, the name of an operation, or
            what was found before.
        until_state, state_path: with an operation; see `wait_until`.

    Raises:
        TypeError: not a botocore client, or an argument of the wrong type.
        ValueError: no such waiter (the message has the nearest names), operation or state.
        WaiterDefinitionError: the definition does not fit the client's service.
    """
    waiters = waiters_of(client)
    service = waiters.service
    if until_state is not None:
        return _made(service, waiter, until_state, state_path), waiters.settings
    if isinstance(waiter, BoundWaiter):
        return waiter, waiters.settings
    if state_path is not None:
        problem = " goes with until_state, the state to wait for"
        raise WrongTypeError.of("state_path", state_path, problem)
    if isinstance(waiter, WaiterDefinition):
        return service.bind(waiter), waiters.settings
    if not isinstance(waiter, str):
        raise wrong_type("waiter", waiter, "the name of a waiter or a definition")
    bound_waiter = service.find(waiter)
    if bound_waiter is None:
        from ..definitions.near_waiters import did_you_mean  # noqa: PLC0415 - only for a wrong name

        known = [w.definition.name for w in service.values()]
        hint = did_you_mean(waiter, service if waiter.islower() else known)
        if service.operation(waiter) is not None:
            hint = f"; {waiter} is an operation: give until_state, the state to wait for"
        raise ValueError(
            f"Waiter does not exist: {service.service_name} has no waiter {waiter!r}{hint}"
        )
    return bound_waiter, waiters.settings


def _made(
    service: ServiceWaiters, operation: Any, until_state: Any, state_path: Any
) -> BoundWaiter:
    """Return the waiter for a state of what an operation describes."""
    from .on_the_spot import made_waiter  # noqa: PLC0415 - rarely needed

    if not isinstance(operation, str):
        problem = f" goes with the name of an operation, not {type(operation).__name__}"
        raise WrongTypeError.of("until_state", until_state, problem)
    found = service.operation(operation)
    if found is None:
        bound_waiter = service.find(operation)
        if bound_waiter is not None:
            raise ValueError(
                f"{operation} is a waiter: until_state goes with an operation, such as "
                f"{bound_waiter.operation.name}"
            )
        hint = unknown(operation, service.operation_names, "operation")
        raise ValueError(f"{service.service_name}: {hint}")
    return service.bind(made_waiter(found, until_state, state_path))
