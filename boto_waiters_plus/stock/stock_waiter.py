"""botocore's own waiter objects on the engine: its acceptors, its words, its sleep.

Every object that calls `botocore.waiter.Waiter.wait` ends up here: those of `client.get_waiter`
and `create_waiter_with_client`, a `Waiter` built by hand, a boto3 resource.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import botocore.client
import botocore.waiter
from botocore.exceptions import ClientError, ParamValidationError
from botocore.model import OperationModel

from ..calls.client_call import Calls
from ..calls.clients import client_called_by, is_async
from ..calls.private_names import call_of_waiter, client_method_of, marked_as_waiter
from ..common.errors import warn
from ..engine.machine import AttemptsUsedUp, Ending, Failed, TimedOut
from ..engine.model import WaitDescription
from ..engine.redaction import printable
from ..options import OPTION_NAMES, WaitOptions, refuse_other_names, split_options
from ..outcome import WaiterOutcome
from ..service.clients import hook_of
from ..service.errors import is_transient_error
from ..service.judge import DefinitionJudge
from ..service.labels import ResourceLabel, label_of
from ..service.parameters import copied, empty_id_list
from ..service.waits import SearchedCall
from ..settings import Settings
from ..wait.drivers import PreparedWait
from ..wait.facts import Judge
from ..wait.wait_run import WaitRun
from ..wait.wording import (
    details_after_botocores,
    seconds_text,
    timed_out_after,
    with_reason,
)
from .defined_waiters import ErrorResponses, bound_waiter_of, runs_here
from .stock_judge import StockJudge, acceptors_of
from .waiter_config import stock_policy


def wait(waiter: Any, keywords: Mapping[str, Any], settings: Settings) -> WaiterOutcome[Any]:
    """Run a botocore waiter on the engine.

    Args:
        waiter: the waiter object; its name, config and operation are read when called.
        keywords: the arguments of its `wait`: operation parameters, `WaiterConfig`, and our
            options.
        settings: those that hold for it.

    Returns:
        The outcome, which is also left as `waiter.outcome`.

    Raises:
        TypeError, ValueError: a bad option or `WaiterConfig`, before the first request.
        WaiterError: the wait did not succeed, in botocore's words. Other errors pass as the
            operation raised them.
    """
    outcome = _prepared(waiter, keywords, settings, awaited=False).run()
    _leave(waiter, outcome)
    return outcome


async def wait_async(waiter: Any, keywords: Mapping[str, Any], settings: Settings) -> Any:
    """Run an aiobotocore waiter on the engine; see `wait`.

    Returns:
        The last response, or error response, as from aiobotocore; the outcome is left as
        `waiter.outcome`.
    """
    prepared = _prepared(waiter, keywords, settings, awaited=True)
    _leave(waiter, await prepared.run_async())
    return prepared.wait_run.last_response


@contextlib.contextmanager
def _marked_and_answering_slips(names: Iterable[str]) -> Iterator[None]:
    """Mark the requests, and say more than botocore about a parameter that does not exist."""
    try:
        with marked_as_waiter():
            yield
    except ParamValidationError as error:
        unknown = [name for name in names if f'parameter in input: "{name}"' in str(error)]
        try:
            refuse_other_names("the wait", unknown)
            split_options(dict.fromkeys(unknown))
        except TypeError as answer:
            error.args = (f"{error}\n{answer}",)
        raise


def _leave(waiter: Any, outcome: WaiterOutcome[Any] | None) -> None:
    """Assign `waiter.outcome`, unless a class of the caller's has another use for the name."""
    with contextlib.suppress(AttributeError):
        waiter.outcome = outcome


def _prepared(
    waiter: Any, keywords: Mapping[str, Any], settings: Settings, *, awaited: bool
) -> PreparedWait:
    """Return a wait that is ready to start; raise for wrong arguments."""
    called_at = time.monotonic()
    parameters = dict(keywords)
    waiter_config = parameters.pop("WaiterConfig", {})
    max_wait = parameters.pop("max_wait", None)
    given = WaitOptions(**{n: parameters.pop(n) for n in OPTION_NAMES if n in parameters})
    operation = call_of_waiter(waiter)
    method = client_method_of(operation)
    client = client_called_by(operation if method is None else method)
    model = _operation_model(client, getattr(waiter.config, "operation", waiter.name))
    schedule = partial(stock_policy, waiter.config, waiter_config, client)
    resolved = settings.resolve(given, max_wait, schedule)
    options = resolved.options
    parameters = copied(parameters)
    # Those that botocore itself would put in, which it does behind the client's method.
    sent: Mapping[str, Any] = parameters
    if model is not None and model.idempotent_members:
        from ..service.tokens import with_marked_tokens  # noqa: PLC0415 - two in a hundred

        sent = with_marked_tokens(model, parameters)
    # No `or`: a mock in the operation's place would record that its truth was asked for.
    send = partial(operation, **parameters) if method is None else partial(method, **sent)
    calls = Calls(
        client=client,
        awaited=awaited,
        # A replaced operation that raises a ClientError raised it on purpose.
        is_reply=(lambda _: False) if method is None else _is_reply,
        cancel=options.cancel_event,
        in_thread=bool(options.call_in_thread),
    )
    searched = None
    if resolved.policy.endings.explain and method is not None and model is not None:
        searched = SearchedCall(client, model, parameters)
    message = None if model is None else empty_id_list(model, parameters)
    if message is not None:
        warn(message, UserWarning)
    description, judge, resource = _judge_of(waiter, client, model, parameters, method is None)
    _leave(waiter, None)
    _, policy, observers = resolved.with_history(description, client)
    run = _StockRun(
        description,
        policy,
        judge,
        label="" if resource is None else label_of(resource, parameters, options),
        show_parameters=options.show_parameters is not False,
        observers=observers,
        on_attempt=options.on_attempt,
        wording=_stock_wording,
        # botocore lets such an error of the operation pass as it is.
        is_raw=lambda error: not isinstance(error, ClientError),
        called_at=called_at,
        searched=searched,
    )
    _refuse_other_kind(waiter.name, client, awaited=awaited)
    return PreparedWait(
        wait_run=run,
        send=send,
        calls=calls,
        wake=options.wake_signal,
        sleep=_stock_sleep,
        context=partial(_marked_and_answering_slips, keywords),
    )


def _refuse_other_kind(name: str, client: Any, *, awaited: bool) -> None:
    if client is None or is_async(type(client)) is awaited:
        return
    what, calls = "blocks", "of its aiobotocore client are awaited"
    other = "aiobotocore.waiter.AIOWaiter"
    if awaited:
        what, calls = "is awaited", "of its client block"
        other = "wait_until_async, which calls in threads"
    raise TypeError(
        f"the waiter {name} {what}, but calls {calls}: use client.get_waiter, or {other}"
    )


def client_of(waiter: Any) -> Any:
    """Return the client that a waiter calls; None where it cannot be told."""
    operation = call_of_waiter(waiter)
    method = client_method_of(operation)
    return client_called_by(operation if method is None else method)


def settings_of(waiter: Any, of_process: Settings | None) -> Settings | None:
    """Return the settings for a waiter object; None where botocore's own loop has to run.

    Args:
        waiter: however it was made.
        of_process: those for a waiter of a client that was never hooked.
    """
    hook = hook_of(client_of(waiter))
    if hook is None:
        return of_process
    return hook.level.merged() if runs_here(waiter, hook) else None


def _judge_of(
    waiter: Any,
    client: Any,
    model: OperationModel | None,
    parameters: Mapping[str, Any],
    is_replaced: bool,  # noqa: FBT001 - of this module
) -> tuple[WaitDescription, Judge, ResourceLabel | None]:
    endpoint = None if client is None else client.meta.endpoint_url
    judge: Judge
    bound_waiter = bound_waiter_of(waiter)
    if bound_waiter is not None:
        bound_waiter.warn()
        judge = DefinitionJudge(bound_waiter.polling, parameters, endpoint)
        if is_replaced:
            judge = ErrorResponses(judge, bound_waiter.operation.name)
        return bound_waiter.polling.stock_description, judge, bound_waiter.polling.resource_label
    acceptors = acceptors_of(waiter, client, model)
    judge = StockJudge(acceptors, parameters, endpoint)
    return acceptors.description, judge, acceptors.resource_label


def _operation_model(client: Any, name: str) -> OperationModel | None:
    if client is None or name not in client.meta.service_model.operation_names:
        return None
    model: OperationModel = client.meta.service_model.operation_model(name)
    return model


def _is_reply(error: Exception) -> bool:
    return isinstance(error, ClientError) or is_transient_error(error)


def _stock_sleep(amount: float) -> None:
    # Tests patch `time.sleep`, `botocore.waiter.time.sleep` or `botocore.waiter.time`.
    botocore.waiter.time.sleep(amount)  # type: ignore[attr-defined]  # its import, not in the stubs


class _StockRun(WaitRun):
    """The run of a waiter object, whose error carries the last response whatever it says."""

    __slots__ = ()

    @property
    def last_response(self) -> Mapping[str, Any]:
        """The response, or error response, of the last call that got one; or empty."""
        last = {} if self.attempt is None else self.attempt.last_response
        return last or super().last_response


def _stock_wording(run: WaitRun, ending: Ending) -> tuple[str, str]:
    """Return botocore's words, on which scripts depend, and a message that goes on after them."""
    reason = _stock_reason(run, ending)
    more = details_after_botocores(run, ending)
    if isinstance(ending, AttemptsUsedUp) and _ends_in_error_response(run):
        # botocore ends at such an error, and callers that repeat waits look for it.
        more = f"{reason}. {more}"
        reason = _error_in_botocores_words(run)
    return reason, f"Waiter {run.description.waiter} failed: {reason.rstrip('.')}. {more}"


def _ends_in_error_response(run: WaitRun) -> bool:
    """Return whether the last attempt was a transient error that the service answered with."""
    last = run.attempt
    if last is None or last is run.answer:
        return False
    return bool(botocore.waiter.is_valid_waiter_error(last.last_response))


def _error_in_botocores_words(run: WaitRun) -> str:
    error = run.last_response.get("Error", {})
    code, message = error.get("Code", "Unknown"), error.get("Message", "Unknown")
    if message and run.attempt is not None and run.attempt.reason.text is None:
        # It may not be shown: the model calls it sensitive, or it is no message.
        message = "Unknown"
    return printable(f"An error occurred ({code}): {message}")


def _stock_reason(run: WaitRun, ending: Ending) -> str:
    match ending:
        case Failed(acceptor=None):
            return _error_in_botocores_words(run)
        case Failed(acceptor=int(index)):
            explanation = run.description.acceptors[index].text
            return with_reason(f"Waiter encountered a terminal failure state: {explanation}", run)
        case AttemptsUsedUp():
            return f"Max attempts exceeded{_accepted_state(run)}"
        case TimedOut():
            # A call that is not answered ends so before any time bound.
            limits, unanswered = run.policy.limits, run.unanswered_since is not None
            is_late = limits.deadline is not None and run.elapsed >= limits.deadline
            is_bounded = limits.count_requests or is_late or not unanswered
            no_answer = f"{run.description.operation} was not answered in time"
            reason = timed_out_after(run) if is_bounded else no_answer
            return f"{reason}{_accepted_state(run)}"
        case _:
            return f"cancelled after {seconds_text(run.elapsed)} s"


def _accepted_state(run: WaitRun) -> str:
    if not run.has_matched:
        return ""
    # botocore names the acceptor of the last attempt, or where none matched then the last one
    # of the list, whichever matched before.
    matched = run.answer.facts.acceptor if run.answer else None
    text = run.description.acceptors[-1 if matched is None else matched].text
    return f". Previously accepted state: {text}"
