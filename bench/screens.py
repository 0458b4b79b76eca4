"""Waits for many jobs, with the list of a service and without: calls, and how late they notice.

    python bench/screens.py [--waits 1000] [--runs 4]     # virtual time, a stub for the service
    python bench/screens.py --history                     # jobs of one kind, with learned delays
    python bench/screens.py --moto                        # polls of moto for three services

The jobs end evenly over 20 rounds. In the first part every call is answered at once, and both ways
have the same delays. Besides the honest list there is one that is three rounds behind, one that
lies about 5 % of its items in each round, and one whose use is denied.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import boto3
from botocore.exceptions import ClientError

import boto_waiters_plus as bwp
from boto_waiters_plus.history import HistoryKey
from boto_waiters_plus.many import Wait, wait_all
from boto_waiters_plus.testing import virtual_time

ROUNDS = 20
KEYS: dict[str, str] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "stub",
    "aws_secret_access_key": "stub",
}
# One for all: it reads the model of a service once.
SESSION = boto3.session.Session(**KEYS)
STALE_ROUNDS = 3
LIES = 0.05


class Service:
    """A service with many jobs: describes one, and tells the states of many.

    Args:
        clock: the virtual time.
        ends: when each job ends, by the clock.
        fault: of the list: `"stale"`, `"lies"`, `"denied"` or none.
        delay: seconds of a round.
    """

    name: ClassVar[str]
    waiter: ClassVar[str]
    parameter: ClassVar[str]
    running: ClassVar[str]
    done: ClassVar[str]
    failed: ClassVar[str]

    def __init__(
        self, clock: Any, ends: Mapping[str, float], fault: str | None, delay: float
    ) -> None:
        self.calls: collections.Counter[str] = collections.Counter()
        self.client: Any = SESSION.client(self.name)
        self.client.meta.events.register(f"before-call.{self.name}.*", self._answer)
        self._clock = clock
        self.ends = ends
        self._fault = fault
        self._behind = STALE_ROUNDS * delay if fault == "stale" else 0.0
        self._random = random.Random(1)
        self.newest = sorted(ends, reverse=True)

    def _answer(self, model: Any, params: Any, **_: Any) -> tuple[Any, dict[str, Any]]:
        self.calls[model.name] += 1
        body = json.loads(params["body"])
        if model.name.startswith(("Describe", "GetQuery")):
            found = self.describe(body[self.parameter])
        elif self._fault == "denied":
            denied = {"Code": "AccessDeniedException", "Message": "not authorized"}
            raise ClientError({"Error": denied}, model.name)
        else:
            found = self.many(body)
        return _Ok(), {**found, "ResponseMetadata": {"HTTPStatusCode": 200}}

    def state(self, job: str) -> str:
        """Return the state of a job; every seventh fails."""
        if self._clock.now < self.ends[job]:
            return self.running
        return self.failed if int(job[-4:]) % 7 == 0 else self.done

    def listed(self, job: str) -> str:
        """Return what the list tells of a job."""
        if self._fault == "lies" and self._random.random() < LIES:
            return self._random.choice((self.running, self.done, self.failed))
        is_old = self._clock.now - self._behind < self.ends[job]
        return self.running if is_old else self.state(job)

    def page(self, body: Mapping[str, Any], names: list[str], size: str, token: str) -> Any:
        """Return the names of a page, and the token of the next."""
        start = int(body.get(token, 0))
        page = names[start : start + body[size]]
        end = start + len(page)
        return page, {token: str(end)} if end < len(names) else {}

    def describe(self, job: str) -> dict[str, Any]:
        """Answer the operation that the waiter polls."""
        raise NotImplementedError

    def many(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer the sibling."""
        raise NotImplementedError


class _Ok:
    status_code = 200


class TrainingJobs(Service):
    """SageMaker: a list of all jobs, the newest first."""

    name = "sagemaker"
    waiter = "TrainingJobCompleted"
    parameter = "TrainingJobName"
    running, done, failed = "InProgress", "Completed", "Failed"

    def describe(self, job: str) -> dict[str, Any]:
        return {"TrainingJobName": job, "TrainingJobStatus": self.state(job)}

    def many(self, body: Mapping[str, Any]) -> dict[str, Any]:
        page, more = self.page(body, self.newest, "MaxResults", "NextToken")
        items = [{"TrainingJobName": job, "TrainingJobStatus": self.listed(job)} for job in page]
        return {"TrainingJobSummaries": items, **more}


class Queries(Service):
    """Athena: the states of up to 50 queries."""

    name = "athena"
    waiter = "QueryExecutionSucceeded"
    parameter = "QueryExecutionId"
    running, done, failed = "RUNNING", "SUCCEEDED", "FAILED"

    def describe(self, job: str) -> dict[str, Any]:
        return {"QueryExecution": self._item(job, self.state(job))}

    def many(self, body: Mapping[str, Any]) -> dict[str, Any]:
        items = [self._item(job, self.listed(job)) for job in body["QueryExecutionIds"]]
        return {"QueryExecutions": items}

    @staticmethod
    def _item(job: str, state: str) -> dict[str, Any]:
        return {"QueryExecutionId": job, "Status": {"State": state}}


class Executions(Service):
    """Step Functions: the running executions of one state machine."""

    name = "stepfunctions"
    waiter = "ExecutionSucceeded"
    parameter = "executionArn"
    running, done, failed = "RUNNING", "SUCCEEDED", "FAILED"

    def describe(self, job: str) -> dict[str, Any]:
        return {"executionArn": job, "status": self.state(job)}

    def many(self, body: Mapping[str, Any]) -> dict[str, Any]:
        chosen = [job for job in self.newest if self.listed(job) == body["statusFilter"]]
        page, more = self.page(body, chosen, "maxResults", "nextToken")
        items = [{"executionArn": job, "status": body["statusFilter"]} for job in page]
        return {"executions": items, **more}


SERVICES = (TrainingJobs, Queries, Executions)
EXECUTION = "arn:aws:states:us-east-1:123456789012:execution:orders:"


@dataclass
class Run:
    """What one run of all waits has given."""

    calls: int
    lateness: list[float]
    """Seconds from the end of each job to that of its wait."""
    results: list[tuple[str, str | None]]
    """How each wait ended, and in which state."""
    rounds: list[int]


def run(
    kind: type[Service],
    waits: int,
    *,
    screen: bool,
    fault: str | None = None,
    seed: int | None = None,
) -> Run:
    """Wait for all jobs in virtual time.

    Args:
        kind: the service.
        waits: the number of jobs.
        screen: the option.
        fault: of the list.
        seed: decides the delays, between those of the shipped waiter; None: all are equal.
    """
    with virtual_time() as clock:
        prefix = EXECUTION if kind is Executions else "job-"
        low, high = shipped_delays(kind)
        delay = (low + high) / 2

        def pace(attempt: int) -> float:
            if seed is None:
                return delay
            longest = min(high, low * 2 ** (attempt - 1))
            return random.Random(f"{seed} {attempt}").uniform(low, longest)

        ends = {
            f"{prefix}{job:04}": clock.now + (job * 7919 % waits + 0.5) * ROUNDS * delay / waits
            for job in range(waits)
        }
        service = kind(clock, ends, fault, delay)
        began = clock.now
        results = wait_all(
            [
                Wait(service.client, kind.waiter, {kind.parameter: job}, delay_pace=pace)
                for job in ends
            ],
            max_wait=100_000,
            on_failure="collect",
            screen=screen,
        )
    return Run(
        sum(service.calls.values()),
        [began + result.elapsed - end for result, end in zip(results, ends.values(), strict=True)],
        [(type(result).__name__, result.observed) for result in results],
        [result.attempts for result in results],
    )


def shipped_delays(kind: type[Service]) -> tuple[float, float]:
    """Return the shortest and the longest delay of the waiter."""
    client = SESSION.client(kind.name)
    policy = Wait(client, kind.waiter, {kind.parameter: EXECUTION + "m"}).policy
    return policy.min_delay, policy.max_delay


def figures(waits: int, runs: int) -> Iterator[tuple[str, str, float]]:
    """Yield the figures of the stubbed services: what, of which service, and the figure."""
    for kind in SERVICES:
        plain = [run(kind, waits, screen=False, seed=seed) for seed in range(runs)]
        honest = [run(kind, waits, screen=True, seed=seed) for seed in range(runs)]
        yield "calls", kind.name, _mean(honest, _calls) / _mean(plain, _calls)
        yield "extra wait", kind.name, _mean(honest, _extra) / _mean(plain, _extra)
        reference = run(kind, waits, screen=False)
        for fault in (None, "stale", "lies", "denied"):
            faulty = run(kind, waits, screen=True, fault=fault)
            pairs = zip(reference.results, faulty.results, strict=True)
            name = fault or "honest"
            yield f"{name}: outcomes that differ", kind.name, sum(a != b for a, b in pairs)
            later = zip(reference.rounds, faulty.rounds, strict=True)
            yield f"{name}: most rounds later", kind.name, max(b - a for a, b in later)
            yield f"{name}: calls", kind.name, faulty.calls / reference.calls


def _calls(run: Run) -> float:
    return run.calls


def _extra(run: Run) -> float:
    return statistics.mean(run.lateness)


def _mean(runs: list[Run], figure: Callable[[Run], float]) -> float:
    return statistics.mean(map(figure, runs))


# --- learned delays ---------------------------------------------------------------------------


def learned_figures(waits: int, runs: int) -> Iterator[tuple[str, str, float]]:
    """Yield the calls and the extra wait of jobs that take about as long, of those of plain waits.

    The times vary by a quarter (lognormal) around 20 rounds; 64 earlier jobs are known.
    """
    for kind in SERVICES:
        results = [learned_runs(kind, waits, seed) for seed in range(runs)]
        plain = [each[0] for each in results]
        for number, name in enumerate(("screens", "screens and history"), 1):
            found = [each[number] for each in results]
            yield f"{name}: calls", kind.name, _mean(found, _calls) / _mean(plain, _calls)
            yield f"{name}: extra wait", kind.name, _mean(found, _extra) / _mean(plain, _extra)


def learned_runs(kind: type[Service], waits: int, seed: int) -> list[Run]:
    """Wait for all jobs: each by itself, with screens, and with screens and a history."""
    low, high = shipped_delays(kind)
    draw = random.Random(seed)
    times = [ROUNDS * (low + high) / 2 * math.exp(draw.gauss(0, 0.25)) for _ in range(waits + 64)]
    with tempfile.TemporaryDirectory() as folder:
        history = bwp.History(Path(folder) / "history.sqlite")
        for seconds in times[waits:]:
            key = HistoryKey(kind.name, kind.waiter, KEYS["region_name"], "", from_call=False)
            history.add(key, "success", seconds)
        ways = ({"screen": False}, {}, {"delay_history": history})
        return [_learned_run(kind, times[:waits], **options) for options in ways]


def _learned_run(
    kind: type[Service], times: list[float], *, screen: bool = True, **options: Any
) -> Run:
    prefix = EXECUTION if kind is Executions else "job-"
    with virtual_time() as clock:
        ends = {f"{prefix}{job:04}": clock.now + seconds for job, seconds in enumerate(times)}
        service = kind(clock, ends, None, 0)
        began = clock.now
        jobs = [Wait(service.client, kind.waiter, {kind.parameter: job}, **options) for job in ends]
        results = wait_all(jobs, max_wait=100_000, on_failure="collect", screen=screen)
    late = [began + each.elapsed - end for each, end in zip(results, ends.values(), strict=True)]
    return Run(sum(service.calls.values()), late, [], [])


# --- moto --------------------------------------------------------------------------------------


def moto_polls() -> Iterator[tuple[str, int, int]]:
    """Yield the calls without and with screens for 30 resources of three services of moto."""
    from moto import mock_aws  # noqa: PLC0415 - only this part needs it

    for name in MOTO:
        with mock_aws():
            yield name, *(_moto_calls(name, screen=screen) for screen in (False, True))


def _moto_calls(name: str, *, screen: bool) -> int:
    # Only sessions made from now on are moto's.
    client: Any = boto3.session.Session(**KEYS).client(name)
    waits = list(MOTO[name](client))
    calls: collections.Counter[str] = collections.Counter()

    def count(model: Any, **_: Any) -> None:
        calls[model.name] += 1

    client.meta.events.register(f"before-call.{name}.*", count)
    wait_all(waits, on_failure="collect", screen=screen)
    return sum(calls.values())


def _executions(client: Any) -> Iterator[Wait]:
    machine = client.create_state_machine(
        name=f"orders-{random.random()}"[:20].replace(".", ""),
        definition=json.dumps({"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}),
        roleArn="arn:aws:iam::123456789012:role/r",
    )["stateMachineArn"]
    for _ in range(30):
        arn = client.start_execution(stateMachineArn=machine)["executionArn"]
        yield _short(client, "ExecutionSucceeded", executionArn=arn)


def _databases(client: Any) -> Iterator[Wait]:
    for number in range(30):
        name = f"orders-{random.randrange(10**9)}-{number}"
        client.create_db_instance(
            DBInstanceIdentifier=name, DBInstanceClass="db.t3.micro", Engine="postgres"
        )
        yield _short(client, "DBInstanceStopped", DBInstanceIdentifier=name)


def _training_jobs(client: Any) -> Iterator[Wait]:
    for number in range(30):
        name = f"train-{random.randrange(10**9)}-{number}"
        client.create_training_job(
            TrainingJobName=name,
            AlgorithmSpecification={"TrainingInputMode": "File"},
            RoleArn="arn:aws:iam::123456789012:role/r",
            OutputDataConfig={"S3OutputPath": "s3://bucket/o"},
            ResourceConfig={
                "InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1
            },
            StoppingCondition={"MaxRuntimeInSeconds": 60},
        )  # fmt: skip
        yield _short(client, "TrainingJobCompleted", TrainingJobName=name)


def _short(client: Any, waiter: str, **parameters: str) -> Wait:
    return Wait(client, waiter, parameters, max_wait=12, min_delay=0.5, max_delay=0.5)


MOTO: dict[str, Callable[[Any], Iterator[Wait]]] = {
    "sagemaker": _training_jobs,
    "stepfunctions": _executions,
    "rds": _databases,
}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--waits", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--moto", action="store_true")
    parser.add_argument("--history", action="store_true")
    arguments = parser.parse_args()
    if arguments.moto:
        for name, without, screened in moto_polls():
            print(f"{name:15} {without:5} calls without a screen, {screened:5} with one")
        return
    found: dict[str, list[float]] = {}
    measure = learned_figures if arguments.history else figures
    for what, _, figure in measure(arguments.waits, arguments.runs):
        found.setdefault(what, []).append(figure)
    print(*table(found), sep="\n")


def table(found: Mapping[str, list[float]]) -> Iterator[str]:
    """Yield the table; each figure is of that without a screen."""
    yield f"| with screens, of without | {' | '.join(kind.name for kind in SERVICES)} |"
    yield "|---|---|---|---|"
    for what, row in found.items():
        is_ratio = what.endswith("calls")
        cells = [
            f"{100 * each:.0f} %" if is_ratio else f"{each:.2f}".removesuffix(".00") for each in row
        ]
        yield f"| {what} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
