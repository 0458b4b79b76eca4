"""What the name of an operation tells of it: whether it only reads."""

from __future__ import annotations

from .words import listed, words_of

LEADS = listed("Admin Batch Bulk")
READS = listed(
    "Check Count Describe Detect Discover Estimate Evaluate Fetch Filter Find Get Head List Lookup "
    "Preview Query Read Resolve Retrieve Scan Search Select Test Validate Verify View"
)
CHANGES = listed(
    "Abort Accept Activate Add Allocate Apply Assign Associate Attach Authorize Cancel Change "
    "Clone Complete Confirm Copy Create Deactivate Decrease Delete Deploy Deprecate Deregister "
    "Detach Disable Disassociate Enable Execute Export Grant Import Increase Initiate Install "
    "Invoke Join Merge Modify Move Notify Post Promote Provision Publish Purchase Purge Put "
    "Reboot Rebuild Record Register Reject Release Remove Renew Replace Request Reset Resize "
    "Restart Restore Resume Retry Revoke Rollback Rotate Run Schedule Send Set Signal Start Stop "
    "Submit Subscribe Suspend Swap Tag Terminate Transfer Unassign Uninstall Unsubscribe Untag "
    "Update Upgrade Upload Write"
)
SAFE_METHODS = ("GET", "HEAD")
CHANGING_METHODS = ("DELETE", "PATCH", "PUT")


def verb_of(operation: str) -> str:
    """What an operation does, in one word."""
    words = [word for word in words_of(operation) if word not in LEADS]
    return words[0] if words else ""


def is_changing(operation: str, method: str | None) -> bool:
    """Whether an operation does not only read, as far as its name and HTTP method tell."""
    verb = verb_of(operation)
    return verb in CHANGES or (method in CHANGING_METHODS and verb not in READS)
