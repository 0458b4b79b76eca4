"""The short form of `bench/differential.py`: the same waits in every form."""

import importlib.util
import logging
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "differential.py"

WAITS = 60


@pytest.fixture
def differential(monkeypatch, caplog):
    caplog.set_level(logging.CRITICAL, "boto_waiters_plus")
    spec = importlib.util.spec_from_file_location("differential", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "differential", module)
    spec.loader.exec_module(module)
    return module


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
