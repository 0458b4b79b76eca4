"""Where the waiters of a service come from, and the names that they are looked up by."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import botocore
from botocore import xform_name
from botocore.exceptions import DataNotFoundError
from botocore.loaders import ExtrasProcessor, Loader, create_loader
from botocore.model import ServiceModel

from ..common.errors import logger
from ..definitions.files import SEARCH_PATH_FILE, installed_definitions, parse_waiters
from ..definitions.shipped import WRITTEN_FOR, unread_shipped
from ..definitions.smithy import UnreadWaiter, service_key
from ..definitions.waiters2 import unread_waiters2
from ..engine.acceptors import OutputMatcher
from ..engine.computed_once import computed_once
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError

# --- lookup by the names of methods: `DBInstanceAvailable` is `db_instance_available` ------------

T = TypeVar("T")


class BySnakeName(Generic[T]):
    """Values by the snake name of their names.

    `xform_name` takes 4 us a name, so that it is applied only to names with the same letters.

    Args:
        named: pairs of a name, in either form, and a value.
    """

    def __init__(self, named: Iterable[tuple[str, T]]) -> None:
        self._by_letters: dict[str, list[tuple[str, T]]] = {}
        for name, value in named:
            self._by_letters.setdefault(letters(name), []).append((name, value))

    def find(self, name: str) -> list[T]:
        """Return the values whose names have the same snake name as this one."""
        candidates = self._by_letters.get(letters(name), ())
        snake_name = xform_name(name)
        return [value for other, value in candidates if xform_name(other) == snake_name]

    def alike(self, name: str) -> list[T]:
        """Return the values whose names have the same letters, without regard to case."""
        return [value for _, value in self._by_letters.get(letters(name), ())]


def operation_name(name: str, known: Sequence[str]) -> str | None:
    """Return the operation that a definition means; None if there is none.

    botocore's waiters call the client's method of the name in snake case, so that `getThing` and
    `get_thing` also mean `GetThing`.
    """
    if name in known:
        return name
    return next(iter(BySnakeName((other, other) for other in known).find(name)), None)


def letters(name: str) -> str:
    """Return a name in lower case and without underscores."""
    return name.replace("_", "").lower()


# --- whether the installed botocore is the one that the shipped definitions were written from


def botocore_is_older() -> bool:
    """Return whether the installed botocore may lack what a shipped definition needs."""
    return numbers_of(botocore.__version__) < numbers_of(WRITTEN_FOR)


def botocore_is_newer() -> bool:
    """Return whether the installed botocore may have what no shipped definition knows."""
    return numbers_of(botocore.__version__) > numbers_of(WRITTEN_FOR)


def numbers_of(version: str) -> tuple[int, ...]:
    """Return the three numbers of a version, which are compared one by one."""
    # What comes behind, of a distributor for example, changes no model.
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


# --- the five places -----------------------------------------------------------------------------


class DefinitionPlace:
    """The definitions of one place, read at first use.

    Args:
        read: returns them; it raises a `WaiterDefinitionError` if the place is malformed.
        from_user: whether they come neither with this package nor with botocore.
        fits: whether one of them can be used; None: all can.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[WaiterDefinition | UnreadWaiter]],
        *,
        from_user: bool = False,
        fits: Callable[[Any], bool] | None = None,
    ) -> None:
        self._read = read
        self._fits = fits
        self.from_user = from_user

    @computed_once
    def _all(self) -> Sequence[WaiterDefinition | UnreadWaiter]:
        return tuple(self._read())

    @computed_once
    def waiters(self) -> Sequence[WaiterDefinition | UnreadWaiter]:
        """All that can be used, in the order of precedence."""
        return tuple(filter(self._fits, self._all))

    @computed_once
    def _by_name(self) -> BySnakeName[WaiterDefinition | UnreadWaiter]:
        return BySnakeName((waiter.name, waiter) for waiter in self._all)

    def named(self, name: str) -> Iterable[WaiterDefinition | UnreadWaiter]:
        """Return those with this name, without regard to case, making no other."""
        return filter(self._fits, self._by_name.alike(name))


def places_of(
    service: ServiceModel, loader: Loader | None, definitions: Iterable[WaiterDefinition]
) -> tuple[DefinitionPlace, ...]:
    """Return the five places for a service, in the order of precedence.

    They are what the user gives, the search path, packages, what this package ships, and botocore.

    Args:
        service: the model of the service.
        loader: botocore's loader of the session; by default one with the default search path.
        definitions: the definitions given by the user, for any service.
    """
    given = tuple(definitions)
    return (
        DefinitionPlace(lambda: given_for(service, given), from_user=True),
        DefinitionPlace(lambda: _on_search_path(service, loader), from_user=True),
        DefinitionPlace(lambda: given_for(service, installed_definitions()[0]), from_user=True),
        DefinitionPlace(
            lambda: unread_shipped(service.service_id.hyphenize()).values(),
            # An older model may lack the state that a shipped waiter compares.
            fits=partial(_fits, service) if botocore_is_older() else None,
        ),
        DefinitionPlace(lambda: _of_botocore(service, loader)),
    )


def given_for(
    service: ServiceModel, definitions: Iterable[WaiterDefinition]
) -> list[WaiterDefinition]:
    """Return the definitions that are for a service, by any of its names, or for any service."""
    names = (service.service_name, service.service_id, service.endpoint_prefix)
    return [each for each in definitions if applies_to(each, *names)]


def applies_to(definition: WaiterDefinition, *service_names: str) -> bool:
    """Return whether a definition is for the service with these names, or for any service."""
    if definition.service is None:
        return True
    return service_key(definition.service) in {service_key(str(name)) for name in service_names}


def _fits(service: ServiceModel, waiter: UnreadWaiter) -> bool:
    definition = waiter.read()
    if definition.operation not in service.operation_names:
        return False
    from .data_model import has_members_of  # noqa: PLC0415 - only for an older botocore

    operation = service.operation_model(definition.operation)
    return all(
        has_members_of(operation, acceptor.matcher.matcher.path)
        for acceptor in definition.acceptors
        if isinstance(acceptor.matcher, OutputMatcher)
    )


def _on_search_path(service: ServiceModel, loader: Loader | None) -> Iterable[WaiterDefinition]:
    path = _data_path(service, SEARCH_PATH_FILE)
    document = _load(loader, path)
    if document is None:
        for found in _misplaced(service, loader):
            logger.warning(
                "%s is not read: it has to be at %s.json in the same folder", found, path
            )
        return ()
    source = f"{path}.json on botocore's search path"
    return parse_waiters(document, source=source, service=service.service_name)


def _misplaced(service: ServiceModel, loader: Loader | None) -> Iterator[Path]:
    """Yield the files of a service that miss the folder of its API version, or are in another."""
    for root in (loader or default_loader()).search_paths:
        if root == Loader.BUILTIN_DATA_PATH:
            continue
        name, folder = f"{SEARCH_PATH_FILE}.json", Path(root, service.service_name)
        for file in (Path(root, name), folder / name, *sorted(folder.glob(f"*/{name}"))):
            if file.is_file():
                yield file


def botocores_own(service: ServiceModel, name: str, operation: str) -> WaiterDefinition | None:
    """Return the installed botocore's own waiter, whatever lies on the search path.

    Returns:
        The waiter; None: there is none, or its form is not known here.
    """
    try:
        for own in _of_botocore(service, botocores_loader()):
            if (own.name, own.operation) == (name, operation):
                return own.read()
    except WaiterDefinitionError as error:
        logger.debug("passed over: %s", error)
    return None


def botocores_loader() -> Loader:
    """Return a loader of the installed botocore's own data."""
    loader = Loader(include_default_search_paths=False)
    loader.search_paths[:] = [Loader.BUILTIN_DATA_PATH]
    return loader


def _of_botocore(service: ServiceModel, loader: Loader | None) -> Iterable[UnreadWaiter]:
    path = _data_path(service, "waiters-2")
    document = _load(loader, path)
    if document is None:
        return ()
    if not isinstance(document, Mapping) or not isinstance(document.get("waiters"), Mapping):
        raise WaiterDefinitionError("waiters must be an object", source=f"{path}.json")
    extras = _load(loader, f"{path}.sdk-extras")
    if extras is not None:
        # The loader shares its documents.
        document = {**document, "waiters": dict(document["waiters"])}
        ExtrasProcessor().process(document, [extras])
    return unread_waiters2(
        document, source=f"{path}.json", service=service.service_name, is_botocores=True
    )


def _data_path(service: ServiceModel, name: str) -> str:
    # Asking the loader for the newest version of the service would list every folder: 8 ms.
    return f"{service.service_name}/{service.api_version}/{name}"


def _load(loader: Loader | None, path: str) -> Any:
    try:
        return (loader or default_loader()).load_data(path)
    except DataNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise WaiterDefinitionError(f"not JSON: {error}", source=f"{path}.json") from error


def default_loader() -> Loader:
    """Return a loader with botocore's default search path."""
    return create_loader(os.environ.get("AWS_DATA_PATH"))
