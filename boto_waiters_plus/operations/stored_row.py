"""A row of a store, what is encrypted in it, and the clock of stores.

Nothing here needs SQLAlchemy. Setting the wall clock moves no lease, and no time that a wait has
left; what has to hold across machines, or a restart of this one, begins with its time.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from ..common.arguments import callback
from .operation import UnableError, unreadable

Row = Mapping[str, Any]
"""Plain values, one for each column of `sql.tables.WAITS`, or of `CALLS`."""

OPEN: Final = "open"
SUCCEEDED: Final = "succeeded"

UNDRIVEN: Final = 0
"""In place of a lease, for `write`: the waits that no lease drives which has not ended."""

ENDED: Final = -1
"""In place of a lease, for `write`: the waits that have ended."""

FREE: Final[Row] = {"lease": None, "worker": None}
"""The values of these columns in a wait that no worker drives."""

REQUEST_KEY: Final = 32
"""Characters at the beginning of `request` that are the same for all rows of one request id."""

Position = tuple[float, str]
"""Where a page of a list begins: `created` and `id` of the last row of the page before."""


class KeyInUseError(Exception):
    """An open wait has the exclusive key; `id` is that of the wait."""

    def __init__(self, wait_id: str) -> None:
        super().__init__(wait_id)
        self.id = wait_id


class LeaseLostError(Exception):
    """The lease was not renewed in time, and its waits are others' now."""


# --- a clock that cannot be set ------------------------------------------------------------------

Clock = Callable[[], float]
"""Returns the time in seconds; it goes on evenly."""


def _boot() -> str | None:
    """Return what names the time since the machine's last start; None if nothing does."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        # A container may see another time since the start.
        with contextlib.suppress(OSError):
            boot += " " + str(Path("/proc/self/ns/time").readlink())
        return boot
    return None


def since_boot() -> float:
    """Return the seconds since the machine started, those of a suspension included."""
    # Looked up, because only Linux has the first, and Windows neither.
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"):
        if hasattr(time, name):
            return time.clock_gettime(getattr(time, name))
    return time.monotonic()


BOOT: Final = _boot()
"""The name of the machine's last start, the same in all processes; None where there is none."""

START: Final = time.time() - since_boot()
"""When the machine started, by the wall clock as this process found it."""


def steady_time() -> float:
    """Return the time as seconds since the epoch, whatever is done to the wall clock later."""
    return START + since_boot()


def monotonic_time() -> float:
    """Return `time.monotonic()`, looked up at each call because virtual time replaces it."""
    return time.monotonic()


# --- texts that a store keeps encrypted ----------------------------------------------------------

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
