"""The errors that mean absence, and the members that say that more pages follow."""

from __future__ import annotations

import re

from .shapes import OperationShapes, members_of

EC2 = "com.amazonaws.ec2#"
NOT_FOUND = re.compile(r"NotFound(Exception|Fault)?$|DoesNotExist(Exception|Fault)?$|^NoSuch")
"""Names of errors for what does not exist."""
_TOKEN = re.compile(r"next_?page_?token|next_?(pagination_?)?token|(next_?)?marker", re.IGNORECASE)


def page_tokens(operation: OperationShapes) -> list[str]:
    """Return the members of an answer that say that more pages follow."""
    return [name for name in members_of(operation.output) if _TOKEN.fullmatch(name)]
