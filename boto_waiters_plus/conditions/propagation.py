"""`propagating`: refusals that end by themselves."""

from __future__ import annotations

from botocore.exceptions import ClientError

from ..definitions.changes import says_propagating


def propagating(error: Exception, /) -> bool:
    """Return whether a service says that a new role or policy is not visible to it yet.

    For `retry_on`: `wait_for(create, max_wait=60, retry_on=propagating)`. Code and words decide
    together, because the code alone has other causes. `begin` and `call_once` repeat these
    refusals by themselves.
    """
    if not isinstance(error, ClientError):
        return False
    told = error.response.get("Error", {})
    return says_propagating(error.operation_name, told.get("Code", ""), told.get("Message", ""))
