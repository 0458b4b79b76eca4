"""One wait on a client, from its keywords to its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..calls.client_call import async_call_for, call_for
from ..calls.private_names import marked_as_waiter
from ..deadlines import effective_max_wait
from ..options import (
    OTHER_NAMES,
    WaitOptions,
    policy_for,
    refuse_other_names,
    refuse_short_wait,
    split_options,
)
from ..outcome import WaiterOutcome
from ..settings import Settings
from ..wait.drivers import drive
from ..wait.observers import with_history
from ..wait.refused_part import RefusedPart
from ..wait.wait_run import WaitRun
from .bound_waiter import BoundWaiter
from .client_request import ClientRequest
from .definition_judge import DefinitionJudge
from .parameters import copied


def wait_on(
    client: Any,
    waiter: BoundWaiter,
    settings: Settings,
    *,
    max_wait: Any,
    keywords: Mapping[str, Any],
    called_at: float | None = None,
    call: Mapping[str, Any] | None = None,
) -> WaiterOutcome[Any]:
    """Run one wait.

    Args:
        client, waiter, settings, max_wait: those of the wait.
        keywords: options and operation parameters together.
        called_at: when the caller called: what `time.monotonic` gave then; None: now.
        call: the `input` and `output` of the call whose effect is waited for.

    Raises:
        TypeError, ValueError: before the first request, a bad option.
        WaiterError: the wait did not succeed.
    """
    run, request, options = _prepared(client, waiter, settings, max_wait, keywords, called_at, call)
    cancel = options.cancel_event
    polling = call_for(
        client,
        request,
        awaited=False,
        is_reply=request.is_reply,
        cancel=cancel,
        in_thread=bool(options.call_in_thread),
    )
    with marked_as_waiter():
        return drive(run, polling, cancel=cancel, wake=options.wake_signal)


async def wait_on_async(
    client: Any,
    waiter: BoundWaiter,
    settings: Settings,
    *,
    max_wait: Any,
    keywords: Mapping[str, Any],
    called_at: float | None = None,
    call: Mapping[str, Any] | None = None,
) -> WaiterOutcome[Any]:
    """`wait_on` as part of a task: aiobotocore clients are awaited, others called in threads."""
    from ..wait.drivers import drive_async  # noqa: PLC0415 - no blocking wait needs it

    run, request, options = _prepared(client, waiter, settings, max_wait, keywords, called_at, call)
    cancel = options.cancel_event
    polling = async_call_for(client, request, is_reply=request.is_reply, cancel=cancel)
    with marked_as_waiter():
        return await drive_async(run, polling, cancel=cancel, wake=options.wake_signal)


def _prepared(
    client: Any,
    waiter: BoundWaiter,
    settings: Settings,
    max_wait: Any,
    keywords: Mapping[str, Any],
    called_at: float | None,
    call: Mapping[str, Any] | None,
) -> tuple[WaitRun, ClientRequest, WaitOptions]:
    """Return a wait that is ready to start; raise for whatever is wrong with its arguments."""
    given, parameters = split_keywords(waiter, keywords)
    request = ClientRequest(client, waiter, copied(parameters), call=call)
    refuse_short_wait(given, max_wait)
    options = given.merged_over(settings.defaults)
    seconds = effective_max_wait(waiter.method_name, max_wait)
    policy = policy_for(waiter.definition, options, seconds)
    waiter.warn()
    observers = settings.observers
    if options.delay_history:
        policy, observers = with_history(options, policy, observers, waiter.description, client)
    run = WaitRun(
        waiter.description,
        policy,
        DefinitionJudge(waiter, request.parameters, client.meta.endpoint_url, call),
        label=request.label_under(options),
        show_parameters=options.show_parameters is not False,
        observers=observers,
        on_attempt=options.on_attempt,
        called_at=called_at,
        explainer=request,
        refused=RefusedPart.of(call),
    )
    return run, request, options


def split_keywords(
    waiter: BoundWaiter, keywords: Mapping[str, Any]
) -> tuple[WaitOptions, Mapping[str, Any]]:
    """Return the options and the operation's parameters among the keywords of a wait.

    Raises:
        TypeError: a keyword that is neither.
    """
    if not OTHER_NAMES.keys().isdisjoint(keywords):
        shape = waiter.operation.input_shape
        members = () if shape is None else shape.members
        refuse_other_names(waiter.method_name, keywords.keys() - members)
    return split_options(keywords)
