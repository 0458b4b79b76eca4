"""Checks waiter definitions: Smithy's rules, and some more.

    for event in check("waiters.json", "ecs"):
        print(event)

Smithy's own rules have Smithy's event ids and severities; `waiter_rules` lists them. They hold for
models with shapes of their own and for definitions of botocore's services, with one difference:
over botocore an `errorType` may also be an error code.

Rules that Smithy lacks (W stands for the waiter's name, i for the acceptor's index):

| id | severity | problem |
|---|---|---|
| `WaiterNeverSucceeds.W` | DANGER | no success acceptor can match |
| `WaiterOperationNotReadOnly.W` | DANGER | the operation may modify resources |
| | NOTE | the operation is not known to be read-only |
| `WaiterUnknownEnumValue.W.i` | WARNING | a compared string is not a value of the enumeration |
| `WaiterUnreachableAcceptor.W.i` | WARNING | an earlier acceptor always matches first |
| `WaiterUnhandledState.Failed.W` | WARNING | no acceptor mentions a value that means failure |
| `WaiterUnhandledState.Ended.W` | NOTE | no acceptor mentions another final value |
| `WaiterEmptyList.W.i` | WARNING | a success on an empty list of resources |
| `WaiterEmptyPage.W.i` | WARNING | a success on an empty page that more pages follow |
| `WaiterGoneBesideErrors.W.i` | WARNING | a success on an empty list with an error beside it |
| `WaiterFailsWhenGone.W` | WARNING | the error for what is gone fails the wait, or is missing |
| `WaiterFailsWhenNew.W` | NOTE | an EC2 resource that is not visible yet fails the wait |
| `WaiterDroppedItems.W.i` | NOTE | items without the member that is compared do not count |
| `WaiterSecondState.W` | NOTE | a second state member may say that the resource failed |
| `WaiterLateFailure.W.i` | NOTE | a success on another member stands before a failure |
| `WaiterPathReadDifferently.W.i` | WARNING | jmespath.py groups the path differently |
| `WaiterPaginatedPath.W.i` | WARNING | a success on all of a first page that no request narrows |
| | NOTE | a success on an item of such a page |
| `WaiterFailsOnEndedItem.W.i` | WARNING | an item of such a page that ended before fails the wait |
| `WaiterNamedNotReturned.W.i` | WARNING | a named item that the answer leaves out does not count |
| `WaiterAnyOfSeveral.W.i` | WARNING | one of several named items is a success of all |
| `WaiterUnreadFailures.W` | WARNING | no acceptor reads what the answer says was not found |
| `WaiterStatusMatcher.W.i` | NOTE | the matcher is on an HTTP status, which only botocore has |
| `WaiterNamedAfterOperation.W` | NOTE | the name says that an operation has ended, not a state |
| `WaiterImplicitAcceptor.W.i` | NOTE | without the acceptor, the waiter does the same |
| `WaiterIntermediateFailure.W.i` | NOTE | a failure in a state that another state follows |
| `WaiterWithoutReports.W` | NOTE | several members are compared, and none is reported |
| `WaiterReportsLack.W` | NOTE | a state that is compared is not among what is reported |
| `WaiterReplacesShipped.W` | NOTE | it takes the place of a waiter that comes with this package |
| `WaiterUnknownOperation` | WARNING | botocore has no such operation, but one of a similar name |
| | NOTE | botocore has no such operation; the waiters are ignored, as at run time |
| `WaiterUnknownState.W.i` | DANGER | `waiters-2` only: a state that botocore does not know |
| `WaiterWithoutAcceptors.W` | WARNING | `waiters-2` only: a waiter without acceptors is ignored |
| `WaiterNoDefinitions` | WARNING | a folder or a model has no waiters |

A DANGER makes a waiter useless or harmful; a WARNING costs the caller time or leaves an acceptor
without effect; a NOTE may well be intended. All rules trust the model; services are known to return
values that their models lack. A waiter with the tag `generated` has no notes.

A model suppresses events that are intended: see `check.events`. It may also name the version of
botocore that it was written for: see `check.documents`.
"""

from __future__ import annotations

from .check.checker import check
from .check.events import Location, Severity, ValidationEvent

__all__ = ["Location", "Severity", "ValidationEvent", "check"]
