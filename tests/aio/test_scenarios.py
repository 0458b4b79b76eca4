"""One table of waits on a loopback server, the same ends by every way to wait."""

import contextlib
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest
from aio.clients import (
    COMING,
    FORBIDDEN,
    GOING,
    IN_USE,
    MISSING,
    THROTTLED,
    UNAVAILABLE,
    UP,
    WAYS,
    way,
)
from faults.server import BEFORE_HEADERS, BODY, HEADERS, FaultServer, Refusing, drip, hang

import boto_waiters_plus as bwp
from boto_waiters_plus.testing import virtual_time as open_virtual_time

# A task looks at its events in turns of this many seconds.
SLACK = 0.06
# Real seconds that a wait may be late on a busy machine.
PATIENCE = 10


@dataclass(frozen=True, kw_only=True)
class Scenario:
    name: str
    script: list
    ends: type
    attempts: int
    elapsed: float = 0
    """Seconds of virtual time; a real wait takes at least these."""
    options: dict[str, Any] = field(default_factory=dict)
    waiter: str = "table_up"
    cancel_at: float | None = None
    budget: float | None = None
    """Of a `deadline` around it."""
    real: bool = False
    """In real time: the call in flight does not end by itself."""
    says: str = ""

    def __str__(self):
        return self.name


SCENARIOS = [
    Scenario(name="up at once", script=[UP], ends=bwp.ResponseOutcome, attempts=1),
    Scenario(
        name="up at the third look",
        script=[COMING, COMING, UP],
        ends=bwp.ResponseOutcome,
        attempts=3,
        elapsed=10,
    ),
    Scenario(
        name="ended by an expected error",
        script=[COMING, IN_USE],
        ends=bwp.ExceptionOutcome,
        attempts=2,
        elapsed=5,
    ),
    Scenario(
        name="a failure acceptor",
        script=[COMING, GOING],
        ends=bwp.WaiterFailedError,
        attempts=2,
        elapsed=5,
        says="DELETING",
    ),
    Scenario(
        name="an error that no acceptor takes",
        script=[FORBIDDEN],
        ends=bwp.WaiterFailedError,
        attempts=1,
        says="AccessDeniedException",
    ),
    Scenario(
        name="never up in time",
        script=[COMING],
        ends=bwp.WaiterTimeoutError,
        attempts=4,
        elapsed=12 - 0.25,
        options={"max_wait": 12},
    ),
    Scenario(
        name="looks used up",
        script=[COMING],
        ends=bwp.WaiterAttemptsError,
        attempts=3,
        elapsed=10,
        options={"max_attempts": 3},
    ),
    Scenario(
        name="missing at first, and that is fine",
        script=[MISSING, MISSING, UP],
        ends=bwp.ResponseOutcome,
        attempts=3,
        elapsed=10,
        options={"missing_ok_for": 30},
    ),
    Scenario(
        name="missing for too long",
        script=[MISSING],
        ends=bwp.WaiterFailedError,
        attempts=3,
        elapsed=10,
        options={"missing_ok_for": 8},
        says="ResourceNotFoundException",
    ),
    Scenario(
        name="two successes in a row",
        script=[UP, COMING, UP, UP],
        ends=bwp.ResponseOutcome,
        attempts=4,
        elapsed=15,
        options={"success_count": 2},
    ),
    Scenario(
        name="503 is a failure",
        script=[UNAVAILABLE, UP],
        ends=bwp.WaiterFailedError,
        attempts=1,
        says="HTTP 503",
    ),
    Scenario(
        name="503, sat out",
        script=[UNAVAILABLE, UP],
        ends=bwp.ResponseOutcome,
        attempts=2,
        elapsed=5,
        options={"retry_transient": True},
    ),
    Scenario(
        name="throttled, sat out",
        script=[THROTTLED, UP],
        ends=bwp.ResponseOutcome,
        attempts=2,
        elapsed=5,
        options={"retry_transient": True},
    ),
    Scenario(
        name="a first pause",
        script=[UP],
        ends=bwp.ResponseOutcome,
        attempts=1,
        elapsed=7,
        options={"initial_delay": 7},
    ),
    Scenario(
        name="a deadline around it",
        script=[COMING],
        ends=bwp.WaiterTimeoutError,
        attempts=4,
        elapsed=12 - 0.25,
        budget=12,
    ),
    Scenario(
        name="cancelled before", script=[UP], ends=bwp.WaiterCancelledError, attempts=0, cancel_at=0
    ),
    Scenario(
        name="cancelled in a pause",
        script=[COMING],
        ends=bwp.WaiterCancelledError,
        attempts=2,
        elapsed=7,
        cancel_at=7,
    ),
    *(
        Scenario(
            name=name,
            script=[behaviour],
            ends=bwp.WaiterTimeoutError,
            attempts=1,
            elapsed=0.3,
            options={"max_wait": 0.3},
            real=True,
        )
        for name, behaviour in (
            ("hang before headers", hang(BEFORE_HEADERS)),
            ("hang between headers", hang(HEADERS)),
            ("hang mid-body", hang(BODY)),
            ("headers drip", drip(HEADERS)),
            ("body drips", drip(BODY)),
        )
    ),
    Scenario(
        name="a deadline around a call that hangs",
        script=[hang(BEFORE_HEADERS)],
        ends=bwp.WaiterTimeoutError,
        attempts=1,
        elapsed=0.3,
        budget=0.3,
        real=True,
    ),
]


def keywords_of(scenario, event):
    budgeted = scenario.budget is not None
    keywords = {"TableName": "table", "delay_pace": lambda _: 5, **scenario.options}
    keywords.setdefault("max_wait", None if budgeted else 300)
    return keywords if event is None else {**keywords, "cancel_event": event}


def check(scenario, end):
    assert type(end) is scenario.ends, repr(end)
    assert end.attempts == scenario.attempts
    assert scenario.says in str(end)
    if scenario.real:
        assert end.elapsed < scenario.elapsed + PATIENCE
        # The time of a `deadline` began before the wait did.
        assert end.elapsed >= scenario.elapsed or scenario.budget is not None
    else:
        assert end.elapsed == pytest.approx(scenario.elapsed, abs=SLACK)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a_wait_ends_the_same_by_every_way(scenario, name):
    event = None if scenario.cancel_at is None else threading.Event()
    keywords = keywords_of(scenario, event)
    with FaultServer(scenario.script) as server, contextlib.ExitStack() as stack:
        if not scenario.real:
            clock = stack.enter_context(open_virtual_time())
            if event is not None:
                clock.call_at(scenario.cancel_at, event.set)
                clock.advance(0)
        end = way(name).run(server, scenario.waiter, keywords, scenario.budget)
        check(scenario, end)
        # A busy machine may not have come to send it.
        assert len(server.requests) == scenario.attempts or scenario.real


@pytest.mark.parametrize("name", WAYS)
def test_a_call_in_flight_ends_when_the_wait_is_cancelled(name):
    event = threading.Event()

    def behave(exchange):
        event.set()
        exchange.hang()

    with FaultServer([COMING, behave]) as server:
        keywords = {"TableName": "table", "max_wait": 300, "cancel_event": event}
        keywords["delay_pace"] = lambda _: 0.01
        end = way(name).run(server, "table_up", keywords)
        assert type(end) is bwp.WaiterCancelledError
        assert end.attempts == 2
        assert end.elapsed < PATIENCE
        assert server.wait_until_closed(5)


@pytest.mark.parametrize("name", WAYS)
def test_a_port_that_refuses_is_a_failure_with_the_endpoint_named(name, virtual_time):
    with Refusing([UP]) as refusing:
        refusing.open_connections = 0
        end = way(name).run(refusing, "table_up", {"TableName": "table", "max_wait": 300})
        assert type(end) is bwp.WaiterFailedError
        assert refusing.url in str(end)


@pytest.mark.parametrize("name", WAYS)
def test_a_port_that_refuses_at_first_is_sat_out_where_it_is_asked_for(name, virtual_time):
    with Refusing([UP]) as refusing:
        refusing.open_connections = 0
        virtual_time.call_at(7, refusing.up)
        keywords = {"TableName": "table", "max_wait": 300, "retry_transient": True}
        end = way(name).run(refusing, "table_up", {**keywords, "delay_pace": lambda _: 5})
        assert type(end) is bwp.ResponseOutcome
        assert (end.attempts, end.elapsed) == (3, 10)


@pytest.mark.parametrize("name", WAYS)
def test_bad_input_is_refused_before_the_first_request(name):
    bad = [
        ({"TableName": "table"}, TypeError, "max_wait"),
        ({"TableName": "table", "max_wait": -1}, ValueError, "max_wait"),
        ({"TableName": "table", "max_wait": 9, "min_dealy": 1}, TypeError, "min_delay"),
        ({"TableName": "table", "max_wait": 9, "WaiterConfig": {}}, TypeError, "max_wait"),
    ]
    with FaultServer([UP]) as server:
        for keywords, kind, words in bad:
            with pytest.raises(kind, match=words):
                way(name).run(server, "table_up", keywords)
        assert server.requests == []
