"""Signals that end what runs in the main thread."""

import signal
from signal import SIG_DFL, SIG_IGN

import pytest

from boto_waiters_plus.operations.exit_signals import ended_by_signals


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
@pytest.mark.parametrize(
    ("name", "of_sighup", "told"),
    [
        ("SIGTERM", SIG_DFL, ["stop", "in the block", signal.SIGTERM]),
        ("SIGHUP", lambda *_: None, ["stop", "in the block", getattr(signal, "SIGHUP", None)]),
        # As nohup leaves it.
        ("SIGHUP", SIG_IGN, ["in the block"]),
    ],
)
def test_own_handler_of_sigterm_is_called_after_the_block(name, of_sighup, told):
    seen, number = [], getattr(signal, name)
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    hang_up = signal.signal(signal.SIGHUP, of_sighup)
    try:
        with ended_by_signals(lambda: seen.append("stop")):
            signal.raise_signal(number)
            seen.append("in the block")
        assert signal.getsignal(signal.SIGHUP) is of_sighup
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, hang_up)
    assert seen == told
