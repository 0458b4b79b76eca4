"""One scenario, three callers: blocking, in a task, and in a task with a callable to await."""

import pytest

from boto_waiters_plus import conditions


@pytest.fixture
def forms(styled):
    """The forms in each of three styles, all called as if they blocked."""
    return styled(conditions)


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
            # One that is raised again would have the frames of all attempts.
            raise value.with_traceback(None)
        return value


class Box:
    """Something that becomes full at some time, and remembers when it was read."""

    def __init__(self, clock):
        self._clock, self.content, self.times = clock, None, []

    def read(self):
        self.times.append(round(self._clock.now, 3))
        return self.content

    def fill_at(self, when, tell=lambda: None, content="full"):
        """Fill it at this time, and tell of it."""

        def fill():
            self.content = content
            tell()

        self._clock.call_at(when, fill)


@pytest.fixture
def values(virtual_time):
    """Makes a callable: `values(None, "ready")`."""
    return lambda *given: Values(virtual_time, *given)
