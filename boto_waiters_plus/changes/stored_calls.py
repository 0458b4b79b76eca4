"""Calls that survive their process: written down before the first attempt, and as they go on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, Protocol, TypeVar

from ..calls.private_names import account_of
from ..service.json_parameters import from_json

T = TypeVar("T")

ANSWERED: Final = "answered"
WAITING: Final = "waiting"


Step = tuple[Callable[[], Any], Callable[[], Awaitable[Any]]]
"""One thing to do: what does it in the calling thread, and what does it as part of a task."""

Drive = Callable[[Step], Awaitable[Any]]
"""Does a step; if it blocks, what it returns is done when it is awaited."""

Flow = Callable[[Drive], Coroutine[Any, Any, T]]
"""Steps with what is between them."""


def run_blocked(flow: Flow[T]) -> T:
    """Do the steps of a flow in the calling thread."""
    try:
        flow(_blocked).send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError  # A step that blocks awaits nothing.


async def run_in_task(flow: Flow[T]) -> T:
    """Do the steps of a flow as part of the calling task."""
    return await flow(_awaited)


async def _blocked(step: Step) -> Any:
    blocking, _ = step
    return blocking()


async def _awaited(step: Step) -> Any:
    _, awaited = step
    return await awaited()


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


def restored_response(answer: Mapping[str, Any]) -> Any:
    """Return the response of an answer that was kept."""
    headers = {"date": answer.get("date")}
    metadata = {"RetryAttempts": 0, "HTTPHeaders": headers}
    return {**from_json(answer["response"]), "ResponseMetadata": metadata}


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
    for name, found in target_of(client).items():
        wanted = record["target"][name]
        # Credentials tell their account only since botocore 1.35, and not all of them.
        if wanted != found and None not in (wanted, found):
            raise ValueError(
                f"the client is for the {name} {found}, but the call was made for {wanted}: "
                "resume it with a client like its own"
            )
