"""The waiters of a service, from five places; the first place that has a waiter wins.

1. `definitions=` of the client, the session and `install`;
2. `<service>/<api-version>/smithy-waiters-1.json` on the botocore loader's search path;
3. installed packages with an entry point of the group `boto_waiters_plus.definitions`;
4. the definitions that come with this package;
5. the installed botocore's own `waiters-2`, converted at run time, so that a waiter of a newer
   botocore works the day it is released.

A place is read at the first lookup that reaches it, and a waiter is parsed when it is asked for.
Nothing is locked: of several threads that look up one waiter at once, the first one to finish
decides.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import Any

from botocore import xform_name
from botocore.loaders import Loader
from botocore.model import OperationModel, OperationNotFoundError, ServiceModel

from ..common.arguments import nearest
from ..common.errors import logger
from ..definitions.files import installed_definitions
from ..definitions.smithy import UnreadWaiter
from ..definitions.waiters2 import unread_waiters2
from ..engine.acceptors import (
    Acceptor,
    ErrorTypeMatcher,
    OutputMatcher,
    StatusMatcher,
    SuccessMatcher,
)
from ..engine.computed_once import computed_once
from ..engine.model import GENERATED, WaiterDefinition
from ..exceptions import WaiterDefinitionError
from .bound_waiter import BoundWaiter
from .places import (
    BySnakeName,
    DefinitionPlace,
    botocore_is_newer,
    botocores_own,
    given_for,
    letters,
    places_of,
)


class ServiceWaiters(Mapping[str, BoundWaiter]):
    """The waiters of one service, as a client of one session has them.

    They are in the order of precedence, by their names in snake case; each is looked up when it is
    asked for. A lookup that reaches the file on the search path raises a `WaiterDefinitionError` if
    it is malformed: the waiters that were meant are unknown. A waiter that breaks a rule of its
    operation is refused when it is looked up itself.

    Args:
        service: the model of the service.
        loader: botocore's loader of the session; by default one with the default search path.
        definitions: definitions that take precedence over all other places.
    """

    def __init__(
        self,
        service: ServiceModel,
        loader: Loader | None,
        definitions: Iterable[WaiterDefinition] = (),
    ) -> None:
        self._service = service
        self._places = places_of(service, loader, definitions)
        self._by_name: dict[str, BoundWaiter] = {}
        self._given: dict[WaiterDefinition, BoundWaiter] = {}

    def __getitem__(self, name: str) -> BoundWaiter:
        bound_waiter = self._find(name) if name == xform_name(name) else None
        if bound_waiter is None:
            raise KeyError(name)
        return bound_waiter

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def find(self, name: str) -> BoundWaiter | None:
        """Return a waiter by either form of its name: `BucketExists` or `bucket_exists`."""
        snake_name = xform_name(name)
        bound_waiter = self.get(snake_name)
        if bound_waiter is not None and name not in (snake_name, bound_waiter.definition.name):
            return None
        return bound_waiter

    def bind(self, definition: WaiterDefinition) -> BoundWaiter:
        """Return the waiter of a definition that the caller gives.

        Raises:
            WaiterDefinitionError: it is of another service, or names an operation that the
                service lacks.
        """
        bound_waiter = self._given.get(definition)
        if bound_waiter is None:
            if not given_for(self._service, [definition]):
                problem = f"a waiter of {definition.service}, not of {self.service_name}"
                raise WaiterDefinitionError(
                    problem, source=definition.source, waiter=definition.name
                )
            operation = self.operation(definition.operation)
            if operation is None:
                raise self._lacks_operation(definition)
            bound_waiter = self._bind(definition, operation, self._places[0])
            bound_waiter = self._given.setdefault(definition, bound_waiter)
        return bound_waiter

    @property
    def service_name(self) -> str:
        """The botocore name of the service."""
        return str(self._service.service_name)

    @property
    def operation_names(self) -> list[str]:
        """The names of the operations of the service."""
        return list(self._service.operation_names)

    def only_in_botocore(self, definition: WaiterDefinition) -> list[Acceptor]:
        """Return the acceptors that only botocore's own waiter of this name has."""
        operation = self._service.operation_model(definition.operation)
        return [
            acceptor
            for own in self._places[-1].named(definition.name)
            if isinstance(own, UnreadWaiter)
            if (own.name, own.operation) == (definition.name, definition.operation)
            for acceptor in without_status(own.read(), operation).acceptors
            if acceptor not in definition.acceptors
        ]

    def _with_new_acceptors(
        self, definition: WaiterDefinition, operation: OperationModel
    ) -> WaiterDefinition:
        """Return a generated waiter with the acceptors that a newer botocore has added."""
        own = botocores_own(self._service, definition.name, operation.name)
        if own is None:
            return definition
        found = without_status(own, operation, keep_others=False).acceptors
        new = (each for each in found if each not in definition.acceptors)
        return replace(definition, acceptors=(*definition.acceptors, *new))

    # --- the lookup -----------------------------------------------------------------------------

    def _find(self, name: str) -> BoundWaiter | None:
        """Return a waiter by its snake name."""
        if name in self._by_name:
            return self._by_name[name]
        lacking: WaiterDefinitionError | None = None
        for place in self._places:
            for waiter in place.named(name):
                operation = self.operation(waiter.operation)
                if operation is not None:
                    if xform_name(waiter.name) != name:
                        return None  # hidden by one whose name differs in case only
                    bound_waiter = self._bind(waiter, operation, place)
                    if place.from_user:
                        self._tell_what_is_replaced(bound_waiter.definition)
                    return self._by_name.setdefault(name, bound_waiter)
                if place.from_user and lacking is None:
                    lacking = self._lacks_operation(_definition(waiter))
                    # A definition without a service is for those that have its operation.
                    if waiter.service is not None:
                        raise lacking
        # The waiter may be one of a package that cannot be used.
        problem = lacking or copy(installed_definitions()[1])
        if problem is not None:
            raise problem
        return None

    def _bind(
        self,
        waiter: WaiterDefinition | UnreadWaiter,
        operation: OperationModel,
        place: DefinitionPlace,
    ) -> BoundWaiter:
        definition = _definition(waiter)
        if definition.operation != operation.name:
            definition = replace(definition, operation=operation.name)
        is_shipped = place is self._places[3]
        if is_shipped and GENERATED in definition.tags and botocore_is_newer():
            definition = self._with_new_acceptors(definition, operation)
        definition = without_status(definition, operation)
        # What is shipped is known to fit.
        if not is_shipped:
            _check_operation(definition, operation)
        return BoundWaiter(definition, operation, from_user=place.from_user)

    def _tell_what_is_replaced(self, definition: WaiterDefinition) -> None:
        """Log, once per process, that a definition of the user's replaces a shipped one."""
        with contextlib.suppress(WaiterDefinitionError):
            shipped = [each for place in self._places[3:] for each in place.named(definition.name)]
            for other in shipped[:1]:
                names = definition.name, self.service_name
                text = "waiter %s of %s comes from %s, and replaces %s"
                _log_once(logging.INFO, text, *names, definition.source, other.source)

    def operation(self, name: str) -> OperationModel | None:
        """Return an operation by either form of its name; None if the service lacks it."""
        try:
            return self._service.operation_model(name)
        except OperationNotFoundError:
            return next(iter(map(self._service.operation_model, self._operations.find(name))), None)

    @computed_once
    def _operations(self) -> BySnakeName[str]:
        return BySnakeName((name, name) for name in self._service.operation_names)

    def _lacks_operation(self, definition: WaiterDefinition) -> WaiterDefinitionError:
        near = nearest(definition.operation, self._service.operation_names)
        hint = f"; did you mean {near}?" if near else ""
        return WaiterDefinitionError(
            f"{self._service.service_name} has no operation {definition.operation}{hint}",
            source=definition.source,
            waiter=definition.name,
        )

    # --- all waiters ----------------------------------------------------------------------------

    @computed_once
    def _names(self) -> dict[str, None]:
        return dict.fromkeys(self._names_in(self._places).values())

    def _names_in(self, places: Iterable[DefinitionPlace]) -> dict[str, str]:
        """Return the snake names of the waiters whose operations the service has, by letters."""
        names: dict[str, str] = {}
        for waiter in chain.from_iterable(place.waiters for place in places):
            if self.operation(waiter.operation):
                names.setdefault(letters(waiter.name), xform_name(waiter.name))
        return names

    @computed_once
    def readable_names(self) -> Collection[str]:
        """The snake names of the waiters that can be used. Why others cannot is logged once."""
        places = [place for place in self._places if _can_use(partial(getattr, place, "waiters"))]
        names = self._names_in(places)
        for place in places:
            for waiter in place.waiters if place.from_user else ():
                key = letters(waiter.name)
                # A definition without a service may be for another one.
                is_meant = waiter.service is not None or key in names
                if is_meant and not _can_use(partial(self._find, xform_name(waiter.name))):
                    names.pop(key, None)
        return names.values()


def _can_use(use: Callable[[], object]) -> bool:
    """Return whether something can be used; log why not."""
    try:
        use()
    except WaiterDefinitionError as error:
        _log_once(logging.WARNING, "refused: %s", str(error))
        return False
    return True


@cache
def _log_once(level: int, text: str, *facts: str) -> None:
    logger.log(level, text, *facts)


def generated_definitions(
    service: ServiceModel, document: Mapping[str, Any]
) -> list[WaiterDefinition]:
    """Return botocore's own waiters as definitions that any Smithy tool can read, for `data/`."""
    unread = unread_waiters2(document, source=service.service_name, is_botocores=True)
    return [
        without_status(each.read(), service.operation_model(each.operation), keep_others=False)
        for each in unread
    ]


def _definition(waiter: WaiterDefinition | UnreadWaiter) -> WaiterDefinition:
    return waiter.read() if isinstance(waiter, UnreadWaiter) else waiter


def without_status(
    definition: WaiterDefinition, operation: OperationModel, *, keep_others: bool = True
) -> WaiterDefinition:
    """Replace `status` matchers by matchers of the specification.

    200 is any response. 404 of a HEAD request, whose response has no body to name the error, is
    `NotFound`. Any other status is the operation's error with that status, if it has exactly one.

    Args:
        definition: the waiter.
        operation: its operation.
        keep_others: keep the `status` matchers that cannot be replaced. They are not valid Smithy.
    """
    if not any(isinstance(acceptor.matcher, StatusMatcher) for acceptor in definition.acceptors):
        return definition
    is_head = operation.http.get("method") == "HEAD"
    errors = [(each.name, each.metadata.get("error", {})) for each in operation.error_shapes]

    def converted(acceptor: Acceptor) -> Acceptor | None:
        if not isinstance(acceptor.matcher, StatusMatcher):
            return acceptor
        status = acceptor.matcher.status
        if status == 200:
            return replace(acceptor, matcher=SuccessMatcher(success=True))
        if is_head and status == 404:
            return replace(acceptor, matcher=ErrorTypeMatcher("NotFound"))
        names = [name for name, error in errors if error.get("httpStatusCode") == status]
        if len(names) == 1:
            return replace(acceptor, matcher=ErrorTypeMatcher(names[0]))
        return acceptor if keep_others else None

    return replace(definition, acceptors=tuple(filter(None, map(converted, definition.acceptors))))


def _check_operation(definition: WaiterDefinition, operation: OperationModel) -> None:
    """Check the rules that need the operation: an output to match on, and no event stream."""

    def refuse(problem: str, acceptor: int | None = None) -> WaiterDefinitionError:
        return WaiterDefinitionError(
            problem, source=definition.source, waiter=definition.name, acceptor=acceptor
        )

    if operation.has_event_stream_input or operation.has_event_stream_output:
        raise refuse(f"{operation.name} uses an event stream")
    if operation.output_shape is None:
        for index, acceptor in enumerate(definition.acceptors):
            if isinstance(acceptor.matcher, OutputMatcher):
                raise refuse(f"output matcher, but {operation.name} has no output", index)
