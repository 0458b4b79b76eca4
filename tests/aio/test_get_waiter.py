"""aiobotocore's own waiters on the engine: what they return, raise and leave on the waiter."""

import asyncio
import pydoc
import subprocess
import sys
from unittest import mock

import boto3
import botocore.waiter
import pytest
from aio.clients import COMING, KEYS, NAME, NO_RETRIES, UP, nothing_left, required
from botocore.exceptions import WaiterError

import boto_waiters_plus as bwp
from boto_waiters_plus import operations, signals

aiosession = required("aiobotocore.session")
aiowaiter = required("aiobotocore.waiter")
aioconfig = required("aiobotocore.config")

STOCK_WAIT = aiowaiter.AIOWaiter.__dict__["wait"]
QUOTING = {
    "Error": {"Code": "ValidationException", "Message": "No: Rate exceeded (ErrorCode: Throttling)"}
}
MISSING, FORBIDDEN = (
    {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    for code in ("ResourceNotFoundException", "AccessDeniedException")
)


@pytest.fixture
def run(answers):
    """`run(script, main)`: what `main(client)` returns with these answers, and their number."""

    def run(script, main, session=None, **config):
        async def go():
            config_of_client = aioconfig.AioConfig(retries=NO_RETRIES, **config)
            async with (session or aiosession.get_session()).create_client(
                "dynamodb", region_name="us-east-1", config=config_of_client, **KEYS
            ) as client:
                asked = answers(client, *script)
                result = await main(client)
                await nothing_left()
                return result, len(asked.requests)

        return asyncio.run(go())

    return run


def waiting(name, keywords):
    """`main` for a waiter of the client; what it gave, or the error, and the outcome."""

    async def main(client):
        waiter = client.get_waiter(name)
        assert getattr(waiter, "outcome", None) is None
        try:
            result = await waiter.wait(**NAME, **keywords)
        except WaiterError as error:
            result = error
        return result, getattr(waiter, "outcome", None)

    return main


# --- the same as aiobotocore's own --------------------------------------------------------------

SAME = {
    "up": ("table_exists", [UP], {}),
    "up at the third attempt": ("table_exists", [MISSING, COMING, UP], {}),
    "ended by an error": ("table_not_exists", [UP, MISSING], {}),
    "an error that no acceptor takes": ("table_exists", [FORBIDDEN], {}),
    "attempts used up": ("table_exists", [COMING], {"Delay": 3, "MaxAttempts": 2}),
    "attempts used up on a state": ("table_exists", [MISSING], {"Delay": 3, "MaxAttempts": 2}),
    "one attempt": ("table_exists", [COMING], {"MaxAttempts": 1}),
}


def shape(result):
    """What can be compared of a response or an error; request ids and dates differ."""
    if isinstance(result, WaiterError):
        # What the package adds stands behind botocore's words.
        words = str(result).partition(". For dynamodb ")[0]
        return words, result.kwargs, shape(result.last_response)
    return {name: value for name, value in result.items() if name != "ResponseMetadata"}


@pytest.mark.parametrize("case", SAME)
def test_a_waiter_gives_what_aiobotocores_own_gives(run, case, virtual_time):
    name, script, config = SAME[case]
    main = waiting(name, {"WaiterConfig": {"Delay": 20, **config}})
    (of_stock, _), attempts_of_stock = run(script, main)
    time_of_stock = virtual_time.now
    bwp.install()
    (ours, outcome), attempts = run(script, main)
    assert shape(ours) == shape(of_stock)
    assert type(ours) is dict or isinstance(ours, bwp.WaiterError)
    assert attempts == attempts_of_stock
    assert virtual_time.now == 2 * time_of_stock
    if isinstance(ours, dict):
        assert outcome.attempts == attempts
        assert isinstance(outcome, bwp.ExceptionOutcome) == ("Error" in ours)
    else:
        assert outcome is None


# --- budget -----------------------------------------------------------------------------------


def test_an_untouched_schedule_keeps_its_span(run, virtual_time):
    bwp.install()
    (error, _), attempts = run([COMING], waiting("table_exists", {}))
    assert "Max attempts exceeded" in str(error)
    assert 25 <= attempts <= 50
    assert virtual_time.now == pytest.approx(20 * 24, abs=1)


@pytest.mark.parametrize("place", ["call", "install"])
@pytest.mark.parametrize("options", [{"max_delay": 4}, {"delay_pace": lambda _: 4}], ids=list)
def test_delays_that_were_given_are_not_stretched(run, virtual_time, place, options):
    bwp.install(defaults=options if place == "install" else None)
    main = waiting("table_exists", options if place == "call" else {})
    (error, _), attempts = run([COMING], main)
    assert "Max attempts exceeded" in str(error)
    assert attempts > 20 * 24 / 4
    assert virtual_time.now == pytest.approx(20 * 24, abs=1)


def test_defaults_heal_waiters_of_other_libraries(run, virtual_time):
    bwp.install(defaults={"missing_ok_for": 60, "max_delay": 1})
    path = {"matcher": "path", "argument": "Table.TableStatus", "expected": "ACTIVE"}
    config = {"operation": "DescribeTable", "delay": 7, "maxAttempts": 20}
    config["acceptors"] = [{"state": "success", **path}]
    model = botocore.waiter.WaiterModel({"version": 2, "waiters": {"TableUp": config}})

    async def main(client):
        waiter = aiowaiter.create_waiter_with_client("TableUp", model, client)
        return await waiter.wait(**NAME)

    response, attempts = run([MISSING, MISSING, UP], main)
    assert response["Table"] == UP["Table"]
    assert (attempts, virtual_time.now) == (3, 14)


@pytest.mark.parametrize("keywords", [{"max_wait": 9}, {"WaiterConfig": {"MaxWait": 9}}])
def test_max_wait_bounds_it(run, keywords, virtual_time):
    bwp.install()
    (error, _), _ = run([COMING], waiting("table_exists", keywords))
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert virtual_time.now <= 9


def test_a_throttle_that_another_error_quotes_is_polled_past(run, virtual_time):
    bwp.install()
    (_, outcome), attempts = run([QUOTING, UP], waiting("table_exists", {}))
    assert (outcome.attempts, attempts, virtual_time.now) == (2, 2, 20)


# --- who is reached ---------------------------------------------------------------------------


async def is_ours(client):
    waiter = client.get_waiter("table_exists")
    await waiter.wait(**NAME)
    methods = hasattr(client, "wait_until_table_exists")
    assert methods == ("wait_until_table_exists" in dir(client))
    return methods, getattr(waiter, "outcome", None) is not None


@pytest.mark.parametrize("when", ["before", "after"])
def test_install_reaches_every_session(run, when):
    session = aiosession.get_session() if when == "before" else None
    bwp.install()
    assert run([UP], is_ours, session=session)[0] == (True, True)


def test_enable_reaches_one_session(run):
    session = bwp.enable(aiosession.get_session())
    assert run([UP], is_ours, session=session)[0] == (True, True)
    assert run([UP], is_ours)[0] == (False, False)


def test_after_uninstall_waiters_are_aiobotocores_own(run):
    async def main(client):
        before = client.get_waiter("table_exists")
        bwp.uninstall()
        response = await before.wait(**NAME)
        assert before.outcome is None
        assert response["Table"]["TableStatus"] == "ACTIVE"
        return await is_ours(client)

    bwp.install()
    assert run([UP], main)[0] == (False, False)
    assert aiowaiter.AIOWaiter.__dict__["wait"] is STOCK_WAIT


async def mocked(self, **keywords):
    return "mocked"


@pytest.mark.parametrize(
    "stand_in", [mocked, mock.AsyncMock(return_value="mocked")], ids=["function", "AsyncMock"]
)
@pytest.mark.parametrize("reach", [bwp.install, lambda: None], ids=["install", "enable"])
def test_what_a_test_put_in_the_place_of_wait_is_seen(run, stand_in, reach):
    reach()

    async def main(client):
        waiter = bwp.enable(client).get_waiter("table_exists")
        with mock.patch.object(aiowaiter.AIOWaiter, "wait", stand_in):
            return await waiter.wait(**NAME)

    assert run([UP], main) == ("mocked", 0)


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


def config_of(client):
    return client.get_waiter("table_exists").config


def test_a_waiter_built_by_hand_runs_on_the_engine(run, virtual_time):
    bwp.install()

    async def main(client):
        operation = aiowaiter.NormalizedOperationMethod(client.describe_table)
        waiter = aiowaiter.AIOWaiter("Mine", config_of(client), operation)
        response = await waiter.wait(**NAME)
        return response["Table"]["TableStatus"], waiter.outcome.attempts

    assert run([COMING, UP], main) == (("ACTIVE", 2), 2)


def test_a_blocking_waiter_on_an_awaited_client_is_refused(run):
    bwp.install()

    async def main(client):
        operation = aiowaiter.NormalizedOperationMethod(client.describe_table)
        waiter = botocore.waiter.Waiter("Mine", config_of(client), operation)
        with pytest.raises(TypeError, match="Mine blocks"):
            waiter.wait(**NAME)

    assert run([UP], main) == (None, 0)


def test_an_awaited_waiter_on_a_blocking_client_is_refused(answers):
    bwp.install()
    client = boto3.client("dynamodb")
    asked = answers(client, UP)
    operation = aiowaiter.NormalizedOperationMethod(client.describe_table)
    waiter = aiowaiter.AIOWaiter("Mine", config_of(client), operation)
    with pytest.raises(TypeError, match="Mine is awaited"):
        asyncio.run(waiter.wait(**NAME))
    assert asked.requests == []


# --- a backend that is not asyncio's ------------------------------------------------------------


@pytest.fixture
def httpx_session():
    required("httpx2")
    return required("aiobotocore.httpxsession").HttpxSession


def test_waiters_of_the_anyio_backend_run_as_their_own(run, httpx_session):
    bwp.install()

    async def main(client):
        waiter = client.get_waiter("table_exists")
        assert isinstance(waiter, aiowaiter.AnyioWaiter)
        response = await waiter.wait(**NAME, WaiterConfig={"Delay": 0})
        return response["Table"]["TableStatus"], waiter.outcome

    assert run([COMING, UP], main, http_session_cls=httpx_session) == (("ACTIVE", None), 2)


def test_methods_work_on_the_anyio_backend_in_a_loop_of_asyncio(run, httpx_session):
    bwp.install()

    async def main(client):
        pace = {"max_wait": 60, "delay_pace": lambda _: 0.01}
        return (await client.wait_until_table_exists(**NAME, **pace)).attempts

    assert run([COMING, UP], main, http_session_cls=httpx_session) == (2, 2)


# aiobotocore leaves coroutines behind where documentation is written, without us too.
@pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_help_tells_of_max_wait_and_the_outcome(run):
    bwp.install()

    async def main(client):
        return pydoc.plain(pydoc.render_doc(client.get_waiter("table_exists").wait))

    text, _ = run([], main)
    assert "response = await waiter.wait(..., max_wait=300)" in text
    assert "``waiter.outcome`` is a ``ResponseOutcome``" in text
    assert "Polls :py:meth:`DynamoDB.Client.describe_table`" in text


def test_what_blocks_takes_no_awaited_client(run):
    async def main(client):
        with pytest.raises(TypeError, match="blocking"):
            operations.start(client, "table_exists", max_wait=9, **NAME)
        async with aiosession.get_session().create_client("sqs", "us-east-1", **KEYS) as sqs:
            with pytest.raises(TypeError, match="blocking client"):
                signals.SqsSignal("https://sqs.us-east-1.amazonaws.com/1/q", client=sqs)

    run([], main)
