"""Run the same waits in every form; check that all forms agree.

    python bench/differential.py --waits 2000         # seeds 0 to 1999, every form
    python bench/differential.py --seed 17 --verbose  # one wait again
    python bench/differential.py --forms memory stored --waits 500

Each seed decides a definition, options, and the answers of the service. The forms are `wait_until`,
`wait_until_async` (on an aiobotocore client, where it is installed), `wait_all`, a background wait
in memory, one in a SQLite store that a worker drives, and one that a fleet drives. They have to
agree in the class of the outcome or error, in the attempts, the acceptor and the value observed.

Time is virtual; for its sake the workers of the fleet are threads.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import importlib.util
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError
from botocore.loaders import create_loader

from boto_waiters_plus import (
    Wait,
    WaiterDefinition,
    fleet,
    load_definitions,
    operations,
    wait_all,
    wait_until,
    wait_until_async,
)
from boto_waiters_plus.testing import virtual_time

logger = logging.getLogger("differential")

NAME = "orders"
STREAM = "StreamDescription"
PATHS = {
    f"{STREAM}.StreamStatus": ("stringEquals", ("CREATING", "UPDATING", "ACTIVE", "DELETING")),
    f"{STREAM}.Shards[].ShardId": ("anyStringEquals", ("s-1", "s-2")),
    f"{STREAM}.EnhancedMonitoring[].EncryptionType": ("allStringEquals", ("KMS", "NONE")),
    f"{STREAM}.EnhancedMonitoring[].ShardLevelMetrics[]": (
        "allStringEquals",
        ("ALL", "IteratorAge"),
    ),
    f"{STREAM}.HasMoreShards": ("booleanEquals", ("true", "false")),
    f"length({STREAM}.Shards[]) > `1`": ("booleanEquals", ("true",)),
    f"length({STREAM}.Missing) == `0`": ("booleanEquals", ("true",)),
}
"""Paths in the answer of DescribeStream, a comparator that fits each, and values to expect."""

ERRORS = {
    "ResourceNotFoundException": 400,
    "LimitExceededException": 400,
    "AccessDeniedException": 400,
    "InvalidArgumentException": 400,
    "ThrottlingException": 400,
    "InternalFailure": 500,
}
NO_ANSWER = "no answer"
LARGEST_ATTEMPTS = 8
UNIT = 100
"""Seconds; much more than the real time in which no worker drives a wait, which a store counts."""


class World:
    """What a seed decides.

    Attributes:
        definition: of a waiter of DescribeStream.
        options: keywords of the wait, `max_wait` included.
        answers: what each call gives; the last is repeated.
    """

    def __init__(self, seed: int) -> None:
        draw = random.Random(f"differential {seed}")
        self.seed = seed
        acceptors = [_acceptor(draw) for _ in range(draw.randint(1, 4))]
        draw.choice(acceptors)["state"] = "success"
        waitable = {"smithy.waiters#waitable": {"ThingDone": {"acceptors": acceptors}}}
        shapes = {"com.amazonaws.kinesis#DescribeStream": {"type": "apply", "traits": waitable}}
        self.definition: WaiterDefinition
        (self.definition,) = load_definitions({"smithy": "2.0", "shapes": shapes})
        self.options = _options(draw)
        self.answers = [_answer(draw) for _ in range(draw.randint(1, 6))]

    @property
    def endpoint(self) -> str:
        """The endpoint of the client of this world alone, which others find it by."""
        return f"https://world-{self.seed}.example.com"

    def answer_to(self, number: int) -> Any:
        """Return the answer to a call, as the event `before-call` takes it; raise an error."""
        answer = self.answers[min(number, len(self.answers) - 1)]
        if answer == NO_ANSWER:
            raise ReadTimeoutError(endpoint_url=self.endpoint)
        status = answer["ResponseMetadata"]["HTTPStatusCode"]
        return SimpleNamespace(status_code=status), answer


def _acceptor(draw: random.Random) -> dict[str, Any]:
    state = draw.choice(["success", "success", "failure", "retry"])
    kind = draw.choice(["output"] * 4 + ["errorType"] * 2 + ["success", "inputOutput"])
    matcher: Any
    if kind == "output":
        path = draw.choice(list(PATHS))
        comparator, values = PATHS[path]
        if "String" in comparator and "[]" in path:
            comparator = draw.choice(["anyStringEquals", "allStringEquals"])
        matcher = {"path": path, "comparator": comparator, "expected": draw.choice(values)}
    elif kind == "inputOutput":
        path = f"input.StreamName == output.{STREAM}.StreamName"
        matcher = {"path": path, "comparator": "booleanEquals", "expected": "true"}
    elif kind == "success":
        matcher = draw.random() < 0.5
    else:
        matcher = draw.choice(["", "com.amazonaws.kinesis#"]) + draw.choice(list(ERRORS))
    return {"state": state, "matcher": {kind: matcher}}


def _options(draw: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {
        "retry_transient": draw.choice([True, True, False]),
        "success_count": draw.choice([1, 1, 1, 2, 3]),
    }
    if draw.random() < 0.5:
        # The attempts end it, whatever the delays are.
        least = draw.choice([0.1, 1])
        delays = {"min_delay": least, "max_delay": least * draw.choice([1, 4])}
        attempts = draw.randint(1, LARGEST_ATTEMPTS)
        return {**options, **delays, "max_attempts": attempts, "max_wait": 10_000}
    # The time ends it; no attempt is due so close to a bound that lateness would move it past.
    options |= {"min_delay": UNIT, "max_delay": UNIT, "max_wait": (draw.randint(1, 3) + 0.5) * UNIT}
    options["last_attempt"] = draw.choice(["late", "spec"])
    return {
        **options,
        "missing_ok_for": draw.choice([0, 0, 1.7 * UNIT]),
        "initial_delay": draw.choice([0, 0, 0.25 * UNIT]),
        "success_for": draw.choice([0, 0, 1.35 * UNIT]),
    }


def _answer(draw: random.Random) -> Any:
    kind = draw.random()
    if kind < 0.05:
        return NO_ANSWER
    metadata = {"RequestId": "request-1", "RetryAttempts": 0}
    if kind < 0.3:
        code = draw.choice(list(ERRORS))
        metadata |= {"HTTPStatusCode": ERRORS[code]}
        error = {"Code": code, "Message": draw.choice(["", "why"])}
        return {"Error": error, "ResponseMetadata": metadata}
    shards = [{"ShardId": draw.choice(["s-1", "s-2"])} for _ in range(draw.randint(0, 3))]
    metrics = [["ALL"], ["ALL", "IteratorAge"], [], ["IteratorAge"]]
    monitoring = [{"ShardLevelMetrics": draw.choice(metrics)} for _ in range(draw.randint(0, 2))]
    stream = {
        "StreamName": draw.choice([NAME, "other"]),
        "StreamStatus": draw.choice(["CREATING", "UPDATING", "ACTIVE", "DELETING"]),
        "HasMoreShards": draw.random() < 0.5,
        "Shards": shards,
        "EnhancedMonitoring": monitoring,
    }
    for member in draw.sample(list(stream), draw.choice([0, 0, 1, 2])):
        del stream[member]
    return {STREAM: stream, "ResponseMetadata": {**metadata, "HTTPStatusCode": 200}}


# --- clients ------------------------------------------------------------------------------------


KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}

# The model is read once, not for each client.
_loader = functools.cache(create_loader)


@functools.cache
def _session() -> Any:
    session = botocore.session.Session()
    session.register_component("data_loader", _loader())
    return boto3.session.Session(botocore_session=session, region_name="us-east-1", **KEYS)


def client_of(world: World) -> Any:
    """Return a client that gives the answers of a world, from the first on."""
    config = Config(retries={"total_max_attempts": 1, "mode": "standard"})
    client = _session().client("kinesis", endpoint_url=world.endpoint, config=config)
    calls: list[None] = []

    def answer(**_: Any) -> Any:
        calls.append(None)
        return world.answer_to(len(calls) - 1)

    client.meta.events.register("before-call", answer)
    return client


def described_client(description: Any) -> Any:
    """Return the client of a stored wait: its endpoint names the world."""
    number = description.endpoint.partition("world-")[2].partition(".")[0]
    return client_of(World(int(number)))


# --- forms --------------------------------------------------------------------------------------


class End(NamedTuple):
    """What all forms have to agree in."""

    kind: str
    attempts: int | None
    acceptor: int | None
    observed: Any


def end_of(result: Any) -> End:
    """Return the facts of an outcome or an error."""
    acceptor = getattr(result, "acceptor", None)
    index = None if acceptor is None else acceptor.index
    facts = (getattr(result, name, None) for name in ("attempts", "observed"))
    attempts, observed = facts
    return End(type(result).__name__, attempts, index, observed)


def ended(wait: Callable[[], Any]) -> End:
    """Run a wait; return how it ended."""
    try:
        return end_of(wait())
    except Exception as error:
        return end_of(error)


def _keywords(world: World) -> dict[str, Any]:
    return {**world.options, "StreamName": NAME}


def _wait(world: World) -> Wait:
    parameters = {"StreamName": NAME}
    return Wait(client_of(world), world.definition, parameters, **world.options)


def each_in_virtual_time(form: Callable[[World], End]) -> Callable[[Sequence[World]], list[End]]:
    """Return a form that runs one wait after the other."""

    def run(worlds: Sequence[World]) -> list[End]:
        ends = []
        for world in worlds:
            with virtual_time():
                ends.append(form(world))
        return ends

    return run


def blocking(world: World) -> End:
    client = client_of(world)
    return ended(lambda: wait_until(client, world.definition, **_keywords(world)))


def awaited(world: World) -> End:
    async def on(client: Any) -> Any:
        return await wait_until_async(client, world.definition, **_keywords(world))

    return ended(lambda: asyncio.run(on(client_of(world))))


def aiobotocore(world: World) -> End:
    from aiobotocore.config import AioConfig  # noqa: PLC0415 - an extra
    from aiobotocore.session import AioSession  # noqa: PLC0415 - as above

    async def on() -> Any:
        session = AioSession()
        session.register_component("data_loader", _loader())
        config = AioConfig(retries={"total_max_attempts": 1, "mode": "standard"})
        where = {"region_name": "us-east-1", "endpoint_url": world.endpoint, "config": config}
        async with session.create_client("kinesis", **where, **KEYS) as client:
            calls: list[None] = []

            def answer(**_: Any) -> Any:
                calls.append(None)
                return world.answer_to(len(calls) - 1)

            client.meta.events.register("before-call", answer)
            return await wait_until_async(client, world.definition, **_keywords(world))

    return ended(lambda: asyncio.run(on()))


def in_a_batch(worlds: Sequence[World]) -> list[End]:
    """Run all waits at once."""
    with virtual_time():
        return [end_of(each) for each in wait_all(map(_wait, worlds), on_failure="collect")]


def in_memory(world: World) -> End:
    keywords = _keywords(world)
    client = client_of(world)
    return ended(lambda: operations.start(client, world.definition, **keywords).result())


BATCH = 100
"""Waits of a store at once."""


def in_batches(form: Callable[[Sequence[World]], list[End]]) -> Callable[..., list[End]]:
    """Return a form that runs a part of the waits after the other."""

    def run(worlds: Sequence[World]) -> list[End]:
        return [
            end
            for start in range(0, len(worlds), BATCH)
            for end in form(worlds[start : start + BATCH])
        ]

    return run


@contextlib.contextmanager
def _started(worlds: Sequence[World]) -> Iterator[tuple[operations.Store, list[str]]]:
    """Yield a store with the waits, and their paths."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(operations.Store(f"{folder}/waits.db")) as store,
    ):
        waits = [_wait(world) for world in worlds]
        yield store, store.start_all(waits)


def held_client(description: Any) -> Any:
    """Return the client of a stored wait, made while virtual time stands still."""
    with CLOCKS[-1].hold():
        return described_client(description)


CLOCKS: list[Any] = []
"""The last is that of the virtual time which is open; Dask copies what it is given."""


@contextlib.contextmanager
def _virtual_time() -> Iterator[None]:
    with virtual_time() as clock:
        CLOCKS.append(clock)
        yield


def stored(worlds: Sequence[World]) -> list[End]:
    """Run the waits on a worker of a store."""
    with _started(worlds) as (store, paths):
        with _virtual_time():
            store.work(until_idle=True, make_client=held_client, lease=3600)
        return [_end_in(store, path) for path in paths]


def on_a_fleet(worlds: Sequence[World]) -> list[End]:
    """Run the waits on two Dask workers of this process, so that time can be virtual."""
    from distributed import LocalCluster  # noqa: PLC0415 - an extra

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        LocalCluster(processes=False, silence_logs=logging.ERROR, **options) as cluster,
        cluster.get_client() as client,
        _started(worlds) as (store, paths),
    ):
        with _virtual_time():
            for _ in fleet.run(store, client=client, make_client=held_client, lease=3600):
                pass
        return [_end_in(store, path) for path in paths]


def _end_in(store: operations.Store, path: str) -> End:
    return ended(lambda: store.get(path).result(0))


FORMS: dict[str, Callable[[Sequence[World]], list[End]]] = {
    "blocking": each_in_virtual_time(blocking),
    "async": each_in_virtual_time(awaited),
    "aiobotocore": each_in_virtual_time(aiobotocore),
    "wait_all": in_a_batch,
    "memory": each_in_virtual_time(in_memory),
    "stored": in_batches(stored),
    "fleet": in_batches(on_a_fleet),
}
"""The first is what the others are compared with."""


def possible_forms() -> list[str]:
    """Return the forms whose extras are installed."""
    extras = {"aiobotocore": "aiobotocore", "fleet": "distributed"}
    missing = {form for form, name in extras.items() if importlib.util.find_spec(name) is None}
    return [form for form in FORMS if form not in missing]


def differences(worlds: Sequence[World], forms: Sequence[str]) -> Iterator[str]:
    """Run all forms; yield a line for each wait whose end is another than that of `blocking`.

    A wait that disagrees is run once more by itself, in both forms.
    """
    wanted = FORMS["blocking"](worlds)
    for form in forms:
        if form == "blocking":
            continue
        began = time.perf_counter()
        found = FORMS[form](worlds)
        wrong = [place for place, end in enumerate(found) if end != wanted[place]]
        # A call has a moment of real time before a deadline: a busy machine may need more.
        wrong = [each for each in wrong if not _agree_alone(worlds[each], form)]
        logger.info("%s: %.0f s", form, time.perf_counter() - began)
        for place in wrong:
            yield f"seed {worlds[place].seed}, {form}: {found[place]}, not {wanted[place]}"
    logger.info("ends: %s", dict(Counter(end.kind for end in wanted)))
    logger.info("attempts: %s", sorted(Counter(end.attempts or 0 for end in wanted).items()))


def _agree_alone(world: World, form: str) -> bool:
    return FORMS["blocking"]([world]) == FORMS[form]([world])


def main() -> int:
    """Run what the arguments ask for; return 1 if two forms disagree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waits", type=int, default=2000)
    parser.add_argument("--seed", type=int, nargs="+", help="these only")
    parser.add_argument("--forms", nargs="+", choices=FORMS)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("boto_waiters_plus").setLevel(
        logging.DEBUG if arguments.verbose else logging.CRITICAL
    )
    os.environ |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    seeds = range(arguments.waits) if arguments.seed is None else arguments.seed
    worlds = [World(seed) for seed in seeds]
    if arguments.verbose:
        for world in worlds:
            print(world.definition.to_json(), world.options, *world.answers, sep="\n")
    forms = arguments.forms or possible_forms()
    found = list(differences(worlds, forms))
    print(*found, sep="\n", file=sys.stderr)
    print(f"{len(worlds):,} waits in {len(forms)} forms ({', '.join(forms)}): {len(found)} differ.")
    return 1 if found else 0


if __name__ == "__main__":
    # By its name: Dask copies what belongs to the main module, and there is one clock.
    import differential

    sys.exit(differential.main())
