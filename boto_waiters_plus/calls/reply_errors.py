"""Which exceptions are results of a call, and not mistakes of its caller or of other code."""

from __future__ import annotations

import sys

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointProviderError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    StubResponseError,
)
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from .calls_on_the_way import is_passing
from .error_frames import modules_of

RAW = (
    ParamValidationError,
    # Parameters of a wrong type, where the endpoint depends on them.
    EndpointProviderError,
    NoCredentialsError,
    PartialCredentialsError,
    NoRegionError,
    # Those of botocore's Stubber, which say what a test expected.
    StubResponseError,
)
"""Errors that the caller has to fix. They are raised as they are, never as a wait's outcome."""


OF_THE_CALL = (BotoCoreError, ClientError, HTTPError, ResponseParserError)
"""Other exceptions come from a user's hook or a mock, and are raised as they are."""


PARSER_LIBRARIES = sys.stdlib_module_names | {"aiobotocore", "botocore", "dateutil"}
"""The top-level packages of the code that runs when a parser reads a response."""


INNERMOST_FRAMES = 60
"""The frames in which infinite recursion is botocore's if one of them is."""


def is_of_the_call(error: Exception) -> bool:
    """Return whether an exception is a result of the call or of its transport."""
    if isinstance(error, RAW):
        return False
    return isinstance(error, OF_THE_CALL) or is_passing(error) or _is_of_the_answer(error)


def _is_of_the_answer(error: Exception) -> bool:
    """Return whether botocore failed on a response that it did not expect.

    A body of the wrong types ends in an AttributeError or TypeError of its parser. A body that is
    nested too deeply, or an endless redirect, ends in a RecursionError. Where other code than the
    parser's own raised the exception, it is not about the response: the handler of a signal that
    arrived while the parser ran, or a hook of the user's.
    """
    modules = modules_of(error)
    if isinstance(error, RecursionError):
        innermost = modules[-INNERMOST_FRAMES:]
        return any(name.startswith("botocore.") for name in innermost)
    if modules[-1:] == ["botocore.endpoint"]:
        # It adds to what was parsed, which was `null`.
        return isinstance(error, AttributeError)
    if "botocore.parsers" not in modules:
        return False
    inside = modules[modules.index("botocore.parsers") :]
    return all(name.partition(".")[0] in PARSER_LIBRARIES for name in inside)
