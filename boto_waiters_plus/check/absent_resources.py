"""What names say about absence, and which member of an answer says that more pages follow."""

from __future__ import annotations

import re

from ..definitions.operation_names import listed, words_of
from ..definitions.state_words import ENDED_WORDS, ENDINGS
from .shapes import OperationShapes, members_of

EC2 = "com.amazonaws.ec2#"
NOT_FOUND = re.compile(r"NotFound(Exception|Fault)?$|DoesNotExist(Exception|Fault)?$|^NoSuch")
"""Names of errors for what does not exist."""
_TOKEN = re.compile(r"next_?page_?token|next_?(pagination_?)?token|(next_?)?marker", re.IGNORECASE)
_ABSENT = ENDINGS | listed("CANCEL DEPROVISION DISABL DISCONNECT EMPTY INACTIVE NO NOT RELEAS")


def means_absence(name: str) -> bool:
    """Whether the name of a waiter says that it waits for an end or an absence."""
    words = [word.upper() for word in words_of(name)]
    return any(word in ENDED_WORDS or word.startswith(tuple(_ABSENT)) for word in words)


def page_tokens(operation: OperationShapes) -> list[str]:
    """Return the members of an answer that say that more pages follow."""
    return [name for name in members_of(operation.output) if _TOKEN.fullmatch(name)]
