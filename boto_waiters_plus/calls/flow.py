"""One flow, two drivers: a generator of steps, done in the calling thread or as part of a task.

A step is what takes time: a call, a pause, an access to a store. Everything between the steps is
written once, as a generator; flows are nested by `yield from`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Step(Protocol):
    """One thing that takes time."""

    def run(self) -> Any:
        """Do it in the calling thread."""
        ...

    def run_async(self) -> Awaitable[Any]:
        """Do it as part of the calling task."""
        ...


Flow = Generator[Step, Any, T]
"""Yields steps, is sent what they gave, or thrown what they raised, and returns its result."""


async def value_of(function: Callable[[], Any]) -> Any:
    """Call a function; await what it returns if that is awaitable."""
    value = function()
    return await value if inspect.isawaitable(value) else value


@dataclass(slots=True, eq=False, repr=False)
class EitherWay:
    """A step that is done in one of two ways."""

    run: Callable[[], Any]
    run_async: Callable[[], Awaitable[Any]]


def called(function: Callable[[], Any]) -> EitherWay:
    """Return the call of a caller's function; a task awaits what it returns if it is awaitable."""
    return EitherWay(function, partial(value_of, function))


def blocking(function: Callable[[], Any]) -> EitherWay:
    """Return the call of a function that blocks; for a task it runs in a thread."""

    def run_async() -> Awaitable[Any]:
        import asyncio  # noqa: PLC0415 - 11 ms that a program without tasks never pays

        return asyncio.to_thread(function)

    return EitherWay(function, run_async)


def run(flow: Flow[T]) -> T:
    """Do the steps of a flow in the calling thread."""
    result: Any = None
    error: BaseException | None = None
    try:
        while True:
            # Not in the `except`: what the flow raises has no context that is not its own.
            step = flow.send(result) if error is None else flow.throw(error)
            result = error = None
            try:
                result = step.run()
            except BaseException as raised:
                error = raised
    except StopIteration as end:
        value: T = end.value
        return value
    except RuntimeError as raised:
        # What a generator makes of a StopIteration, which a caller's function may raise.
        is_made = raised is not error and raised.args == ("generator raised StopIteration",)
        if not (is_made and isinstance(raised.__cause__, StopIteration)):
            raise
        stop = raised.__cause__
        # Such as the call that was made before.
        vars(stop).update(vars(raised))
    finally:
        flow.close()
        # The traceback of an error has this frame.
        del error, result
    try:
        raise stop
    finally:
        del stop


async def run_async(flow: Flow[T]) -> T:
    """Do the steps of a flow as part of the calling task."""
    result: Any = None
    error: BaseException | None = None
    try:
        while True:
            step = flow.send(result) if error is None else flow.throw(error)
            result = error = None
            try:
                result = await step.run_async()
            except BaseException as raised:
                error = raised
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        flow.close()
        del error, result
