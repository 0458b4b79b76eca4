"""Which definitions a client has: four places, the first that knows a waiter wins.

An overlay changes the waiter that stands below it.

1. `definitions=` of the call, the client, the session, `install`;
2. the botocore loader's search path, as `<service>/<api-version>/smithy-waiters-1.json`;
3. the definitions shipped with the package;
4. the installed botocore's own `waiters-2`, converted here, so that a waiter of a newer botocore
   works the day it ships.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any

from botocore import xform_name
from botocore.exceptions import DataNotFoundError
from botocore.loaders import ExtrasProcessor, Loader, create_loader
from botocore.model import OperationModel, ServiceModel

from ..arguments import caller_stacklevel, unknown
from ..definitions.files import SEARCH_PATH_FILE, parse_document
from ..definitions.operation_names import is_changing
from ..definitions.overlays import Layer, WaiterOverlay
from ..definitions.shipped import unread_shipped
from ..definitions.smithy import UnreadWaiter
from ..definitions.waiters2 import convert_model, without_status
from ..engine.matching import Matching
from ..engine.model import Acceptor, OutputMatcher, WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..runtime.wait_run import WaitDescription
from .data_model import DataModel
from .reasons import Compared, find_reason

logger = logging.getLogger("boto_waiters_plus")

METHOD_PREFIX = "wait_until_"


class BoundWaiter:
    """A definition together with the operation it polls, compiled."""

    def __init__(
        self, definition: WaiterDefinition, operation: OperationModel, *, is_foreign: bool = False
    ) -> None:
        self.definition = definition
        self.operation = operation
        self.is_foreign = is_foreign
        """Whether it comes neither with this package nor with botocore."""
        self._warned = False

    @cached_property
    def description(self) -> WaitDescription:
        """What the waiter waits for, for messages and observers."""
        definition = self.definition
        return WaitDescription(
            waiter=definition.name,
            operation=definition.operation,
            service=self.operation.service_model.service_name,
            goal=definition.goal,
            acceptors=tuple(definition.matched(i) for i in range(len(definition.acceptors))),
            states=definition.states,
        )

    @cached_property
    def matching(self) -> Matching:
        """The compiled acceptors."""
        return Matching(self.definition.acceptors)

    @cached_property
    def data_model(self) -> DataModel:
        """What the acceptors can see of a response."""
        return DataModel(self.operation, self.matching.paths)

    @cached_property
    def compared(self) -> tuple[Compared | None, ...]:
        """The state that each acceptor compares, for the service's reason of a failure."""
        return tuple(
            Compared(
                acceptor.matcher.matcher.path, acceptor.matcher.matcher.expected, acceptor.state
            )
            if isinstance(acceptor.matcher, OutputMatcher)
            else None
            for acceptor in self.definition.acceptors
        )

    def reason(self, matched: int | None, response: Any) -> str | None:
        """What the service says of the state that a response shows; see `find_reason`."""
        return find_reason(self.operation, response, self.compared, matched)

    def warn(self) -> None:
        """Warn, once for each waiter found, of one that is deprecated or does not only look.

        Definitions come from wherever `AWS_DATA_PATH` points, and may name any operation.
        """
        if self._warned:
            return
        self._warned = True
        name, operation = self.definition.name, self.operation
        if self.definition.deprecated:
            message = f"the waiter {name} is deprecated"
            warnings.warn(message, DeprecationWarning, stacklevel=caller_stacklevel())
        if self.is_foreign and is_changing(operation.name, operation.http.get("method")):
            message = f"waiter {name} polls {operation.name}, which may modify resources"
            warnings.warn(message, UserWarning, stacklevel=caller_stacklevel())

    @property
    def method_name(self) -> str:
        """The name of the attached method."""
        return METHOD_PREFIX + xform_name(self.definition.name)


class _Waiters(Mapping[str, BoundWaiter]):
    """Waiters by their names in snake case, each bound when it is asked for."""

    def __init__(self) -> None:
        self._binders: dict[str, Callable[[], BoundWaiter]] = {}
        self._bound: dict[str, BoundWaiter] = {}

    def add(self, name: str, bind: Callable[[], BoundWaiter], *, now: bool) -> None:
        """Add a waiter by what binds it; `now` also binds it."""
        if now:
            self._bound[name] = bind()
        self._binders[name] = bind

    def __getitem__(self, name: str) -> BoundWaiter:
        bound = self._bound.get(name)
        if bound is None:
            # Of threads that bind at once the first wins; a lock would be held in a forked child.
            bound = self._bound.setdefault(name, self._binders[name]())
        return bound

    def __contains__(self, name: object) -> bool:
        return name in self._binders

    def __iter__(self) -> Iterator[str]:
        return iter(self._binders)

    def __len__(self) -> int:
        return len(self._binders)


class ServiceWaiters:
    """The waiters of one service for one search path; found at first use.

    Args:
        service: the model of the service.
        loader: botocore's loader of the session; one with the default search path if not given.
        definitions: definitions and overlays that win over everything found.
    """

    def __init__(
        self,
        service: ServiceModel,
        loader: Loader | None,
        definitions: Iterable[Layer] = (),
    ) -> None:
        self._service = service
        self._loader = loader
        self._given = tuple(definitions)
        self._given_bound: dict[WaiterDefinition, BoundWaiter] = {}

    @property
    def by_snake_name(self) -> Mapping[str, BoundWaiter]:
        """Every waiter by its name in snake case, in the order of precedence.

        Raises:
            WaiterDefinitionError: something that is meant for this service cannot be used. Which
                waiters it would have had is not known, so that none is given.
        """
        _, refused = self._found
        if refused:
            first = refused[0]
            raise WaiterDefinitionError(
                first.problem, source=first.source, waiter=first.waiter, acceptor=first.acceptor
            ) from first.__cause__
        return self.readable

    @property
    def readable(self) -> Mapping[str, BoundWaiter]:
        """The same as far as it can be read, for listings; what cannot was logged."""
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[Mapping[str, BoundWaiter], Sequence[WaiterDefinitionError]]:
        """The waiters, and what was refused."""
        found = _Waiters()
        refused: list[WaiterDefinitionError] = []
        waiting: dict[str, list[WaiterOverlay]] = {}
        for layer, is_foreign in self._all(found, refused):
            name = xform_name(layer.name)
            operation = operation_name(layer.operation, self._service.operation_names)
            # A waiter that was found stands above what comes now.
            if name in found or operation is None:
                continue
            if isinstance(layer, WaiterOverlay):
                waiting.setdefault(name, []).append(layer)
                continue
            overlays = waiting.pop(name, ())
            bind = partial(self._bind, layer, operation, overlays, is_foreign=is_foreign)
            # What is shipped is known to be right; what others wrote, or change, is checked now.
            is_known = isinstance(layer, UnreadWaiter) and not overlays
            try:
                found.add(name, bind, now=not is_known)
            except WaiterDefinitionError as error:
                refused.append(error)
        refused += _misspelt(waiting, found)
        for problem in refused:
            _log_once(str(problem))
        return found, refused

    def get(self, name: str) -> BoundWaiter | None:
        """A waiter by either form of its name: `BucketExists` or `bucket_exists`."""
        bound = self.by_snake_name.get(xform_name(name))
        if bound is not None and name not in (xform_name(name), bound.definition.name):
            return None
        return bound

    def bind(self, definition: WaiterDefinition) -> BoundWaiter:
        """Return a waiter for a definition that the caller gives.

        Raises:
            WaiterDefinitionError: it is of another service, or names an operation that the
                service lacks.
        """
        bound = self._given_bound.get(definition)
        if bound is None:
            service = self._service
            if not self._is_ours(definition):
                problem = f"a waiter of {definition.service}, not of {service.service_name}"
                raise WaiterDefinitionError(
                    problem, source=definition.source, waiter=definition.name
                )
            operation = operation_name(definition.operation, service.operation_names)
            if operation is None:
                problem = unknown(definition.operation, service.operation_names, "operation")
                raise WaiterDefinitionError(
                    problem, source=definition.source, waiter=definition.name
                )
            bound = self._bind(definition, operation, (), is_foreign=True)
            self._given_bound[definition] = bound
        return bound

    def only_in_botocore(self, definition: WaiterDefinition) -> list[Acceptor]:
        """Acceptors that botocore's own waiter of this name has and the definition lacks."""
        operation = self._service.operation_model(definition.operation)
        return [
            acceptor
            for own in self._of_botocore()
            if (own.name, own.operation) == (definition.name, definition.operation)
            for acceptor in _resolved(own, operation, keep_others=True).acceptors
            if acceptor not in definition.acceptors
        ]

    def _all(
        self, found: Collection[str], refused: list[WaiterDefinitionError]
    ) -> Iterator[tuple[Layer | UnreadWaiter, bool]]:
        """The layers in the order of precedence, and whether they are foreign.

        A place that cannot be read is put aside; of botocore's only what is not `found` is read.
        """
        yield from ((layer, True) for layer in self._given if self._is_ours(layer))
        places = (self._on_search_path, self._shipped, partial(self._of_botocore, found))
        for place in places:
            is_foreign = place is places[0]
            yield from ((layer, is_foreign) for layer in _unless_refused(place, refused))

    def _bind(
        self,
        layer: WaiterDefinition | UnreadWaiter,
        operation_name: str,
        overlays: Sequence[WaiterOverlay],
        *,
        is_foreign: bool,
    ) -> BoundWaiter:
        """The waiter on its operation, changed by the overlays, of which the first is on top."""
        definition = layer.read() if isinstance(layer, UnreadWaiter) else layer
        definition = replace(definition, operation=operation_name)
        for overlay in reversed(overlays):
            # One that tells no service is for whichever it fits.
            if overlay.service is not None or overlay.operation == definition.operation:
                definition = overlay.applied_to(definition)
        operation = self._service.operation_model(definition.operation)
        definition = _resolved(definition, operation, keep_others=True)
        _check_operation(definition, operation)
        return BoundWaiter(definition, operation, is_foreign=is_foreign)

    def _is_ours(self, definition: Layer) -> bool:
        service = self._service
        return applies_to(
            definition, service.service_name, service.service_id, service.endpoint_prefix
        )

    def _on_search_path(self) -> Sequence[Layer]:
        path = self._data_path(SEARCH_PATH_FILE)
        document = self._load(path)
        if document is None:
            return []
        source = f"{path}.json on botocore's search path"
        return parse_document(document, source=source, service=self._service.service_name)

    def _shipped(self) -> Sequence[UnreadWaiter]:
        return unread_shipped(self._service.service_id.hyphenize())

    def _of_botocore(self, besides: Collection[str] = ()) -> list[WaiterDefinition]:
        path = self._data_path("waiters-2")
        document = self._load(path)
        if document is None:
            return []
        if not isinstance(document, Mapping) or not isinstance(document.get("waiters"), Mapping):
            raise WaiterDefinitionError("waiters must be an object", source=f"{path}.json")
        extras = self._load(f"{path}.sdk-extras")
        if extras is not None:
            document = {**document, "waiters": dict(document["waiters"])}
            ExtrasProcessor().process(document, [extras])
        wanted = {n: w for n, w in document["waiters"].items() if xform_name(n) not in besides}
        if not wanted:
            return []
        document = {**document, "waiters": wanted}
        return convert_model(
            document,
            source=f"{path}.json",
            service=self._service.service_name,
            is_botocores=True,
        )

    def _data_path(self, name: str) -> str:
        # By the service's own folder: asking the loader for the service's newest version makes
        # it list the folders of all services, 8 ms.
        return f"{self._service.service_name}/{self._service.api_version}/{name}"

    def _load(self, path: str) -> Any:
        loader = self._loader or default_loader()
        try:
            return loader.load_data(path)
        except DataNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            raise WaiterDefinitionError(f"not JSON: {error}", source=f"{path}.json") from error


def _misspelt(
    waiting: Mapping[str, Sequence[WaiterOverlay]], found: Mapping[str, BoundWaiter]
) -> Iterator[WaiterDefinitionError]:
    """The refusals of overlays whose waiter does not exist."""
    for overlay in chain.from_iterable(waiting.values()):
        # One that tells no service may be meant for another.
        if overlay.service is not None:
            names = [bound.definition.name for bound in found.values()]
            yield overlay.refuse(unknown(overlay.name, names, "waiter"))


def _unless_refused(
    place: Callable[[], Sequence[Layer | UnreadWaiter]], refused: list[WaiterDefinitionError]
) -> Sequence[Layer | UnreadWaiter]:
    try:
        return place()
    except WaiterDefinitionError as error:
        refused.append(error)
        return ()


@cache
def _log_once(problem: str) -> None:
    logger.warning("refused: %s", problem)


def default_loader() -> Loader:
    """A loader with the search path that botocore has by default."""
    return create_loader(os.environ.get("AWS_DATA_PATH"))


def generated_definitions(
    service: ServiceModel, document: Mapping[str, Any]
) -> list[WaiterDefinition]:
    """The waiters of botocore as definitions that any Smithy tool can read, for `data/`."""
    return [
        _resolved(definition, service.operation_model(definition.operation), keep_others=False)
        for definition in convert_model(document, source=service.service_name, is_botocores=True)
    ]


def _resolved(
    definition: WaiterDefinition, operation: OperationModel, *, keep_others: bool
) -> WaiterDefinition:
    def errors_with_status(status: int) -> list[str]:
        return [
            shape.name
            for shape in operation.error_shapes
            if shape.metadata.get("error", {}).get("httpStatusCode") == status
        ]

    return without_status(
        definition,
        is_head=operation.http.get("method") == "HEAD",
        errors_with_status=errors_with_status,
        keep_others=keep_others,
    )


def _check_operation(definition: WaiterDefinition, operation: OperationModel) -> None:
    """What only the operation can tell of a definition."""

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


def operation_name(name: str, known: Sequence[str]) -> str | None:
    """The operation that a definition means; None if there is none.

    botocore's waiters call the client's method of the name in snake case, so that `getThing` and
    `get_thing` do for `GetThing`.
    """
    if name in known:
        return name
    snake = xform_name(name)
    return next((other for other in known if xform_name(other) == snake), None)


def applies_to(definition: Layer, *service_names: str) -> bool:
    """Whether a definition is of a service of these names; one without a service is of all."""
    if definition.service is None:
        return True
    return _squashed(definition.service) in {_squashed(str(name)) for name in service_names}


def _squashed(name: str) -> str:
    """A service name without what its many spellings differ in."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
