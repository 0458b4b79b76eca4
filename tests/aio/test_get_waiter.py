"""aiobotocore's own waiters on the engine: what they return, raise and leave on the waiter."""

import asyncio
import contextlib
import pydoc
import subprocess
import sys
from unittest import mock

import boto3
import botocore.waiter
import pytest
from aio.clients import COMING, NAME, NO_RETRIES, UP, awaited_client, nothing_left, required
from botocore.exceptions import WaiterError

import boto_waiters_plus as bwp

aiosession = required("aiobotocore.session")
aiowaiter = required("aiobotocore.waiter")
aioconfig = required("aiobotocore.config")

STOCK_WAIT = aiowaiter.AIOWaiter.__dict__["wait"]
MISSING, FORBIDDEN = (
    {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    for code in ("ResourceNotFoundException", "AccessDeniedException")
)


@pytest.fixture
def answering(answers):
    """`async with answering(*script) as (client, asked)`: a client with these answers."""

    @contextlib.asynccontextmanager
    async def answering(*script, session=None, **config):
        config = aioconfig.AioConfig(retries=NO_RETRIES, **config)
        async with awaited_client("dynamodb", session=session, config=config) as client:
            yield client, answers(client, *script)
            await nothing_left()

    return answering


# --- the same as aiobotocore's own --------------------------------------------------------------


async def ending_of(client, name="table_exists", **config):
    """What a waiter of the client gives, or its error, and the outcome."""
    waiter = client.get_waiter(name)
    assert getattr(waiter, "outcome", None) is None
    try:
        result = await waiter.wait(**NAME, WaiterConfig=config)
    except WaiterError as error:
        result = error
    return result, getattr(waiter, "outcome", None)


def shape(result):
    """What can be compared of a response or an error; request ids and dates differ."""
    if isinstance(result, WaiterError):
        # What the package adds stands behind botocore's words.
        words = str(result).partition(". For dynamodb ")[0]
        return words, result.kwargs, shape(result.last_response)
    return {name: value for name, value in result.items() if name != "ResponseMetadata"}


@pytest.mark.parametrize(("name", "script", "config"), [
    ("table_exists", [UP], {}), ("table_exists", [MISSING, COMING, UP], {}),
    ("table_not_exists", [UP, MISSING], {}), ("table_exists", [FORBIDDEN], {}),
    ("table_exists", [COMING], {"Delay": 3, "MaxAttempts": 2}),
    ("table_exists", [MISSING], {"Delay": 3, "MaxAttempts": 2}),
])  # fmt: skip
async def test_a_waiter_gives_what_aiobotocores_own_gives(
    answering, virtual_time, name, script, config
):
    config = {"Delay": 20, **config}
    async with answering(*script) as (client, asked):
        of_stock, _ = await ending_of(client, name, **config)
    attempts, time = len(asked.requests), virtual_time.now
    bwp.install()
    async with answering(*script) as (client, asked):
        ours, outcome = await ending_of(client, name, **config)
    assert shape(ours) == shape(of_stock)
    assert len(asked.requests) == attempts
    assert virtual_time.now == 2 * time
    if isinstance(ours, bwp.WaiterError):
        assert outcome is None
    else:
        assert type(ours) is dict
        assert outcome.attempts == attempts
        assert isinstance(outcome, bwp.ExceptionOutcome) == ("Error" in ours)


# --- who is reached ---------------------------------------------------------------------------


async def is_ours(client):
    waiter = client.get_waiter("table_exists")
    response = await waiter.wait(**NAME)
    assert response["Table"]["TableStatus"] == "ACTIVE"
    methods = hasattr(client, "wait_until_table_exists")
    assert methods == ("wait_until_table_exists" in dir(client))
    assert methods == (getattr(waiter, "outcome", None) is not None)
    return methods


@pytest.mark.parametrize("when", ["before", "after"])
async def test_install_reaches_every_session(answering, when):
    session = aiosession.get_session() if when == "before" else None
    bwp.install()
    async with answering(UP, session=session) as (client, _):
        assert await is_ours(client)


async def test_enable_reaches_one_session(answering):
    for session, is_reached in ((bwp.enable(aiosession.get_session()), True), (None, False)):
        async with answering(UP, session=session) as (client, _):
            assert await is_ours(client) == is_reached


async def test_after_uninstall_waiters_are_aiobotocores_own(answering):
    bwp.install()
    async with answering(UP) as (client, _):
        before = client.get_waiter("table_exists")
        bwp.uninstall()
        await before.wait(**NAME)
        assert before.outcome is None
        assert not await is_ours(client)
    assert aiowaiter.AIOWaiter.__dict__["wait"] is STOCK_WAIT


async def mocked(self, **keywords):
    return "mocked"


@pytest.mark.parametrize(
    "stand_in", [mocked, mock.AsyncMock(return_value="mocked")], ids=["function", "AsyncMock"]
)
@pytest.mark.parametrize("reach", [bwp.install, lambda: None], ids=["install", "enable"])
async def test_what_a_test_put_in_the_place_of_wait_is_seen(answering, stand_in, reach):
    reach()
    async with answering(UP) as (client, asked):
        waiter = bwp.enable(client).get_waiter("table_exists")
        with mock.patch.object(aiowaiter.AIOWaiter, "wait", stand_in):
            assert await waiter.wait(**NAME) == "mocked"
    assert asked.requests == []


def test_aiobotocore_may_be_imported_later():
    script = """
import boto_waiters_plus as bwp
bwp.install()
from aiobotocore.session import AioSession
from aiobotocore.waiter import AIOWaiter
for _ in range(2):
    print(type(vars(AioSession)["create_client"]).__name__, type(vars(AIOWaiter)["wait"]).__name__)
    bwp.uninstall()
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["FunctionWrapper", "FunctionWrapper", "function", "function"]


# --- built by hand ----------------------------------------------------------------------------


def built(kind, client):
    operation = aiowaiter.NormalizedOperationMethod(client.describe_table)
    return kind("Mine", client.get_waiter("table_exists").config, operation)


async def test_a_waiter_built_by_hand_runs_on_the_engine(answering, virtual_time):
    bwp.install()
    async with answering(COMING, UP) as (client, asked):
        waiter = built(aiowaiter.AIOWaiter, client)
        assert (await waiter.wait(**NAME))["Table"] == UP["Table"]
        assert waiter.outcome.attempts == len(asked.requests) == 2


async def test_a_blocking_waiter_on_an_awaited_client_is_refused(answering):
    bwp.install()
    async with answering(UP) as (client, asked):
        with pytest.raises(TypeError, match="Mine blocks"):
            built(botocore.waiter.Waiter, client).wait(**NAME)
    assert asked.requests == []


def test_an_awaited_waiter_on_a_blocking_client_is_refused(answers):
    bwp.install()
    asked = answers(client := boto3.client("dynamodb"), UP)
    with pytest.raises(TypeError, match="Mine is awaited"):
        asyncio.run(built(aiowaiter.AIOWaiter, client).wait(**NAME))
    assert asked.requests == []


# --- a backend that is not asyncio's ------------------------------------------------------------


async def test_waiters_of_the_anyio_backend_run_as_their_own(answering):
    required("httpx2")
    bwp.install()
    backend = required("aiobotocore.httpxsession").HttpxSession
    async with answering(COMING, UP, COMING, UP, http_session_cls=backend) as (client, asked):
        waiter = client.get_waiter("table_exists")
        assert isinstance(waiter, aiowaiter.AnyioWaiter)
        assert (await waiter.wait(**NAME, WaiterConfig={"Delay": 0}))["Table"] == UP["Table"]
        assert (waiter.outcome, len(asked.requests)) == (None, 2)
        # In a loop of asyncio the methods work all the same.
        pace = {"max_wait": 60, "delay_pace": lambda _: 0.01}
        assert (await client.wait_until_table_exists(**NAME, **pace)).attempts == 2


# aiobotocore leaves coroutines behind where documentation is written, without us too.
@pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
async def test_help_tells_of_max_wait_and_the_outcome(answering):
    bwp.install()
    async with answering() as (client, _):
        text = pydoc.plain(pydoc.render_doc(client.get_waiter("table_exists").wait))
    assert "response = await waiter.wait(..., max_wait=300)" in text
