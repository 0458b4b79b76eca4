"""Waits and operations between processes of `multiprocessing`; see `test_processes.py`.

Arguments: a start method, and the path of a store. Open operations are left on both sides.
"""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

import boto3

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

bwp.install()
RUN = {"JobName": "nightly", "RunId": "jr_1"}
LEFT_OPEN = []


def client_of(state):
    """A client whose job run is in a state."""
    client = boto3.client("glue", region_name="us-east-1")
    answer = {"JobRunId": "jr_1", "JobRun": {"Id": "jr_1", "JobRunState": state}}
    reply = SimpleNamespace(status_code=200), {**answer, "ResponseMetadata": {}}
    client.meta.events.register("before-call", lambda **_: reply)
    return client


def begin(state, **options):
    return bwp.begin(client_of(state).start_job_run, max_wait=60, JobName="nightly", **options)


def end_of_begin():
    operation = begin("SUCCEEDED")
    return operation.result(30), operation.call, operation.effect


def end_of_wait(definition, options):
    client = bwp.enable(client_of("RUNNING"), defaults=options)
    return bwp.wait_until(client, definition, max_wait=0.2, **RUN)


def begin_in(path):
    LEFT_OPEN.append(begin("RUNNING"))
    for _ in range(2):
        LEFT_OPEN.append(begin("RUNNING", in_store=operations.Store(path)))
        LEFT_OPEN[-1].add_done_callback(bool)
    return LEFT_OPEN[-1]


def result_of(operation):
    return operation.result(30)


def returned(operation):
    return operation


def main(method, path):
    definition = bwp.WaiterDefinition.from_states(
        "Mine", "GetJobRun", path="JobRun.JobRunState", success=["SUCCEEDED"]
    )
    history = bwp.History(f"{path}.history")
    options = bwp.WaitOptions(min_delay=0.01, max_delay=0.02, delay_history=history)
    in_memory = begin("RUNNING")
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        outcome, call, effect = pool.submit(end_of_begin).result(60)
        assert (outcome.basis, effect.basis) == ("identity", "identity")
        assert call.response["JobRunId"] == "jr_1"

        error = pool.submit(end_of_wait, definition, options).exception(60)
        assert type(error) is bwp.WaiterTimeoutError
        assert (error.waiter, error.attempts) == ("Mine", len(error.timeline))
        while not (entries := history.entries()):
            # It is written in the background.
            time.sleep(0.01)
        assert [end for times in entries.values() for _, end in times] == ["timeout"]

        begun = pool.submit(begin_in, path).result(60)
        result = pool.submit(result_of, begun)
        store = operations.Store(path)
        assert store.cancel(store.list().operations[-1]["path"])
        assert store.work(until_idle=True, make_client=lambda _: client_of("SUCCEEDED")) == 1
        assert result.result(60).basis == begun.result(60).basis == "identity"
        assert begun.call.response["JobRunId"] == "jr_1"

        error = pool.submit(result_of, in_memory).exception(60)
        assert isinstance(error, LookupError)
        assert "start it with in_store=" in str(error)
        assert pool.submit(returned, in_memory).result(60) is in_memory
        LEFT_OPEN.extend((in_memory, pool.submit(begin_in, path).result(60)))


if __name__ == "__main__":
    main(*sys.argv[1:])
