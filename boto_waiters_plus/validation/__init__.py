"""Checks waiter definitions: Smithy's rules, and some more.

    for event in check("waiters.json", "ecs"):
        print(event)

Smithy's own rules have Smithy's event ids, severities and texts; `waiter_rules` and `trait_rules`
list them. They hold for models with shapes of their own and for definitions over the services of
botocore, with one difference: there an `errorType` may also be an error's code on the wire.

Beyond Smithy (W stands for the waiter's name, i for the acceptor's index):

| id | severity | says |
|---|---|---|
| `WaiterNeverSucceeds.W` | DANGER | no success acceptor can ever decide |
| `WaiterOperationNotReadOnly.W` | DANGER | by name or method, the operation changes something |
| | NOTE | nothing tells that it does not |
| `WaiterUnknownEnumValue.W.i` | WARNING | a compared string is no value of the enumeration |
| `WaiterUnreachableAcceptor.W.i` | WARNING | an earlier acceptor always matches first |
| `WaiterUnhandledState.Failed.W` | WARNING | no acceptor mentions a value that says failure |
| `WaiterUnhandledState.Ended.W` | NOTE | no acceptor mentions another value that says the end |
| `WaiterPathReadDifferently.W.i` | WARNING | jmespath.py gives null where the grammar does not |
| `WaiterPaginatedPath.W.i` | NOTE | what the path reads comes in pages |
| `WaiterStatusMatcher.W.i` | NOTE | a matcher on an HTTP status, which only botocore has |
| `WaiterUnknownOperation` | WARNING | botocore has no such operation, but one nearly of that name |
| | NOTE | it has none: the waiters are passed over, as they are at run time |
| `WaiterUnknownState.W.i` | DANGER | `waiters-2` only: a state that botocore does not know either |
| `WaiterWithoutAcceptors.W` | WARNING | `waiters-2` only: nothing to wait for; it is passed over |
| `WaiterNoDefinitions` | WARNING | a folder has no file of waiters |

The trait `boto.waiters#coalescing` has rules of its own, `Coalescing.*`: see `coalescing_rules`.

DANGER is for what makes a waiter useless or worse, WARNING for what costs the caller time or leaves
an acceptor without effect, NOTE for what may well be meant. All of them believe the model: services
are known to answer with values that their models lack.

A model suppresses what is meant as it is: see `suppressions`. It may also say which botocore it was
written from: see `written_from` for what an older one makes of it.
"""

from __future__ import annotations

from .checker import check
from .events import Location, Severity, ValidationEvent

__all__ = ["Location", "Severity", "ValidationEvent", "check"]
