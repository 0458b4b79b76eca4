"""One wait among many, checked when it is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from botocore.model import OperationModel

from ..calls.clients import client_behind
from ..common.arguments import text, time_bound
from ..common.time_bounds import TimeBound
from ..engine.machine import Policy
from ..engine.model import WaitDescription, WaiterDefinition
from ..engine.redaction import printable
from ..options import WaitOptions, only_options, policy_for, refuse_short_wait
from ..service.bound_waiter import BoundWaiter
from ..service.clients import waiters_of
from ..service.labels import label_of
from ..service.parameters import copied, refuse_empty_id_list
from ..service.waits import find_waiter, waiter_for
from ..settings import Observer, Settings
from ..wait.drivers import PreparedWait

# --- what a batch needs of a wait on a callable --------------------------------------------------


class CallableWait(ABC):
    """One wait on a callable among many: `conditions.ConditionWait`."""

    __slots__ = ()

    max_wait: float | None
    label: str
    waiter: str
    is_async: bool
    options: WaitOptions

    @property
    @abstractmethod
    def merged_options(self) -> WaitOptions:
        """`options`, completed by the defaults that hold now."""

    @property
    @abstractmethod
    def description(self) -> WaitDescription:
        """What the wait is for, as messages and observers name it."""

    @abstractmethod
    def prepared(
        self, max_wait: float | None, function: str, observers: Sequence[Observer], **replaced: Any
    ) -> PreparedWait:
        """Return the wait, ready to start.

        Args:
            max_wait: seconds.
            function: the function that runs the batch.
            observers: called with each event.
            replaced: options in place of its own.
        """


# --- a wait of a client --------------------------------------------------------------------------


class Wait:
    """One wait to be run with others; checked when it is made, and never changed by a run.

    Args:
        client: a botocore client.
        waiter: `"BucketExists"`, `"bucket_exists"`, or a definition.
        parameters: the operation's parameters.
        until_state, state_path: with an operation in place of a waiter; see `wait_until`.
        label: what messages, events and progress call the resource; default: from the parameters,
            as `s3 Bucket=my-bucket`.
        max_wait: seconds (or a `timedelta`) to wait at most, from the start of the run. May be
            left out where the run has a `max_wait`, or a `deadline` around it.
        options: fields of `WaitOptions`.

    Raises:
        TypeError: not a client, or an option is of the wrong kind.
        ValueError: no such waiter, operation or state; an option is out of range; or a list of ids
            is empty.
    """

    __slots__ = (
        "age",
        "bound_waiter",
        "call",
        "called",
        "client",
        "given_label",
        "merged_options",
        "options",
        "parameters",
        "policy",
        "settings",
        "since_call",
    )

    age: float
    """Seconds since the start of a wait that is resumed."""
    bound_waiter: BoundWaiter
    """The definition on its operation."""
    called: Any
    """What is called: the client, or a proxy of it."""
    settings: Settings | None
    """The settings of the client when the wait was made; None: the policy was made elsewhere, so
    that no settings change it."""
    merged_options: WaitOptions
    """The options under these settings."""
    policy: Policy
    """The policy under these options."""
    given_label: str | None
    """The caller's label."""
    call: Mapping[str, Any] | None
    """The `input` and `output` of the call whose effect is waited for."""
    since_call: float | None
    """Seconds from that call to the start of the wait."""

    def __init__(
        self,
        client: Any,
        waiter: str | WaiterDefinition,
        parameters: Mapping[str, Any],
        /,
        *,
        until_state: str | Iterable[str] | None = None,
        state_path: str | None = None,
        max_wait: Any = None,
        label: str | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters must be a mapping, not {type(parameters).__name__}")
        found = find_waiter(client, waiter, until_state, state_path)
        given = only_options("Wait", options, "the operation's parameters are the third argument")
        refuse_short_wait(given, max_wait)
        self._make(client, found, parameters, given, max_wait=max_wait, label=label)

    @classmethod
    def with_options(
        cls,
        client: Any,
        waiter: str | WaiterDefinition | BoundWaiter,
        parameters: Mapping[str, Any],
        options: WaitOptions,
        **own: Any,
    ) -> Wait:
        """Return a wait with options that were checked.

        Args:
            client, waiter, parameters: as for `Wait`.
            options: the options.
            own: `max_wait` and `label`, as for `Wait`; `policy`, a resolved one, whose `max_wait`
                holds, so that no settings are merged; and the attributes `call` and `since_call`.
        """
        wait = cls.__new__(cls)
        wait._make(client, find_waiter(client, waiter), parameters, options, **own)
        return wait

    def _make(
        self,
        client: Any,
        found: tuple[BoundWaiter, Settings],
        parameters: Mapping[str, Any],
        options: WaitOptions,
        *,
        max_wait: Any = None,
        label: str | None = None,
        policy: Policy | None = None,
        call: Mapping[str, Any] | None = None,
        since_call: float | None = None,
    ) -> None:
        self.given_label = None if label is None else printable(text("label", label))
        self.call, self.since_call, self.age = call, since_call, 0.0
        waiter, settings = found
        self.parameters = copied(parameters)
        self.bound_waiter = waiter_for(waiter, self.parameters)
        refuse_empty_id_list(self.bound_waiter.operation, self.parameters)
        self.client, self.called = client_behind(client), client
        self.options = options
        if policy is not None:
            self.settings, self.merged_options, self.policy = None, options, policy
            return
        if max_wait is not None and not isinstance(max_wait, TimeBound):
            max_wait = time_bound("max_wait", max_wait)
        self.settings = settings
        by_definition = partial(policy_for, self.definition)
        # Raises for delays that do not fit the definition's.
        self.merged_options, self.policy, _ = settings.resolve(options, max_wait, by_definition)
        self.bound_waiter.warn()

    @property
    def max_wait(self) -> float | None:
        """Seconds to wait at most; None: the run, or a `deadline` around it, limits the wait."""
        return self.policy.limits.max_wait

    @property
    def bound(self) -> TimeBound | None:
        """`max_wait`, and what the caller has written for it."""
        limits = self.policy.limits
        if limits.max_wait is None:
            return None
        return TimeBound(limits.max_wait, limits.asked_wait, limits.ended_by)

    @property
    def definition(self) -> WaiterDefinition:
        """The definition of the waiter."""
        return self.bound_waiter.definition

    @property
    def description(self) -> WaitDescription:
        """What the wait is for, as messages and observers name it."""
        return self.bound_waiter.polling.description

    @property
    def operation(self) -> OperationModel:
        """The operation that is polled."""
        return self.bound_waiter.operation

    @property
    def waiter(self) -> str:
        """The name of the waiter."""
        return self.bound_waiter.definition.name

    @property
    def label(self) -> str:
        """The resource: the caller's label, or `s3 Bucket=my-bucket`."""
        if self.given_label is not None:
            return self.given_label
        settings = waiters_of(self.client).settings
        # The settings may have changed since the wait was made.
        is_as_made = self.settings is None or self.settings is settings
        options = self.merged_options if is_as_made else self.options.merged_over(settings.defaults)
        return str(label_of(self.bound_waiter.polling.resource_label, self.parameters, options))

    @property
    def whole_label(self) -> str:
        """The label with whole ARNs."""
        label, resource = self.label, self.bound_waiter.polling.resource_label
        # The caller's label, or one without parameters, stays as it is.
        is_made = label == resource.text(self.parameters)
        return resource.text(self.parameters, whole_arns=True) if is_made else label

    def __repr__(self) -> str:
        return f"Wait({self.waiter} for {self.label}, max_wait={self.max_wait})"


@runtime_checkable
class HasWait(Protocol):
    """Something with an end of its own that a batch waits for, as an `operations.Operation`."""

    def as_wait(self) -> CallableWait:
        """Return the wait for its end, whose value is an outcome."""
        ...
