"""Whether an operation is one to ask again and again.

| rule | severity | id |
|---|---|---|
| it changes nothing, as far as name and method tell | DANGER | `WaiterOperationNotReadOnly.W` |
| that it changes nothing can be told | NOTE | `WaiterOperationNotReadOnly.W` |
| no path reads what comes in pages: a look sees the first only | NOTE | `WaiterPaginatedPath.W.i` |
"""

from __future__ import annotations

from collections.abc import Iterator

from ..engine.model import WaiterDefinition
from .events import Severity, Target, ValidationEvent
from .expressions import ExpressionSyntaxError, parse
from .paths import TracedPath
from .shapes import Operation
from .tracing import trace
from .words import listed, words_of

_LEADS = listed("Admin Batch Bulk")
_READS = listed(
    "Check Count Describe Detect Discover Estimate Evaluate Fetch Filter Find Get Head List Lookup "
    "Preview Query Read Resolve Retrieve Scan Search Select Test Validate Verify View"
)
_CHANGES = listed(
    "Abort Accept Activate Add Allocate Apply Assign Associate Attach Authorize Cancel Change "
    "Clone Complete Confirm Copy Create Deactivate Decrease Delete Deploy Deprecate Deregister "
    "Detach Disable Disassociate Enable Execute Export Grant Import Increase Initiate Install "
    "Invoke Join Merge Modify Move Notify Post Promote Provision Publish Purchase Purge Put "
    "Reboot Rebuild Record Register Reject Release Remove Renew Replace Request Reset Resize "
    "Restart Restore Resume Retry Revoke Rollback Rotate Run Schedule Send Set Signal Start Stop "
    "Submit Subscribe Suspend Swap Tag Terminate Transfer Unassign Uninstall Unsubscribe Untag "
    "Update Upgrade Upload Write"
)
_SAFE_METHODS = ("GET", "HEAD")
_CHANGING_METHODS = ("DELETE", "PATCH", "PUT")


def check_operation(
    target: Target, operation: Operation, waiter: WaiterDefinition, paths: list[TracedPath | None]
) -> Iterator[ValidationEvent]:
    """Check the operation of a waiter, and what its paths read of it.

    Args:
        target: what events are about.
        operation: the operation.
        waiter: the waiter.
        paths: its acceptors' paths; None for an acceptor that has none, or none that parses.
    """
    found = _doubt(operation)
    if found is not None:
        severity, message = found
        event_id = f"WaiterOperationNotReadOnly.{waiter.name}"
        text = f"Waiter `{waiter.name}`: {message}"
        yield target.event(severity, event_id, text, waiter=waiter.name)
    for index, path in enumerate(paths):
        for page in () if path is None else _paginated(operation, path):
            yield target.of_acceptor(
                Severity.NOTE,
                f"WaiterPaginatedPath.{waiter.name}.{index}",
                f"`{page}` comes in pages, of which each look sees the first only",
                waiter=waiter.name,
                acceptor=index,
            )


def _doubt(operation: Operation) -> tuple[Severity, str] | None:
    if operation.read_only:
        return None
    words = [word for word in words_of(operation.name) if word not in _LEADS]
    verb, method = words[0] if words else "", operation.http_method
    if verb in _CHANGES or (method in _CHANGING_METHODS and verb not in _READS):
        return Severity.DANGER, f"every look calls {operation.name}, which does not only read"
    if verb in _READS or method in _SAFE_METHODS or method is None:
        return None
    return Severity.NOTE, f"nothing tells that {operation.name} ({method}) only reads"


def _paginated(operation: Operation, path: TracedPath) -> Iterator[str]:
    for page in operation.pages:
        try:
            _, met = trace(parse(page).root, operation.output)
        except ExpressionSyntaxError:  # a model's own business
            continue
        if met.members and met.members <= path.members:
            yield page
