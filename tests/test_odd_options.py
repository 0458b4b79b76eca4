"""Every option that takes a plain value, given an odd one.

It is refused by its name before the first request, or it has a meaning.
"""

import asyncio
import math
import sys
import threading
from decimal import Decimal
from types import SimpleNamespace

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions, idempotency, operations, signals

STREAM = {"StreamName": "s"}
GATEWAY = {"NatGatewayId": "n", "State": "available"}
ANSWER = {
    "StreamDescription": {"StreamStatus": "ACTIVE"},
    "NatGateway": GATEWAY,
    "NatGateways": [GATEWAY],
}
ANY = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}
STATES = {"name": "A", "operation": "DescribeA", "path": "a", "success": ["A"], "failure": ["B"]}

SET = threading.Event()
SET.set()

ODD = {
    **{repr(value): value for value in ("5", "", b"5", True, False, 0, -1, 1e308)},
    **{repr(value): value for value in (math.nan, math.inf, -math.inf, [5])},
    "10**400": 10**400,
    "Decimal(5)": Decimal(5),
    "Decimal(NaN)": Decimal("NaN"),
}
LARGE = ("1e+308", "10**400", "Decimal(5)")
KINDS = {
    "seconds": LARGE,
    "seconds or 0": (*LARGE, "0"),
    "bound": (*LARGE, "0", "-1"),
    "count": ("10**400",),
    "attempts": ("10**400", "0", "-1", "1e+308", "inf", "-inf"),
    "flag": ("True", "False"),
    "flag or word": ("True", "False"),
    "text": ("'5'",),
    "any text": ("'5'", "''"),
    "name": tuple(each for each in ODD if each != "[5]"),
    "other": (),
}
"""The odd values that have a meaning, by the kind of an option."""


def kinds(**names):
    """Return the kinds of options by name."""
    found = {name: kind.replace("_", " ") for kind, text in names.items() for name in text.split()}
    assert {*found.values()} <= KINDS.keys()
    return found


COMMON = kinds(
    bound="max_wait",
    seconds="min_delay max_delay",
    seconds_or_0="initial_delay success_for",
    count="max_attempts success_count",
    flag="call_in_thread",
    flag_or_word="retry_transient",
    other="delay_pace last_attempt wake_signal cancel_event on_attempt",
)
WAIT = COMMON | kinds(
    seconds_or_0="missing_ok_for settle_for",
    flag="explain_failure show_parameters delay_history",
    text="delay_kind",
    other="converted_delays retry_errors_for",
)
FORM = COMMON | kinds(
    seconds_or_0="interval", flag="polling", text="label", name="signal", other="retry_on"
)
ENDING = FORM | kinds(other="on_timeout else_")
BATCH = kinds(
    bound="max_wait", count="threads", flag="coalesce screen progress", other="cancel_event"
)
STORED = kinds(flag="include_response", text="profile_name", any_text="exclusive_key request_id")
BEGUN = kinds(
    flag="stop_on_timeout stop_on_cancel no_change_ok missing_ok",
    seconds_or_0="propagation_wait busy_wait",
    other="then_wait",
)
ONCE = kinds(
    bound="max_wait",
    flag="allow_repeat adopt_existing",
    flag_or_word="then_wait",
    seconds_or_0="propagation_wait busy_wait",
    other="in_store cancel_event",
)


def within(options):
    return {"max_wait": 0.2, **options}


def waits(client, **options):
    return [bwp.Wait(client, "stream_exists", STREAM, **options)]


def condition(**options):
    return [conditions.ConditionWait(lambda: True, **options)]


def memory():
    return operations.Store(":memory:")


def stepped(outer, inner):
    with conditions.steps(**within(outer)) as block:
        block.wait_for(lambda: True, **inner)


async def begun_in_task(ec2, options):
    operation = await bwp.begin_async(ec2.create_nat_gateway, SubnetId="s", **within(options))
    await operation


async def completed_in_task(kinesis, options):
    return [each async for each in bwp.as_completed_async(waits(kinesis), **within(options))]


TARGETS = {
    "method": (WAIT, lambda c, o: c.kinesis.wait_until_stream_exists(**STREAM, **within(o))),
    "wait_until": (
        WAIT,
        lambda c, o: bwp.wait_until(c.kinesis, "stream_exists", **STREAM, **within(o)),
    ),
    "task": (
        WAIT,
        lambda c, o: asyncio.run(
            bwp.wait_until_async(c.kinesis, "stream_exists", **STREAM, **within(o))
        ),
    ),
    "stock": (WAIT, lambda c, o: c.kinesis.get_waiter("stream_exists").wait(**STREAM, **within(o))),
    "config": (
        {"Delay": "seconds or 0", "MaxAttempts": "attempts", "MaxWait": "bound"},
        lambda c, o: c.kinesis.get_waiter("stream_exists").wait(**STREAM, WaiterConfig=o),
    ),
    "Wait": (WAIT, lambda c, o: bwp.wait_all(waits(c.kinesis, **within(o)))),
    "wait_all": (
        BATCH | {"on_failure": "other"},
        lambda c, o: bwp.wait_all(waits(c.kinesis), **within(o)),
    ),
    "wait_all_async": (
        BATCH | {"on_failure": "other"},
        lambda c, o: asyncio.run(bwp.wait_all_async(waits(c.kinesis), **within(o))),
    ),
    "wait_any": (BATCH, lambda c, o: bwp.wait_any(waits(c.kinesis), **within(o))),
    "as_completed": (BATCH, lambda c, o: list(bwp.as_completed(waits(c.kinesis), **within(o)))),
    "as_completed_async": (BATCH, lambda c, o: asyncio.run(completed_in_task(c.kinesis, o))),
    "start": (
        WAIT,
        lambda c, o: operations.start(c.kinesis, "stream_exists", **STREAM, **within(o)).result(9),
    ),
    "Store.start": (
        WAIT | STORED,
        lambda c, o: memory().start(c.kinesis, "stream_exists", **STREAM, **within(o)),
    ),
    "begin": (
        WAIT | BEGUN | {"in_store": "other"},
        lambda c, o: bwp.begin(c.ec2.create_nat_gateway, SubnetId="s", **within(o)).result(9),
    ),
    "begin_async": (
        WAIT | BEGUN | {"in_store": "other"},
        lambda c, o: asyncio.run(begun_in_task(c.ec2, o)),
    ),
    "begin in_store": (
        WAIT | BEGUN | STORED,
        lambda c, o: bwp.begin(
            c.ec2.create_nat_gateway, SubnetId="s", in_store=memory(), **within(o)
        ),
    ),
    "call_once": (
        ONCE,
        lambda c, o: idempotency.call_once(c.ec2.create_nat_gateway, SubnetId="s", **within(o)),
    ),
    "call_once_async": (
        ONCE,
        lambda c, o: asyncio.run(
            idempotency.call_once_async(c.ec2.create_nat_gateway, SubnetId="s", **within(o))
        ),
    ),
    "work": (
        kinds(
            seconds="lease",
            count="batch_size max_open threads",
            any_text="worker_name",
            flag="until_idle",
            other="calls_per_second make_client stop_event",
        ),
        lambda c, o: memory().work(**{"stop_event": SET, **o}),
    ),
    "expire": (kinds(seconds_or_0="older_than"), lambda c, o: memory().expire(**o)),
    "resume": (
        kinds(seconds="max_wait", count="max_attempts"),
        lambda c, o: memory().resume("operations/none", **o),
    ),
    "list": (
        kinds(any_text="service waiter exclusive_key", count="page_size", other="state page_token"),
        lambda c, o: memory().list(**o),
    ),
    "Store": (
        {"encrypt": "other", "decrypt": "other", "clock": "other"},
        lambda c, o: operations.Store(":memory:", **o),
    ),
    "places": (
        {"url": "any text", "path": "any text"},
        lambda c, o: operations.Store(**o) if "url" in o else bwp.History(**o),
    ),
    "poll": (
        WAIT | {"label": "text"},
        lambda c, o: conditions.poll(lambda **_: None, ANY, **within(o)),
    ),
    "wait_for": (ENDING, lambda c, o: conditions.wait_for(lambda: True, **within(o))),
    "wait_for_async": (
        ENDING,
        lambda c, o: asyncio.run(conditions.wait_for_async(lambda: True, **within(o))),
    ),
    "wait_for_match": (ENDING, lambda c, o: conditions.wait_for_match(lambda: 1, 1, **within(o))),
    "wait_for_case": (
        ENDING,
        lambda c, o: conditions.wait_for_case(lambda: 1, [conditions.success(1)], **within(o)),
    ),
    "wait_for_first": (
        ENDING,
        lambda c, o: conditions.wait_for_first({"k": lambda: True}, **within(o)),
    ),
    "ConditionWait": (FORM, lambda c, o: bwp.wait_all(condition(**within(o)))),
    "steps": (FORM, lambda c, o: stepped(o, {})),
    "a step": (FORM | {"else_": "other"}, lambda c, o: stepped({}, o)),
    "errors": (
        kinds(seconds_or_0="retry_errors_for"),
        lambda c, o: bwp.WaitOptions(**{name: {"403": value} for name, value in o.items()}),
    ),
    "rates": (
        kinds(seconds="calls_per_second"),
        lambda c, o: memory().work(
            until_idle=True, calls_per_second=dict.fromkeys(["ec2"], *o.values())
        ),
    ),
    "deadline": ({"seconds": "bound"}, lambda c, o: bwp.deadline(*o.values())),
    "fixed": ({"every": "seconds"}, lambda c, o: conditions.fixed(*o.values())),
    "linear": (kinds(seconds_or_0="step", seconds="limit"), lambda c, o: conditions.linear(1, **o)),
    "exponential": (
        kinds(seconds="factor limit", other="jitter random"),
        lambda c, o: conditions.exponential(1, **o),
    ),
    "from_states": (
        kinds(
            text="name operation path reason",
            seconds="min_delay max_delay",
            other="success failure success_on_error retry_on_error many",
        ),
        lambda c, o: bwp.WaiterDefinition.from_states(**{**STATES, **o}),
    ),
    "SqsSignal": (
        kinds(flag="delete", text="match", other="queue client"),
        lambda c, o: signals.SqsSignal(**{"queue": "https://q", "client": c.sqs, **o}),
    ),
    "install": (kinds(flag="get_waiter", other="defaults on_event"), lambda c, o: bwp.install(**o)),
}
"""What takes options: their kinds, and a call with some of them."""

ENDS = (bwp.WaiterError, idempotency.CallTimeoutError, LookupError)
"""How a call ends at a good option, beside a return."""


@pytest.fixture
def clients(answers, monkeypatch, tmp_path):
    """Clients of which each counts its requests."""
    monkeypatch.setattr("boto_waiters_plus.history.default_path", lambda: tmp_path / "times")
    bwp.install()
    made = SimpleNamespace(**{name: boto3.client(name) for name in ("kinesis", "ec2", "sqs")})
    made.requests = [answers(each, ANSWER).requests for each in (made.kinesis, made.ec2)]
    return made


NUMBERS = dict.fromkeys(("seconds", "seconds or 0", "bound"), (int, float, Decimal))
NUMBERS |= {"count": int, "attempts": (int, float)}


def error_of(kind, value):
    """Return the class of the error of a value that this kind of option does not take."""
    if kind == "other" or repr(value) in KINDS[kind]:
        return (TypeError, ValueError)
    fits = isinstance(value, NUMBERS.get(kind, () if kind == "flag" else str))
    return ValueError if fits and not isinstance(value, bool) else TypeError


def outcome(call, clients, option, value, kind):
    for requests in clients.requests:
        requests.clear()
    try:
        call(clients, {option: value})
    except (TypeError, ValueError) as error:
        argument, given = getattr(error, "argument", ""), getattr(error, "value", None)
        # `MaxWait` of a WaiterConfig is the option `max_wait`.
        is_named = argument.lower().replace("_", "") == option.lower().replace("_", "")
        # An item of a list is named by the list, and no number is larger than the largest float.
        given_for = [*value] if isinstance(value, (list, bytes)) else [sys.float_info.max]
        # The URL of a store may have a password.
        given_for += [None] * (option == "url")
        is_told = is_named and given in [value, *given_for]
        is_told = is_told and isinstance(error, error_of(kind, value))
        return "refused" if is_told and not any(clients.requests) else repr(error)
    except ENDS:
        return "taken"
    except Exception as error:
        return repr(error)
    return "taken"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("target", TARGETS)
def test_odd_value_is_refused_by_name_or_has_a_meaning(target, clients):
    options, call = TARGETS[target]
    found = {
        (option, text): outcome(call, clients, option, value, kind)
        for option, kind in options.items()
        for text, value in ODD.items()
    }
    good = {
        (option, text): ["refused", "taken"][: 1 + (text in KINDS[kind])]
        for option, kind in options.items()
        for text in ODD
    }
    assert {key: end for key, end in found.items() if end not in good[key]} == {}


OTHER_NAMES = {
    "max_wait": "timeout MaxWait maxwait WaiterConfig",
    "max_attempts": "maxAttempts MaxAttempts",
    "initial_delay": "pre_wait initialDelay",
    "interval": "delay poll_interval frequency",
    "min_delay": "Delay",
    "max_delay": "maxdelay",
    "retry_transient": "RetryTransient",
}


@pytest.mark.parametrize("target", sorted(TARGETS.keys() - {"stock", "resume", "from_states"}))
def test_another_name_of_an_option_is_answered_with_ours(target, clients):
    options, call = TARGETS[target]
    for known, names in OTHER_NAMES.items():
        right = "min_delay" if known == "interval" and known not in options else known
        for name in names.split() if right in options else ():
            with pytest.raises(TypeError, match=f"takes {right} .*instead of {name}"):
                call(clients, {name: 5})
    assert not any(clients.requests)
