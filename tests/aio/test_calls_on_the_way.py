"""Other calls of aiobotocore's clients, its closed clients, and what hooks raise inside a call."""

import asyncio
import contextlib
import datetime as dt
import threading
from unittest import mock

import botocore.exceptions as botocores
import pytest
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError
from service.roles import EXISTS, GONE, KEYS, answering, profiles_in

import boto_waiters_plus as bwp
from boto_waiters_plus.calls import private_names
from boto_waiters_plus.common.process import frames_of
from boto_waiters_plus.idempotency import call_once_async

from .clients import required

STACK = {"StackName": "web", "max_wait": 60}


@pytest.fixture(autouse=True)
def _profiles(tmp_path, monkeypatch):
    profiles_in(tmp_path / "config", monkeypatch)


def refusal(code, message="no", status=400):
    metadata = {"HTTPStatusCode": status}
    return {"Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}


@contextlib.asynccontextmanager
async def client_of(profile, service, *sts_answers, prompter=None, **arguments):
    """A client of a profile, and the calls of STS that it has made."""
    session = required("aiobotocore.session").AioSession(profile=profile)
    called = answering(session.get_component("event_emitter"), "before-call.sts", *sts_answers)
    if prompter is not None:
        providers = session.get_component("credential_provider")
        providers.get_provider("assume-role")._prompter = prompter
    arguments = {"region_name": "us-east-1", **arguments}
    async with session.create_client(service, **arguments) as client:
        yield bwp.enable(client), called


def sending(client, *bodies):
    """Answer requests of a client after they were signed."""
    response_of = required("aiobotocore.awsrequest").AioAWSResponse
    sent = []

    async def send(request, **_):
        status, body = bodies[min(len(sent), len(bodies) - 1)]
        sent.append(request)
        if isinstance(body, Exception):
            raise body
        response = response_of(request.url, status, {}, None)
        response._content = body
        return response

    client.meta.events.register("before-send", send)
    return sent


async def by_method(client, waiter, **keywords):
    return await getattr(client, f"wait_until_{waiter}")(**keywords)


async def by_waiter(client, waiter, **keywords):
    waiter = client.get_waiter(waiter)
    await waiter.wait(**keywords)
    return waiter.outcome


async def by_batch(client, waiter, *, max_wait, **parameters):
    [result] = await bwp.wait_all_async(
        [bwp.Wait(client, waiter, parameters, max_wait=max_wait)], on_failure="collect"
    )
    if isinstance(result, Exception):
        raise result
    return result


WAYS = pytest.mark.parametrize("way", [by_method, by_waiter, by_batch])


def test_frames_tell_of_a_call_what_those_of_botocore_tell(monkeypatch):
    async def main():
        async with client_of("base", "cloudformation") as (client, _):
            sending(client, (503, b"<Response/>"), (200, b"<cut off"))
            with pytest.raises(ResponseParserError) as caught:
                await client.describe_stacks()
            frames = frames_of(caught.value)
            [frame] = filter(private_names.makes_call, frames)
            assert private_names.call_in(frame) == (client, "DescribeStacks")
            assert [*filter(None, map(private_names.attempts_in, frames))] == [2]
            [response] = filter(None, map(private_names.response_in, frames))
            assert (response["status_code"], response["body"]) == (200, b"<cut off")
            client.meta.events.register_first("before-sign", mock.Mock(side_effect=KeyError))
            with pytest.raises(KeyError) as raised:
                await client.describe_stacks()
            [*_, event] = filter(None, map(private_names.event_in, frames_of(raised.value)))
            assert event == "before-sign.cloudformation.DescribeStacks"

    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("random.random", lambda: 0.0)  # as is the delay before the second request
    asyncio.run(main())


def test_an_answer_of_null_ends_the_wait_as_any_that_does_not_fit():
    async def main():
        async with client_of("base", "dynamodb") as (client, _):
            sending(client, (200, b"null"))
            with pytest.raises(bwp.WaiterFailedError, match="failed with AttributeError"):
                await client.wait_until_table_exists(TableName="table", max_wait=60)

    asyncio.run(main())


@WAYS
def test_an_error_of_a_call_on_the_way_matches_no_acceptor(way):
    async def main():
        refused = refusal("ValidationError", "bad role")
        async with client_of("role", "cloudformation", refused) as (client, called):
            sent = sending(client, (400, GONE))
            with pytest.raises(bwp.WaiterFailedError, match="AssumeRole"):
                await way(client, "stack_delete_complete", **STACK)
            assert (called, sent) == (["AssumeRole"], [])

    asyncio.run(main())


def refreshing(client, *results):
    """Let refreshes of a client last some minutes, or fail; return those that were made."""
    kind = required("aiobotocore.credentials").AioRefreshableCredentials
    refreshes = []

    def expiry(minutes):
        return dt.datetime.now(dt.timezone.utc) + dt.timedelta(minutes=minutes)

    async def refresh():
        result = results[min(len(refreshes), len(results) - 1)]
        refreshes.append(result)
        if isinstance(result, Exception):
            raise result
        fresh = {"access_key": "a", "secret_key": "b", "token": "c"}
        return fresh | {"expiry_time": expiry(result).isoformat()}

    client._request_signer._credentials = kind("a", "b", "c", expiry(1), refresh, "test")
    return refreshes


@WAYS
def test_an_error_of_any_name_that_a_refresh_raises_matches_no_acceptor(way):
    error = ClientError(refusal("ValidationError", "no secret"), "GetSecretValue")

    async def main():
        async with client_of("base", "cloudformation") as (client, _):
            refreshing(client, error)
            with pytest.raises(bwp.WaiterFailedError, match="GetSecretValue"):
                await way(client, "stack_delete_complete", **STACK)

    asyncio.run(main())


EVENTS = [
    "provide-client-params", "before-call", "request-created", "before-sign", "before-send",
    "needs-retry", "before-parse", "after-call",
]  # fmt: skip
AFTER = ["needs-retry", "before-parse", "after-call"]


def hooked(client, event, name, is_async, code="ValidationError"):
    """Let the hooks of an event raise an error of this name, once; return their calls."""
    calls = []

    def hook(**_):
        calls.append(event)
        if len(calls) == 1:
            raise ClientError(refusal(code, "no secret"), name)

    async def async_hook(**_):
        await asyncio.sleep(0)
        hook()

    client.meta.events.register_first(event, async_hook if is_async else hook)
    return calls


@WAYS
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("is_async", [False, True])
def test_an_error_that_a_hook_raises_for_another_call_matches_nothing(way, event, is_async):
    async def main():
        async with client_of("base", "cloudformation") as (client, _):
            sending(client, (200, EXISTS))
            calls = hooked(client, event, "GetSecretValue", is_async)
            with pytest.raises(bwp.WaiterFailedError, match="GetSecretValue") as caught:
                await way(client, "stack_delete_complete", **STACK)
            assert "no secret" in str(caught.value)
            assert len(calls) == 1

    asyncio.run(main())


@WAYS
@pytest.mark.parametrize("name", ["op", "DescribeStacks", "describe_stacks", ""])
@pytest.mark.parametrize("event", ["before-call", "before-send", "after-call"])
def test_a_hook_that_stands_for_the_service_matches(way, name, event):
    async def main():
        async with client_of("base", "cloudformation") as (client, _):
            sending(client, (200, EXISTS))
            hooked(client, event, name, is_async=True)
            outcome = await way(client, "stack_delete_complete", **STACK)
            assert outcome.exception.operation_name == name

    asyncio.run(main())


@WAYS
@pytest.mark.parametrize(
    "replaced", ["client.AioBaseClient._make_api_call", "endpoint.AioEndpoint.make_request"]
)
def test_a_double_of_the_polled_call_may_have_any_name(way, replaced):
    error = ClientError(refusal("ValidationError"), "DeleteStack")

    async def main():
        async with client_of("base", "cloudformation") as (client, _):
            with mock.patch(f"aiobotocore.{replaced}", side_effect=error):
                outcome = await way(client, "stack_delete_complete", **STACK)
            assert outcome.exception is error

    asyncio.run(main())


@WAYS
def test_a_throttle_that_a_hook_raises_is_transient(virtual_time, way):
    async def main():
        async with client_of("base", "cloudformation") as (client, _):
            sending(client, (400, GONE))
            calls = hooked(client, "before-call", "GetSecretValue", True, "Throttling")
            outcome = await way(client, "stack_delete_complete", **{**STACK, "max_wait": 600})
            assert outcome.exception.operation_name == "DescribeStacks"
            assert len(calls) == 2

    asyncio.run(main())


@pytest.mark.parametrize("event", EVENTS)
def test_call_once_is_refused_by_a_hook(event):
    async def main():
        async with client_of("base", "ec2") as (client, _):
            sending(client, (200, b"<RunInstancesResponse/>"))
            hooked(client, event, "GetSecretValue", is_async=True)
            image = {"ImageId": "a", "MinCount": 1, "MaxCount": 1}
            with pytest.raises(Exception, match="GetSecretValue") as caught:
                await call_once_async(client.run_instances, max_wait=60, **image)
            assert caught.value.outcome_unknown is (event in AFTER)

    asyncio.run(main())


@WAYS
def test_a_double_that_raises_one_error_to_all_clients_matches(way):
    error = ClientError(refusal("ValidationError"), "DescribeStacks")

    async def main():
        for _ in range(2):
            async with client_of("base", "cloudformation") as (client, _):
                client.meta.events.register("before-call", mock.Mock(side_effect=error))
                outcome = await way(client, "stack_delete_complete", **STACK)
                assert outcome.exception is error

    asyncio.run(main())


@WAYS
def test_credentials_that_are_expired_when_they_come_are_a_hiccup(virtual_time, way):
    async def main():
        async with client_of("base", "cloudformation") as (client, _):
            refreshes = refreshing(client, 5, -5, 5)
            sending(client, (200, EXISTS), (400, GONE))
            outcome = await way(client, "stack_delete_complete", **{**STACK, "max_wait": 900})
            assert (outcome.attempts, len(refreshes)) == (3, 3)

    asyncio.run(main())


@WAYS
def test_its_throttle_and_a_hiccup_of_the_credentials_are_transient(virtual_time, way):
    hiccup = botocores.MetadataRetrievalError(error_msg="timed out")

    async def main():
        throttle = refusal("Throttling", "Rate exceeded")
        async with client_of("role", "cloudformation", throttle, KEYS, hiccup, KEYS) as made:
            client, called = made
            sent = sending(client, (200, EXISTS), (400, GONE))
            credentials = client._request_signer._credentials
            credentials.refresh_needed = lambda refresh_in=None: refresh_in != 0
            fetcher = credentials._refresh_using.__self__
            fetcher._load_from_cache = lambda: None
            outcome = await way(client, "stack_delete_complete", **{**STACK, "max_wait": 900})
            assert isinstance(outcome.exception, ClientError)
            assert (len(called), len(sent)) == (4, 2)

    asyncio.run(main())


def test_waits_that_share_a_call_share_its_end():
    async def main():
        async with client_of("role", "ec2", refusal("AccessDenied", "", 403)) as (client, called):
            waits = [
                bwp.Wait(client, "instance_running", {"InstanceIds": [f"i-{n}"]}, max_wait=60)
                for n in range(40)
            ]
            results = await bwp.wait_all_async(waits, on_failure="collect")
            assert all("AssumeRole failed with AccessDenied" in str(each) for each in results)
            assert called == ["AssumeRole"]

    asyncio.run(main())


def test_call_once_is_refused_by_another_call():
    async def main():
        async with client_of("role", "ec2", refusal("ValidationError")) as (client, called):
            with pytest.raises(Exception, match="AssumeRole") as caught:
                await call_once_async(
                    client.run_instances, max_wait=60, ImageId="a", MinCount=1, MaxCount=1
                )
            assert not caught.value.outcome_unknown
            assert called == ["AssumeRole"]

    asyncio.run(main())


@WAYS
def test_a_closed_client_ends_the_wait(virtual_time, way):
    async def main():
        keys = {"endpoint_url": "http://127.0.0.1:9"}
        async with client_of("base", "cloudformation", KEYS, **keys) as (client, _):
            pass
        calls = []
        client.meta.events.register("before-send", lambda **_: calls.append(1))
        with pytest.raises((AttributeError, RuntimeError)):
            await way(client, "stack_delete_complete", **STACK)
        assert len(calls) == 1

    asyncio.run(main())


@WAYS
@pytest.mark.parametrize("error", [LookupError("mine"), RuntimeError("mine")])
def test_what_a_hook_raises_is_raised_as_it_was(virtual_time, way, error):
    async def main():
        async with client_of("base", "cloudformation", KEYS) as (client, _):
            wrapped = botocores.HTTPClientError(error=error)
            sending(client, (0, wrapped))
            with pytest.raises(type(error)) as caught:
                await way(client, "stack_delete_complete", **STACK)
            assert caught.value is error

    asyncio.run(main())


@WAYS
def test_code_is_asked_for_in_the_thread_of_the_loop(way):
    asked = []

    def prompter(_):
        asked.append(threading.get_ident())
        return "123456"

    async def main():
        async with client_of("person", "cloudformation", KEYS, prompter=prompter) as made:
            client, called = made
            sending(client, (400, GONE))
            assert (await way(client, "stack_delete_complete", **STACK)).attempts == 1
            assert asked == [threading.get_ident()]
            assert called == ["AssumeRole"]

    asyncio.run(main())


@WAYS
def test_without_a_terminal_the_error_says_so(way):
    prompter = mock.Mock(side_effect=EOFError)

    async def main():
        async with client_of("person", "cloudformation", KEYS, prompter=prompter) as made:
            with pytest.raises(Exception, match="terminal") as caught:
                await way(made[0], "stack_delete_complete", **STACK)
            assert "\n" not in str(caught.value)

    asyncio.run(main())


def test_time_at_the_prompt_counts():
    answered = []

    def prompter(_):
        threading.Event().wait(0.7)
        answered.append(True)
        return "123456"

    async def main():
        async with client_of("person", "cloudformation", KEYS, prompter=prompter) as made:
            sending(made[0], (400, GONE))
            with pytest.raises(bwp.WaiterTimeoutError):
                await made[0].wait_until_stack_delete_complete(**{**STACK, "max_wait": 0.6})
            assert answered == [True]

    asyncio.run(main())
