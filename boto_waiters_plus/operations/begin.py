"""`begin`: a mutation as a long-running operation, which ends when its effect is seen."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, overload

from botocore import xform_name

from ..batch.callbacks import Callbacks, call_logged
from ..batch.preparation import Preparation, marked_context
from ..batch.schedule import Schedule
from ..batch.scheduler import LoopExecutor, run_waits_async
from ..batch.tasks import Task
from ..batch.wait import Wait
from ..calls import flow
from ..calls.clients import is_async
from ..calls.clock import current_time
from ..calls.flow import EitherWay, Flow, Step, blocking
from ..changes import stops
from ..changes.effects import EffectOfCall, chosen_effect, unchanged_by
from ..changes.known_effects import Effect
from ..changes.prepared_call import PROPAGATION_WAIT, CallOptions, CallOutcome, PreparedCall
from ..changes.repetition import CallCancelledError, CallOnceError, CallTimeoutError
from ..changes.stops import STOP_TIME, STOPS, Stop, StopsAfter
from ..changes.target import called_operation
from ..common.arguments import flag, with_methods
from ..common.errors import caller
from ..common.signatures import signature_of
from ..common.wrong_arguments import WrongTypeError, WrongValueError
from ..exceptions import WaiterError, WaiterTimeoutError
from ..options import policy_for, refuse_other_names, split_options
from ..outcome import WaiterOutcome
from ..service.labels import ResourceLabel, label_of
from ..service.parameters import refuse_wrong_parameters
from .begun import BegunRow, CallerLease, Held, refuse_unkept, wait_after
from .in_memory import MemoryOperation
from .operation import Operation, StoreError, path_of
from .stored_wait import NewRows

if TYPE_CHECKING:
    from .store import Store
    from .stored_operation import StoredOperation


End = WaiterOutcome[Any] | Exception | None

Begun_co = TypeVar("Begun_co", covariant=True)
Stored_co = TypeVar("Stored_co", covariant=True)

STORE_OPTIONS: Final = frozenset(
    ("exclusive_key", "include_response", "profile_name", "request_id")
)
"""The options that go with a store."""


class BegunOperation(MemoryOperation):
    """What `begin` returns: an `Operation` for the effect of a call.

    `cancel` ends the waiting and leaves the resource as it is, unless `stop_on_cancel` was given.

    Attributes:
        call: the `CallOutcome` of the call: its response, its token and its attempts.
        effect: what is waited for.
    """

    def __init__(
        self,
        wait: Wait,
        answered: EffectOfCall,
        call: CallOutcome,
        when: StopsAfter,
        *,
        no_change_ok: bool = False,
    ) -> None:
        self.call = replace(call, outcome=None)
        self._no_change_ok = no_change_ok
        self._answered, self._stops, self._stops_on_cancel = answered, when, when.cancel
        self.effect: Effect = answered.effect
        super().__init__(wait, end=call.outcome)

    def stop(self) -> Any:
        """Make the call that stops what was begun, and return its response.

        The wait goes on until the end is seen, which is a failure for most effects. Several things
        are stopped by as many calls as they need; all are made. Where the call would stop what
        others have begun on the resource, too, one more poll comes before it.

        Returns:
            The response; a list of several, in the order of the things; None: it has ended.

        Raises:
            NotImplementedError: nothing is known that stops it.
            ClientError: the service refused, the first of several.
            WaiterError: the poll before it got no answer.
        """
        return flow.run(stops.requested(self._answered, self._ended_as()))

    def _cancel_wait(self) -> bool:
        self._is_being_cancelled = self._stops_on_cancel and self._task is not None
        return super()._cancel_wait()

    def _conclude(self, result: End) -> None:
        end = partial(self._end_after, result)
        if self._stops.includes(result):
            STOPS.add(self.effect.stop or "", partial(stops.stop_in_time, self._answered), end)
        else:
            end(None)

    def _end_after(self, result: End, stop: Stop | None) -> None:
        """End as the wait did, after what was begun was stopped."""
        self._stop_made = stop
        if self._no_change_ok:
            result = unchanged_by(self._answered.mutation, result) or result
        if isinstance(result, WaiterError):
            result.call = self.call
            result = result if stop is None else stops.told(result, stop)
        self.end(None if self._is_being_cancelled else result)


class AwaitedOperation(BegunOperation):
    """A `BegunOperation` on an aiobotocore client, which the event loop drives: `await` it.

    `stop` returns a coroutine.
    """

    def _run(self, wait: Wait, called_at: float | None) -> None:
        self._loop, stop = asyncio.get_running_loop(), threading.Event()
        preparation = Preparation(
            stop=stop, callbacks=Callbacks(), caller=caller(), called_at=called_at
        )
        (task,) = preparation.tasks([wait])
        task.run.observe_attempts(self._attempted)
        self._task, self._driving = task, self._loop.create_task(self._drive(task, stop))
        self._driving.add_done_callback(self._has_stopped)

    async def _drive(self, task: Task, stop: threading.Event) -> None:
        run = Schedule(1)
        executor = LoopExecutor(run.now, marked_context(), stop)
        try:
            await run_waits_async(run, [task], executor, self._has_ended)
        except asyncio.CancelledError:
            if self._stops_on_cancel and not self.done():
                self._stop_made = await stops.stop_in_time_async(self._answered)
            raise

    def _has_stopped(self, driving: asyncio.Task[None]) -> None:
        """End with the task that drives the wait, which the end of `asyncio.run` cancels."""
        if driving.cancelled():
            self.end(None)
        elif (error := driving.exception()) is not None:
            self.end(error)

    def _cancel_task(self, _: Task) -> None:
        self._loop.call_soon_threadsafe(self._driving.cancel)

    async def stop(self) -> Any:
        return await flow.run_async(stops.requested(self._answered, self._ended_as()))

    def refuse_blocking(self, instead: str) -> None:
        """Raise RuntimeError if a wait for the end in this thread would keep it from coming."""
        here = None
        with contextlib.suppress(RuntimeError):
            here = asyncio.get_running_loop()
        if not self.done() and here is self._loop:
            raise RuntimeError(f"{self.path} is driven by this event loop: {instead}")

    def _wait_for_end(self, timeout: float | None) -> None:
        if timeout != 0:
            self.refuse_blocking("await it")
        super()._wait_for_end(timeout)

    def _call_back(self, function: Callable[[], object]) -> None:
        # In the loop, as for every future of a loop.
        call_logged(function)

    def _conclude(self, result: End) -> None:
        self._ending = asyncio.ensure_future(self._stop_and_end(result))

    async def _stop_and_end(self, result: End) -> None:
        stop = None
        # The time-out is what the caller is told, whatever comes of the stop, and of its loop.
        try:
            if self._stops.includes(result):
                stop = await stops.stop_in_time_async(self._answered)
        finally:
            self._end_after(result, stop)


class Beginning:
    """A checked call of `begin`; raises for whatever is wrong with its arguments.

    Args:
        method, max_wait, then_wait, in_store: as for `begin`.
        stops: `stop_on_timeout` and `stop_on_cancel`.
        calls: the fields of `CallOptions` that were given.
        keywords: the rest.
    """

    def __init__(
        self,
        method: Any,
        max_wait: Any,
        then_wait: Any,
        in_store: Store | None,
        stops: Mapping[str, Any],
        calls: Mapping[str, Any],
        keywords: dict[str, Any],
    ) -> None:
        self._in_store = in_store
        self._of_store = {name: keywords.pop(name) for name in STORE_OPTIONS & keywords.keys()}
        if in_store is not None:
            with_methods("in_store", in_store, "add_one")
        elif self._of_store:
            name = min(self._of_store)
            raise WrongTypeError.of(name, self._of_store[name], " goes with in_store")
        self.stops = StopsAfter(*(flag(name, value) for name, value in stops.items()))
        shape = called_operation("begin", method).input_shape
        members = () if shape is None else shape.members
        refuse_other_names("begin", [name for name in keywords if name not in members])
        given, self._asked = split_options(keywords)
        options = CallOptions(
            max_wait,
            cancel_event=given.cancel_event,
            show_parameters=given.show_parameters,
            **{"name": "begin", "once": True, **calls},
        )
        self._no_change_ok = options.no_change_ok
        self.prepared = prepared = PreparedCall(method, options, self._asked)
        operation = prepared.target.operation
        self.client = prepared.target.client
        self.effect = chosen_effect(self.client, operation, then_wait, prepared.parameters)
        for name, value in stops.items():
            if value and self.effect.effect.stop is None:
                problem = f": nothing stops what {xform_name(operation.name)} begins"
                raise WrongValueError.of(name, value, problem)
        by_definition = partial(policy_for, self.effect.bound_waiter.definition)
        of_wait = self.effect.settings.resolve(given, max_wait, by_definition, name="begin")
        self._options = of_wait.options
        self._clock = current_time().clock()
        self._start = self._clock()

    def run(self) -> BegunOperation | StoredOperation:
        """Make the call in this thread, and return the operation for its effect."""
        if self._in_store is None and is_async(type(self.client)):
            raise TypeError("client is an aiobotocore client: use begin_async, in its loop")
        return flow.run(self._flow())

    async def run_async(self) -> BegunOperation | StoredOperation:
        """Make the call as part of the calling task."""
        return await flow.run_async(self._flow())

    def _flow(self) -> Flow[BegunOperation | StoredOperation]:
        try:
            if self._in_store is not None:
                make = blocking(partial(self._begun_in, self._in_store))
                stored: StoredOperation = yield self._undoable(make, _cancel)
                return stored
            call = yield self._undoable(self.prepared, self._stop_after)
        except CallOnceError as error:
            raise _as_boto3(error) from None
        try:
            operation = self.begun(call)
        except WaiterTimeoutError as error:
            if not self.stops.timeout:
                raise
            in_thread = partial(stops.stop_in_time, self.answered(call))
            stop = yield EitherWay(in_thread, partial(self._stop_after, call))
            raise stops.told(error, stop) from None
        if self.stops.cancel:
            # The task that drives it has to begin before it can be cancelled.
            begun = EitherWay(lambda: operation, lambda: asyncio.sleep(0, operation))
            yield self._undoable(begun, _cancel)
        return operation

    def _undoable(self, step: Step, undo: Callable[[Any], Awaitable[object]]) -> Step:
        """Return a step that is undone at its end if the calling task is cancelled meanwhile."""
        made_or_undone = partial(_made_or_undone, step, undo)
        return EitherWay(step.run, made_or_undone) if self.stops.cancel else step

    def begun(self, call: CallOutcome) -> BegunOperation:
        """Return the operation for the effect of the call that was made."""
        try:
            answered = self.answered(call)
            passed = self._clock() - self._start
            left = self.prepared.bound.left(self.prepared.max_wait - passed)
            if call.outcome is not None:
                wait = self._unanswered_wait(call.outcome.label)
            else:
                wait = wait_after(answered, self._options, max_wait=left, since_call=passed)
        except Exception as error:
            # Whatever it is, such as an error of the caller's function, the call was made.
            error.call = call  # type: ignore[attr-defined]
            raise
        kind = AwaitedOperation if is_async(type(self.client)) else BegunOperation
        return kind(wait, answered, call, self.stops, no_change_ok=self._no_change_ok)

    def _unanswered_wait(self, label: str) -> Wait:
        """Return the wait before it is known what is polled."""
        bound = self.prepared.bound
        own: dict[str, Any] = {"max_wait": bound.left(bound.seconds), "label": label}
        return Wait.with_options(self.client, self.effect.bound_waiter, {}, self._options, **own)

    async def _stop_after(self, call: CallOutcome) -> Stop:
        """Stop what was begun by a call after which there is no wait."""
        return await stops.stop_in_time_async(self.answered(call))

    def answered(self, call: CallOutcome) -> EffectOfCall:
        """Return a call that was answered, with its effect."""
        return self.effect.answered(self.prepared.parameters, call.response)

    def _begun_in(self, store: Store) -> StoredOperation:
        """Make the call, which the store keeps before, and return the operation for its effect."""
        options = self._of_store
        client, prepared, operation = self.client, self.prepared, self.prepared.target.operation
        if is_async(type(client)):
            raise TypeError("in_store takes no client of aiobotocore: workers need a blocking one")
        refuse_wrong_parameters(client, operation, prepared.parameters)
        if options.get("request_id") is not None:
            refuse_unkept(operation, self._asked)
        begun = BegunRow.of_call(
            prepared, self.effect, self._options, self._asked, self.stops, store.seal
        )
        label = label_of(ResourceLabel(operation), begun.parameters, self._options)
        wait = self._unanswered_wait(str(label))
        profile, with_response = map(options.get, ("profile_name", "include_response"))
        rows = NewRows(store.seal, with_response, profile, begun)
        rows.add(wait, options.get("exclusive_key"), options.get("request_id"))
        row, is_new = store.add_one(rows)
        if not is_new:
            return store.operation(row)
        try:
            call, lease = None, CallerLease(store.database, row)
        except StoreError as error:
            raise _uncalled(store, path_of(row), error) from error
        end = self._start + prepared.max_wait
        held = Held(wait, store.database, lease.number, end, self._clock)
        begun.row = row
        try:
            if lease.is_taken:
                call = begun.make(held, prepared, self.effect)
        # What the store does not know is as unknown as what a dead process knew.
        except StoreError:
            raise
        except Exception as error:
            raised = begun.end(held, error)
            if raised is error:
                raise
            raise raised from None
        finally:
            lease.end()
        made = store.operation(store.row(path_of(row)))
        made.client, made.made_call = client, call
        return made


class _Begin(Protocol[Begun_co, Stored_co]):
    """The types of `begin`, and of its awaited twin."""

    # fmt: off
    @overload
    def __call__(
        self, client_method: Any, /, *, max_wait: Any = None, then_wait: Any = None,
        in_store: None = None, stop_on_timeout: bool = False, stop_on_cancel: bool = False,
        propagation_wait: Any = ..., busy_wait: Any = None, no_change_ok: bool = False,
        missing_ok: bool = False, **keywords: Any,
    ) -> Begun_co: ...
    @overload
    def __call__(
        self, client_method: Any, /, *, max_wait: Any = None, then_wait: Any = None,
        in_store: Store, stop_on_timeout: bool = False, stop_on_cancel: bool = False,
        propagation_wait: Any = ..., busy_wait: Any = None, no_change_ok: bool = False,
        missing_ok: bool = False, **keywords: Any,
    ) -> Stored_co: ...
    # fmt: on


def _begin(
    client_method: Any,
    /,
    *,
    max_wait: Any = None,
    then_wait: Any = None,
    in_store: Store | None = None,
    stop_on_timeout: bool = False,
    stop_on_cancel: bool = False,
    propagation_wait: Any = PROPAGATION_WAIT,
    busy_wait: Any = None,
    no_change_ok: bool = False,
    missing_ok: bool = False,
    **keywords: Any,
) -> Beginning:
    calls: dict[str, Any] = {"propagation_wait": propagation_wait, "busy_wait": busy_wait}
    calls |= {"no_change_ok": no_change_ok, "missing_ok": missing_ok}
    asked = {"stop_on_timeout": stop_on_timeout, "stop_on_cancel": stop_on_cancel}
    return Beginning(client_method, max_wait, then_wait, in_store, asked, calls, keywords)


_typed: Any = signature_of(_begin)
_blocking: Callable[[Any], _Begin[BegunOperation, StoredOperation]] = _typed
_awaited: Callable[
    [Any], _Begin[Coroutine[Any, Any, BegunOperation], Coroutine[Any, Any, StoredOperation]]
] = _typed


@_blocking
def begin(*arguments: Any, **keywords: Any) -> BegunOperation | StoredOperation:
    """Call a mutation, and return the operation that ends when its effect is seen.

    A state from before the call ends nothing: what tells that a state belongs to the call is
    `operation.effect.basis`. An operation with an idempotency token is called under one until the
    outcome is known, as by `idempotency.call_once`; one without is called once, as boto3 does.

    Args:
        client_method: a method of a client, such as `ecs.update_service`; or a wrapper of one, by
            its `__wrapped__`, which is called in its place.
        max_wait: seconds (or a `timedelta`) for the call and the wait together.
        then_wait: the name of an effect, where an operation has several, or of a waiter that polls
            as the first one does; or a waiter and a function that takes the response of the call
            and returns the parameters of the waiter. Such a waiter may end on a state from
            before the call.
        in_store: a `Store`, which keeps the call before it is made: call and wait outlive this
            process. A worker of the store goes on once the call is answered; it repeats a call
            whose process is gone, if it has a token and no sensitive parameter.
        stop_on_timeout: True makes the call that stops what was begun after a time-out (or after
            `max_attempts`), in at most 5 seconds before the end, whose `error.stop` says what
            became of it. With a store a worker makes it.
        stop_on_cancel: True makes it when the wait is cancelled: by `cancel`, the `cancel_event`,
            the cancellation of `begin_async` or of `await operation`, or Ctrl-C in `result`.
        propagation_wait: seconds (or a `timedelta`) in which a refusal is repeated that says that a
            new role or policy is not visible yet; 0: it is raised.
        busy_wait: seconds (or a `timedelta`) in which a refusal is repeated that says that another
            change of the resource is in progress; 0: it is raised; None: under a token it is
            repeated where its code alone says so, without one it is raised. Not after an attempt
            whose outcome is unknown, unless there is a token.
        no_change_ok: True makes "nothing to update" a success: the outcome is an `ExceptionOutcome`
            with the refusal, and its basis is `"unchanged"`. Not after an attempt whose outcome is
            unknown.
        missing_ok: True makes the refusal of a call a success, where it says that what the call
            deletes, terminates or detaches is gone already: an `ExceptionOutcome` with the
            refusal, whose basis is `"goal"`. Not if a parent is missing, nor if several are named.
        keywords: fields of `WaitOptions` for the wait, and the parameters of the operation; with
            `in_store` also `exclusive_key`, `include_response`, `profile_name` and `request_id`:
            see `Store.start`.

    Returns:
        The operation, a future with a `path`, the `call` and the `effect`. Its result is the
        outcome, whose `basis` says how it is known that this change has ended.

    Raises:
        ClientError: the service refused the call: boto3's own error.
        CallTimeoutError, CallCancelledError: no answer came in time; see `outcome_unknown`.
        ValueError: nothing is known of the effect, there is nothing to wait for, an option is out
            of range, or a sensitive parameter goes with `request_id`; before the call.
        TypeError: an argument is of the wrong kind; before the call.
        OperationError, StoreError: the store refuses the call, as `Store.start`.
    """
    return _begin(*arguments, **keywords).run()


@_awaited
async def begin_async(*arguments: Any, **keywords: Any) -> BegunOperation | StoredOperation:
    """`begin` as part of the calling task, and `await` waits for the operation.

    The call of a blocking client is made in a thread. That of an aiobotocore client is awaited, and
    its event loop drives the wait.

    Args:
        client_method, max_wait, then_wait, in_store: as for `begin`. With `in_store` the end of the
            task does not end the call.
        stop_on_timeout, stop_on_cancel, propagation_wait, busy_wait: as for `begin`.
        no_change_ok, missing_ok, keywords: as for `begin`.
    """
    return await _begin(*arguments, **keywords).run_async()


async def _cancel(operation: Operation) -> None:
    await asyncio.to_thread(operation.cancel)


async def _made_or_undone(step: Step, undo: Callable[[Any], Awaitable[object]]) -> Any:
    made = asyncio.ensure_future(step.run_async())
    try:
        return await asyncio.shield(made)
    except asyncio.CancelledError:
        # The answer of a call names what is to be stopped. Another cancellation gives that up.
        await asyncio.wait([made], timeout=STOP_TIME)
        if not made.cancel() and made.exception() is None:
            await undo(made.result())
        raise


def _uncalled(store: Store, path: str, error: StoreError) -> StoreError:
    """Cancel a call before it is made, so that no worker makes it; return the error for it."""
    try:
        store.cancel(path)
    except StoreError:
        return StoreError(f"{error}: {path} is kept, and a worker will make its call")
    return error


def _as_boto3(error: CallOnceError) -> Exception:
    """Return the error that boto3 raised, where the service or the connection gave one."""
    is_end = isinstance(error, (CallTimeoutError, CallCancelledError))
    return error if is_end or error.last_exception is None else error.last_exception
