"""Operations whose sibling tells the states of many resources at once.

They are listed in `data/screens.json`, by the trait `boto.waiters#screen`, which
`data/traits.json` defines. The project's tools check the list against the service models.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from botocore.model import OperationModel

from ..definitions.shipped import shipped_traits
from ..engine.acceptors import OutputMatcher, SuccessMatcher
from ..engine.model import WaiterDefinition
from .data_model import member_names
from .shapes import shape_id_of, value_at

SCREEN = "boto.waiters#screen"


class Scope(NamedTuple):
    """Where a parameter of the sibling comes from."""

    member: str
    """The input member of the polled operation."""
    pattern: str | None = None
    """What the whole value must match; None: the value is taken as it is."""
    to: str = ""
    """What the value becomes, with the groups of the pattern."""

    def value(self, parameters: Mapping[str, Any]) -> str | None:
        """Return the parameter of the sibling for a wait; None if the wait does not tell it."""
        given = parameters.get(self.member)
        if not isinstance(given, str):
            return None
        if self.pattern is None:
            return given
        match = re.fullmatch(self.pattern, given)
        return None if match is None else match.expand(self.to)


class Screen(NamedTuple):
    """How one call of a sibling tells the states of many resources."""

    operation: str
    """The sibling."""
    parameters: Mapping[str, Any]
    """Parameters that each call of it has."""
    scope: Mapping[str, Scope]
    """Its parameters that come from the wait, such as the parent of the resource."""
    id: str
    """The input member of the polled operation that identifies the resource."""
    pattern: str | None
    """What the identifier must match; None: the list has any form of it."""
    items: str
    """The list of its output, as members separated by dots; so are the paths below."""
    ids: tuple[str, ...]
    """The members of an item, each of which may equal the identifier."""
    state: str
    """The member of an item that tells the state."""
    path: str
    """Where the output of the polled operation has the state; `[]` follows a list."""
    batch: str | None
    """The input member of the sibling that takes a list of identifiers."""
    token_input: str | None
    token_output: str | None
    page_member: str | None
    page_size: int | None
    """The most items that one call returns, or identifiers that it takes."""
    filter_member: str | None
    """The input member that selects by state; `[]` follows one that takes several states."""
    filter_values: tuple[str, ...]
    """The states in progress."""

    @classmethod
    def of(cls, trait: Mapping[str, Any]) -> Screen:
        """Read a valid trait."""
        batch, page = trait.get("batch", {}), trait.get("page", {})
        token, status = trait.get("token", {}), trait.get("filter", {})
        return cls(
            operation=trait["operation"],
            parameters=trait.get("parameters", {}),
            scope={name: _scope(value) for name, value in trait.get("scope", {}).items()},
            id=trait["id"],
            pattern=trait.get("pattern"),
            items=trait["items"],
            ids=tuple(trait["ids"]),
            state=trait["state"],
            path=trait["path"],
            batch=batch.get("member"),
            token_input=token.get("input"),
            token_output=token.get("output"),
            page_member=page.get("member"),
            page_size=batch.get("size", page.get("size")),
            filter_member=status.get("member"),
            filter_values=tuple(status.get("values", ())),
        )

    def scope_of(self, parameters: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return the sibling's parameters that come from a wait; None: it cannot be screened.

        Args:
            parameters: those of the wait; one that the sibling does not take may change what
                the state belongs to.
        """
        found = {name: scope.value(parameters) for name, scope in self.scope.items()}
        known = {self.id, *(scope.member for scope in self.scope.values())}
        given = parameters.get(self.id)
        if not given or not isinstance(given, str) or not parameters.keys() <= known:
            return None
        if self.pattern is not None and not re.fullmatch(self.pattern, given):
            return None
        values = {name: value for name, value in found.items() if value}
        return values if len(values) == len(found) else None

    def requests(
        self,
        scope: Mapping[str, str],
        ids: Sequence[str],
        is_open: Callable[[str], bool] = lambda _: True,
    ) -> Iterator[dict[str, Any]]:
        """Yield the request for the first page of each list that together tell the states.

        Args:
            scope: what `scope_of` returned.
            ids: the identifiers of the resources.
            is_open: whether a wait goes on in a state; the others need not be listed.
        """
        base = {**self.parameters, **scope}
        if self.batch is not None:
            size = self.page_size or len(ids)
            for start in range(0, len(ids), size):
                yield {**base, self.batch: list(ids[start : start + size])}
            return
        if self.page_member is not None:
            base[self.page_member] = self.page_size
        states = [each for each in self.filter_values if is_open(each)]
        if self.filter_member is None or not states:
            yield base
        elif self.filter_member.endswith("[]"):
            yield {**base, **with_value_at(self.filter_member.removesuffix("[]"), states)}
        else:
            for state in states:
                yield {**base, **with_value_at(self.filter_member, state)}

    def next_request(self, request: Mapping[str, Any], response: Any) -> dict[str, Any] | None:
        """Return the request for the page that follows; None: this was the last one."""
        if self.token_input is None or self.token_output is None:
            return None
        token = value_at(response, self.token_output)
        return {**request, self.token_input: token} if token else None

    def states(self, response: Any) -> dict[str, set[str]]:
        """Return the states of the resources of a page, by each of their identifiers.

        Raises:
            TypeError: the response has another form.
        """
        items = value_at(response, self.items) or ()
        if not isinstance(response, Mapping) or not isinstance(items, (list, tuple)):
            raise TypeError(f"the response has no list {self.items}")
        found: dict[str, set[str]] = {}
        for item in items:
            state = value_at(item, self.state)
            for name in self.ids if isinstance(state, str) else ():
                if isinstance(identifier := item.get(name), str):
                    found.setdefault(identifier, set()).add(state)
        return found


def _scope(value: str | Mapping[str, str]) -> Scope:
    if isinstance(value, str):
        return Scope(member=value)
    return Scope(member=value["from"], pattern=value["pattern"], to=value["to"])


def with_value_at(path: str, value: Any) -> dict[str, Any]:
    """Return an object that has a value at the end of a path, and nothing else."""
    names: Sequence[str] = path.split(".")
    for name in reversed(names):
        value = {name.removesuffix("[]"): [value] if name.endswith("[]") else value}
    return dict(value)


@functools.cache
def shipped_screens() -> Mapping[str, Screen]:
    """Return what `data/screens.json` lists, by the shape id of the polled operation."""
    traits = shipped_traits(SCREEN)
    return {shape_id: Screen.of(trait) for shape_id, trait in traits.items()}


# --- which sibling operation tells the states that a waiter reads, of many resources at once


def screen_by(definition: WaiterDefinition, operation: OperationModel) -> Screen | None:
    """Return what tells the states that a waiter reads; None if nothing does."""
    screen = shipped_screens().get(shape_id_of(operation))
    if screen is None or screen.operation not in operation.service_model.operation_names:
        return None
    return screen if reads_only(definition, screen) else None


def reads_only(definition: WaiterDefinition, screen: Screen) -> bool:
    """Return whether the acceptors of a waiter read no member of a response but the state."""
    # The answer about one resource has no second page, hence no token.
    names = {*screen.path.replace("[]", "").split("."), screen.token_output}
    for acceptor in definition.acceptors:
        match acceptor.matcher:
            case OutputMatcher(matcher=matcher):
                if not member_names(matcher.path) <= names:
                    return False
            case SuccessMatcher(success=True):
                return False
            case each if hasattr(each, "matcher"):  # The input is not the same for all.
                return False
    return True
