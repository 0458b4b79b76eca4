"""Signals that end a worker in the main thread."""

import signal
from signal import SIG_DFL, SIG_IGN

import pytest
from stored_waits import IN_MEMORY, start  # beside this file

from boto_waiters_plus import operations


@IN_MEMORY
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
@pytest.mark.parametrize(("name", "of_sighup", "told"), [
    ("SIGTERM", SIG_DFL, ["made", signal.SIGTERM]),
    ("SIGHUP", lambda *_: None, ["made", getattr(signal, "SIGHUP", None)]),
    # As nohup leaves it.
    ("SIGHUP", SIG_IGN, ["made", "made"]),
])  # fmt: skip
def test_own_handler_of_sigterm_is_called_after_the_work(store, stream, name, of_sighup, told):
    seen, number = [], getattr(signal, name)
    for profile in ("one", "two"):
        start(store, stream(), profile_name=profile)

    def make(_):
        signal.raise_signal(number)
        seen.append("made")
        raise operations.OperationError("unsupported", "not here")

    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    hang_up = signal.signal(signal.SIGHUP, of_sighup)
    try:
        store.work(until_idle=True, batch_size=1, make_client=make)
        assert signal.getsignal(signal.SIGHUP) is of_sighup
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, hang_up)
    assert seen == told
