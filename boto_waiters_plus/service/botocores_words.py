"""What a waiter is for, in the words of botocore's acceptors."""

from __future__ import annotations

from dataclasses import replace

from botocore.waiter import AcceptorConfig

from ..definitions.waiters2 import acceptor_to_waiters2
from ..engine.acceptors import MatchedAcceptor
from ..engine.model import WaitDescription, WaiterDefinition


def in_botocores_words(
    description: WaitDescription, definition: WaiterDefinition
) -> WaitDescription:
    """Return what is waited for, in botocore's words where it has any."""
    acceptors = []
    for index, acceptor in enumerate(definition.acceptors):
        config = acceptor_to_waiters2(acceptor)
        text = acceptor.matcher.describe() if config is None else AcceptorConfig(config).explanation
        acceptors.append(MatchedAcceptor(index, text))
    return replace(description, goal="", acceptors=tuple(acceptors))
