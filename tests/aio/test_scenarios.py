"""One table of waits on a loopback server, the same ends by every way to wait."""

import contextlib
import math
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
from faults.server import (
    BEFORE_HEADERS,
    BODY,
    HEADERS,
    FaultServer,
    Refusing,
    close,
    drip,
    hang,
)

import boto_waiters_plus as bwp
from boto_waiters_plus.testing import virtual_time as open_virtual_time

# A task polls its events every so many seconds.
SLACK = 0.06
# Real seconds that a wait may be late on a busy machine.
PATIENCE = 10


@dataclass(frozen=True)
class Scenario:
    name: str
    script: list
    ends: type
    attempts: int
    elapsed: float = 0
    """Seconds of virtual time; a real wait takes at least these."""
    options: dict[str, Any] = field(default_factory=dict)
    cancel_at: float | None = None
    budget: float | None = None
    """Of a `deadline` around it."""
    real: bool = False
    """In real time: the call in flight does not end by itself."""
    text: str = ""
    """What the error says."""


# fmt: off
SCENARIOS = [
    Scenario("up at once", [UP], bwp.ResponseOutcome, 1),
    Scenario("up at the third attempt", [COMING, COMING, UP], bwp.ResponseOutcome, 3, 10),
    Scenario("an expected error", [COMING, IN_USE], bwp.ExceptionOutcome, 2, 5),
    Scenario("a failure acceptor", [COMING, GOING], bwp.WaiterFailedError, 2, 5, text="DELETING"),
    Scenario("an unexpected error", [FORBIDDEN], bwp.WaiterFailedError, 1,
             text="AccessDeniedException"),
    Scenario("never up in time", [COMING], bwp.WaiterTimeoutError, 4, 12 - 0.25, {"max_wait": 12}),
    Scenario("attempts used up", [COMING], bwp.WaiterAttemptsError, 3, 10, {"max_attempts": 3}),
    Scenario("missing at first", [MISSING, MISSING, UP], bwp.ResponseOutcome, 3, 10,
             {"missing_ok_for": 30}),
    Scenario("missing for too long", [MISSING], bwp.WaiterFailedError, 3, 10,
             {"missing_ok_for": 8}, text="ResourceNotFoundException"),
    Scenario("two successes in a row", [UP, COMING, UP, UP], bwp.ResponseOutcome, 4, 15,
             {"success_count": 2}),
    Scenario("503 is a failure to the letter", [UNAVAILABLE, UP], bwp.WaiterFailedError, 1,
             options={"retry_transient": False}, text="HTTP 503"),
    Scenario("503 is retried", [UNAVAILABLE, UP], bwp.ResponseOutcome, 2, 5),
    Scenario("a throttle is retried", [THROTTLED, UP], bwp.ResponseOutcome, 2, 5),
    Scenario("a bad minute", [COMING, UNAVAILABLE, close, THROTTLED, COMING, UP],
             bwp.ResponseOutcome, 6, 25),
    Scenario("a closed connection at first", [close, UP], bwp.ResponseOutcome, 2, 5),
    Scenario("unavailable to the end", [COMING, UNAVAILABLE], bwp.WaiterTimeoutError, 4, 12 - 0.25,
             {"max_wait": 12}, text="last state seen: CREATING (4 attempts of DescribeTable; 3 "
             "ended in transient errors, the last: "),
    Scenario("held for 12 s", [UP, COMING, UP], bwp.ResponseOutcome, 5, 22,
             {"success_for": 12, "min_delay": 5}),
    Scenario("held, but for an error", [UP, UNAVAILABLE, UP], bwp.ResponseOutcome, 5, 23,
             {"success_for": 12, "min_delay": 6}),
    Scenario("an initial delay", [UP], bwp.ResponseOutcome, 1, 7, {"initial_delay": 7}),
    Scenario("a deadline around it", [COMING], bwp.WaiterTimeoutError, 4, 12 - 0.25, budget=12),
    Scenario("cancelled before", [UP], bwp.WaiterCancelledError, 0, cancel_at=0),
    Scenario("cancelled in a delay", [COMING], bwp.WaiterCancelledError, 2, 7, cancel_at=7),
    *(Scenario(name, [behaviour], bwp.WaiterTimeoutError, 1, 0.15, {"max_wait": 0.15}, real=True)
      for name, behaviour in (
          ("hang before headers", hang(BEFORE_HEADERS)), ("hang between headers", hang(HEADERS)),
          ("hang mid-body", hang(BODY)), ("headers drip", drip(HEADERS)),
          ("body drips", drip(BODY)))),
    Scenario("a deadline around a call that hangs", [hang(BEFORE_HEADERS)], bwp.WaiterTimeoutError,
             1, 0.3, budget=0.3, real=True),
]
# fmt: on


def keywords_of(scenario, event):
    budgeted = scenario.budget is not None
    keywords = {"TableName": "table", "delay_pace": lambda _: 5, **scenario.options}
    keywords.setdefault("max_wait", None if budgeted else 300)
    return keywords if event is None else {**keywords, "cancel_event": event}


def check(scenario, end):
    assert type(end) is scenario.ends, repr(end)
    assert end.attempts == scenario.attempts
    assert scenario.text in str(end)
    if scenario.real:
        assert end.elapsed < scenario.elapsed + PATIENCE
        # The time of a `deadline` began before the wait did.
        assert end.elapsed >= scenario.elapsed or scenario.budget is not None
    else:
        assert end.elapsed == pytest.approx(scenario.elapsed, abs=SLACK)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(each, marks=[pytest.mark.timing] if each.real else [], id=each.name)
        for each in SCENARIOS
    ],
)
def test_a_wait_ends_the_same_by_every_way(scenario, name):
    event = None if scenario.cancel_at is None else threading.Event()
    keywords = keywords_of(scenario, event)
    with FaultServer(scenario.script) as server, contextlib.ExitStack() as stack:
        if not scenario.real:
            clock = stack.enter_context(open_virtual_time())
            if event is not None:
                clock.call_at(scenario.cancel_at, event.set)
                clock.advance(0)
        end = way(name).run(server, "table_up", keywords, scenario.budget)
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
def test_a_refusing_port_is_a_failure_with_its_endpoint(name, virtual_time):
    with Refusing([UP]) as refusing:
        end = way(name).run(refusing, "table_up", {"TableName": "table", "max_wait": 300})
        assert type(end) is bwp.WaiterFailedError
        assert refusing.url in str(end)


@pytest.mark.parametrize("name", WAYS)
def test_a_port_that_refuses_at_first_is_retried(name, virtual_time):
    with Refusing([UP]) as refusing:
        virtual_time.call_at(7, refusing.up)
        keywords = {"TableName": "table", "max_wait": 300, "retry_transient": True}
        end = way(name).run(refusing, "table_up", {**keywords, "delay_pace": lambda _: 5})
        assert type(end) is bwp.ResponseOutcome
        assert (end.attempts, end.elapsed) == (3, 10)


@pytest.mark.parametrize("name", WAYS)
def test_bad_input_is_refused_before_the_first_request(name):
    bad = [
        ({"TableName": "table"}, TypeError, "max_wait"),
        ({"TableName": "table", "max_wait": math.nan}, ValueError, "max_wait"),
        ({"TableName": "table", "max_wait": 9, "min_dealy": 1}, TypeError, "min_delay"),
        ({"TableName": "table", "max_wait": 9, "WaiterConfig": {}}, TypeError, "max_wait"),
    ]
    with FaultServer([UP]) as server:
        for keywords, kind, words in bad:
            with pytest.raises(kind, match=words):
                way(name).run(server, "table_up", keywords)
        assert server.requests == []
