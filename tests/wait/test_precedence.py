"""Which option takes precedence for each kind of wait, and what is refused first."""

import asyncio
import builtins
import contextlib
import itertools
import json
import math
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import boto3
import pytest
from batch.calls import parsed
from botocore.exceptions import EndpointConnectionError
from wait import forms

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions, idempotency
from boto_waiters_plus.engine.delays import KnownTime

NAME = forms.SUBJECTS["cloudformation"].parameters
LOST = EndpointConnectionError(endpoint_url="https://cloudformation")
SLACK = 0.06
PRECEDENCE, REFUSED = (
    json.loads((Path(__file__).parents[1] / f"cases/{name}.json").read_text("utf-8"))
    for name in ("precedence", "refused-arguments")
)


def defined(**members):
    """A definition of the waiter StackUp."""
    states = {"success": ["UP"], "failure": ["BROKEN"], "path": "Stacks[0].StackStatus"}
    return bwp.WaiterDefinition.from_states("StackUp", "DescribeStacks", **states, **members)


def stack(status):
    return {"Stacks": [{"StackId": "arn:web", "StackName": "web", "StackStatus": status}]}


class World:
    """A client whose stack has the states of a list, one at each poll; the last is repeated."""

    def __init__(self, clock, states, error_answer):
        self.clock, self.told, self.attempts, self.reads = clock, [], [], []
        self.session = boto3.Session()
        self._states, self._error = list(states), error_answer

    def client(self):
        client = self.session.client("cloudformation")
        client.meta.events.register("before-call", self._answer)
        return client

    def _answer(self, model, **_):
        answer = {"StackId": "arn:web"}
        if model.name == "DescribeStacks":
            self.attempts.append(self.clock.now)
            state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
            if state == "lost":
                raise LOST
            answer = self._error(state[1:]) if state.startswith("!") else stack(state)
        elif model.name != "CreateStack":
            self.reads.append(model.name)
        return parsed(answer)

    def made(self, options):
        """Options with what stands for an object: an event by when it is set, and so on."""
        make = {
            "cancel_event": self._event,
            "wake_signal": self._event,
            "on_attempt": lambda name: lambda _: self.told.append(name),
            "delay_pace": lambda seconds: lambda _: seconds,
            "delay_history": lambda seconds: Times(seconds, self.told),
        }
        return {name: make.get(name, lambda x: x)(value) for name, value in options.items()}

    def _event(self, seconds):
        event = threading.Event()
        self.clock.call_at(seconds, event.set)
        return event


class Times:
    """A history in which each wait took as long; it tells the kinds that it was asked for."""

    def __init__(self, seconds, told):
        self._seconds, self._told = seconds, told

    def times(self, key):
        self._told.append(key.kind or self._seconds)
        return (KnownTime(float(self._seconds), is_end=True),) * 8

    def add(self, *_):
        pass


# --- each kind of wait, with the levels whose options it has ------------------------------------


def awaited(function):
    """A coroutine function as if it blocked."""
    return lambda *arguments, **options: asyncio.run(function(*arguments, **options))


def by_method(client, definition, options):
    bwp.enable(client, definitions=definition)
    return client.wait_until_stack_up(**NAME, **options)


def by_poll(client, definition, options):
    return conditions.poll(client.describe_stacks, definition, input=NAME, **options)


def by_poll_in_task(client, definition, options):
    async def describe(**parameters):
        return client.describe_stacks(**parameters)

    return asyncio.run(conditions.poll_async(describe, definition, input=NAME, **options))


def of_condition(options):
    """The options of a condition, whose attempts are 5 s apart as those of the others."""
    has_delays = {"min_delay", "max_delay", "delay_pace"} & options.keys()
    return options if has_delays else {"min_delay": 5, "max_delay": 5, **options}


def state_of(client):
    return client.describe_stacks(**NAME)["Stacks"][0]["StackStatus"]


def by_condition(client, _, options):
    is_up = lambda: state_of(client) == "UP"  # noqa: E731 - for the forms alone
    return conditions.wait_for(is_up, **of_condition(options))


def by_condition_in_task(client, _, options):
    async def is_up():
        return state_of(client) == "UP"

    return asyncio.run(conditions.wait_for_async(is_up, **of_condition(options)))


def by_condition_in_batch(client, _, options):
    wait = conditions.ConditionWait(lambda: state_of(client), "UP", **of_condition(options))
    return forms.ended(*bwp.wait_all([wait], on_failure="collect"))


ALL_LEVELS = ("call", "client", "session", "install", "definition")
by_task, by_batch_in_task = awaited(forms.alone_async), awaited(forms.batch_async)
BEGUN = [forms.begun, awaited(forms.begun_async)]
CALLED_ONCE = [forms.called_once, awaited(forms.called_once_async)]
ON_CLIENTS = [forms.alone, by_task, by_method, forms.by_waiter_object]
ON_CLIENTS += [forms.batch, by_batch_in_task]
POLLED = [by_poll, by_poll_in_task]
CONDITIONS = [by_condition, by_condition_in_task, by_condition_in_batch]
LEVELS = {
    **dict.fromkeys(ON_CLIENTS + BEGUN, ALL_LEVELS),
    # The call has no options of the wait.
    **dict.fromkeys(CALLED_ONCE, ALL_LEVELS[1:]),
    # A client is nothing but a callable.
    **dict.fromkeys(POLLED, ("call", "install", "definition")),
    **dict.fromkeys(CONDITIONS, ("call", "install")),
}
FORMS = list(LEVELS)


@pytest.fixture
def run(virtual_time, error_answer):
    """`run(form, states, options by level, max_wait=, **delays)`: the world after the wait."""

    def run(form, states, by_level, *, max_wait=300, **members):
        world = World(virtual_time, states, error_answer)
        by_level = {level: world.made(options) for level, options in by_level.items()}
        bwp.install(defaults=by_level.get("install"))
        bwp.enable(world.session, defaults=by_level.get("session"))
        client = bwp.enable(world.client(), defaults=by_level.get("client"))
        options = {"max_wait": max_wait, **by_level.get("call", {})}
        definition = defined(**{"min_delay": 5, "max_delay": 5, **members})
        try:
            world.end = form(client, definition, options)
        except Exception as error:
            world.end = error
        return world

    return run


# --- precedence ---------------------------------------------------------------------------------

DELAYS = {"call": 11, "client": 12, "session": 13, "install": 14, "definition": 15}


@pytest.mark.parametrize(
    ("form", "level"),
    [(form, level) for form in FORMS if form not in CONDITIONS for level in LEVELS[form]],
)
def test_nearest_level_takes_precedence(run, form, level):
    levels = LEVELS[form][LEVELS[form].index(level) :]
    given = {each: {"min_delay": DELAYS[each]} for each in levels if each != "definition"}
    world = run(form, ["COMING", "UP"], given, min_delay=15, max_delay=15)
    assert world.attempts == pytest.approx([0, DELAYS[level]], abs=SLACK)


LATE = ["COMING", "COMING", "COMING", "UP"]
OPTIONS = PRECEDENCE["options"]
MAX_WAIT = {"last_attempt": 12}
# What a task does by itself; the rest is one with the blocking form.
OF_TASKS = ["cancel_event", "wake_signal"]
IN_TASKS = [by_task, by_batch_in_task, BEGUN[1], CALLED_ONCE[1], POLLED[1], CONDITIONS[1]]
KINDS = [form for form in FORMS if form not in IN_TASKS and form is not by_method]
ROWS = [*itertools.product(KINDS, OPTIONS), *itertools.product(IN_TASKS, OF_TASKS)]
OF_WAITERS = {
    *("missing_ok_for", "retry_errors_for", "settle_for", "converted_delays", "explain_failure"),
    *("delay_history", "delay_kind", "show_parameters"),
}
OF_WAITERS_BY_DEFAULT = {*OF_WAITERS, "min_delay", "max_delay", "delay_pace"}


each_levels = pytest.mark.parametrize("levels", ["near and far", "far", "none"])


def nearest(form):
    return LEVELS[form][0]


def given_at(form, option, levels, near, far):
    """Values of an option by level."""
    given = {} if levels == "none" else {"install": {option: far}}
    return given | ({nearest(form): {option: near}} if levels == "near and far" else {})


def takes(form, option):
    return form not in CONDITIONS or option not in OF_WAITERS


@each_levels
@pytest.mark.parametrize(("form", "option"), ROWS)
def test_nearest_value_of_an_option_takes_precedence(run, form, option, levels):
    near, far, states, under_near, under_far, without = OPTIONS[option]
    given = given_at(form, option, levels, near, far)
    world = run(form, states, given, max_wait=MAX_WAIT.get(option, 300))
    if levels == "near and far" and not takes(form, option):
        assert isinstance(world.end, TypeError)
        assert (world.end.argument, world.attempts) == (option, [])
        return
    if levels == "far" and form in CONDITIONS and option in OF_WAITERS_BY_DEFAULT:
        under_far = without
    if form in BEGUN + CALLED_ONCE and option == "retry_transient":
        # The effect's own option: the service has answered the call.
        without = [0, 5]
    expected = {"near and far": under_near, "far": under_far, "none": without}[levels]
    assert world.attempts == pytest.approx(expected, abs=SLACK)


# Options that do not change when the stack is polled.
TOLD = PRECEDENCE["told"]
ON_SERVICE = [form for form in KINDS if form not in POLLED + CONDITIONS]


def told(world, option):
    match option:
        case "show_parameters":
            return {"web"} if "web" in world.end.label else set()
        case "explain_failure":
            return {"read"} if world.reads else set()
        case _:
            return set(world.told)


@pytest.mark.parametrize(("form", "option"), [
    *itertools.product(KINDS, ["on_attempt"]),
    *itertools.product([*ON_SERVICE, by_poll], ["delay_history"]),
    *itertools.product(ON_SERVICE, ["show_parameters", "explain_failure"]),
])  # fmt: skip
@each_levels
def test_what_options_tell_follows_precedence(run, form, option, levels):
    near, far, states, under_near, under_far, without = TOLD[option]
    world = run(form, states, given_at(form, option, levels, near, far))
    if form is forms.by_waiter_object and option == "explain_failure":
        # botocore's own makes no reads.
        without = []
    expected = {"near and far": under_near, "far": under_far, "none": without}[levels]
    assert told(world, option) == set(expected)


@pytest.mark.parametrize("form", [*ON_SERVICE, by_poll])
def test_kind_of_history_has_levels_of_its_own(run, form):
    given = {
        nearest(form): {"delay_kind": "a"},
        "install": {"delay_history": 40, "delay_kind": "b"},
    }
    assert set(run(form, ["UP"], given).told) == {"a"}


@pytest.mark.parametrize("option", sorted(OF_WAITERS))
@pytest.mark.parametrize("form", CONDITIONS)
def test_default_for_waiters_is_not_for_conditions(run, form, option):
    value = {**{name: row[1] for name, row in (OPTIONS | TOLD).items()}, "delay_kind": "b"}
    value["converted_delays"] = "aws"
    world = run(form, ["UP"], {"install": {option: value[option]}})
    assert (world.attempts, world.told) == ([0], [])


@each_levels
@pytest.mark.parametrize("form", [*ON_SERVICE, by_poll])
def test_converted_delays_follow_precedence(run, monkeypatch, form, levels):
    shipped = bwp.enable(boto3.client("cloudformation")).wait_until_stack_create_complete
    converted = replace(shipped.definition, name="StackUp", acceptors=defined().acceptors)
    monkeypatch.setitem(globals(), "defined", lambda **_: converted)
    world = run(form, LATE[2:], given_at(form, "converted_delays", levels, "aws", "short"))
    assert world.attempts == pytest.approx([0, 30 if levels == "near and far" else 8], abs=SLACK)


@each_levels
@pytest.mark.parametrize("form", [forms.alone, forms.by_waiter_object, by_poll, by_condition])
def test_thread_of_calls_follows_precedence(run, monkeypatch, form, levels):
    threads, answer = set(), World._answer
    monkeypatch.setattr(
        World, "_answer", lambda *a, **k: threads.add(threading.get_ident()) or answer(*a, **k)
    )
    run(form, ["UP"], given_at(form, "call_in_thread", levels, False, True))
    assert (threads == {threading.get_ident()}) == (levels != "far")


# --- the effect of a change ---------------------------------------------------------------------

FIVE = {"min_delay": 5, "max_delay": 5}
INDEX = {"BackupVaultName": "v", "RecoveryPointArn": "arn:point", "Index": "ENABLED"}
TUNNEL = {"VpnConnectionId": "vpn-1", "VpnTunnelOutsideIpAddress": "192.0.2.1"}


VPN = {"VpnConnections": [{"State": "available"}]}
MISSING = {"Error": {"Code": "ResourceNotFoundException"}}
OF_EFFECTS = {
    "settle_for": ("ec2", "modify_vpn_tunnel_certificate", TUNNEL, VPN),
    "missing_ok_for": ("backup", "update_recovery_point_index_settings", INDEX, MISSING),
}


@pytest.mark.parametrize(
    ("given", "default", "last"), [(None, None, 60), (None, 11, 15), (6, 11, 10), (11, 6, 15)]
)
@pytest.mark.parametrize(
    "option", ["settle_for", pytest.param("missing_ok_for", marks=pytest.mark.models)]
)
@pytest.mark.parametrize("way", ["begin", "call_once"])
def test_effect_has_the_least_precedence(virtual_time, answers, way, option, given, default, last):
    bwp.install(defaults=FIVE if default is None else {**FIVE, option: default})
    service, method, parameters, answer = OF_EFFECTS[option]
    client, polled = boto3.client(service), []
    answers(client, {}, lambda: polled.append(virtual_time.now) or answer)
    call, own = getattr(client, method), {} if given is None else {option: given}
    with contextlib.suppress(bwp.WaiterFailedError):
        if way == "begin":
            bwp.begin(call, max_wait=300, **parameters, **own).result()
        else:
            bwp.enable(client, defaults=own)
            options = {"max_wait": 300, "then_wait": True, "allow_repeat": True}
            idempotency.call_once(call, **options, **parameters)
    assert polled == pytest.approx(range(0, last + 1, 5), abs=SLACK)


# --- the schedule of a waiter object ------------------------------------------------------------


@pytest.mark.parametrize(("call", "default", "attempts"), PRECEDENCE["schedules"])
def test_schedule_of_a_waiter_object(run, call, default, attempts):
    states = ["COMING"] * 3 + ["UP"]
    world = run(forms.by_waiter_object, states, {"call": call, "install": default}, max_wait=None)
    assert world.attempts == pytest.approx(attempts, abs=SLACK)


# --- time bounds --------------------------------------------------------------------------------


@pytest.mark.parametrize(("of_wait", "of_all", "of_block", "end"), [
    *[(20, 30, 40, 20), (30, 20, 40, 20), (30, 40, 20, 20)],
    *[(None, 20, None, 20), (20, None, 30, 20), (None, None, 20, 20)],
])  # fmt: skip
@pytest.mark.parametrize("kind", ["waiter", "condition"])
def test_least_time_bounds_a_wait_of_a_batch(
    virtual_time, error_answer, kind, of_wait, of_all, of_block, end
):
    client = World(virtual_time, ["COMING"], error_answer).client()
    wait = bwp.Wait(client, defined(**FIVE), NAME, max_wait=of_wait)
    if kind == "condition":
        wait = conditions.ConditionWait(lambda: False, interval=5, max_wait=of_wait)
    block = contextlib.nullcontext() if of_block is None else bwp.deadline(of_block)
    with block:
        (error,) = bwp.wait_all([wait], max_wait=of_all, on_failure="collect")
    assert type(error) is bwp.WaiterTimeoutError
    assert end - 1 <= virtual_time.now <= end


@pytest.mark.parametrize("form", [*KINDS, *IN_TASKS])
def test_deadline_stands_for_a_missing_bound(run, virtual_time, form):
    with bwp.deadline(20):
        world = run(form, ["COMING"], {}, max_wait=None)
    assert isinstance(world.end, bwp.WaiterTimeoutError)
    assert 19 <= virtual_time.now <= 20 + SLACK


@pytest.mark.parametrize("form", [*KINDS, *IN_TASKS])
def test_deadline_may_leave_less_than_initial_delay(run, form):
    with bwp.deadline(4):
        world = run(form, ["UP"], {nearest(form): {"initial_delay": 6}})
    assert world.attempts == pytest.approx([3.75], abs=SLACK)


# --- settings that change, and observers --------------------------------------------------------


@pytest.mark.parametrize("kind", ["waiter", "condition"])
def test_batch_takes_the_defaults_of_its_run(virtual_time, error_answer, kind):
    bwp.install(defaults={"max_attempts": 2})
    client = World(virtual_time, ["COMING"], error_answer).client()
    wait = bwp.Wait(client, defined(), NAME, max_wait=300)
    if kind == "condition":
        wait = conditions.ConditionWait(lambda: False, max_wait=300)
    bwp.install(defaults={"max_attempts": 3})
    (error,) = bwp.wait_all([wait], on_failure="collect")
    assert error.attempts == 3


@pytest.mark.parametrize("form", [*KINDS, *IN_TASKS])
def test_observers_of_all_levels_are_told_nearest_first(virtual_time, error_answer, form):
    world, told = World(virtual_time, ["COMING", "UP"], error_answer), []
    levels = ["install", "session", "client"]
    of = {name: lambda event, name=name: told.append((event, name)) for name in levels}
    bwp.install(on_event=of["install"], defaults={"max_attempts": 9})
    bwp.enable(world.session, on_event=of["session"])
    client = bwp.enable(world.client(), on_event=of["client"])
    form(client, defined(), {"max_wait": 300})
    of_wait = [(event, name) for event, name in told if event.operation != "CreateStack"]
    heard = [name for event, name in of_wait if (event.kind, event.attempt) == ("attempt", 1)]
    assert heard == (["install"] if form in POLLED + CONDITIONS else levels[::-1])


@pytest.mark.parametrize("form", CALLED_ONCE)
def test_cancel_event_of_call_once_takes_precedence(run, form):
    given = {"call": {"cancel_event": 7}, "install": {"cancel_event": 3}}
    world = run(form, LATE[1:], given)
    assert isinstance(world.end, bwp.WaiterCancelledError)
    assert world.attempts == pytest.approx([0, 5], abs=SLACK)


# --- what is refused first ----------------------------------------------------------------------

INSTANCES = bwp.WaiterDefinition.from_states(
    "InstanceUp",
    "DescribeInstances",
    path="Reservations[].Instances[].State.Name",
    success=["running"],
    **FIVE,
)
IDS = {"InstanceIds": ["i-1"]}
IMAGE = {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1}


def never(**_):
    pytest.fail("a request though an argument is wrong")


class NoClient:
    """What has methods, and is no client."""

    meta = None

    def run_instances(self):
        pass


def alone(client, waiter=INSTANCES, parameters=IDS, wait=bwp.wait_until, **options):
    return wait(client, waiter, **parameters, **options)


def of_object(client, parameters=IDS, **options):
    return client.get_waiter("instance_running").wait(**parameters, **options)


def in_batch(client, waiter=INSTANCES, parameters=IDS, **options):
    return bwp.wait_all([bwp.Wait(client, waiter, parameters, **options)])


def polled(client, waiter=INSTANCES, call=None, poll=conditions.poll, **options):
    return poll(call or client.describe_instances, waiter, **options)


def begun(client, begin=bwp.begin, **options):
    return begin(getattr(client, "run_instances", client), **{**IMAGE, **options})


def called_once(client, call_once=idempotency.call_once, **options):
    return call_once(getattr(client, "run_instances", client), **{**IMAGE, **options})


def condition(client, call=None, wait_for=conditions.wait_for, **options):
    return wait_for(call or client.describe_instances, **options)


def condition_in_batch(client, call=None, **options):
    wait = conditions.ConditionWait(call or client.describe_instances, **options)
    return bwp.wait_all([wait])


FAULTS, ORDER = REFUSED["faults"], REFUSED["order"]
OBJECTS = {"endless": math.inf, "no client": NoClient()}
HOLDS = ("too long", "too late")


ENTRIES = [alone, of_object, in_batch, polled, begun, called_once, condition, condition_in_batch]
TWINS = [
    partial(alone, wait=awaited(bwp.wait_until_async)),
    partial(polled, poll=awaited(conditions.poll_async)),
    partial(begun, begin=awaited(bwp.begin_async)),
    partial(called_once, call_once=awaited(idempotency.call_once_async)),
    partial(condition, wait_for=awaited(conditions.wait_for_async)),
]


def go_together(one, other):
    """Whether arguments can be wrong in both ways at once."""
    keys = {*FAULTS[one][0]}, {*FAULTS[other][0]}
    # A time is too long for a bound that is right.
    is_relative = {"max_wait"} in keys and not {one, other}.isdisjoint(HOLDS)
    return keys[0].isdisjoint(keys[1]) and not is_relative


@pytest.fixture
def refusal():
    """`refusal(entry, *faults)`: the error of an entry with these faults."""
    bwp.install()
    client = boto3.client("ec2")
    client.meta.events.register("before-call", never)

    def refusal(entry, *faults):
        given = {"client": client, "max_wait": 300}
        for name, value in itertools.chain(*[FAULTS[fault][0].items() for fault in faults]):
            given[name] = OBJECTS.get(value, value) if isinstance(value, str) else value
        with pytest.raises((TypeError, ValueError)) as caught:
            entry(given.pop("client"), **given)
        return caught.value

    return refusal


@pytest.mark.parametrize("entry", [*ENTRIES, *TWINS], ids=range(len([*ENTRIES, *TWINS])))
def test_wrong_arguments_are_refused_in_this_order(refusal, entry):
    faults = ORDER[getattr(entry, "func", entry).__name__]
    alone = {fault: refusal(entry, fault) for fault in faults}
    for fault, error in alone.items():
        _, kind, argument = FAULTS[fault]
        assert isinstance(error, getattr(builtins, kind)), fault
        assert getattr(error, "argument", "") == argument
    for first, second in itertools.combinations(alone, 2):
        if go_together(first, second):
            assert str(refusal(entry, first, second)) == str(alone[first]), second


@pytest.mark.parametrize("entry", [alone, begun, called_once, polled, condition])
@pytest.mark.parametrize("step", [1, -1])
def test_first_of_several_wrong_names_is_told(entry, step):
    bwp.install()
    names = ("timeout", "frequency", "poll_interval", "wait_timeout", "maxwait", "maxWait")[::step]
    with pytest.raises(TypeError) as caught:
        entry(boto3.client("ec2"), **dict.fromkeys(names, 9), max_wait=300)
    assert caught.value.argument == names[0]
