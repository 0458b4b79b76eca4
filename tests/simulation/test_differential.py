"""The short form of `bench/differential.py`: the same waits in every form."""

import logging

import pytest
from script_modules import script

WAITS = 60


@pytest.fixture
def differential(caplog):
    caplog.set_level(logging.CRITICAL, "boto_waiters_plus")
    with script("bench/differential.py") as module:
        yield module


def test_all_forms_agree(differential, caplog):
    caplog.set_level(logging.INFO)
    worlds = [differential.World(seed) for seed in range(WAITS)]
    forms = differential.possible_forms()
    assert {"blocking", "async", "wait_all", "memory", "stored"} <= set(forms)
    assert list(differential.differences(worlds, forms)) == []
    assert all(name in caplog.text for name in KINDS)


KINDS = (
    "ResponseOutcome",
    "ExceptionOutcome",
    "WaiterFailedError",
    "WaiterAttemptsError",
    "WaiterTimeoutError",
)


def test_a_form_that_differs_is_named(differential, monkeypatch):
    worlds = [differential.World(0)]
    other = differential.End("WaiterFailedError", 99, None, None)
    monkeypatch.setitem(differential.FORMS, "memory", lambda _: [other])
    (line,) = differential.differences(worlds, ["blocking", "memory"])
    assert line.startswith(f"seed 0, memory: {other}")
