"""What names say, of operations and of waiters; and the documentation of waiters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from ..engine.model import WaiterDefinition
from ..engine.redaction import cut

# --- the names of operations: their words, their verbs, and what those say about side effects

_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"


def words_of(name: str) -> list[str]:
    """Split a name into its words: `IN_USE`, `InUse` and `in-use` have two each."""
    return re.findall(_WORD, name)


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


# --- what a waiter waits for, in words of the resource, from its name and its acceptors ----------

_NOUNS = {"create": "creation", "delete": "deletion", "restore": "restoration"}

_HAS = ("succeeded", "failed", "finished", "ended", "expired")
"""States that a resource *has* reached; in any other it *is*."""

_ADJECTIVES = (
    "ed", "ful", "able", "ible", "ing", "ive", "ete", "thy", "by", "line", "idle", "stable",
    "steady", "ready", "valid", "ok", "present", "built",
)  # fmt: skip
"""How the states end that a resource can be in."""

_PHRASES = {
    ("in", "service"): "in service",
    ("in", "use"): "in use",
    ("in", "sync"): "in sync",
    ("not", "exists"): "not exist",
}
_OUTER_PATH = r"\b(any|every) \S*\]\.(?=\w)"


def summary_of(definition: WaiterDefinition) -> str:
    """Return the first line of the documentation of a waiter's method.

    It is the first line of the definition's own documentation if it has one.
    """
    own = definition.documentation.strip()
    if own:
        return re.sub(r"\AWaits(?= )", "Wait", own.splitlines()[0])
    goal = re.sub(_OUTER_PATH, r"\1 ", definition.goal).replace(
        "the call ", f"{definition.operation} "
    )
    state = _state_in_words(definition.name)
    return f"Wait until {cut(goal)}." if state is None else f"Wait until {state} ({cut(goal)})."


def _state_in_words(name: str) -> str | None:
    """Return `the bucket exists` for `BucketExists`; None if the name does not tell."""
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in words_of(name)]
    *subject, last = words
    if not subject:
        return None
    pair = (subject[-1], last)
    if pair in _PHRASES and len(subject) > 1:
        del subject[-1]
        last = _PHRASES[pair]
    elif last != "exists" and not last.endswith(_ADJECTIVES):
        return None
    # `StackCreateComplete` is about an action.
    subject[-1] = _NOUNS.get(subject[-1], subject[-1])
    what = " ".join(subject if subject[0] == "any" else ["the", *subject])
    is_plural = re.search(r"[^s]s\Z", subject[-1]) is not None and not subject[-1].endswith(
        "status"
    )
    if last == "exists":
        return f"{what} {'exist' if is_plural else 'exists'}"
    if last == "not exist":
        return f"{what} {'do' if is_plural else 'does'} not exist"
    if last in _HAS:
        return f"{what} {'have' if is_plural else 'has'} {last}"
    return f"{what} {'are' if is_plural else 'is'} {last}"


# --- documentation of waiters, which is CommonMark (section "Waiter structure") ------------------
# markdown-it-py makes HTML of it, and botocore's own converter makes of that the text of
# docstrings. Without markdown-it-py, which the extra `cli` installs, the source is shown.

_TAGS = {"strong": "b", "em": "i"} | dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "p")
"""Elements that botocore's converter has under another name, or as a paragraph."""

_CODE_BLOCKS = ("fence", "code_block")


def documentation_text(documentation: str) -> str:
    """Return documentation as plain text, in the way of docstrings."""
    # Only docstrings and `boto-wait show` need it.
    from botocore.docs.bcdoc.restdoc import ReSTDocument  # noqa: PLC0415

    document = ReSTDocument()
    for is_html, part in _parts(documentation.strip()):
        if is_html:
            document.include_doc_string(part)
        else:
            document.write(part)
    text = document.getvalue().decode()
    return re.sub(r"\n\s*\n( *)(?=\S)", r"\n\n\1", text).strip()


def _parts(documentation: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a text: HTML, or lines to be kept as they are."""
    try:
        # Optional, and 20 ms to import.
        from markdown_it import MarkdownIt  # noqa: PLC0415
    except ModuleNotFoundError:
        yield False, documentation
        return
    # What looks like HTML is mostly a placeholder: `<Resource>Exists`.
    parser = MarkdownIt("commonmark", {"html": False})
    tokens = parser.parse(documentation)
    for token in tokens:
        for part in (token, *(token.children or ())):
            part.tag = _TAGS.get(part.tag, part.tag)
    for is_code, group in groupby(tokens, lambda t: t.level == 0 and t.type in _CODE_BLOCKS):
        if is_code:
            lines = [f"    {line}" for token in group for line in token.content.splitlines()]
            yield False, "\n".join(["\n", *lines, "\n"])
        else:
            yield True, str(parser.renderer.render(list(group), parser.options, {}))
