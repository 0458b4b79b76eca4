"""Signals, which end a delay early: from this process, or by events from a queue."""

from .receiver import EventSignal
from .signal import Signal, Subscription
from .sqs import SqsSignal

__all__ = ["EventSignal", "Signal", "SqsSignal", "Subscription"]
