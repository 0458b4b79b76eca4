"""Any waiter and any answers: the same attempts, end, message and response as in stock."""

import contextlib
import time
from unittest import mock

import pytest
from botocore.exceptions import ClientError, WaiterError
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter
from hypothesis import example, given, settings
from hypothesis import strategies as st

import boto_waiters_plus as bwp

VALUES = st.sampled_from(["up", "down", "dead", "", 0, 1, True, False, None, [], ["up"], {}])
STATUSES = st.sampled_from([200, 301, 403, 404, 500])
CODES = st.sampled_from(["404", "NotFound", "Gone", "Denied"])

PATHS = st.fixed_dictionaries(
    {
        "matcher": st.sampled_from(["path", "pathAll", "pathAny"]),
        "argument": st.sampled_from(
            ["State", "Items[].State", "Items", "Error.Code", "length(Items)", "@", "Missing"]
        ),
        "expected": VALUES,
    }
)
ACCEPTORS = st.one_of(
    PATHS,
    st.fixed_dictionaries({"matcher": st.just("status"), "expected": STATUSES}),
    st.fixed_dictionaries(
        {"matcher": st.just("error"), "expected": st.one_of(CODES, st.booleans())}
    ),
).flatmap(
    lambda acceptor: st.sampled_from(["success", "failure", "retry", "other"]).map(
        lambda state: {**acceptor, "state": state}
    )
)
RESPONSES = st.fixed_dictionaries(
    {
        "Items": st.lists(st.fixed_dictionaries({"State": VALUES}), max_size=3),
        "ResponseMetadata": st.fixed_dictionaries({"HTTPStatusCode": STATUSES}),
    },
    optional={"State": VALUES},
)
ERRORS = st.fixed_dictionaries(
    {
        "Error": st.fixed_dictionaries({"Code": CODES}, optional={"Message": st.just("why")}),
        "ResponseMetadata": st.fixed_dictionaries({"HTTPStatusCode": STATUSES}),
    }
)
ANSWERS = st.one_of(
    st.tuples(st.just(False), RESPONSES),
    st.tuples(st.just(True), ERRORS),
    # A response with a member `Error`, as of location's DescribeJob: to botocore it is an error.
    st.tuples(st.just(False), st.builds(lambda a, b: {**a, **b}, RESPONSES, ERRORS)),
)


def run(config, answers, *, replaced):
    """Run one wait and return how it ended, the number of calls and the sleeps."""
    calls, sleeps = [], []

    def method(**_):
        raised, answer = answers[min(len(calls), len(answers) - 1)]
        calls.append(answer)
        if raised:
            raise ClientError(answer, "GetThing")
        return answer

    operation = NormalizedOperationMethod(method)
    if replaced:
        normalized = operation

        def operation(**keywords):
            return normalized(**keywords)

    end = None
    with mock.patch.object(time, "sleep", sleeps.append):
        try:
            Waiter("W", SingleWaiterConfig(config), operation).wait(
                WaiterConfig={"Delay": 3, "MaxAttempts": 4}
            )
        except WaiterError as error:
            kwargs = {name: stocks_part(text) for name, text in error.kwargs.items()}
            end = stocks_part(str(error)), kwargs, error.last_response
    return end, len(calls), sleeps


def stocks_part(text):
    """Remove what only ours appends: the service's reason, the last state seen."""
    text = text.partition(". Last state seen: ")[0]
    return text.removesuffix(": why") if "terminal failure" in text else text


@contextlib.contextmanager
def installed():
    # botocore ends a wait with errors after which ours polls again.
    bwp.install(defaults={"retry_transient": False})
    try:
        yield
    finally:
        bwp.uninstall()


@pytest.mark.parametrize("replaced", [False, True], ids=["normalized", "replaced"])
@settings(deadline=None)
@example(
    acceptors=[
        {"matcher": "pathAll", "argument": "Items[].State", "expected": "up", "state": "success"}
    ],
    answers=[(False, {"Items": [], "ResponseMetadata": {"HTTPStatusCode": 200}})],
)
@example(
    acceptors=[{"matcher": "pathAny", "argument": "Name", "expected": "u", "state": "success"}],
    answers=[(False, {"Name": "up", "ResponseMetadata": {"HTTPStatusCode": 200}})],
)
@given(acceptors=st.lists(ACCEPTORS, max_size=4), answers=st.lists(ANSWERS, min_size=1, max_size=5))
def test_wait_is_stocks(replaced, acceptors, answers):
    config = {"operation": "GetThing", "delay": 5, "maxAttempts": 9, "acceptors": acceptors}
    stock = run(config, answers, replaced=replaced)
    with installed():
        ours = run(config, answers, replaced=replaced)
    assert ours == stock
