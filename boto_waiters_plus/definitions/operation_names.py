"""The names of operations: their words, their verbs, and what those say about side effects."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> list[str]:
    """Split a name into its words: `IN_USE`, `InUse` and `in-use` have two each."""
    return _WORD.findall(name)


def listed(words: str) -> frozenset[str]:
    """Return the words of a text, separated by blanks, as a set."""
    return frozenset(words.split())


LEADS = listed("Admin Batch Bulk")
"""Words that may come before the verb."""
READS = listed(
    "Check Count Describe Detect Discover Estimate Evaluate Fetch Filter Find Get Head List Lookup "
    "Preview Query Read Resolve Retrieve Scan Search Select Test Validate Verify View"
)
"""Verbs of operations that modify nothing."""
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
"""Verbs of operations that modify resources."""
SAFE_METHODS = ("GET", "HEAD")
CHANGING_METHODS = ("DELETE", "PATCH", "PUT")


def verb_of(operation: str) -> str:
    """Return the verb of an operation's name; an empty string if it has none."""
    words = [word for word in words_of(operation) if word not in LEADS]
    return words[0] if words else ""


def resource_of(operation: str) -> str:
    """Return the resource that follows the verb in an operation's name, in the singular."""
    words = [word for word in words_of(operation) if word not in LEADS][1:]
    name = "".join(words)
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name if name.endswith("ss") else name.removesuffix("s")


def is_changing(operation: str, method: str | None) -> bool:
    """Return whether an operation's name and HTTP method suggest that it modifies resources."""
    verb = verb_of(operation)
    return verb in CHANGES or (method in CHANGING_METHODS and verb not in READS)
