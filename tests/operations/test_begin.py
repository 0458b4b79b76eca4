"""`begin` against services that answer the state from before a call for a while."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import boto3
import hypothesis
import pytest
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator
from hypothesis import strategies as st
from installed_models import IS_OLDER

import boto_waiters_plus as bwp
from boto_waiters_plus.idempotency import call_once

CASES = Path(__file__).parents[1] / "cases"
ROWS = json.loads((CASES / "changes.json").read_text("utf-8"))
NOTHING_FOLLOWS = json.loads((CASES / "nothing-to-wait-for.json").read_text("utf-8"))
FIRST = {(row["ends"], "Error" in str(row["polls"])): row for row in reversed(ROWS)}
"""The first row of each kind of end; all the others together take long."""

SESSION = boto3.session.Session(region_name="us-east-1")
MAX_WAIT = 3600


class StaleService:
    """A client whose polls are answered by the time since its first call, the mutation.

    Attributes:
        requests: the parameters of each call.
    """

    def __init__(self, row, clock, client=None):
        self.row, self.requests, self.operations = row, [], []
        self._clock, self._called_at = clock, None
        self.client = client or SESSION.client(row["service"])
        method = getattr(self.client, row["method"], None)
        if IS_OLDER and (method is None or bwp.effect_of(method) is None):
            pytest.skip("the installed botocore lacks the operation")
        # What the operation is sent, which some protocols write as bytes.
        self.client.meta.events.register("provide-client-params", self._sent)
        self.client.meta.events.register("before-call", self._answer)

    def _sent(self, params, model, **_):
        if IS_OLDER and ParamValidator().validate(params, model.input_shape).has_errors():
            pytest.skip("the installed botocore lacks a parameter")
        self.requests.append(params)
        self.operations.append(model.name)

    def _answer(self, model, **_):
        if self._called_at is None:
            self._clock.advance(self.row.get("takes", 0))
            refusals = self.row.get("refusals", [])
            if refusals:
                return http(refusals[0] if self.row["answer"] is None else refusals.pop(0))
            self._called_at = self._clock.now
            return http(self.row["answer"], self.row.get("date"))
        if model.name == self.operations[0]:
            return http(self.row["answer"])
        passed = self._clock.now - self._called_at
        return http([answer for since, answer in self.row["polls"] if since <= passed][-1])


def http(answer, date=None):
    status = 400 if "Error" in answer else 200
    metadata = {"HTTPStatusCode": status, "RequestId": "request-1", "RetryAttempts": 0}
    metadata["HTTPHeaders"] = {} if date is None else {"date": date}
    return SimpleNamespace(status_code=status), {**answer, "ResponseMetadata": metadata}


def begin_in_task(method, **options):
    return asyncio.run(bwp.begin_async(method, **options))


def begin(service, max_wait=MAX_WAIT, begins=bwp.begin, **options):
    method = getattr(service.client, service.row["method"])
    return begins(method, max_wait=max_wait, **{**service.row["parameters"], **options})


@pytest.fixture
def stale(virtual_time):
    """`stale(row)`: the service of a row."""
    return lambda row: StaleService(row, virtual_time)


@pytest.fixture
def job(stale):
    """`job(**members)`: the service of a job run."""
    return lambda **members: stale({**named("glue: a job run"), **members})


def named(part):
    [row] = [row for row in ROWS if part in row["name"]]
    return row


def param(row):
    marks = () if row in FIRST.values() else pytest.mark.nightly(subject="catalog")
    return pytest.param(row, marks=marks, id=row["name"])


@pytest.mark.parametrize("row", [*map(param, ROWS)])
def test_a_change_ends_when_it_has_ended(stale, row):
    service = stale(row)
    operation = begin(service)
    error = operation.exception(60)
    if row["ends"] == "timeout":
        assert isinstance(error, bwp.WaiterTimeoutError)
        return
    if row["ends"] == "failed":
        assert type(error) is bwp.WaiterFailedError
        assert row.get("reason", "") in str(error)
        assert error.call is operation.call
    else:
        assert error is None
        assert operation.result().basis == row["ends"]
    # The attempt before the end was earlier.
    assert row["at"] - 1 <= (error or operation.result()).elapsed <= row["at"] + 130
    assert service.requests[-1] == row.get("polled", service.requests[-1])


def test_a_poll_may_need_no_parameters(stale):
    service = stale(named("workspaces: the account"))
    assert begin(service).result(60).basis == "goal"
    assert service.requests[-1] == {}


IN_ANY_ORDER = ("identity", "goal", "version")
SUCCESSFUL = [
    row
    for row in ROWS
    # An error from before is borne for a while only.
    if row["ends"] in (*IN_ANY_ORDER, "transition") and "Error" not in str(row["polls"][:-1])
]


@pytest.mark.parametrize("row", [*map(param, SUCCESSFUL)])
@hypothesis.given(data=st.data())
@hypothesis.settings(
    max_examples=5, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_no_change_ends_before_it_has(stale, row, data):
    """However long the earlier answers last; in any order where the basis holds for any."""
    *before, end = [answer for _, answer in row["polls"]]
    if row["ends"] in IN_ANY_ORDER:
        before = data.draw(st.lists(st.sampled_from(before), min_size=1, max_size=4))
    since, polls = 0, []
    for answer in before:
        polls.append([since, answer])
        since += data.draw(st.integers(60, 400))
    operation = begin(stale({**row, "polls": [*polls, [since, end]]}))
    # What has held for settle_for counts, and the outcome says so.
    if operation.exception(60) is None and operation.result().basis != "held":
        assert operation.result().elapsed >= since


def test_the_operation_has_the_call_and_its_effect(job):
    service = job()
    operation = begin(service)
    assert operation.call.response["JobRunId"] == "jr"
    assert operation.call.attempts == 1
    assert (operation.effect.name, operation.effect.basis) == ("JobRunSucceeded", "identity")
    assert operation.effect.actions == ("glue:GetJobRun", "glue:BatchStopJobRun")
    assert operation.path.startswith("operations/")
    assert bwp.effect_of(service.client.start_job_run) == operation.effect
    operation.cancel()


def test_a_refusal_is_raised_as_boto3_raises_it(stale):
    error = {"Code": "InvalidDBInstanceState", "Message": ""}
    service = stale({**named("a reboot"), "answer": {"Error": error}})
    with pytest.raises(ClientError, match="RebootDBInstance") as caught:
        begin(service)
    assert type(caught.value) is service.client.exceptions.InvalidDBInstanceStateFault
    assert service.operations == ["RebootDBInstance"]


@pytest.mark.parametrize("refused", NOTHING_FOLLOWS, ids=lambda refused: refused["change"])
def test_what_has_nothing_to_wait_for_is_refused_before_the_call(stale, refused):
    row = named(refused["change"])
    service = stale({**row, "parameters": {**row["parameters"], **refused["parameters"]}})
    with pytest.raises(ValueError, match=refused["says"]):
        begin(service)
    assert service.operations == []


@pytest.mark.parametrize("begins", [bwp.begin, begin_in_task])
@pytest.mark.parametrize(("options", "kind", "words"), [
    ({"success_for": 3600}, ValueError, "success_for"),
    ({"initial_delay": 3600}, ValueError, "initial_delay"),
    ({"then_wait": "JobRunSuceeded"}, ValueError, "'JobRunSucceeded'"),
    ({"then_wait": 5}, TypeError, "then_wait"),
    ({"then_wait": ("JobRunSucceeded", 5)}, TypeError, "function"),
    ({"then_wait": ("JobRunSucceeded",)}, TypeError, "function"),
    ({"then_wait": (5, len)}, TypeError, "function"),
    ({"min_delay": 9, "max_delay": 3}, ValueError, "min_delay"),
    ({"on_timeout": 5}, TypeError, "max_wait.*on_timeout"),
    ({"else_": 5}, TypeError, "max_wait.*else_"),
])  # fmt: skip
def test_a_bad_argument_is_refused_before_the_call(job, begins, options, kind, words):
    service = job()
    with pytest.raises(kind, match=words):
        begins(service.client.start_job_run, max_wait=MAX_WAIT, JobName="j", **options)
    assert service.operations == []


@pytest.mark.parametrize(("service", "method"), [
    # botocore 1.34 lacks the operation of the first, and that of the second's waiter.
    ("transfer", "start_file_transfer"),
    ("athena", "create_data_catalog"),
])  # fmt: skip
def test_an_effect_polls_what_the_installed_botocore_has(service, method):
    client = SESSION.client(service)
    effect = bwp.effect_of(getattr(client, method))
    assert effect is None or effect.operation in client.meta.service_model.operation_names


def test_an_operation_without_an_effect_names_waiters_of_the_resource(stale):
    client = stale(named("dynamodb: throughput")).client
    dax = stale({**named("dynamodb: throughput"), "service": "dax"}).client
    assert bwp.effect_of(dax.update_cluster) is None
    with pytest.raises(ValueError, match="ClusterAvailable, ClusterDeleted"):
        bwp.begin(dax.update_cluster, max_wait=9, ClusterName="c")
    with pytest.raises(ValueError, match="put_item"):
        bwp.begin(client.put_item, max_wait=9, TableName="t")
    for refuses in (bwp.effect_of, lambda method: bwp.begin(method, max_wait=9)):
        with pytest.raises(TypeError, match="method"):
            refuses(print)


def test_a_waiter_and_a_function_take_the_place_of_the_effect(job):
    service = job()
    function = lambda response: {"JobName": "x", "RunId": response["JobRunId"]}  # noqa: E731
    operation = begin(service, then_wait=("JobRunSucceeded", function))
    assert operation.effect.basis is None
    assert operation.result(60).attempts > 1
    assert operation.result().basis is None
    assert service.requests[-1] == {"JobName": "x", "RunId": "jr"}


EXPRESS = {"executionArn": "arn:aws:states:us-east-1:123456789012:express:machine:run"}


@pytest.mark.parametrize(("part", "answer", "words"), [
    ("glue: a job run", {}, "does not tell"),
    ("stepfunctions: an execution", EXPRESS, "EXPRESS"),
])  # fmt: skip
def test_a_call_that_no_poll_can_follow_is_not_lost(stale, part, answer, words):
    service = stale({**named(part), "answer": answer})
    with pytest.raises(bwp.WaiterFailedError, match=words) as caught:
        begin(service)
    assert caught.value.call.response.items() >= answer.items()
    assert len(service.operations) == 1


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("begins", [bwp.begin, begin_in_task])
def test_a_call_that_takes_all_of_max_wait_is_not_lost(job, stops, begins):
    service = job(takes=MAX_WAIT + 1)
    options = {"max_wait": MAX_WAIT, "stop_on_timeout": stops, "JobName": "j"}
    with pytest.raises(bwp.WaiterTimeoutError, match="the call took all of max_wait") as caught:
        begins(service.client.start_job_run, **options)
    assert caught.value.call.response["JobRunId"] == "jr"
    assert service.operations == ["StartJobRun", *["BatchStopJobRun"] * stops]
    assert not stops or caught.value.stop.state == "made"


def test_a_default_that_outlasts_max_wait_is_no_error(job, stock_botocore):
    service = job()
    bwp.enable(service.client, defaults={"initial_delay": MAX_WAIT})
    assert begin(service).result(60).basis == "identity"


def test_a_deadline_shorter_than_a_delay_is_no_error(job):
    service = job()
    with bwp.deadline(MAX_WAIT / 2):
        assert begin(service, initial_delay=MAX_WAIT * 0.75).result(60).basis == "identity"
    with pytest.raises(ValueError, match="initial_delay"):
        begin(service, initial_delay=MAX_WAIT)


def test_hidden_parameters_are_no_part_of_the_calls_label(job, caplog):
    service = job(takes=MAX_WAIT + 1)
    labels = []
    bwp.enable(service.client, on_event=lambda event: labels.append(event.label))
    with caplog.at_level("DEBUG"), pytest.raises(bwp.WaiterTimeoutError) as caught:
        begin(service, show_parameters=False)
    assert labels
    assert "JobName" not in f"{labels} {caplog.text} {caught.value}"


ROLE = "The role defined for the function cannot be assumed by Lambda."


def refused(message):
    return {"Error": {"Code": "InvalidParameterValueException", "Message": message}}


def test_a_role_that_is_not_visible_yet_is_waited_for(stale):
    role = refused(ROLE)
    operation = begin(stale({**named("not known everywhere"), "refusals": [role, role]}))
    assert operation.result(60).basis == "identity"
    assert operation.call.attempts == 3


@pytest.mark.parametrize(("message", "options", "calls"), [
    ("Runtime python2.6 is not supported", {}, 1),
    (ROLE, {}, 8),
    (ROLE, {"propagation_wait": 0}, 1),
    ("Too late: Request limit exceeded.", {}, 1),
])  # fmt: skip
def test_no_other_refusal_is_repeated(stale, message, options, calls):
    row = {**named("not known everywhere"), "refusals": [refused(message)], "answer": None}
    service = stale(row)
    with pytest.raises(ClientError, match=message):
        begin(service, **options)
    assert min(calls, 2) <= len(service.requests) <= 4 * calls


def test_an_error_of_the_callers_function_has_the_call(job):
    with pytest.raises(KeyError) as caught:
        begin(job(), then_wait=("JobRunSucceeded", lambda response: {"RunId": response["no"]}))
    assert caught.value.call.response["JobRunId"] == "jr"


def test_call_once_waits_for_the_effect(stale):
    service = stale(named("ecs: a stale service"))
    options = {"max_wait": MAX_WAIT, "then_wait": True, "allow_repeat": True}
    call = call_once(service.client.update_service, **options, **service.row["parameters"])
    assert call.outcome.basis == "identity"
    assert call.outcome.elapsed >= service.row["at"] - 1


def test_changes_are_awaited_together(stale):
    good, bad = named("glue: a job run"), named("sagemaker: the endpoint is rolled back")
    operations = [begin(stale(row)) for row in (good, bad)]
    ends = dict(bwp.as_completed(operations, max_wait=MAX_WAIT))
    assert ends[operations[0]] is operations[0].result(60)
    assert ends[operations[1]] is operations[1].exception(60)
    assert bwp.wait_any(operations) == (operations[0], operations[0].result())
    with pytest.raises(bwp.WaitersError) as caught:
        bwp.wait_all(operations)
    assert caught.value.errors == {1: operations[1].exception()}


def test_an_operation_goes_on_after_the_batch(stale):
    operation = begin(stale(named("glue: a job run")))
    with pytest.raises(bwp.WaitersError) as caught:
        bwp.wait_all([operation], max_wait=1)
    assert isinstance(caught.value.errors[0], bwp.WaiterTimeoutError)
    assert not operation.done()
    assert bwp.wait_all([operation]) == [operation.result(60)]
