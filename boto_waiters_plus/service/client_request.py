"""The request that each attempt of a wait makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from botocore.model import OperationModel

from ..calls.errors import is_of_the_call
from ..options import WaitOptions
from .bound_waiter import BoundWaiter
from .parameters import SMALLEST_PAGE, refuse_empty_id_list

if TYPE_CHECKING:
    from .causes import FailureSearch


class ClientRequest:
    """The request that each attempt of a wait makes; its parameters never change.

    Args:
        client: a botocore client.
        waiter: the definition on its operation.
        parameters: the operation's parameters.
        call: the `input` and `output` of the call whose effect is waited for.
        budget: of the reads about failures in a batch; see `FailureSearch`.

    Raises:
        ValueError: a list of identifiers is empty, or has more than an answer can have.
    """

    __slots__ = ("_budget", "_call", "_fixed", "_search", "_waiter", "client", "parameters")

    def __init__(
        self,
        client: Any,
        waiter: BoundWaiter,
        parameters: Mapping[str, Any],
        *,
        call: Mapping[str, Any] | None = None,
        budget: Iterator[object] | None = None,
    ) -> None:
        # Those of a `Wait` are within the caller's reach until the batch begins.
        refuse_empty_id_list(waiter.operation, parameters)
        self.client = client
        self.parameters = parameters
        self._waiter = waiter
        self._call = call
        self._budget = budget
        self._search: FailureSearch | None = None
        self._fixed = parameters
        for value in parameters.values():
            if isinstance(value, list) and len(value) > SMALLEST_PAGE:
                self._fixed = self._on_one_page(parameters)
        if waiter.operation.idempotent_members:
            from .tokens import with_marked_tokens  # noqa: PLC0415 - two waiters in a hundred

            self._fixed = with_marked_tokens(waiter.operation, self._fixed)

    @property
    def operation(self) -> OperationModel:
        """The operation that is called."""
        return self._waiter.operation

    def __call__(self) -> Any:
        """Make the bare call: of the operation, or of a read after a failure."""
        if self._search is not None:
            return self._search.send()
        return getattr(self.client, self._waiter.client_method)(**self._fixed)

    def search(self, response: Mapping[str, Any], elapsed: float) -> FailureSearch | None:
        """Begin a search for the cause of a failure; see `Explainer.search`."""
        from .causes import begin_search  # noqa: PLC0415 - for failures only

        self._search = begin_search(
            self.client,
            self._waiter.operation,
            self.parameters,
            response,
            call=self._call,
            elapsed=elapsed,
            budget=self._budget,
        )
        return self._search

    def is_reply(self, error: Exception) -> bool:
        """Return whether an exception is a reply: of a read any is, since the wait has failed."""
        return self._search is not None or is_of_the_call(error)

    def __str__(self) -> str:
        """Return the label of the resource that the request is about."""
        return self._waiter.resource_label.text(self.parameters)

    def label_under(self, options: WaitOptions) -> object:
        """Return the label of a wait, or the request, of which `str` makes it when it is needed."""
        # Made before the first call: at the deadline it would make the wait late.
        label = self._waiter.resource_label
        return label.service if options.show_parameters is False else self

    def send_for(self, member: str, ids: list[str]) -> Any:
        """Make the bare call for these identifiers."""
        parameters: Mapping[str, Any] = {**self._fixed, member: ids}
        if len(ids) > SMALLEST_PAGE:
            parameters = self._on_one_page(parameters)
        return getattr(self.client, self._waiter.client_method)(**parameters)

    def _on_one_page(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        from .response_split import on_one_page  # noqa: PLC0415 - few waits name so many

        return on_one_page(self._waiter.coalescing, self._waiter.operation, parameters)
