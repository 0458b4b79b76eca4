"""The spellings of a service's name."""

from __future__ import annotations

import functools
import re

from .smithy import AWS_NAMESPACE


@functools.lru_cache(maxsize=1024)
def service_key(name: str) -> str:
    """Return a service's name without the characters in which its spellings differ.

    `CloudWatch Logs`, `cloudwatch-logs` and `cloudwatchlogs` have the same key.
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def aws_namespace(service_id: str) -> str:
    """Return the Smithy namespace of an AWS service: `com.amazonaws.cloudwatchlogs`."""
    return AWS_NAMESPACE + service_key(service_id)
