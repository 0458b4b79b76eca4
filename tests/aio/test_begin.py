"""`begin_async` on an aiobotocore client: the call is awaited, and its loop drives the wait."""

import asyncio
import contextlib
import threading

import pytest
from aio.clients import required
from operations.test_begin import MAX_WAIT, StaleService, named
from wrappers import PROXIES, WRAPPERS

import boto_waiters_plus as bwp
from boto_waiters_plus.operations import Store, start


@pytest.fixture
def stale(virtual_time):
    """`async with stale(part)`: the service of the row with this in its name."""

    @contextlib.asynccontextmanager
    async def stale(part):
        row = {**named(part)}
        session = required("aiobotocore.session").get_session()
        settings = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
        async with session.create_client(row["service"], "us-east-1", **settings) as client:
            yield StaleService(row, virtual_time, client)

    return stale


def begin(service, max_wait=MAX_WAIT, **options):
    method = getattr(service.client, service.row["method"])
    return bwp.begin_async(method, max_wait=max_wait, **options, **service.row["parameters"])


def test_the_wait_ends_as_it_does_on_a_blocking_client(stale):
    async def main():
        async with stale("glue: a job run") as service:
            operation = await begin(service)
            assert operation.call.response["JobRunId"] == "jr"
            with pytest.raises(RuntimeError, match="await"):
                operation.result()
            outcome = await operation
            assert (outcome.basis, operation.metadata["attempts"]) == ("identity", outcome.attempts)
            assert await bwp.wait_all_async([operation]) == [outcome]
        async with stale("sagemaker: the endpoint is rolled back") as service:
            operation = await begin(service)
            with pytest.raises(bwp.WaiterFailedError) as caught:
                await operation
            assert caught.value.call is operation.call

    asyncio.run(main())


def test_a_call_that_takes_all_of_max_wait_is_stopped_if_asked_for(stale):
    async def main():
        async with stale("glue: a job run") as service:
            service.row["takes"] = MAX_WAIT + 1
            with pytest.raises(bwp.WaiterTimeoutError):
                await begin(service, stop_on_timeout=True)
            assert service.operations == ["StartJobRun", "BatchStopJobRun"]

    asyncio.run(main())


def test_a_time_out_stops_what_was_begun(stale):
    async def main():
        async with stale("glue: a job run") as service:
            operation = await begin(service, stop_on_timeout=True, max_wait=50)
            with pytest.raises(bwp.WaiterTimeoutError):
                await operation
            assert service.operations[-1] == "BatchStopJobRun"

    asyncio.run(main())


def test_the_end_of_the_loop_cancels(stale):
    async def main():
        async with stale("glue: a job run") as service, stale("glue: a job run") as other:
            kept, cancelled = await begin(service), await begin(other)
            assert cancelled.cancel()
            assert cancelled.cancelled()
            return kept

    assert asyncio.run(main()).cancelled()


async def hang(**_):
    await asyncio.get_running_loop().create_future()


def test_the_end_of_the_loop_hides_no_time_out(stale):
    async def main():
        async with stale("glue: a job run") as service:
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
def test_a_cancellation_stops_if_asked_for(stale, end):
    async def main():
        async with contextlib.AsyncExitStack() as stack:
            service = await stack.enter_async_context(stale("glue: a job run"))
            operation = await begin(service, stop_on_cancel=True)
            await end(operation)
            # The end of the loop comes before that of its client.
            stack.pop_all()
            return service, operation

    service, operation = asyncio.run(main())
    assert operation.cancelled()
    assert service.operations.count("BatchStopJobRun") == 1
    assert operation.to_json()["error"]["stop"]["state"] == "made"


def test_the_end_of_a_call_that_was_cancelled_is_stopped(stale):
    async def main():
        async with stale("glue: a job run") as service:
            called = asyncio.Event()

            async def wait(**_):
                called.set()
                await asyncio.get_running_loop().run_in_executor(None, threading.Event().wait, 0.1)

            service.client.meta.events.register_first("before-call.glue.StartJobRun", wait)
            task = asyncio.ensure_future(begin(service, stop_on_cancel=True))
            await called.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert service.operations == ["StartJobRun", "BatchStopJobRun"]

    asyncio.run(main())


def test_a_stop_tells_what_became_of_it(stale):
    async def main():
        async with stale("glue: a job run") as service:
            operation = await begin(service, stop_on_timeout=True, max_wait=50)
            error = (await asyncio.gather(operation, return_exceptions=True))[0]
            assert error.stop.state == "made"
            assert "BatchStopJobRun was called" in str(error)
            assert await operation.stop() is not None
        async with stale("sagemaker: the endpoint is rolled back") as service:
            operation = await begin(service)
            await asyncio.gather(operation, return_exceptions=True)
            assert await operation.stop() is None

    asyncio.run(main())


def test_begin_names_the_function_for_these_clients(stale):
    async def main():
        async with stale("glue: a job run") as service:
            with pytest.raises(TypeError, match="begin_async"):
                bwp.begin(service.client.start_job_run, max_wait=60, JobName="j")
            with pytest.raises(TypeError, match="in_store"):
                await begin(service, in_store=Store(":memory:"))

    asyncio.run(main())


def test_nothing_to_change_is_an_outcome(stale):
    error = {"Code": "ValidationError", "Message": "No updates are to be performed."}

    async def main():
        async with stale("the update is rolled back") as service:
            service.row["refusals"], service.row["answer"] = [{"Error": error}], None
            operation = await begin(service, no_change_ok=True)
            assert (await operation).basis == operation.result().basis == "unchanged"
            assert await operation.stop() is None
            assert len(service.operations) == 1

    asyncio.run(main())


def test_what_is_gone_is_an_outcome(virtual_time, answers, error_answer):
    async def main():
        session = required("aiobotocore.session").get_session()
        settings = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
        async with session.create_client("dynamodb", "us-east-1", **settings) as client:
            called = answers(client, error_answer("ResourceNotFoundException", "Table: t"))
            operation = await bwp.begin_async(
                client.delete_table, max_wait=60, missing_ok=True, TableName="t"
            )
            assert (await operation).basis == operation.result().basis == "goal"
            outcome = await bwp.wait_until_async(
                client, "DescribeTable", until_state="gone", max_wait=60, TableName="t"
            )
            assert isinstance(outcome, bwp.ExceptionOutcome)
            assert called.operations == ["DeleteTable", "DescribeTable"]

    asyncio.run(main())


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("name", ["wait_all", "wait_any", "as_completed"])
def test_a_blocking_batch_in_its_loop_is_refused(stale, name, progress):
    def run(waits):
        progress_of = {"progress": lambda _: None} if progress else {}
        function = getattr(bwp, name)
        found = function(waits, max_wait=MAX_WAIT, **progress_of)
        return list(found) if name == "as_completed" else found

    async def main():
        async with stale("glue: a job run") as service:
            operation = await begin(service)
            with pytest.raises(RuntimeError, match=rf"await {name}_async\(\.\.\.\)"):
                run([operation])
            # Nothing keeps the loop from its end in another thread.
            in_thread = asyncio.to_thread(run, [operation])
            (found, _) = await asyncio.gather(in_thread, operation)
            assert found
            assert run([operation])

    asyncio.run(main())


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_wrappers_of_methods_are_awaited(stale, wrap):
    async def main():
        async with stale("glue: a job run") as service:
            client, calls, polls = service.client, [], []
            client.start_job_run = wrap(client.start_job_run, calls)
            client.get_job_run = wrap(client.get_job_run, polls)
            outcome = await (await begin(service))
            assert (len(calls), len(polls)) == (1, outcome.attempts)

    asyncio.run(main())


@pytest.mark.parametrize("make", PROXIES.values(), ids=PROXIES)
def test_a_proxy_is_awaited_as_its_client(stale, make):
    async def main():
        async with stale("glue: a job run") as service:
            await (await begin(service))
            calls = []
            proxy, waiter = make(service.client, calls), "job_run_succeeded"
            parameters = {"JobName": "j", "RunId": "jr"}
            assert bwp.enable(proxy) is proxy
            await bwp.wait_until_async(proxy, waiter, max_wait=60, **parameters)
            await bwp.wait_all_async([bwp.Wait(proxy, waiter, parameters, max_wait=60)])
            assert len(calls) == 2
            with pytest.raises(TypeError, match="wait_until_async"):
                bwp.wait_until(proxy, waiter, max_wait=60, **parameters)
            with pytest.raises(TypeError, match="background"):
                start(proxy, waiter, max_wait=60, **parameters)
            with pytest.raises(TypeError, match="wait_all_async"):
                bwp.wait_all([bwp.Wait(proxy, waiter, parameters, max_wait=60)])

    asyncio.run(main())


def test_a_time_out_says_what_was_given(stale):
    """So does a warning of a time in which nothing is certain, at the caller's line."""

    async def main():
        async with stale("rds: a reboot that is seen") as service:
            service.row.update(takes=3, polls=service.row["polls"][:1])
            with pytest.warns(UserWarning, match="once it has held for 120 s") as warned:
                operation = await begin(service, max_wait=50)
            assert warned[0].filename == __file__
            with pytest.raises(bwp.WaiterTimeoutError) as caught:
                await operation
        assert "timed out after 50 s for " in str(caught.value)
        assert "may be from before the call: it counts after 120 s" in str(caught.value)
        with bwp.deadline(40):
            async with stale("glue: a job run") as service:
                operation = await begin(service)
                with pytest.raises(bwp.WaiterTimeoutError, match=r"at the end of deadline\(40\)"):
                    await operation

    asyncio.run(main())
