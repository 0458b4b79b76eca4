"""Labels: which resource a wait is about, in a few words, such as `s3 Bucket=my-bucket`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from botocore.model import ListShape, OperationModel, StringShape

from ..common.labels import short_arns
from ..engine.redaction import MAX_PARAMETERS, listed, parameter_text
from ..options import WaitOptions
from .shapes import element_of, members_of, required_of
from .sharing import coalescing_of

_NAMING = ("Id", "id", "Identifier", "identifier", "Name", "name", "Arn", "arn", "ARN")

_IDENTIFIER = (*_NAMING, "cluster")
"""How the names of optional members end that identify a resource: `StackName`, ECS's `cluster`."""

_IDENTIFIERS = (*(f"{each}s" for each in _NAMING), "Identities", "identities")
"""How the names of lists end that identify resources: `InstanceIds`."""

_FILTERS = ("Filter", "filter", "Filters", "filters")
"""How the names of lists of filters end, which identify resources where nothing else does."""

_CREDENTIAL = ("token", "password", "passphrase", "secret", "signature", "accesskeyid")
"""How the names of members end that no text shows, where models do not mark them as sensitive."""


class ResourceLabel:
    """Makes the labels of the waits that poll one operation.

    Args:
        operation: its input model tells which members identify the resource: strings that are
            required or named like an identifier, lists of identifiers, and filters where a wait
            has none of these. None of them is `sensitive` in the model.
    """

    def __init__(self, operation: OperationModel) -> None:
        self.service = operation.service_model.service_name
        self._strings = tuple(_strings(operation))
        self._lists = tuple(_lists(operation))
        self._filters = tuple(_filters(operation))

    def text(self, parameters: Mapping[str, Any], *, whole_arns: bool = False) -> str:
        """Return the label of a wait with these parameters, with at most three values."""
        short: Callable[[Sequence[str]], list[str]] = list if whole_arns else short_arns
        lists = self._lists and [
            (name, values) for name in self._lists if (values := _texts(parameters.get(name)))
        ]
        strings: dict[str, str] = {}
        for name in self._strings:
            value = parameters.get(name)
            if isinstance(value, str) and len(strings) < MAX_PARAMETERS - bool(lists):
                strings[name] = value
        texts = map(parameter_text, short([*strings.values()]))
        parts = list(map("{}={}".format, strings, texts))
        if lists:
            name, values = lists[0]
            parts.append(f"{name}=[{listed(short(values), MAX_PARAMETERS - len(parts))}]")
        parts = parts or list(self._shown_filters(parameters, short))
        return f"{self.service} {', '.join(parts)}" if parts else self.service

    def _shown_filters(
        self, parameters: Mapping[str, Any], short: Callable[[Sequence[str]], list[str]]
    ) -> Iterator[str]:
        for member, name, values in self._filters:
            filters = [each for each in _items(parameters.get(member)) if isinstance(each, dict)]
            texts = [
                f"{each.get(name)}={'|'.join(short(_texts(each.get(values))))}" for each in filters
            ]
            shown = [text for text in texts if not _is_credential(text.partition("=")[0])]
            if shown:
                yield f"{member}=[{listed(shown)}]"


def told_apart(labels: Sequence[tuple[str, str]]) -> list[str]:
    """Return labels of waits that run together: those with whole ARNs where others are equal.

    Args:
        labels: of each wait the label, and the label with whole ARNs.
    """
    whole: dict[str, set[str]] = {}
    for label, with_arns in labels:
        whole.setdefault(label, set()).add(with_arns)
    return [with_arns if len(whole[label]) > 1 else label for label, with_arns in labels]


def label_of(
    resource: ResourceLabel, parameters: Mapping[str, Any], options: WaitOptions
) -> object:
    """Return the label of a wait, or an object of which `str` makes it when it is needed."""
    if options.show_parameters is False:
        return resource.service
    return _LateLabel(resource, parameters)


class _LateLabel:
    """Makes the label of a wait; of thousands of waits, few are ever named."""

    __slots__ = ("_parameters", "_resource")

    def __init__(self, resource: ResourceLabel, parameters: Mapping[str, Any]) -> None:
        self._resource = resource
        self._parameters = parameters

    def __str__(self) -> str:
        return self._resource.text(self._parameters)


def _strings(operation: OperationModel) -> Iterator[str]:
    """Yield the string members that identify the resource, the required ones first."""
    members, required = members_of(operation.input_shape), required_of(operation.input_shape)
    for name in dict.fromkeys((*required, *members)):
        is_identifier = name in required or name.endswith(_IDENTIFIER)
        if is_identifier and name not in operation.idempotent_members:
            member = members[name]
            if isinstance(member, StringShape) and _may_show(name, member):
                yield name


def _lists(operation: OperationModel) -> Iterator[str]:
    """Yield the members that are lists of identifiers, those that calls are shared by first."""
    members, required = members_of(operation.input_shape), required_of(operation.input_shape)
    coalescing = coalescing_of(operation)
    known = () if coalescing is None else coalescing.ids
    for name in dict.fromkeys((*known, *members)):
        element = element_of(members.get(name))
        is_identifier = name in (*known, *required) or name.endswith(_IDENTIFIERS)
        is_list = isinstance(element, StringShape)
        if is_identifier and is_list and _may_show(name, members[name], element):
            yield name


def _filters(operation: OperationModel) -> Iterator[tuple[str, str, str]]:
    """Yield the lists of filters: the member, and a filter's members of its name and values."""
    for name, member in members_of(operation.input_shape).items():
        parts = members_of(element_of(member)) if name.endswith(_FILTERS) else {}
        for key, values in (("Name", "Values"), ("Key", "Values"), ("name", "values")):
            texts = parts.get(values)
            if key in parts and isinstance(texts, ListShape):
                shapes = (member, element_of(member), parts[key], texts, texts.member)
                if _may_show(name, *shapes):
                    yield name, key, values


def _may_show(name: str, *shapes: Any) -> bool:
    is_sensitive = any(shape.metadata.get("sensitive") for shape in shapes)
    return not is_sensitive and not _is_credential(name)


def _is_credential(name: str) -> bool:
    return name.lower().endswith(_CREDENTIAL)


def _texts(value: Any) -> list[str]:
    texts = [each for each in _items(value) if isinstance(each, str)]
    return sorted(texts) if isinstance(value, set) else texts


def _items(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple, set)) else ()
