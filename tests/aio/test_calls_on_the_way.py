"""Other calls of aiobotocore's clients, its closed clients, and what hooks raise inside a call."""

import asyncio
import contextlib
import datetime as dt
import threading
from unittest import mock

import pytest
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError
from service.roles import EXISTS, GONE, KEYS, answering, profiles_in, refusal

import boto_waiters_plus as bwp
from boto_waiters_plus.calls import private_names
from boto_waiters_plus.common.process import frames_of

from .clients import awaited_client, required

WAITER, STACK = "stack_delete_complete", {"StackName": "web", "max_wait": 900}


@pytest.fixture(autouse=True)
def _profiles(tmp_path, monkeypatch, virtual_time):
    profiles_in(tmp_path / "config", monkeypatch)


@contextlib.asynccontextmanager
async def of_role(profile, *sts_answers, prompter=None):
    """A client of a role that is assumed on the way, and the calls of STS that it has made."""
    session = required("aiobotocore.session").AioSession(profile=profile)
    called = answering(session.get_component("event_emitter"), "before-call.sts", *sts_answers)
    if prompter is not None:
        providers = session.get_component("credential_provider")
        providers.get_provider("assume-role")._prompter = prompter
    async with awaited_client("cloudformation", session=session) as client:
        yield bwp.enable(client), called


@contextlib.asynccontextmanager
async def answered(*bodies, **arguments):
    """A client whose requests are answered so, if at all."""
    async with awaited_client("cloudformation", **arguments) as client:
        if bodies:
            sending(client, *bodies)
        yield bwp.enable(client)


def sending(client, *bodies):
    """Answer requests of a client after they were signed."""
    response_of = required("aiobotocore.awsrequest").AioAWSResponse
    sent = []

    async def send(request, **_):
        status, body = bodies[min(len(sent), len(bodies) - 1)]
        sent.append(request)
        response = response_of(request.url, status, {}, None)
        response._content = body
        return response

    client.meta.events.register("before-send", send)
    return sent


async def by_method(client, **keywords):
    return await getattr(client, f"wait_until_{WAITER}")(**keywords)


async def by_waiter(client, **keywords):
    waiter = client.get_waiter(WAITER)
    await waiter.wait(**keywords)
    return waiter.outcome


async def by_batch(client, *, max_wait, **parameters):
    wait = bwp.Wait(client, WAITER, parameters, max_wait=max_wait)
    [result] = await bwp.wait_all_async([wait], on_failure="collect")
    if isinstance(result, Exception):
        raise result
    return result


WAYS = pytest.mark.parametrize("way", [by_method, by_waiter, by_batch])


async def test_frames_tell_of_a_call_what_those_of_botocore_tell(monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("random.random", lambda: 0.0)  # as is the delay before the second request
    async with answered((503, b"<Response/>"), (200, b"<cut off")) as client:
        with pytest.raises(ResponseParserError) as caught:
            await client.describe_stacks()
        frames = frames_of(caught.value)
        [frame] = filter(private_names.makes_call, frames)
        assert private_names.call_in(frame) == (client, "DescribeStacks")
        assert [*filter(None, map(private_names.attempts_in, frames))] == [2]
        [response] = filter(None, map(private_names.response_in, frames))
        assert (response["status_code"], response["body"]) == (200, b"<cut off")


# --- calls on the way -------------------------------------------------------------------------


@WAYS
async def test_an_error_of_a_call_on_the_way_matches_no_acceptor(way):
    async with of_role("role", refusal("ValidationError", "bad role")) as (client, called):
        sent = sending(client, (400, GONE))
        with pytest.raises(bwp.WaiterFailedError, match="AssumeRole"):
            await way(client, **STACK)
        assert (called, sent) == (["AssumeRole"], [])


@WAYS
async def test_an_error_of_any_name_that_a_refresh_raises_matches_no_acceptor(way):
    refresh = mock.AsyncMock(side_effect=ClientError(refusal("ValidationError"), "GetSecretValue"))
    kind, due = required("aiobotocore.credentials"), dt.datetime.now(dt.timezone.utc)
    fresh = kind.AioRefreshableCredentials("a", "b", "c", due, refresh, "test")
    async with answered() as client:
        client._request_signer._credentials = fresh
        with pytest.raises(bwp.WaiterFailedError, match="GetSecretValue"):
            await way(client, **STACK)


# --- hooks ------------------------------------------------------------------------------------

EVENTS = [
    "provide-client-params", "before-call", "request-created", "before-sign", "before-send",
    "needs-retry", "before-parse", "after-call",
]  # fmt: skip


def hooked(client, event, *, is_async):
    """Let the hooks of an event raise an error of another call, once; return their calls."""
    calls = []

    def hook(**_):
        calls.append(event)
        if len(calls) == 1:
            raise ClientError(refusal("ValidationError"), "GetSecretValue")

    async def async_hook(**_):
        await asyncio.sleep(0)
        hook()

    client.meta.events.register_first(event, async_hook if is_async else hook)
    return calls


@WAYS
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("is_async", [False, True])
async def test_an_error_that_a_hook_raises_for_another_call_matches_nothing(way, event, is_async):
    async with answered((200, EXISTS)) as client:
        calls = hooked(client, event, is_async=is_async)
        with pytest.raises(bwp.WaiterFailedError, match="GetSecretValue"):
            await way(client, **STACK)
        assert len(calls) == 1


@WAYS
@pytest.mark.parametrize("name", ["op", "DescribeStacks", "describe_stacks", ""])
@pytest.mark.parametrize("event", ["before-call", "before-send", "after-call"])
async def test_a_hook_that_stands_for_the_service_matches(way, name, event):
    error = ClientError(refusal("ValidationError"), name)
    for _ in range(2):  # One double may stand for all clients.
        async with answered((200, EXISTS)) as client:
            client.meta.events.register_first(event, mock.Mock(side_effect=error))
            assert (await way(client, **STACK)).exception is error


# --- doubles ----------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize(
    "replaced", ["client.AioBaseClient._make_api_call", "endpoint.AioEndpoint.make_request"]
)
async def test_a_double_of_the_polled_call_may_have_any_name(way, replaced):
    error = ClientError(refusal("ValidationError"), "DeleteStack")
    async with answered() as client:
        with mock.patch(f"aiobotocore.{replaced}", side_effect=error):
            assert (await way(client, **STACK)).exception is error


@WAYS
async def test_a_closed_client_ends_the_wait(way):
    async with answered(endpoint_url="http://127.0.0.1:9") as client:
        pass
    calls = []
    client.meta.events.register_first("before-send", lambda **_: calls.append(1))
    with pytest.raises((AttributeError, RuntimeError)):
        await way(client, **STACK)
    assert len(calls) == 1


# --- MFA codes --------------------------------------------------------------------------------


@WAYS
async def test_code_is_asked_for_in_the_thread_of_the_loop(way):
    asked = []

    def prompter(_):
        asked.append(threading.get_ident())
        return "123456"

    async with of_role("person", KEYS, prompter=prompter) as (client, called):
        sending(client, (400, GONE))
        assert (await way(client, **STACK)).attempts == 1
    assert asked == [threading.get_ident()]
    assert called == ["AssumeRole"]
