"""Every option that takes a plain value, given an odd one.

It is refused by its name before the first request, or it has a meaning.
"""

import asyncio
import math
import sys
import threading
from datetime import timedelta
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
    **{f"Decimal({text})": Decimal(text) for text in ("NaN", "Infinity")},
    **{repr(value): value for value in (5j, timedelta(0), timedelta(days=-1))},
    "an object": object(),
}
LARGE = ("1e+308", "10**400", "Decimal(5)")
ZERO, NEGATIVE = repr(timedelta(0)), repr(timedelta(days=-1))
KINDS = {
    "seconds": LARGE,
    "seconds or 0": (*LARGE, "0", ZERO),
    "bound": (*LARGE, "0", "-1", ZERO, NEGATIVE),
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


def waits(client, **options):
    return [bwp.Wait(client, "stream_exists", STREAM, **options)]


def memory():
    return operations.Store(":memory:")


def in_task(function):
    """Call a coroutine function as if it blocked."""
    return lambda *arguments, **options: asyncio.run(function(*arguments, **options))


async def completed(batch, **options):
    return [each async for each in bwp.as_completed_async(batch, **options)]


async def begun(method, **options):
    return await (await bwp.begin_async(method, **options))


def of(call, *arguments, **given):
    """A call with arguments of its own."""
    return lambda _, **options: call(*arguments, **{**given, **options})


def of_value(call):
    return lambda _, **options: call(*options.values())


def form(wait, *arguments):
    return of(wait, *arguments, max_wait=0.2)


def on_stream(wait):
    given = {"max_wait": 0.2, **STREAM}
    return lambda clients, **options: wait(clients.kinesis, "stream_exists", **{**given, **options})


def on_batch(wait):
    return lambda clients, **options: wait(waits(clients.kinesis), **{"max_wait": 0.2, **options})


def on_gateway(call, **given):
    given = {"SubnetId": "s", "max_wait": 0.2, **given}
    return lambda clients, **options: call(clients.ec2.create_nat_gateway, **{**given, **options})


def by_waiter_object(client, _, **options):
    client.get_waiter("stream_exists").wait(**options)


def as_defaults(**options):
    bwp.install(defaults=options)


def in_steps(inner=(), **outer):
    with conditions.steps(**{"max_wait": 0.2, **outer}) as block:
        block.wait_for(lambda: True, **dict(inner))


WORK = kinds(
    seconds="lease",
    count="batch_size max_open threads",
    any_text="worker_name",
    flag="until_idle",
    other="calls_per_second make_client stop_event",
)
LISTED = kinds(any_text="service waiter exclusive_key", count="page_size", other="state page_token")
FROM_STATES = kinds(
    text="name operation path reason",
    seconds="min_delay max_delay",
    other="success failure success_on_error retry_on_error many",
)
CONFIG = {"Delay": "seconds or 0", "MaxAttempts": "attempts", "MaxWait": "bound"}
SQS = kinds(flag="delete", text="match", other="queue client")
DEFAULTS = {name: kind for name, kind in WAIT.items() if name != "max_wait"}
ALL = BATCH | {"on_failure": "other"}
BEGIN = WAIT | BEGUN | {"in_store": "other"}
TARGETS = {
    "method": (WAIT, on_stream(lambda client, _, **o: client.wait_until_stream_exists(**o))),
    "wait_until": (WAIT, on_stream(bwp.wait_until)),
    "task": (WAIT, on_stream(in_task(bwp.wait_until_async))),
    "stock": (WAIT, on_stream(by_waiter_object)),
    "config": (
        CONFIG,
        lambda c, **o: by_waiter_object(c.kinesis, "", **STREAM, WaiterConfig=o),
    ),
    "Wait": (WAIT, lambda c, **o: bwp.wait_all(waits(c.kinesis, **{"max_wait": 0.2, **o}))),
    "wait_all": (ALL, on_batch(bwp.wait_all)),
    "wait_all_async": (ALL, on_batch(in_task(bwp.wait_all_async))),
    "wait_any": (BATCH, on_batch(bwp.wait_any)),
    "as_completed": (BATCH, on_batch(lambda *a, **o: [*bwp.as_completed(*a, **o)])),
    "as_completed_async": (BATCH, on_batch(in_task(completed))),
    "start": (WAIT, on_stream(lambda *a, **o: operations.start(*a, **o).result(9))),
    "Store.start": (WAIT | STORED, on_stream(lambda *a, **o: memory().start(*a, **o))),
    "begin": (BEGIN, on_gateway(lambda *a, **o: bwp.begin(*a, **o).result(9))),
    "begin_async": (BEGIN, on_gateway(in_task(begun))),
    "begin in_store": (
        WAIT | BEGUN | STORED,
        on_gateway(lambda *a, **o: bwp.begin(*a, in_store=memory(), **o)),
    ),
    "call_once": (ONCE, on_gateway(idempotency.call_once)),
    "call_once_async": (ONCE, on_gateway(in_task(idempotency.call_once_async))),
    "work": (WORK, of(lambda **o: memory().work(**o), stop_event=SET)),
    "expire": (kinds(seconds_or_0="older_than"), of(lambda **o: memory().expire(**o))),
    "resume": (
        kinds(seconds="max_wait", count="max_attempts"),
        of(lambda **o: memory().resume("operations/none", **o)),
    ),
    "list": (LISTED, of(lambda **o: memory().list(**o))),
    "Store": (
        dict.fromkeys(["encrypt", "decrypt", "clock"], "other"),
        of(operations.Store, ":memory:"),
    ),
    "places": (
        {"url": "any text", "path": "any text"},
        of(lambda **o: operations.Store(**o) if "url" in o else bwp.History(**o)),
    ),
    "poll": (WAIT | {"label": "text"}, form(conditions.poll, dict, ANY)),
    "wait_for": (ENDING, form(conditions.wait_for, lambda: True)),
    "wait_for_async": (ENDING, form(in_task(conditions.wait_for_async), lambda: True)),
    "wait_for_match": (ENDING, form(conditions.wait_for_match, lambda: 1, 1)),
    "wait_for_case": (ENDING, form(conditions.wait_for_case, lambda: 1, conditions.success(1))),
    "wait_for_first": (ENDING, form(conditions.wait_for_first, {"k": lambda: True})),
    "ConditionWait": (
        FORM,
        form(lambda **o: bwp.wait_all([conditions.ConditionWait(lambda: True, **o)])),
    ),
    "steps": (FORM, of(in_steps)),
    "a step": (FORM | {"else_": "other"}, of(lambda **o: in_steps(o))),
    "defaults": (DEFAULTS, of(as_defaults)),
    "errors": (
        kinds(seconds_or_0="retry_errors_for"),
        of_value(lambda seconds: bwp.WaitOptions(retry_errors_for={"403": seconds})),
    ),
    "rates": (
        kinds(seconds="calls_per_second"),
        of_value(lambda rate: memory().work(until_idle=True, calls_per_second={"ec2": rate})),
    ),
    "deadline": ({"seconds": "bound"}, of_value(bwp.deadline)),
    "fixed": ({"every": "seconds"}, of_value(conditions.fixed)),
    "linear": (kinds(seconds_or_0="step", seconds="limit"), of(conditions.linear, 1)),
    "exponential": (
        kinds(seconds="factor limit", other="jitter random"),
        of(conditions.exponential, 1),
    ),
    "from_states": (FROM_STATES, of(bwp.WaiterDefinition.from_states, **STATES)),
    "SqsSignal": (
        SQS,
        lambda c, **o: signals.SqsSignal(**{"queue": "https://q", "client": c.sqs, **o}),
    ),
    "install": (kinds(flag="get_waiter", other="defaults on_event"), of(bwp.install)),
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


NUMBERS = dict.fromkeys(("seconds", "seconds or 0", "bound"), (int, float, Decimal, timedelta))
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
        call(clients, **{option: value})
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
                call(clients, **{name: 5})
    assert not any(clients.requests)
