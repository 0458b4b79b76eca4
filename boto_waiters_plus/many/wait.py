"""One wait among many, checked when it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from botocore.model import OperationModel

from ..arguments import seconds, text
from ..aws.bound_waiter import BoundWaiter
from ..aws.labels import label_of
from ..aws.parameters import copied, refuse_empty_id_list
from ..engine.machine import Policy
from ..engine.model import WaiterDefinition
from ..hooks.clients import waiters_of
from ..hooks.waits import find_waiter
from ..options import NO_OPTIONS, WaitOptions, policy_for, refuse_other_names, split_options
from ..settings import Settings


class Wait:
    """One wait to be run with others; checked when it is made, and never changed by a run.

    Args:
        client: a botocore client.
        waiter: `"BucketExists"`, `"bucket_exists"`, or a definition.
        parameters: the operation's parameters.
        label: what messages, events and progress call the resource; default: from the parameters,
            as `s3 Bucket=my-bucket`.
        max_wait: seconds (or a `timedelta`) to wait at most, from the start of the run. May be
            left out where the run has a `max_wait`, or a `deadline` around it.
        options: fields of `WaitOptions`.

    Raises:
        TypeError: not a client, or an option is of the wrong kind.
        ValueError: no such waiter, an option out of range, or an empty list of ids.
    """

    __slots__ = (
        "bound",
        "client",
        "given_label",
        "max_wait",
        "merged_options",
        "options",
        "parameters",
        "policy",
        "settings",
    )

    bound: BoundWaiter
    """The definition on its operation."""
    settings: Settings
    """The settings of the client when the wait was made."""
    merged_options: WaitOptions
    """The options under these settings."""
    policy: Policy
    """The policy under these options; its `max_wait` holds if the wait has one."""
    given_label: str | None
    """The caller's label."""

    def __init__(
        self,
        client: Any,
        waiter: str | WaiterDefinition,
        parameters: Mapping[str, Any],
        /,
        *,
        max_wait: Any = None,
        label: str | None = None,
        **options: Any,
    ) -> None:
        self.given_label = None if label is None else text("label", label)
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters must be a mapping, not {type(parameters).__name__}")
        self.bound, self.settings = find_waiter(client, waiter)
        self.parameters = copied(parameters)
        refuse_empty_id_list(self.bound.operation, self.parameters)
        self.client = client
        self.max_wait = None if max_wait is None else seconds("max_wait", max_wait)
        self.options = _only_options(options)
        self.merged_options = self.options.merged_over(self.settings.defaults)
        # Raises for delays that do not fit the definition's.
        self.policy = policy_for(self.bound.definition, self.merged_options, self.max_wait or 1)
        self.bound.warn()

    @property
    def definition(self) -> WaiterDefinition:
        """The definition of the waiter."""
        return self.bound.definition

    @property
    def operation(self) -> OperationModel:
        """The operation that is polled."""
        return self.bound.operation

    @property
    def waiter(self) -> str:
        """The name of the waiter."""
        return self.bound.definition.name

    @property
    def label(self) -> str:
        """The resource: the caller's label, or `s3 Bucket=my-bucket`."""
        settings = waiters_of(self.client).settings
        options = self.merged_options
        if settings is not self.settings:
            options = self.options.merged_over(settings.defaults)
        label = self.label_under(options)
        return label if isinstance(label, str) else label()

    def label_under(self, options: WaitOptions) -> str | Callable[[], str]:
        """Return the label under merged options, or a function that makes it."""
        if self.given_label is not None:
            return self.given_label
        return label_of(self.bound.resource_label, self.parameters, options)

    def __repr__(self) -> str:
        return f"Wait({self.waiter} for {self.label}, max_wait={self.max_wait})"


def _only_options(keywords: Mapping[str, Any]) -> WaitOptions:
    if not keywords:
        return NO_OPTIONS
    refuse_other_names("Wait", keywords)
    options, others = split_options(keywords)
    if others:
        names = ", ".join(sorted(others))
        raise TypeError(f"unexpected {names}: the operation's parameters are the third argument")
    return options
