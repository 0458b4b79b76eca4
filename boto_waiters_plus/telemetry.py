"""OpenTelemetry: a span for each wait, an event for each attempt, and histograms.

The extra `otel` brings the API; exporters and providers are the application's. docs/telemetry.md
has the table of names.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .common.arguments import flag
from .common.errors import refuse_missing
from .common.process import ProcessLock
from .engine.wait_event import WaitEvent
from .hooks.installation import observe, stop_observing

try:
    from opentelemetry import metrics, trace
except ImportError as missing:
    refuse_missing("telemetry", "otel", missing)

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

__all__ = ["instrument", "uninstrument"]

SCOPE: Final = "boto_waiters_plus"

ENDING: Final = "boto.wait.ending"
ATTEMPTS: Final = "boto.wait.attempts"
ERROR: Final = "error.type"


def instrument(
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    labels: bool = False,
) -> None:
    """Report every wait of this process to OpenTelemetry.

    Called again, it replaces the providers. `uninstrument` ends it, and so does
    `boto_waiters_plus.uninstall`.

    Args:
        tracer_provider: makes the spans; default: OpenTelemetry's global provider.
        meter_provider: makes the histograms; default: OpenTelemetry's global provider.
        labels: give the spans the label of the wait, which has parameters of the operation. Without
            it, no parameter is among the attributes. The histograms never have it.

    Raises:
        TypeError: `labels` is not a boolean.
    """
    _replace(_Telemetry(tracer_provider, meter_provider, labels=flag("labels", labels)))


def uninstrument() -> None:
    """Stop reporting; the end of a wait that is still running is not reported."""
    _replace(None)


def _replace(observer: _Telemetry | None) -> None:
    with _lock:
        while _active:
            stop_observing(_active.pop())
        if observer is not None:
            observe(observer)
            _active.append(observer)


_lock: Final = ProcessLock()
_active: Final[list[_Telemetry]] = []


@dataclass(slots=True)
class _OpenWait:
    """A wait between its start and its end."""

    span: Span
    began: int
    attempted_at: float | None = None
    gap: float | None = None
    """Seconds between the last two attempts."""
    transient_errors: int = 0


class _Telemetry:
    """The observer of all waits."""

    def __init__(self, tracer_provider: Any, meter_provider: Any, *, labels: bool) -> None:
        self._labels = labels
        self._waits: dict[int, _OpenWait] = {}
        self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
        meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
        self._duration = meter.create_histogram(
            "boto.wait.duration", unit="s", description="Time from the start to the end of a wait."
        )
        self._attempts = meter.create_histogram(
            ATTEMPTS, unit="{attempt}", description="Attempts of a wait."
        )
        self._detection = meter.create_histogram(
            "boto.wait.detection_delay.max",
            unit="s",
            description="Most time that can lie between the state being reached and being seen.",
        )

    def __call__(self, event: WaitEvent) -> None:
        # A wait that began before `instrument` has no span.
        wait = self._waits.get(event.wait_id)
        if event.kind == "start":
            self._start(event)
        elif wait is not None and event.kind == "attempt":
            self._attempted(wait, event)
        elif wait is not None:
            del self._waits[event.wait_id]
            self._end(wait, event)

    def _start(self, event: WaitEvent) -> None:
        began = time.time_ns()
        label = event.label if self._labels else ""
        attributes = _known({**_about(event), "boto.wait.label": label or None})
        span = self._tracer.start_span(
            f"wait {event.waiter}", attributes=attributes, start_time=began
        )
        self._waits[event.wait_id] = _OpenWait(span, began)

    def _attempted(self, wait: _OpenWait, event: WaitEvent) -> None:
        if wait.attempted_at is not None:
            wait.gap = event.elapsed - wait.attempted_at
        wait.attempted_at = event.elapsed
        facts = {
            "boto.wait.attempt": event.attempt,
            "boto.wait.state": event.state,
            ERROR: event.error,
            "boto.wait.next_delay": event.next_delay,
            "boto.wait.transient": event.transient or None,
        }
        wait.transient_errors += event.transient
        wait.span.add_event("attempt", _known(facts), timestamp=_moment(wait, event))

    def _end(self, wait: _OpenWait, event: WaitEvent) -> None:
        span, end = wait.span, _known({ENDING: event.kind, ERROR: event.error})
        errors = wait.transient_errors or None
        counts = {ATTEMPTS: event.attempt, "boto.wait.transient_errors": errors}
        span.set_attributes(_known({**end, **counts}))
        attributes = {**_about(event), **end}
        if event.kind != "success":
            # Not the message, which has parameters.
            span.set_status(trace.StatusCode.ERROR, event.error)
        elif wait.gap is not None:
            self._detection.record(wait.gap, attributes)
        self._duration.record(event.elapsed, attributes)
        self._attempts.record(event.attempt, attributes)
        span.end(_moment(wait, event))


def _about(event: WaitEvent) -> dict[str, str]:
    about = {"boto.wait.waiter": event.waiter, "boto.wait.operation": event.operation}
    return _known({**about, "boto.wait.service": event.service})


def _known(facts: dict[str, Any]) -> dict[str, Any]:
    """Return attributes without those that are None."""
    return {name: value for name, value in facts.items() if value is not None}


def _moment(wait: _OpenWait, event: WaitEvent) -> int:
    """Return the wall time of an event: in a batch, handlers may be called a little later."""
    return wait.began + int(event.elapsed * 1e9)
