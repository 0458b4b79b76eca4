"""Waiter objects for definitions that botocore has no waiter for.

`client.get_waiter("query_execution_succeeded")` gives a real `botocore.waiter.Waiter`. Its config
is the definition as far as `waiters-2` can say it, for whoever reads `config.acceptors`; what
judges is the definition itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError
from botocore.waiter import AcceptorConfig, WaiterModel, is_valid_waiter_error

from ..definitions.waiters2 import acceptor_to_waiters2, to_waiters2
from ..engine.model import MatchedAcceptor
from ..options import CancelEvent
from ..runtime.attempt import Attempt
from ..runtime.wait_run import WaitDescription
from .port import ClientPort, description_of
from .service_waiters import BoundWaiter
from .stock_waiter import PORT, DropInPort
from .waiter_config import mark_as_unchosen


def waiter_object(
    client: Any, bound: BoundWaiter, create: Callable[[str, WaiterModel, Any], Any]
) -> Any:
    """A waiter object that runs a definition.

    Args:
        client: the client it will call.
        bound: the definition on its operation.
        create: `create_waiter_with_client`, botocore's or aiobotocore's.
    """
    name = bound.definition.name
    model = WaiterModel({"version": 2, "waiters": {name: to_waiters2(bound.definition)}})
    waiter = create(name, model, client)
    mark_as_unchosen(waiter.config, (bound.definition.min_delay, bound.definition.max_delay))

    def port(waiter: Any, parameters: Mapping[str, Any], **bounds: Any) -> DefinedPort:
        return DefinedPort(waiter, client, bound, parameters, **bounds)

    # Its class was made for this one object.
    setattr(type(waiter), PORT, staticmethod(port))
    return waiter


class DefinedPort(DropInPort):
    """Polls what a waiter object polls, and judges as its definition does.

    Errors that are not of the service come through as botocore raised them, as from every other
    waiter object.
    """

    def __init__(
        self,
        waiter: Any,
        client: Any,
        bound: BoundWaiter,
        parameters: Mapping[str, Any],
        *,
        cancel: CancelEvent | None = None,
        in_thread: bool = False,
    ) -> None:
        super().__init__(waiter, (), parameters, cancel=cancel, in_thread=in_thread)
        self._judge = ClientPort(client, bound, parameters)
        self.description = _description(bound)

    def returned(self, response: Any) -> Attempt:
        """The attempt that ended in a response; of a replaced operation it may be an error's."""
        if not self.keeps_errors and is_valid_waiter_error(response):
            return self.raised(ClientError(response, self.description.operation))
        return self._judge.responded(response)

    def raised(self, error: ClientError) -> Attempt:
        """The attempt that ended in an error of the service."""
        return self._judge.raised(error)


def _description(bound: BoundWaiter) -> WaitDescription:
    """What is waited for, in botocore's words where it has any."""
    acceptors = []
    for index, acceptor in enumerate(bound.definition.acceptors):
        config = acceptor_to_waiters2(acceptor)
        text = acceptor.matcher.describe() if config is None else AcceptorConfig(config).explanation
        acceptors.append(MatchedAcceptor(index, text))
    return replace(description_of(bound), goal="", acceptors=tuple(acceptors))
