"""Slips in `waiters-2` documents that are loaded all the same.

| rule | severity | id |
|---|---|---|
| a state is success, failure or retry | DANGER | `WaiterUnknownState.W.i` |
| a waiter has acceptors | WARNING | `WaiterWithoutAcceptors.W` |
"""

from __future__ import annotations

from collections.abc import Iterator

from ..definitions.waiters2 import STATE_OF_NO_EFFECT, is_template
from .documents import Document
from .events import Severity, ValidationEvent


def slips(document: Document) -> Iterator[ValidationEvent]:
    """What is wrong with a document whose waiters could be loaded."""
    for name, body in document.data["waiters"].items():
        if is_template(body):
            yield ValidationEvent(
                Severity.WARNING,
                f"WaiterWithoutAcceptors.{name}",
                None,
                f"Waiter `{name}`: it has no acceptors, and is passed over",
                document.locate(("waiters", name)),
            )
            continue
        for index, acceptor in enumerate(body["acceptors"]):
            if acceptor["state"] == STATE_OF_NO_EFFECT:
                yield ValidationEvent(
                    Severity.DANGER,
                    f"WaiterUnknownState.{name}.{index}",
                    None,
                    f"Waiter `{name}`, acceptor {index}: there is no state "
                    f"`{STATE_OF_NO_EFFECT}`; botocore goes on, as with `retry`",
                    document.locate(("waiters", name, "acceptors", index)),
                )
