"""Every option that takes a plain value, given an odd one.

It is refused by its name before the first request, or it has a meaning.
"""

import asyncio
import json
import math
import sys
import threading
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
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

SUCCESS, URL = conditions.success(0), "https://q"
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
    # Each has a part of the methods of an event.
    "a lock": threading.Lock(),
    "a condition": threading.Condition(),
}
CASES = json.loads((Path(__file__).parent / "cases/odd-options.json").read_text("utf-8"))
KINDS = CASES["meanings"]


def ready():
    return True


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


def condition_in_batch(**options):
    return bwp.wait_all([conditions.ConditionWait(ready, **options)])


def in_steps(inner=(), **outer):
    with conditions.steps(**{"max_wait": 0.2, **outer}) as block:
        block.wait_for(ready, **dict(inner))


TARGETS = {
    "method": (
        "bound wait",
        on_stream(lambda client, _, **o: client.wait_until_stream_exists(**o)),
    ),
    "wait_until": ("bound wait", on_stream(bwp.wait_until)),
    "task": ("bound wait", on_stream(in_task(bwp.wait_until_async))),
    "stock": ("bound wait", on_stream(by_waiter_object)),
    "config": ("config", lambda c, **o: by_waiter_object(c.kinesis, "", **STREAM, WaiterConfig=o)),
    "Wait": ("bound wait", lambda c, **o: bwp.wait_all(waits(c.kinesis, **{"max_wait": 0.2, **o}))),
    "wait_all": ("bound batch failure", on_batch(bwp.wait_all)),
    "wait_all_async": ("bound batch failure", on_batch(in_task(bwp.wait_all_async))),
    "wait_any": ("bound batch", on_batch(bwp.wait_any)),
    "as_completed": ("bound batch", on_batch(lambda *a, **o: [*bwp.as_completed(*a, **o)])),
    "as_completed_async": ("bound batch", on_batch(in_task(completed))),
    "start": ("bound wait", on_stream(lambda *a, **o: operations.start(*a, **o).result(9))),
    "Store.start": ("bound wait stored", on_stream(lambda *a, **o: memory().start(*a, **o))),
    "begin": ("bound wait begun store", on_gateway(lambda *a, **o: bwp.begin(*a, **o).result(9))),
    "begin_async": ("bound wait begun store", on_gateway(in_task(begun))),
    "begin in_store": (
        "bound wait begun stored",
        on_gateway(lambda *a, **o: bwp.begin(*a, in_store=memory(), **o)),
    ),
    "call_once": ("bound once", on_gateway(idempotency.call_once)),
    "call_once_async": ("bound once", on_gateway(in_task(idempotency.call_once_async))),
    "work": ("work", of(lambda **o: memory().work(**o), stop_event=SET)),
    "expire": ("expire", of(lambda **o: memory().expire(**o))),
    "resume": ("resume", of(lambda **o: memory().resume("operations/none", **o))),
    "list": ("list", of(lambda **o: memory().list(**o))),
    "Store": ("Store", of(operations.Store, ":memory:")),
    "places": ("places", of(lambda **o: operations.Store(**o) if "url" in o else bwp.History(**o))),
    "poll": ("bound wait label", form(conditions.poll, dict, ANY)),
    "wait_for": ("bound form ending", form(conditions.wait_for, ready)),
    "wait_for_async": ("bound form ending", form(in_task(conditions.wait_for_async), ready)),
    "wait_for_match": ("bound form ending", form(conditions.wait_for_match, int, 0)),
    "wait_for_case": ("bound form ending", form(conditions.wait_for_case, int, SUCCESS)),
    "wait_for_first": ("bound form ending", form(conditions.wait_for_first, {"k": ready})),
    "ConditionWait": ("bound form", form(condition_in_batch)),
    "steps": ("bound form", of(in_steps)),
    "a step": ("bound form else", of(lambda **o: in_steps(o))),
    "defaults": ("wait", of(as_defaults)),
    "errors": ("errors", of_value(lambda time: bwp.WaitOptions(retry_errors_for={"403": time}))),
    "rates": (
        "rates",
        of_value(lambda rate: memory().work(until_idle=True, calls_per_second={"ec2": rate})),
    ),
    "deadline": ("deadline", of_value(bwp.deadline)),
    "fixed": ("fixed", of_value(conditions.fixed)),
    "linear": ("linear", of(conditions.linear, 1)),
    "exponential": ("exponential", of(conditions.exponential, 1)),
    "from_states": ("from_states", of(bwp.WaiterDefinition.from_states, **STATES)),
    "SqsSignal": (
        "signal",
        lambda c, **o: signals.SqsSignal(**{"queue": URL, "client": c.sqs, **o}),
    ),
    "install": ("install", of(bwp.install)),
}
"""What takes options: their families, and a call with some of them."""


def options_of(target):
    """Return the kinds of the options of a target, by name."""
    families = [CASES["families"][name] for name in TARGETS[target][0].split()]
    return {name: kind for each in families for kind, names in each.items() for name in names}


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
    options, call = options_of(target), TARGETS[target][1]
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
    options, call = options_of(target), TARGETS[target][1]
    for known, names in OTHER_NAMES.items():
        right = "min_delay" if known == "interval" and known not in options else known
        for name in names.split() if right in options else ():
            with pytest.raises(TypeError, match=f"takes {right} .*instead of {name}"):
                call(clients, **{name: 5})
    assert not any(clients.requests)
