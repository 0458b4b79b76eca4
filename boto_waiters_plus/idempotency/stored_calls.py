"""Calls that survive their process: written down before the first attempt, and as they go on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

from botocore.model import OperationModel

from ..aws.json_parameters import as_json, from_json, without_sensitive
from ..aws.private_names import account_of

ANSWERED: Final = "answered"
WAITING: Final = "waiting"


class CallStore(Protocol):
    """What `in_store` takes. The methods return when what they were given is durable.

    A store may have two more methods, as `operations.Store` has: `note_call(path, phase, answer)`
    keeps that a call is `"answered"` or `"waiting"`, and with what answer; `get_call(path)` gives
    `phase`, `answer`, `done` and `age` back. Without them, a resumed call is made again under its
    token, and the age of the token is told by the wall clock.
    """

    def save_call(self, record: Mapping[str, Any], /) -> str:
        """Keep a call, as JSON, and return its path."""
        ...

    def finish_call(self, path: str, result: Mapping[str, Any], /) -> None:
        """Keep how a call ended, as JSON; it need not be resumed."""
        ...


class StoreStep:
    """One access to a store."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._function = function
        self._arguments = arguments

    def drive(self) -> Any:
        """Access the store."""
        return self._function(*self._arguments)

    async def drive_async(self) -> Any:
        """Access the store in a thread."""
        import asyncio  # noqa: PLC0415 - 11 ms that a program without tasks never pays

        return await asyncio.to_thread(self._function, *self._arguments)


class StoredCall:
    """One call in a store, or in none.

    Args:
        store: the store; None: nothing is kept.
        path: where the store keeps the call already; None: nowhere yet.
        drive: makes an access, blocking or awaited.
    """

    def __init__(
        self,
        store: CallStore | None,
        path: str | None,
        drive: Callable[[StoreStep], Awaitable[Any]],
    ) -> None:
        self._store: Any = store
        self._path = path
        self._drive = drive

    async def save(self, record: Mapping[str, Any] | None) -> None:
        """Keep the call, unless it is kept."""
        if self._store is not None and self._path is None:
            self._path = await self._drive(StoreStep(self._store.save_call, record))

    async def note(self, phase: str, answer: Mapping[str, Any]) -> None:
        """Keep how far the call is."""
        if hasattr(self._store, "note_call"):
            await self._drive(StoreStep(self._store.note_call, self._path, phase, answer))

    async def finish(self, result: Mapping[str, Any]) -> None:
        """Keep how the call ended."""
        if self._store is not None:
            await self._drive(StoreStep(self._store.finish_call, self._path, result))


def kept_response(operation: OperationModel, response: Any) -> Any:
    """Return a response as JSON, without what is secret; `from_json` restores it."""
    shape = operation.output_shape
    members = {name: each for name, each in response.items() if name != "ResponseMetadata"}
    return as_json(None, without_sensitive(shape, members))


def restored_response(answer: Mapping[str, Any]) -> Any:
    """Return the response of an answer that was kept."""
    return {**from_json(answer["response"]), "ResponseMetadata": {"RetryAttempts": 0}}


def target_of(client: Any) -> dict[str, Any]:
    """Return where the calls of a client go: service, region, endpoint, account if it is known."""
    return {
        "service": client.meta.service_model.service_name,
        "region": client.meta.region_name,
        "endpoint": client.meta.endpoint_url,
        "account": account_of(client),
    }


def check_target(client: Any, record: Mapping[str, Any]) -> None:
    """Raise a ValueError if a call belongs to another target than the client's."""
    kept = {"service": record["service"], **record.get("target", {})}
    for name, found in target_of(client).items():
        wanted = kept.get(name)
        # Credentials tell their account only since botocore 1.35, and not all of them.
        if wanted != found and None not in (wanted, found):
            raise ValueError(
                f"the client is for the {name} {found}, but the call was made for {wanted}: "
                "resume it with a client like its own"
            )
