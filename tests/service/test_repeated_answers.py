"""What says the same as the last answer or error has the same verdict, and its own metadata."""

import boto3
import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st
from service import ways

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.budget import Reply
from boto_waiters_plus.service.judge import DefinitionJudge
from boto_waiters_plus.service.waits import find_waiter
from boto_waiters_plus.stock.stock_judge import StockJudge, acceptors_of


def answer(status, rollout, request):
    deployment = {"status": "PRIMARY", "rolloutState": rollout}
    service = {"status": status, "runningCount": 1, "desiredCount": 1, "deployments": [deployment]}
    metadata = {"HTTPStatusCode": 200, "HTTPHeaders": {"id": request}}
    return {"services": [service], "ResponseMetadata": metadata}


STATES = st.sampled_from(["ACTIVE", "DRAINING"]), st.sampled_from(["IN_PROGRESS", "COMPLETED"])
ANSWERS = st.builds(answer, *STATES, st.sampled_from("ab"))


def failure(code, message, status, request):
    metadata = {"HTTPStatusCode": status, "RequestId": request}
    details = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}
    return ClientError(details, "DescribeServices")


FAILURES = st.builds(
    failure,
    st.sampled_from(["400", "ClusterNotFoundException", "ThrottlingException"]),
    st.sampled_from(["", "Rate exceeded (ErrorCode: Throttling)", '{"Secret": 1}']),
    st.sampled_from([400, 503]),
    st.sampled_from("ab"),
)


WEB = {"services": ["web"]}


@pytest.fixture(scope="module")
def judges():
    """What makes a new judge of `services_stable`: of a definition, and of a waiter object."""
    ecs = boto3.client("ecs", region_name="us-east-1")
    waiter = ecs.get_waiter("services_stable")
    model = ecs.meta.service_model.operation_model("DescribeServices")
    polling = find_waiter(ecs, "services_stable")[0].polling
    acceptors = acceptors_of(waiter, ecs, model)
    return [lambda: DefinitionJudge(polling, WEB, None), lambda: StockJudge(acceptors, WEB, None)]


@given(answers=st.lists(ANSWERS, min_size=2, max_size=6))
@settings(deadline=None)
def test_a_judge_sees_in_an_answer_what_a_new_one_would(judges, answers):
    for make in judges:
        judge = make()
        for each in answers:
            one, other = judge.judge(Reply(response=each)), make().judge(Reply(response=each))
            assert (one.facts, one.observed, one.seen) == (other.facts, other.observed, other.seen)
            assert (one.reported, one.response) == (other.reported, each)
            assert one.last_response == each


@given(errors=st.lists(FAILURES, min_size=2, max_size=6), ended=st.sampled_from(["", "b"]))
@settings(deadline=None)
def test_a_judge_sees_in_an_error_what_a_new_one_would(judges, errors, ended):
    for make in judges:
        judge = make()
        for each in errors:
            request = each.response["ResponseMetadata"]["RequestId"]
            reply = Reply(error=each, ended="retry refused" if request == ended else None)
            one, told = judge.judge(reply), str(each)
            other = make().judge(reply)
            assert (one.facts, one.error) == (other.facts, other.error)
            assert (one.error_code, told) == (other.error_code, str(each))
            assert one.reason == other.reason
            assert one.exception is each
            assert one.last_response is each.response


def test_true_is_not_what_1_was(waitable, answers, virtual_time):
    kms = boto3.client("kms")
    headers = {"ResponseMetadata": {"HTTPHeaders": {"date": "today"}}}
    keys = ({"KeyMetadata": {"KeyId": "k", "Enabled": each}} for each in (1, True))
    calls = answers(kms, *({**each, **headers} for each in keys))
    path = {"path": "KeyMetadata.Enabled", "expected": "true", "comparator": "booleanEquals"}
    acceptor = {"state": "success", "matcher": {"output": path}}
    [definition] = bwp.load_definitions(waitable("KeyEnabled", "DescribeKey", acceptor))
    assert bwp.wait_until(kms, definition, KeyId="k", max_wait=60).observed is True
    assert len(calls.requests) == 2


@pytest.mark.parametrize("way", ways.ALL)
def test_a_test_double_may_change_what_it_gave(installed, way, answers, virtual_time):
    table = {"TableName": "table", "TableStatus": "CREATING"}

    def answer():
        if len(calls.requests) == 3:
            table["TableStatus"] = "ACTIVE"
        return {"Table": table, "ResponseMetadata": {"HTTPHeaders": {"date": "today"}}}

    dynamodb = boto3.client("dynamodb")
    calls = answers(dynamodb, answer)
    way(dynamodb, "table_exists", TableName="table", max_wait=600)
    assert len(calls.requests) == 3
