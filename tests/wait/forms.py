"""The forms of a wait: on a client, blocking and awaited, and after a call.

Each takes a client, a definition and options, and returns the outcome or raises.
"""

import itertools
from typing import NamedTuple

from botocore import xform_name

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency


class Subject(NamedTuple):
    """What is polled with these parameters, and a call after which it is."""

    parameters: dict
    change: str
    of_change: dict


SUBJECTS = {
    "codebuild": Subject({"names": ["a", "b"]}, "delete_project", {"name": "p"}),
    "cloudformation": Subject({"StackName": "web"}, "create_stack", {"StackName": "web"}),
}


def scripted(*answers):
    """A callable that gives these states and errors; the last again and again."""
    left = itertools.chain(answers, itertools.repeat(answers[-1]))

    def call(**_):
        answer = next(left)
        if isinstance(answer, BaseException):
            raise answer
        return {"state": answer}

    return call


def subject(client):
    return SUBJECTS[client.meta.service_model.service_name]


def ended(end):
    try:
        if isinstance(end, BaseException):
            raise end
        return end
    finally:
        # An error that is raised here is in no cycle with this frame.
        del end


def alone(client, definition, options):
    return bwp.wait_until(client, definition, **subject(client).parameters, **options)


async def alone_async(client, definition, options):
    return await bwp.wait_until_async(client, definition, **subject(client).parameters, **options)


def waiter_object(client, definition):
    bwp.enable(client, definitions=definition)
    return client.get_waiter(xform_name(definition.name))


def by_waiter_object(client, definition, options):
    return waiter_object(client, definition).wait(**subject(client).parameters, **options)


async def by_waiter_object_async(client, definition, options):
    waiter = waiter_object(client, definition)
    await waiter.wait(**subject(client).parameters, **options)
    return waiter.outcome


def batch(client, definition, options):
    wait = bwp.Wait(client, definition, subject(client).parameters, **options)
    return ended(*bwp.wait_all([wait], on_failure="collect"))


async def batch_async(client, definition, options):
    wait = bwp.Wait(client, definition, subject(client).parameters, **options)
    return ended(*await bwp.wait_all_async([wait], on_failure="collect"))


def changing(client, definition, options):
    """The call of a client, and its arguments; the wait follows."""
    parameters, change, of_change = subject(client)
    then_wait = (definition, lambda _: parameters)
    return getattr(client, change), {"then_wait": then_wait, **of_change, **options}


def begun(client, definition, options):
    call, arguments = changing(client, definition, options)
    return bwp.begin(call, **arguments).result()


async def begun_async(client, definition, options):
    call, arguments = changing(client, definition, options)
    return await (await bwp.begin_async(call, **arguments))


def called_once(client, definition, options):
    call, arguments = changing(client, definition, options)
    return idempotency.call_once(call, **arguments).outcome


async def called_once_async(client, definition, options):
    call, arguments = changing(client, definition, options)
    return (await idempotency.call_once_async(call, **arguments)).outcome
