"""Signals, which end a delay early: from this process, or by events from a queue."""

from .receiver import EventSignal, SqsSignal
from .signal import Signal, Subscription

__all__ = ["EventSignal", "Signal", "SqsSignal", "Subscription"]
