"""What a wait that goes on keeps of an answer, where there are thousands of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from typing import Any

from .attempt import Attempt
from .wait_run import WaitRun


def forget_frames(error: BaseException | None) -> None:
    """Forget where an error that ended no wait was raised.

    The frames hold the request and the response, many times what the rest of a wait takes.
    """
    while error is not None and error.__traceback__ is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def pack(wait_run: WaitRun, attempt: Attempt) -> None:
    """Keep the response of a wait that goes on as bytes, a third of what the objects take.

    It is wanted again only if the wait ends without another.
    """
    if attempt.exception is not None or not attempt.last_response:
        return
    try:
        packed = _Packed(attempt.last_response)
    # A body still to be read, say: whatever it is that cannot be packed, it stays as it is.
    except Exception:
        return
    attempt.response = None
    attempt.by_id = None
    attempt.last_response = wait_run.last_response = packed


class _Packed(Mapping[str, Any]):
    """A response as bytes."""

    __slots__ = ("_bytes",)

    def __init__(self, response: Mapping[str, Any]) -> None:
        self._bytes = pickle.dumps(response, pickle.HIGHEST_PROTOCOL)

    def _response(self) -> Mapping[str, Any]:
        response: Mapping[str, Any] = pickle.loads(self._bytes)  # noqa: S301 - packed above
        return response

    def __getitem__(self, key: str) -> Any:
        return self._response()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._response())

    def __len__(self) -> int:
        return len(self._response())
