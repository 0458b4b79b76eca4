"""Any waiter and any answers: the same end as by botocore's own waiter, and by every form."""

import asyncio
import functools
import time
from types import SimpleNamespace
from unittest import mock

import boto3
from botocore.exceptions import ClientError, ReadTimeoutError, WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter
from hypothesis import example, given
from hypothesis import strategies as st

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.testing import virtual_time

LOST = ReadTimeoutError(endpoint_url="https://thing")

# --- botocore's waiters ---------------------------------------------------------------------------

VALUES = st.sampled_from(["up", "down", "dead", "", 0, 1, True, False, None, [], ["up"], {}])
STATUSES = st.sampled_from([200, 301, 403, 404, 500])
CODES = st.sampled_from(["404", "NotFound", "Gone", "ReadTimeoutError"])
STATES = st.sampled_from(["success", "failure", "retry", "other"])
PATHS = ["State", "Items[].State", "Items", "Error.Code", "length(Items)", "@", "Missing"]
ON_PATHS = st.sampled_from(["path", "pathAll", "pathAny"])
MATCHERS = st.one_of(
    st.builds(dict, matcher=ON_PATHS, argument=st.sampled_from(PATHS), expected=VALUES),
    st.builds(dict, matcher=st.just("status"), expected=STATUSES),
    st.builds(dict, matcher=st.just("error"), expected=CODES | st.booleans()),
)
ACCEPTORS = st.builds(lambda matcher, state: {**matcher, "state": state}, MATCHERS, STATES)
METADATA = st.builds(dict, HTTPStatusCode=STATUSES)
ITEMS = st.lists(st.builds(dict, State=VALUES), max_size=3)
RESPONSES = st.fixed_dictionaries(
    {"Items": ITEMS, "ResponseMetadata": METADATA}, optional={"State": VALUES}
)
ERROR = st.fixed_dictionaries({"Code": CODES}, optional={"Message": st.just("why")})
ERRORS = st.builds(dict, Error=ERROR, ResponseMetadata=METADATA)
ANSWERS = st.one_of(
    st.tuples(st.just(False), RESPONSES),
    st.tuples(st.just(True), ERRORS),
    st.just((True, None)),
    # A response with a member `Error`, as of location's DescribeJob: to botocore it is an error.
    st.tuples(st.just(False), st.builds(lambda a, b: {**a, **b}, RESPONSES, ERRORS)),
)


def status(code):
    return {"ResponseMetadata": {"HTTPStatusCode": code}}


EVERY_ITEM_UP = {"matcher": "pathAll", "argument": "Items[].State", "expected": "up"}
ANY_NAME = {"matcher": "pathAny", "argument": "Name", "expected": "u"}
NOTHING = {"matcher": "path", "argument": "Missing", "expected": None}
GONE = {"Error": {"Code": "Gone"}, **status(404)}
STILL = [{"matcher": "status", "expected": code, "state": "retry"} for code in (301, 404)]


def run(config, answers, *, replaced):
    """Run one wait and return how it ended, the number of calls and the sleeps."""
    calls, sleeps = [], []

    def method(**_):
        raised, answer = answers[min(len(calls), len(answers) - 1)]
        calls.append(answer)
        if raised:
            raise LOST if answer is None else ClientError(answer, "GetThing")
        return answer

    operation = NormalizedOperationMethod(method)
    if replaced:
        operation = functools.partial(operation)

    end = None
    with mock.patch.object(time, "sleep", sleeps.append):
        try:
            Waiter("W", SingleWaiterConfig(config), operation).wait(
                WaiterConfig={"Delay": 3, "MaxAttempts": 4}
            )
        except WaiterError as error:
            kwargs = {name: stocks_part(text) for name, text in error.kwargs.items()}
            end = stocks_part(str(error)), kwargs, error.last_response
        except ReadTimeoutError as error:
            end = error
    return end, len(calls), sleeps


def stocks_part(text):
    """Remove what only ours appends: the service's reason, the last state seen."""
    text = text.partition(". Last state seen: ")[0]
    return text.removesuffix(": why") if "terminal failure" in text else text


@example([{**EVERY_ITEM_UP, "state": "success"}], [(False, {"Items": [], **status(200)})], False)
@example([{**ANY_NAME, "state": "success"}], [(False, {"Name": "up", **status(200)})], False)
# A path is no part of an error.
@example([{**NOTHING, "state": "success"}], [(True, GONE)], False)
# Of the accepted states, the last; where the last attempt matched none, that of the last acceptor.
@example(STILL, [(False, status(301))], False)
@example(STILL, [(False, status(301)), (False, status(200))], False)
@given(st.lists(ACCEPTORS, max_size=4), st.lists(ANSWERS, min_size=1, max_size=5), st.booleans())
def test_wait_is_stocks(acceptors, answers, replaced):
    config = {"operation": "GetThing", "delay": 5, "maxAttempts": 9, "acceptors": acceptors}
    stock = run(config, answers, replaced=replaced)
    # botocore ends a wait with errors after which ours polls again.
    bwp.install(defaults={"retry_transient": False})
    try:
        assert run(config, answers, replaced=replaced) == stock
    finally:
        bwp.uninstall()


# --- forms of one wait ----------------------------------------------------------------------------

STREAM = {"StreamName": "s"}
STATUS = "StreamDescription.StreamStatus"
SHARDS = "StreamDescription.Shards[].ShardId"
STATUS_CODES = {"ResourceNotFoundException": 400, "Throttling": 400, "InternalFailure": 500}
OUTPUTS = [
    (STATUS, "stringEquals", "CREATING"),
    (STATUS, "stringEquals", "ACTIVE"),
    (SHARDS, "anyStringEquals", "s-1"),
    (SHARDS, "allStringEquals", "s-2"),
    (f"length({SHARDS}) > `1`", "booleanEquals", "true"),
    ("length(StreamDescription.Missing) == `0`", "booleanEquals", "true"),
]
COMPARED = ("input.StreamName == output.StreamDescription.StreamName", "booleanEquals", "true")


def compared(kind, *facts):
    return {kind: dict(zip(("path", "comparator", "expected"), facts, strict=True))}


SMITHY_MATCHERS = st.one_of(
    st.sampled_from([compared("output", *each) for each in OUTPUTS]),
    st.just(compared("inputOutput", *COMPARED)),
    st.builds(dict, errorType=st.sampled_from([*STATUS_CODES])),
    st.builds(dict, success=st.booleans()),
)
SMITHY_STATES = st.sampled_from(["success", "failure", "retry"])
SMITHY_ACCEPTORS = st.builds(dict, state=SMITHY_STATES, matcher=SMITHY_MATCHERS)
SHARD = st.sampled_from([{"ShardId": "s-1"}, {"ShardId": "s-2"}])
STREAMS = st.fixed_dictionaries(
    {"Shards": st.lists(SHARD, max_size=3)},
    optional={
        "StreamName": st.sampled_from(["s", "other"]),
        "StreamStatus": st.sampled_from(["CREATING", "ACTIVE", "DELETING"]),
    },
)
SMITHY_ANSWERS = st.one_of(STREAMS, st.sampled_from([LOST, *STATUS_CODES]))
# The attempts end it, whatever the delays are.
BY_ATTEMPTS = {"max_attempts": st.integers(1, 6), "max_delay": st.sampled_from([2, 8])}
# The time ends it; no attempt is due so close to a bound that lateness would move it past.
BY_TIME = {
    "delay_pace": st.just("fixed"),
    "min_delay": st.just(100),
    "max_wait": st.sampled_from([150, 250, 350]),
    "last_attempt": st.sampled_from(["late", "spec"]),
    "missing_ok_for": st.sampled_from([0, 170]),
    "initial_delay": st.sampled_from([0, 25]),
    "success_for": st.sampled_from([0, 135]),
}
BOTH = {"retry_transient": st.booleans(), "success_count": st.sampled_from([1, 1, 2])}
OPTIONS = st.fixed_dictionaries(BOTH | BY_ATTEMPTS) | st.fixed_dictionaries(BOTH | BY_TIME)


@functools.cache
def answered_client():
    """A client, and the list of answers that it is given."""
    client, left = boto3.client("kinesis"), []

    def before_call(**_):
        answer = left.pop(0) if len(left) > 1 else left[0]
        if answer is LOST:
            raise LOST
        status = STATUS_CODES[answer] if isinstance(answer, str) else 200
        part = {"StreamDescription": answer} if status == 200 else {"Error": {"Code": answer}}
        part["ResponseMetadata"] = {"HTTPStatusCode": status}
        return SimpleNamespace(status_code=status), part

    client.meta.events.register("before-call", before_call)
    return client, left


def together(function, client, definition, options):
    wait = bwp.Wait(client, definition, STREAM, **options)
    results = function([wait], on_failure="collect")
    (end,) = asyncio.run(results) if asyncio.iscoroutine(results) else results
    return end


FORMS = {
    "wait_until": lambda c, d, o: bwp.wait_until(c, d, **STREAM, **o),
    "async": lambda c, d, o: asyncio.run(bwp.wait_until_async(c, d, **STREAM, **o)),
    "wait_all": functools.partial(together, bwp.wait_all),
    "wait_all_async": functools.partial(together, bwp.wait_all_async),
    "start": lambda c, d, o: operations.start(c, d, **STREAM, **o).result(60),
}


def ended(form, answers, definition, options):
    client, left = answered_client()
    left[:] = answers
    with virtual_time():
        try:
            end = form(client, definition, options)
        except bwp.WaiterError as error:
            end = error
    acceptor = end.acceptor and end.acceptor.index
    return type(end), end.attempts, acceptor, end.observed


@given(
    acceptors=st.lists(SMITHY_ACCEPTORS, max_size=3),
    success=SMITHY_MATCHERS,
    answers=st.lists(SMITHY_ANSWERS, min_size=1, max_size=6),
    options=OPTIONS,
)
def test_all_forms_end_the_same(acceptors, success, answers, options):
    acceptors = [*acceptors, {"state": "success", "matcher": success}]
    traits = {"smithy.waiters#waitable": {"ThingDone": {"acceptors": acceptors}}}
    shapes = {"com.amazonaws.kinesis#DescribeStream": {"type": "apply", "traits": traits}}
    (definition,) = bwp.load_definitions({"smithy": "2.0", "shapes": shapes})
    options = {"max_wait": 10_000, **options}
    ends = {name: ended(form, answers, definition, options) for name, form in FORMS.items()}
    assert ends == dict.fromkeys(FORMS, ends["wait_until"])
