"""One wait on a client, from its keywords to its outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from botocore.model import OperationModel

from ..calls.client_call import Calls
from ..calls.clients import client_behind
from ..calls.private_names import marked_as_waiter
from ..options import (
    OTHER_NAMES,
    CancelEvent,
    WaitOptions,
    policy_for,
    refuse_other_names,
    split_options,
)
from ..settings import Resolved, Settings
from ..wait.drivers import PreparedWait
from ..wait.facts import CauseSearch
from ..wait.wait_run import WaitRun
from ..wait.wording import RefusedPart
from .bound_waiter import UNTIL_GONE, BoundWaiter
from .judge import DefinitionJudge
from .parameters import SMALLEST_PAGE, copied, refuse_empty_id_list
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
            from .parameters import with_marked_tokens  # noqa: PLC0415 - two waiters in a hundred

            self._fixed = with_marked_tokens(waiter.operation, self._fixed)

    @property
    def operation(self) -> OperationModel:
        """The operation that is called."""
        return self.waiter.operation

    def __call__(self) -> Any:
        """Make the bare call."""
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
    return wait_of(request, resolved, calls_of(client, options, options.cancel_event), **own)


def calls_of(client: Any, options: WaitOptions, cancel: CancelEvent | None) -> Calls:
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
