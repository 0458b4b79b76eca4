"""The error of a definition, kept apart from the errors of waits, which need botocore's.

Definitions are read without botocore, so that `install(definitions=...)` imports none of it.
"""

from __future__ import annotations

from typing import Any


class WaiterDefinitionError(ValueError):
    """A waiter definition breaks a rule of the specification.

    Attributes:
        problem: the rule, in words.
        source: the file, or what stands for it.
        waiter: the waiter's name, if the problem lies in one.
        acceptor: the index of the acceptor, if the problem lies in one.
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str,
        waiter: str | None = None,
        acceptor: int | None = None,
    ) -> None:
        place = source
        if waiter is not None:
            place += f": waiter {waiter}"
        if acceptor is not None:
            place += f", acceptor {acceptor}"
        super().__init__(f"{place}: {problem}")
        self.problem = problem
        self.source = source
        self.waiter = waiter
        self.acceptor = acceptor

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_definition_error, (self.problem, self.source, self.waiter, self.acceptor)


def _rebuild_definition_error(
    problem: str, source: str, waiter: str | None, acceptor: int | None
) -> WaiterDefinitionError:
    return WaiterDefinitionError(problem, source=source, waiter=waiter, acceptor=acceptor)
