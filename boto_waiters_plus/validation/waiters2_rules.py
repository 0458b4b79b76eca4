"""Problems of `waiters-2` documents that botocore, and with it the loader, tolerates.

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


def check_waiters2(document: Document) -> Iterator[ValidationEvent]:
    """Check a document whose waiters could be loaded."""
    for name, body in document.data["waiters"].items():
        if is_template(body):
            yield ValidationEvent(
                Severity.WARNING,
                f"WaiterWithoutAcceptors.{name}",
                None,
                f"Waiter `{name}` has no acceptors and is ignored",
                document.locate(("waiters", name)),
            )
            continue
        for index, acceptor in enumerate(body["acceptors"]):
            if acceptor["state"] == STATE_OF_NO_EFFECT:
                yield ValidationEvent(
                    Severity.DANGER,
                    f"WaiterUnknownState.{name}.{index}",
                    None,
                    f"Waiter `{name}`, acceptor {index}: `{STATE_OF_NO_EFFECT}` is not a state; "
                    "botocore treats it as `retry`",
                    document.locate(("waiters", name, "acceptors", index)),
                )
