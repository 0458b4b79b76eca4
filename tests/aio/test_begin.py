"""`begin_async` on an aiobotocore client: the call is awaited, and its loop drives the wait."""

import asyncio
import contextlib

import pytest
from aio.clients import awaited_client
from operations.paged_service import CREATED, MINE, OTHERS, PAUSED, PagedService
from operations.test_begin import MAX_WAIT, StaleService, named
from wrappers import PROXIES, WRAPPERS

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency
from boto_waiters_plus.operations import Store, start
from boto_waiters_plus.signals import SqsSignal

RUN = {"JobName": "j", "RunId": "jr"}


@pytest.fixture
def stale(virtual_time):
    """`async with stale()`: the service of a job run."""

    @contextlib.asynccontextmanager
    async def stale():
        row = {**named("glue: a job run")}
        async with awaited_client(row["service"]) as client:
            yield StaleService(row, virtual_time, client)

    return stale


def begin(service, max_wait=MAX_WAIT, **options):
    method = getattr(service.client, service.row["method"])
    return bwp.begin_async(method, max_wait=max_wait, **options, **service.row["parameters"])


async def test_the_wait_ends_as_it_does_on_a_blocking_client(stale):
    async with stale() as service:
        operation = await begin(service)
        assert operation.call.response["JobRunId"] == "jr"
        with pytest.raises(RuntimeError, match="await"):
            operation.result()
        outcome = await operation
        assert (outcome.basis, operation.metadata["attempts"]) == ("identity", outcome.attempts)
        assert await bwp.wait_all_async([operation]) == [outcome]
        assert await operation.stop() is None


@pytest.mark.parametrize("row", [CREATED, PAUSED], ids=["paginator", "tokens"])
async def test_an_item_on_the_second_page_is_found_at_once(virtual_time, row):
    async with awaited_client(row["service"]) as client:
        service = PagedService(row, virtual_time, [[OTHERS], [MINE]], client)
        outcome = await (await begin(service))
        assert (outcome.attempts, len(outcome.response[row["list"]])) == (1, 2)


# --- stops ------------------------------------------------------------------------------------


async def test_a_time_out_stops_what_was_begun_and_tells_of_it(stale):
    async with stale() as service:
        operation = await begin(service, stop_on_timeout=True, max_wait=50)
        with pytest.raises(bwp.WaiterTimeoutError, match="BatchStopJobRun was called") as caught:
            await operation
        assert caught.value.stop.state == "made"
        assert service.operations[-1] == "BatchStopJobRun"
        assert await operation.stop() is not None


async def hang(**_):
    await asyncio.get_running_loop().create_future()


def test_the_end_of_the_loop_hides_no_time_out(stale):
    async def main():
        async with stale() as service:
            operation = await begin(service, stop_on_timeout=True, max_wait=50)
            service.client.meta.events.register_first("before-call.glue.BatchStopJobRun", hang)
            await asyncio.sleep(60)
            assert not operation.done()
            return operation

    assert isinstance(asyncio.run(main()).exception(0), bwp.WaiterTimeoutError)


async def cancel(operation):
    assert operation.cancel()
    with pytest.raises(asyncio.CancelledError):
        await operation


async def cancel_the_task(operation):
    task = asyncio.ensure_future(operation)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def end_the_loop(operation):
    assert not operation.done()


@pytest.mark.parametrize("end", [cancel, cancel_the_task, end_the_loop])
@pytest.mark.parametrize("stops", [True, False])
def test_a_cancellation_stops_if_asked_for(stale, end, stops):
    async def main():
        async with contextlib.AsyncExitStack() as stack:
            service = await stack.enter_async_context(stale())
            operation = await begin(service, stop_on_cancel=stops)
            await end(operation)
            # The end of the loop comes before that of its client.
            stack.pop_all()
            return service, operation

    service, operation = asyncio.run(main())
    assert operation.cancelled()
    assert service.operations.count("BatchStopJobRun") == stops
    assert not stops or operation.to_json()["error"]["stop"]["state"] == "made"


# --- what blocks ------------------------------------------------------------------------------


BLOCKING = {
    "begin_async": lambda client: bwp.begin(client.start_job_run, max_wait=60, JobName="j"),
    "call_once_async": lambda client: idempotency.call_once(
        client.start_job_run, max_wait=60, allow_repeat=True
    ),
    "wait_until_async": lambda c: bwp.wait_until(c, "job_run_succeeded", max_wait=60, **RUN),
    "wait_all_async": lambda c: bwp.wait_all([bwp.Wait(c, "job_run_succeeded", RUN, max_wait=60)]),
    "background": lambda c: start(c, "job_run_succeeded", max_wait=60, **RUN),
    "blocking client": lambda c: SqsSignal("https://sqs.us-east-1.amazonaws.com/1/q", client=c),
}


@pytest.mark.parametrize("words", BLOCKING)
async def test_what_blocks_refuses_an_awaited_client(words):
    async with awaited_client("sqs" if words == "blocking client" else "glue") as client:
        with pytest.raises(TypeError, match=words):
            BLOCKING[words](client)


async def test_a_store_that_blocks_is_refused(stale):
    async with stale() as service:
        with pytest.raises(TypeError, match="in_store"):
            await begin(service, in_store=Store(":memory:"))


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("name", ["wait_all", "wait_any", "as_completed"])
async def test_a_blocking_batch_in_its_loop_is_refused(stale, name, progress):
    def run(waits):
        progress_of = {"progress": lambda _: None} if progress else {}
        found = getattr(bwp, name)(waits, max_wait=MAX_WAIT, **progress_of)
        return list(found) if name == "as_completed" else found

    async with stale() as service:
        operation = await begin(service)
        with pytest.raises(RuntimeError, match=rf"await {name}_async\(\.\.\.\)"):
            run([operation])
        # Nothing keeps the loop from its end in another thread.
        (found, _) = await asyncio.gather(asyncio.to_thread(run, [operation]), operation)
        assert found
        assert run([operation])


# --- wrappers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
async def test_wrappers_of_methods_are_awaited(stale, wrap):
    async with stale() as service:
        client, calls, polls = service.client, [], []
        client.start_job_run = wrap(client.start_job_run, calls)
        client.get_job_run = wrap(client.get_job_run, polls)
        outcome = await (await begin(service))
        assert (len(calls), len(polls)) == (1, outcome.attempts)


@pytest.mark.parametrize("make", PROXIES.values(), ids=PROXIES)
async def test_a_proxy_is_awaited_as_its_client(stale, make):
    async with stale() as service:
        await (await begin(service))
        proxy, waiter = make(service.client, calls := []), "job_run_succeeded"
        assert bwp.enable(proxy) is proxy
        await bwp.wait_until_async(proxy, waiter, max_wait=60, **RUN)
        await bwp.wait_all_async([bwp.Wait(proxy, waiter, RUN, max_wait=60)])
        assert len(calls) == 2
        for words in ("wait_until_async", "wait_all_async", "background"):
            with pytest.raises(TypeError, match=words):
                BLOCKING[words](proxy)
