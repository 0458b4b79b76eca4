"""`call_once`: a mutating call that is repeated under one token until its outcome is known."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from botocore import xform_name

from ..common.signatures import signature_of
from ..engine.model import WaiterDefinition
from ..options import CancelEvent, refuse_options_of_waits
from ..service.parameters import from_json
from ..service.shapes import members_of
from .prepared_call import PROPAGATION_WAIT, RECORDED, CallOptions, CallOutcome, PreparedCall
from .target import CallStore, called_operation, check_target

WaiterChoice = str | tuple[str | WaiterDefinition, Callable[[Any], Mapping[str, Any]]]
"""The name of an effect, or a waiter and a function of the response that returns its parameters."""


def _call_once(
    method: Any,
    /,
    *,
    max_wait: Any = None,
    then_wait: WaiterChoice | Literal[True] | None = None,
    allow_repeat: bool = False,
    adopt_existing: bool = False,
    in_store: CallStore | None = None,
    cancel_event: CancelEvent | None = None,
    propagation_wait: Any = PROPAGATION_WAIT,
    busy_wait: Any = None,
    **parameters: Any,
) -> PreparedCall:
    given = (max_wait, then_wait, allow_repeat, adopt_existing, in_store, cancel_event)
    options = CallOptions(*given, propagation_wait=propagation_wait, busy_wait=busy_wait)
    members = members_of(called_operation("call_once", method).input_shape)
    others = [name for name in parameters if name not in members]
    refuse_options_of_waits("call_once", others, "begin")
    return PreparedCall(method, options, parameters)


@signature_of(_call_once)
def call_once(*arguments: Any, **keywords: Any) -> CallOutcome:
    """Call an operation until its outcome is known, and have it executed only once.

    All attempts carry the same idempotency token and the same parameters. An attempt is repeated
    after errors that are transient or leave the outcome open: lost connections, timeouts, HTTP
    5xx, throttles. Delays of 2 to 30 seconds follow the waiter specification (section
    "Waiter retries").

    Args:
        method: a method of a botocore client, such as `ec2.run_instances`; or a wrapper of one, by
            its `__wrapped__`, which is called in its place.
        max_wait: seconds (or a `timedelta`) for all attempts and the wait together. No attempt is
            made later than the documented lifetime of the token allows.
        then_wait: True waits for the effect of the call, as `begin` does; a name picks one of
            several effects, or a waiter that polls as the first one does. For any other waiter
            pass `(waiter, function)`, where the function takes the response and returns the
            parameters of the waiter.
        allow_repeat: True repeats an operation that has no token, which may execute it twice.
        adopt_existing: True accepts a resource that "already exists" after an attempt whose
            outcome is unknown, if it is as the parameters ask for.
        in_store: keeps the call, its token included, before the first attempt, so that another
            process can go on with it by `resume_call`.
        cancel_event: an event that ends the call in flight, the delay or the wait.
        propagation_wait: seconds (or a `timedelta`) in which a refusal is repeated that says that a
            new role or policy is not visible yet; 0: it is raised.
        busy_wait: seconds (or a `timedelta`) in which a refusal is repeated that says that another
            change is in progress; 0: it is raised; None: it is repeated where its code alone says
            so. Not after an attempt whose outcome is unknown, unless there is a token.
        parameters: of the operation. The token's member may be among them.

    Returns:
        The response, the token, the attempts, and the outcome of the wait.

    Raises:
        TypeError, ValueError: a bad argument, before the first request.
        CallOnceError: the call has no certain result, or was refused; see the subclasses.
        WaiterError: the wait did not succeed; its attribute `call` is the `CallOutcome`.
    """
    return _call_once(*arguments, **keywords).run()


@signature_of(_call_once)
async def call_once_async(*arguments: Any, **keywords: Any) -> CallOutcome:
    """`call_once` as part of the calling task.

    The calls of an aiobotocore client are awaited, those of any other are made in threads.
    Cancelling the task ends it at once; whether the call was executed is unknown then.
    """
    return await _call_once(*arguments, **keywords).run_async()


def resumed_call(
    client: Any,
    record: Mapping[str, Any],
    /,
    *,
    max_wait: Any = None,
    in_store: CallStore | None = None,
    path: str | None = None,
    cancel_event: CancelEvent | None = None,
) -> PreparedCall:
    """Return the call that `resume_call` makes; raises as it does."""
    if (in_store is None) != (path is None):
        raise TypeError(
            "in_store and path must be given together: they tell where the call is kept"
        )
    check_target(client, record)
    kept: Mapping[str, Any] = {}
    get_call = getattr(in_store, "get_call", None)
    if get_call is not None:
        kept = get_call(path)
        if kept["done"]:
            raise ValueError(f"{path} has ended: it is not open any more")
    answer = kept.get("answer")
    options = CallOptions(
        record["max_wait"] if max_wait is None else max_wait,
        in_store=in_store,
        cancel_event=cancel_event,
        path=path,
        # What was answered is not repeated.
        once=answer is not None,
        # One of an earlier version has fewer.
        **{name: record[name] for name in RECORDED if name in record},
    )
    method, parameters = xform_name(record["operation"]), from_json(record["parameters"])
    age = _age(record, kept)
    return PreparedCall(getattr(client, method), options, parameters, age=age, answer=answer)


def _age(record: Mapping[str, Any], kept: Mapping[str, Any]) -> float:
    """Return the seconds since the first attempt; infinite where they cannot be known."""
    age: float | None = kept.get("age")
    if age is None:
        age = time.time() - record["started_at"]
    # The clock was set back: the token may be older than it looks.
    return age if age >= 0 else math.inf


@signature_of(resumed_call)
def resume_call(*arguments: Any, **keywords: Any) -> CallOutcome:
    """Continue a call that a store has kept, under its token and with its parameters.

    A call that the store knows to be answered is not made again: its wait goes on, and the
    response is the one that was kept, without sensitive members.

    Args:
        client: a client like that of the call: the same service, region, endpoint and account.
        record: what `CallStore.save_call` was given.
        max_wait: seconds (or a `timedelta`); by default as many as the call had at first.
        in_store, path: the store, and where it keeps the call; the call is finished there.
        cancel_event: as in `call_once`.

    Raises:
        TypeError: one of `in_store` and `path` is missing.
        ValueError: the client goes elsewhere than the call, or the call has ended.
        CallOnceError, WaiterError: as `call_once`.
    """
    return resumed_call(*arguments, **keywords).run()


@signature_of(resumed_call)
async def resume_call_async(*arguments: Any, **keywords: Any) -> CallOutcome:
    """`resume_call` as part of the calling task."""
    return await resumed_call(*arguments, **keywords).run_async()
