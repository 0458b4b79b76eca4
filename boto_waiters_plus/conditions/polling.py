"""Any callable under a waiter definition."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from ..calls.clients import operation_of
from ..common.arguments import text
from ..common.wrong_arguments import wrong_type
from ..definitions.smithy import parse_waiter
from ..engine.model import WaitDescription, WaiterDefinition
from ..engine.redaction import printable
from ..options import only_options, policy_for
from ..outcome import WaiterOutcome
from ..service.bound_waiter import warn_if_deprecated
from ..settings import PROCESS_LEVEL
from ..wait.drivers import PreparedWait
from ..wait.wait_run import WaitRun
from .condition import ValueJudge, calls_of, refuse_coroutine_function
from .patterns import name_of

ResultT = TypeVar("ResultT")


def poll(
    call: Callable[..., ResultT],
    waiter: WaiterDefinition | Mapping[str, Any],
    /,
    *,
    input: Mapping[str, Any] | None = None,
    max_wait: Any = None,
    label: str | None = None,
    **options: Any,
) -> WaiterOutcome[ResultT]:
    """Run a callable under a waiter definition until an acceptor ends the wait.

    An error that it raises is matched by the name of its class or of a base class, a `ClientError`
    by its code too. Acceptors see the response of a method of a client in the data model of its
    operation (section "JMESPath data model"), without `ResponseMetadata`.
    The callable runs in the calling thread and is not interrupted: a value that it returns after
    `max_wait` is too late. With `call_in_thread=True` it is abandoned at `max_wait`.

    Args:
        call: called as `call(**input)`, or as `call()` if it takes no parameters.
        waiter: a definition, or the value of one waiter of a `waitable` trait.
        input: parameters of the call; `inputOutput` matchers see them too.
        max_wait: seconds (or a `timedelta`) to wait at most.
        label: the name, in messages and events, of what is waited for; default: the callable's.
        options: fields of `WaitOptions`.

    Returns:
        A `ResponseOutcome` or an `ExceptionOutcome`.

    Raises:
        TypeError, ValueError: a bad argument, before the first call.
        WaiterDefinitionError: the definition breaks a rule.
        WaiterError: the wait did not succeed (section "Waiter workflow").
    """
    refuse_coroutine_function("the callable", call, "poll_async")
    return _prepared(call, waiter, input, max_wait, label, options, "poll_async").run()


async def poll_async(
    call: Callable[..., Awaitable[ResultT]],
    waiter: WaiterDefinition | Mapping[str, Any],
    /,
    *,
    input: Mapping[str, Any] | None = None,
    max_wait: Any = None,
    label: str | None = None,
    **options: Any,
) -> WaiterOutcome[ResultT]:
    """Run `poll` as part of the calling task; cancelling the task ends the wait at once.

    The result of the callable is awaited if it is awaitable, and cancelled at `max_wait` or when
    `cancel_event` is set.
    """
    return await _prepared(call, waiter, input, max_wait, label, options).run_async()


def _prepared(
    call: Callable[..., Any],
    waiter: WaiterDefinition | Mapping[str, Any],
    input: Mapping[str, Any] | None,
    max_wait: Any,
    label: str | None,
    options: Mapping[str, Any],
    twin: str | None = None,
) -> PreparedWait:
    """Return a wait that is ready to start."""
    if not callable(call):
        raise wrong_type("call", call, "callable")
    if input is not None and not isinstance(input, Mapping):
        raise TypeError(f"input must be a mapping, not {type(input).__name__}")
    definition = _definition(call, waiter)
    warn_if_deprecated(definition)
    given = only_options("poll", options, "give parameters as input={...}")
    description = WaitDescription.of(definition)
    policy_of = partial(policy_for, definition)
    resolved = PROCESS_LEVEL.own.resolve(given, max_wait, policy_of, name="poll")
    merged, policy, observers = resolved.with_history(description)
    run = WaitRun(
        description,
        policy,
        ValueJudge(definition, input, operation_of(call)),
        label=name_of(call) if label is None else printable(text("label", label)),
        observers=observers,
        on_attempt=merged.on_attempt,
    )
    arguments: Mapping[str, Any] = {} if _takes_nothing(call) else input or {}
    send = partial(call, **arguments)
    calls = calls_of(send, merged, ValueJudge.is_reply, twin=twin)
    return PreparedWait(wait_run=run, send=send, calls=calls, wake=merged.wake_signal)


def _definition(call: Any, waiter: WaiterDefinition | Mapping[str, Any]) -> WaiterDefinition:
    if isinstance(waiter, WaiterDefinition):
        return waiter
    if not isinstance(waiter, Mapping):
        raise wrong_type("waiter", waiter, "a definition or a mapping")
    operation = getattr(call, "__name__", type(call).__name__)
    return parse_waiter("Poll", waiter, operation=operation, source="poll")


def _takes_nothing(call: Callable[..., Any]) -> bool:
    try:
        return not inspect.signature(call).parameters
    except (TypeError, ValueError):
        return False
