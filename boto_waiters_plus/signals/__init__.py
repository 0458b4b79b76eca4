"""What makes waits look again at once: signals of this process, and events from a queue."""

from .event_signal import EventSignal
from .signalling import Signal, Subscription
from .sqs import SqsSignal

__all__ = ["EventSignal", "Signal", "SqsSignal", "Subscription"]
