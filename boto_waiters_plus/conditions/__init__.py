"""Wait on any callable, by the engine of the AWS waiters."""

from ..signals.signal import Signal, Subscription
from .condition import ConditionWait
from .form_options import ConditionOptions, propagating
from .forms import (
    First,
    poll,
    poll_async,
    wait_for,
    wait_for_async,
    wait_for_case,
    wait_for_case_async,
    wait_for_first,
    wait_for_first_async,
    wait_for_match,
    wait_for_match_async,
)
from .paces import exponential, fixed, linear
from .patterns import Case, failure, like, retry, success
from .steps import steps

__all__ = [
    "Case",
    "ConditionOptions",
    "ConditionWait",
    "First",
    "Signal",
    "Subscription",
    "exponential",
    "failure",
    "fixed",
    "like",
    "linear",
    "poll",
    "poll_async",
    "propagating",
    "retry",
    "steps",
    "success",
    "wait_for",
    "wait_for_async",
    "wait_for_case",
    "wait_for_case_async",
    "wait_for_first",
    "wait_for_first_async",
    "wait_for_match",
    "wait_for_match_async",
]
