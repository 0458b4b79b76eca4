"""botocore's own waiter objects on our engine: its acceptors, its words, its sleep.

Whatever object calls `botocore.waiter.Waiter.wait` ends up here: `client.get_waiter`,
`create_waiter_with_client`, a `Waiter` built by hand, a boto3 resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import botocore.client
import botocore.waiter
import jmespath
from botocore.exceptions import ClientError
from botocore.model import OperationModel

from ..engine.machine import AttemptsUsedUp, Ending, Facts, Failed, TimedOut
from ..engine.model import AcceptorState, MatchedAcceptor
from ..options import OPTION_NAMES, CancelEvent, WaitOptions
from ..outcome import WaiterOutcome
from ..runtime.aio import drive_async
from ..runtime.attempt import Attempt
from ..runtime.sync import drive
from ..runtime.wait_run import WaitDescription, WaitRun, last_seen, reason_of, said
from ..settings import Scope
from .awaited_call import awaited_call
from .bounded_call import bounded_call
from .call_budget import CallEnded
from .client_kind import is_async
from .data_model import DataModel
from .errors import ErrorFacts, error_facts
from .port import ended_attempt
from .private_names import client_method_of, marked_as_waiter, operation_of
from .reasons import Compared, find_reason
from .response_split import ById
from .waiter_config import policy_of

# Any other state means to go on, as in botocore's loop.
_STATES = {state.value: state for state in AcceptorState}

PORT = "_boto_waiters_plus_port"
"""The attribute of a waiter object's class that makes its port, where a definition judges."""

_Test = Callable[["_Answer"], bool]


def wait(waiter: Any, keywords: Mapping[str, Any], scope: Scope) -> WaiterOutcome[Any]:
    """Run a botocore waiter on the engine.

    Args:
        waiter: the waiter object; its name, config and operation are read when called.
        keywords: what its `wait` was called with: operation parameters, `WaiterConfig`, and our
            options.
        scope: settings that apply to it.

    Returns:
        The outcome, which is also left as `waiter.outcome`.

    Raises:
        TypeError, ValueError: a bad option or `WaiterConfig`, before the first request.
        WaiterError: the wait did not succeed, in botocore's words. Other errors come through as
            the operation raised them.
    """
    if is_async(type(client_of(waiter))):
        raise TypeError(
            f"the waiter {waiter.name} blocks, and its client is aiobotocore's, whose calls are "
            "awaited: take client.get_waiter, or aiobotocore.waiter.AIOWaiter"
        )
    wait_run, port, options = prepared(waiter, keywords, scope)
    with marked_as_waiter():
        outcome = drive(
            wait_run,
            port,
            cancel=options.cancel_event,
            wake=options.wake_signal,
            sleep=_stock_sleep,
        )
    waiter.outcome = outcome
    return outcome


async def wait_async(waiter: Any, keywords: Mapping[str, Any], scope: Scope) -> Any:
    """Run an aiobotocore waiter on the engine; see `wait`.

    Returns:
        The last response, or error response, as aiobotocore's own does; the outcome is left as
        `waiter.outcome`.
    """
    client = client_of(waiter)
    if client is not None and not is_async(type(client)):
        raise TypeError(
            f"the waiter {waiter.name} is awaited, and the calls of its client are not: "
            "take client.get_waiter, or wait_until_async, which calls in threads"
        )
    wait_run, port, options = prepared(waiter, keywords, scope)
    with marked_as_waiter():
        waiter.outcome = await drive_async(
            wait_run,
            AsyncDropInPort(port),
            cancel=options.cancel_event,
            wake=options.wake_signal,
        )
    return wait_run.last_response


def prepared(
    waiter: Any, keywords: Mapping[str, Any], scope: Scope
) -> tuple[WaitRun, DropInPort, WaitOptions]:
    """A wait that is ready to start; whatever is wrong with its arguments is raised here."""
    parameters = dict(keywords)
    waiter_config = parameters.pop("WaiterConfig", {})
    max_wait = parameters.pop("max_wait", None)
    given = WaitOptions(**{n: parameters.pop(n) for n in OPTION_NAMES if n in parameters})
    options = given.over(scope.defaults)
    policy = policy_of(waiter.config, waiter_config, max_wait, given, options)
    port = _port(waiter, parameters, options)
    wait_run = WaitRun(
        port.description,
        policy,
        observers=scope.observers,
        wording=_stock_wording,
    )
    if options.on_attempt is not None:
        wait_run.observe_attempts(options.on_attempt)
    waiter.outcome = None
    return wait_run, port, options


def _port(waiter: Any, parameters: Mapping[str, Any], options: WaitOptions) -> DropInPort:
    bounds: dict[str, Any] = {
        "cancel": options.cancel_event,
        "in_thread": bool(options.call_in_thread),
    }
    make = getattr(type(waiter), PORT, None)
    if make is None:
        return DropInPort(waiter, list(waiter.config.acceptors), parameters, **bounds)
    port: DropInPort = make(waiter, parameters, **bounds)
    return port


def is_defined(waiter: Any) -> bool:
    """Whether a definition judges for a waiter object, which botocore's own loop cannot do."""
    return hasattr(type(waiter), PORT)


def client_of(waiter: Any) -> Any:
    """The client that a waiter calls; None where it cannot be told."""
    operation = operation_of(waiter)
    method = client_method_of(operation)
    client = getattr(operation if method is None else method, "__self__", None)
    return client if isinstance(client, botocore.client.BaseClient) else None


class DropInPort:
    """Polls what a botocore waiter polls, and judges as its acceptors do.

    Args:
        waiter: the waiter object.
        acceptors: its acceptors; objects of another class than botocore's are asked by their
            `matcher_func`.
        parameters: the operation's parameters.
        cancel: ends a call that is under way.
        in_thread: make each call in a thread that can be given up.
    """

    def __init__(
        self,
        waiter: Any,
        acceptors: Sequence[Any],
        parameters: Mapping[str, Any],
        *,
        cancel: CancelEvent | None = None,
        in_thread: bool = False,
    ) -> None:
        self.cancel = cancel
        self._in_thread = in_thread
        self._operation = operation_of(waiter)
        self._client_method = client_method_of(self._operation)
        self._parameters = parameters
        self._operation_name = getattr(waiter.config, "operation", waiter.name)
        self._expressions: dict[str, Any] = {}
        self._tests = [self._test(acceptor) for acceptor in acceptors]
        self._paths = [_path_of(acceptor) for acceptor in acceptors]
        self._compared = [_compared(acceptor) for acceptor in acceptors]
        client = self.client = client_of(waiter)
        self._model = _operation_model(client, self._operation_name)
        paths = [("output", path) for path in self._expressions]
        self._sensitive = self._model is not None and DataModel(self._model, paths).sensitive
        self.description = WaitDescription(
            waiter=waiter.name,
            operation=self._operation_name,
            service=client.meta.service_model.service_name if client is not None else None,
            goal="",
            acceptors=tuple(
                MatchedAcceptor(index, str(getattr(acceptor, "explanation", acceptor.state)))
                for index, acceptor in enumerate(acceptors)
            ),
            states=tuple(
                _STATES.get(acceptor.state, AcceptorState.RETRY) for acceptor in acceptors
            ),
        )

    def poll(self, time_left: float | None) -> Attempt:
        """Make the call, by botocore's wrapper or by what was put in its place."""
        try:
            response = bounded_call(
                self.call,
                client=self.client,
                seconds=time_left,
                cancel_event=self.cancel,
                in_thread=self._in_thread,
            )
        except CallEnded as ended:
            return self.ended(ended)
        except ClientError as error:
            if not self.keeps_errors:
                raise
            return self.raised(error)
        return self.returned(response)

    def ended(self, ended: CallEnded) -> Attempt:
        """Return the attempt whose call was ended."""
        cause = ended.__cause__
        if ended.reason != "retry refused" or isinstance(cause, ClientError):
            return ended_attempt(ended, self.raised)  # type: ignore[arg-type]  # a ClientError
        return Attempt(facts=Facts(acceptor=None))

    @property
    def keeps_errors(self) -> bool:
        """Whether a ClientError of the call is an answer: not where somebody's call raised it."""
        return self._client_method is not None

    def call(self) -> Any:
        """Make the bare call."""
        # No `or`: a mock in the operation's place would record that its truth was asked for.
        call = self._operation if self._client_method is None else self._client_method
        return call(**self._parameters)

    def returned(self, response: Any) -> Attempt:
        """The attempt that ended in a response; of a replaced operation it may be an error's."""
        if botocore.waiter.is_valid_waiter_error(response):
            return self.raised(ClientError(response, self._operation_name))
        return self._answered(_Answer(response, None))

    def raised(self, error: ClientError) -> Attempt:
        """The attempt that ended in an error of the service."""
        return self._answered(_Answer(error.response, error_facts(error, self._model)), error)

    def _answered(self, answer: _Answer, error: ClientError | None = None) -> Attempt:
        index = next((i for i, test in enumerate(self._tests) if test(answer)), None)
        facts = answer.error
        return Attempt(
            facts=Facts(
                acceptor=index,
                retryable=facts is not None and facts.retryable,
                throttled=facts is not None and facts.throttled,
                missing=facts is not None and facts.missing,
            ),
            response=answer.response if facts is None else None,
            exception=error,
            observed=None if facts or self._sensitive else self._observed(answer, index),
            error=facts.text if facts else None,
            error_code=facts.code if facts else None,
            service_message=facts.message if facts else None,
            find_reason=None if facts else partial(self._reason, index),
            last_response=answer.response if isinstance(answer.response, Mapping) else {},
            problems=tuple(answer.problems),
            by_id=None
            if facts or self._model is None
            else ById(self._model, self._parameters, answer.response),
        )

    def _reason(self, index: int | None, response: Any) -> str | None:
        if self._model is None:
            return None
        return find_reason(self._model, response, self._compared, index)

    def _observed(self, answer: _Answer, index: int | None) -> Any:
        paths = self._paths if index is None else [self._paths[index]]
        values = (self._value(path, answer) for path in paths if path is not None)
        return next((value for value in values if value not in (None, [])), None)

    def _value(self, path: str, answer: _Answer) -> Any:
        """The value of a path on a response; None where it cannot be evaluated."""
        if path not in answer.values:
            try:
                answer.values[path] = self._expressions[path].search(answer.response)
            # A path that stumbles over a response is no match; stock lets the error out.
            except Exception as error:
                answer.problems.append(f"{path} ({type(error).__name__})")
                answer.values[path] = None
        return answer.values[path]

    def _test(self, acceptor: Any) -> _Test:
        if type(acceptor) is not botocore.waiter.AcceptorConfig:
            return lambda answer: bool(acceptor.matcher_func(answer.response))
        expected, path = acceptor.expected, _path_of(acceptor)
        if path is not None:
            self._expressions.setdefault(path, jmespath.compile(path))
        # Comparisons are Python's here, as botocore's are: 1 == True.
        match acceptor.matcher:
            case "path":
                return lambda a: a.error is None and self._value(str(path), a) == expected
            case "pathAll":
                return lambda a: _is_list_of(self._items(path, a), expected, all)
            case "pathAny":
                return lambda a: _is_list_of(self._items(path, a), expected, any)
            case "status":
                return lambda a: a.status == expected
            case _ if isinstance(expected, bool):
                # What a boolean means is the installed botocore's to say: 1.34 knows names only.
                return lambda a: bool(acceptor.matcher_func(a.response))
            case _:
                return lambda a: a.is_error(expected)

    def _items(self, path: str | None, answer: _Answer) -> Any:
        return None if answer.error else self._value(str(path), answer)


class AsyncDropInPort:
    """Polls what an aiobotocore waiter object polls.

    Args:
        port: the port of the same waiter, whose calls are awaited here.
    """

    def __init__(self, port: DropInPort) -> None:
        self._port = port

    async def poll(self, time_left: float | None) -> Attempt:
        """Await the call, at most `time_left` seconds."""
        port = self._port
        try:
            response = await awaited_call(
                port.call, client=port.client, seconds=time_left, cancel_event=port.cancel
            )
        except CallEnded as ended:
            return port.ended(ended)
        except ClientError as error:
            if not port.keeps_errors:
                raise
            return port.raised(error)
        return port.returned(response)


class _Answer:
    """One response or error response, and the values computed on it."""

    def __init__(self, response: Any, error: ErrorFacts | None) -> None:
        self.response = response
        self.error = error
        self.values: dict[str, Any] = {}
        self.problems: list[str] = []

    @property
    def status(self) -> Any:
        if not isinstance(self.response, Mapping):
            return None
        return self.response.get("ResponseMetadata", {}).get("HTTPStatusCode")

    def is_error(self, expected: Any) -> bool:
        """True: any error; False: none; else the error of that name."""
        if isinstance(expected, bool):
            return expected is (self.error is not None)
        return self.error is not None and expected in self.error.names


def _is_list_of(items: Any, expected: Any, quantifier: Callable[[Sequence[bool]], bool]) -> bool:
    if not isinstance(items, list) or not items:
        return False
    return quantifier([item == expected for item in items])


def _path_of(acceptor: Any) -> str | None:
    if str(getattr(acceptor, "matcher", "")).startswith("path"):
        return getattr(acceptor, "argument", None)
    return None


def _compared(acceptor: Any) -> Compared | None:
    path = _path_of(acceptor)
    if path is None:
        return None
    state = _STATES.get(acceptor.state, AcceptorState.RETRY)
    return Compared(path, getattr(acceptor, "expected", None), state)


def _operation_model(client: Any, name: str) -> OperationModel | None:
    if client is None or name not in client.meta.service_model.operation_names:
        return None
    model: OperationModel = client.meta.service_model.operation_model(name)
    return model


def _stock_sleep(amount: float) -> None:
    # Tests patch `time.sleep`, `botocore.waiter.time.sleep` or `botocore.waiter.time`.
    botocore.waiter.time.sleep(amount)  # type: ignore[attr-defined]  # its import, not in the stubs


def _stock_wording(wait_run: WaitRun, ending: Ending) -> str:
    """Words of botocore, which scripts look for; the service's own are put behind them."""
    match ending:
        case Failed(acceptor=None):
            error = wait_run.last_response.get("Error", {})
            code, message = error.get("Code", "Unknown"), error.get("Message", "Unknown")
            return f"An error occurred ({code}): {message}"
        case Failed(acceptor=int(index)):
            explanation = wait_run.description.acceptors[index].text
            return f"Waiter encountered a terminal failure state: {explanation}{said(wait_run)}"
        case TimedOut() | AttemptsUsedUp():
            return f"Max attempts exceeded{_accepted_state(wait_run)}{_state_with_reason(wait_run)}"
        case _:
            return reason_of(wait_run, ending)


def _accepted_state(wait_run: WaitRun) -> str:
    if wait_run.last_matched is None:
        return ""
    # botocore names the acceptor of the last look, or where none matched then the last one
    # of the list, whichever matched before.
    matched = wait_run.attempt.facts.acceptor if wait_run.attempt else None
    text = wait_run.description.acceptors[-1 if matched is None else matched].text
    return f". Previously accepted state: {text}"


def _state_with_reason(wait_run: WaitRun) -> str:
    attempt = wait_run.attempt
    if attempt is None or attempt.error is not None or attempt.service_message is None:
        return ""
    return f"; last seen: {last_seen(wait_run)}"
