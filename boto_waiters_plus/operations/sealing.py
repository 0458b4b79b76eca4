"""Texts that a store keeps encrypted, and what it says where they cannot be read."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..common.arguments import callback
from .operation import UnableError, unreadable

Cipher = Callable[[bytes], bytes]
"""Encrypts or decrypts, such as `Fernet(key).encrypt`."""

MARK: Final = "encrypted:"
"""Begins an encrypted text; no JSON begins with it."""


class Seal:
    """Encrypts what a store keeps of requests and responses, if the user gave functions for it."""

    def __init__(self, encrypt: Cipher | None, decrypt: Cipher | None) -> None:
        for name, cipher in (("encrypt", encrypt), ("decrypt", decrypt)):
            if cipher is not None:
                callback(name, cipher)
        self.encrypt = encrypt
        self.decrypt = decrypt

    def closed(self, value: Any) -> str:
        """Return JSON as the store keeps it."""
        text = json_text(value)
        if self.encrypt is None:
            return text
        return MARK + base64.b64encode(self.encrypt(text.encode())).decode("ascii")

    def refuse_plain(self, text: str) -> None:
        """Raise UnableError for a text whose value would be plain if it were closed again."""
        if self.encrypt is None and text.startswith(MARK):
            raise UnableError("unreadable", "this store was opened without encrypt=")

    def opened(self, text: str, what: str) -> Any:
        """Return the value that `closed` was given; `what` names it in messages.

        Raises:
            UnableError: it cannot be decrypted here.
            OperationError: it is damaged.
        """
        if not isinstance(text, str):
            raise unreadable(f"its {what} cannot be read: it is {type(text).__name__}")
        if text.startswith(MARK):
            if self.decrypt is None:
                problem = f"its {what} cannot be read: this store was opened without decrypt="
                raise UnableError("unreadable", problem)
            try:
                return loaded(self.decrypt(base64.b64decode(text[len(MARK) :])).decode(), what)
            # Whatever the caller's function raises for a wrong key, or makes of the text.
            except Exception as error:
                problem = f"its {what} cannot be decrypted: {type(error).__name__}"
                raise UnableError("unreadable", problem) from None
        return loaded(text, what)


def json_text(body: Any) -> str:
    """Return compact JSON, which every reader of JSON can read."""
    try:
        return json.dumps(body, separators=(",", ":"), default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(body), separators=(",", ":"), default=str, allow_nan=False)


def loaded(text: str, what: str) -> Any:
    """Return JSON that was read from a store; raise OperationError if it is damaged."""
    try:
        return json.loads(text, parse_constant=refuse_constant, parse_float=_finite_number)
    except (ValueError, TypeError, RecursionError) as error:
        raise unreadable(f"its {what} cannot be read: {type(error).__name__}") from None


def refuse_constant(name: str) -> None:
    """Raise ValueError for NaN or an infinity, which no store writes."""
    raise ValueError(name)


def _finite_number(text: str) -> float:
    number = float(text)
    # Of 1e999, which is JSON.
    if math.isinf(number):
        raise ValueError(text)
    return number


def _finite(value: Any) -> Any:
    """Return a value with texts in place of NaN and the infinities, as services send them."""
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
        case Mapping():
            return {name: _finite(each) for name, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
    return value
