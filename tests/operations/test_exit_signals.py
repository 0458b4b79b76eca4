"""Signals that end what runs in the main thread."""

import signal

from boto_waiters_plus.operations.exit_signals import ended_by_signals


def test_own_handler_of_sigterm_is_called_after_the_block():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        with ended_by_signals(lambda: seen.append("stop")):
            signal.raise_signal(signal.SIGTERM)
            seen.append("in the block")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == ["stop", "in the block", signal.SIGTERM]
