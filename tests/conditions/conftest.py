"""One scenario, three callers: blocking, in a task, and in a task with a callable to await."""

import asyncio

import pytest

from boto_waiters_plus import conditions


class Forms:
    """The forms in one of three styles, all called as if they blocked.

    Attributes:
        style: "blocking", "task" or "awaited".
    """

    def __init__(self, style):
        self.style = style

    def __getattr__(self, name):
        if self.style == "blocking":
            return getattr(conditions, name)

        def form(call, *arguments, **options):
            calls = self._callables(call)
            return asyncio.run(getattr(conditions, f"{name}_async")(calls, *arguments, **options))

        return form

    def _callables(self, call):
        match call:
            case dict():
                return {key: self._callable(one) for key, one in call.items()}
            case list():
                return [self._callable(one) for one in call]
            case _:
                return self._callable(call)

    def _callable(self, call):
        if self.style != "awaited" or not callable(call):
            return call

        async def awaited():
            await asyncio.sleep(0)
            return call()

        return awaited


@pytest.fixture(params=["blocking", "task", "awaited"])
def forms(request):
    return Forms(request.param)


class Values:
    """A callable that returns one value after another, then the last one forever.

    Attributes:
        times: when it was called.
    """

    def __init__(self, clock, *values):
        self._clock = clock
        self._values = list(values)
        self.times = []

    def __call__(self):
        self.times.append(round(self._clock.now, 3))
        value = self._values.pop(0) if len(self._values) > 1 else self._values[0]
        if isinstance(value, Exception):
            raise value
        return value


@pytest.fixture
def values(virtual_time):
    """Makes a callable: `values(None, "ready")`."""
    return lambda *given: Values(virtual_time, *given)
