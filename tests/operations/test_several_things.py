"""`begin` for calls that are about several things, of which the answer may refuse some or all.

A row of the table has the refused items, or those that have failed at the end; `ends` if a part
was accepted. Other effects are made up for the test.
"""

import contextlib
import datetime as dt
import json

import pytest
from case_tables import CASES
from stored_waits import begin_in_store, work
from test_begin import StaleService, begin, named

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.changes import known_effects
from boto_waiters_plus.definitions.changes import EffectTrait
from boto_waiters_plus.idempotency import call_once

ROWS = json.loads((CASES / "refused-items.json").read_text("utf-8"))
NONE = [pytest.param(row, id=row["name"]) for row in ROWS if "ends" not in row]
PART = [pytest.param(row, id=row["name"]) for row in ROWS if "ends" in row]


@pytest.fixture
def service(virtual_time):
    return lambda row: StaleService(row, virtual_time)


def is_about(error, row):
    """Whether an error names the items of a row."""
    words = [word.rpartition("/")[2] for word in (*row["refused"], *row.get("says", ()))]
    return error.failed_ids == row["refused"] and all(word in str(error) for word in words)


def begin_kept(service):
    """Begin in a store; return the operation of its only row once a worker has driven it."""
    store = operations.Store(":memory:")
    with contextlib.suppress(bwp.WaiterFailedError):
        begin(service, in_store=store)
    work(store, service.client)
    [operation] = store.list().operations
    return store.get(operation["path"])


@pytest.mark.parametrize("begins", [begin, begin_kept])
@pytest.mark.parametrize("row", NONE)
def test_nothing_accepted_is_a_failure_before_the_first_poll(service, row, begins):
    made = service(row)
    with pytest.raises(bwp.WaiterFailedError) as caught:
        begins(made).result(0)
    assert is_about(caught.value, row)
    assert caught.value.call.response.items() >= row["answer"].items()
    assert len(made.operations) == 1


@pytest.mark.parametrize("row", NONE[:1])
def test_what_is_hidden_is_not_named(service, row):
    with pytest.raises(bwp.WaiterFailedError) as caught:
        begin(service(row), show_parameters=False)
    assert row["refused"][0].rpartition("/")[2] not in str(caught.value)
    assert caught.value.service_message == "no room"


@pytest.mark.parametrize("in_store", [False, True])
def test_a_long_reason_keeps_its_beginning_and_end(service, in_store):
    made = service(json.loads(json.dumps(NONE[0].values[0]).replace("no room", "no room" * 99)))
    with pytest.raises(bwp.WaiterFailedError) as caught:
        raise begin_kept(made).exception(0) if in_store else begin(made).exception(0)
    reason = "no room" * 99
    assert caught.value.service_message == f"{reason[:150]} [...] {reason[-350:]}"
    assert caught.value.service_message in str(caught.value)


@pytest.mark.parametrize("begins", [begin, begin_kept])
@pytest.mark.parametrize("row", PART)
def test_after_the_rest_a_part_that_was_refused_is_a_failure(service, row, begins):
    made = service(row)
    error = begins(made).exception(60)
    assert type(error).__name__ == row["ends"]
    assert is_about(error, row)
    assert error.call.response.items() >= row["answer"].items()
    assert made.requests[-1] == row["polled"]
    assert row["at"] - 1 <= error.elapsed <= row["at"] + 60


@pytest.mark.parametrize("row", PART[:1])
def test_call_once_ends_as_begin_does(service, row):
    with pytest.raises(bwp.WaiterFailedError) as caught:
        begin(service(row), begins=call_once, then_wait=True)
    assert is_about(caught.value, row)


# --- effects that are made up --------------------------------------------------------------------


ROUTES = {
    "name": "three routes",
    "service": "fsx",
    "method": "associate_file_system_aliases",
    "parameters": {"FileSystemId": "fs-0123456789", "Aliases": ["aa.a", "bb.b", "cc.c"]},
    "answer": {"Aliases": []},
    "polls": [],
}


def of_state(state, word):
    path = f"contains(not_null(output.Aliases[?Lifecycle=='{word}'].Name, `[]`), item)"
    condition = {"path": path, "expected": "true", "comparator": "booleanEquals"}
    return {"state": state, "matcher": {"inputOutput": condition}, "certain": True}


EACH = {
    "operation": "DescribeFileSystemAliases",
    "parameters": {"FileSystemId": "call.input.FileSystemId"},
    "basis": "goal",
    "each": "call.input.Aliases",
    "acceptors": [of_state("success", "AVAILABLE"), of_state("failure", "CREATE_FAILED")],
    "minDelay": 5,
}


def answer(**states):
    names = {"a": "aa.a", "b": "bb.b", "c": "cc.c", "x": "x"}
    return {"Aliases": [{"Name": names[k], "Lifecycle": v} for k, v in states.items()]}


@pytest.fixture
def made_up(monkeypatch):
    """`made_up(body)`: gives every mutation this effect."""

    def use(body):
        trait = EffectTrait.of("Effect", body, "AssociateFileSystemAliases")
        monkeypatch.setattr(known_effects, "shipped_effects", lambda _: iter([trait]))

    return use


@pytest.fixture(params=[bwp.begin, begin_in_store])
def ended(request, made_up, virtual_time):
    """`ended(*polls)`: the end of the call on three aliases, after these answers."""

    def end(*polls):
        made_up(EACH)
        service = StaleService({**ROUTES, "polls": [*polls]}, virtual_time)
        operation = begin(service, begins=request.param)
        return operation.exception(60) or operation.result()

    return end


def test_all_of_several_have_to_succeed(ended):
    outcome = ended(
        [0, answer(a="AVAILABLE", b="CREATING", c="AVAILABLE")],
        [60, answer(a="AVAILABLE", c="AVAILABLE")],
        [120, answer(a="AVAILABLE", b="AVAILABLE", c="AVAILABLE")],
    )
    assert outcome.basis == "goal"
    assert outcome.elapsed >= 120


def test_the_failure_of_one_names_it_and_what_is_pending(ended):
    error = ended(
        [0, answer(a="CREATING", b="CREATING", c="CREATING")],
        [60, answer(a="AVAILABLE", b="CREATE_FAILED", c="CREATING")],
    )
    assert isinstance(error, bwp.WaiterFailedError)
    assert error.failed_ids == ["bb.b"]
    assert "pending: cc.c" in str(error)


def test_a_time_out_names_those_that_are_not_there(ended):
    error = ended([0, answer(a="AVAILABLE", b="CREATING")])
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert error.failed_ids == ["bb.b", "cc.c"]


def test_a_parameter_that_the_answer_has_to_tell_is_needed(made_up, virtual_time):
    made_up({**EACH, "parameters": {**EACH["parameters"], "NextToken": "call.output.Token"}})
    begin(StaleService({**ROUTES, "polls": [[0, answer()]]}, virtual_time)).cancel()
    made_up({**EACH, "parameters": {"FileSystemId": "call.output.Id"}, "needed": ["FileSystemId"]})
    with pytest.raises(bwp.WaiterFailedError, match="FileSystemId") as caught:
        begin(StaleService({**ROUTES, "polls": []}, virtual_time))
    assert caught.value.call.response["Aliases"] == []


CALLED = "Sun, 29 Nov 2026 08:00:00 GMT"


def table(hour):
    created = dt.datetime(2026, 11, 29, hour, tzinfo=dt.timezone.utc)
    return {"Table": {"TableName": "orders", "TableStatus": "ACTIVE", "CreationDateTime": created}}


@pytest.mark.parametrize("begins", [bwp.begin, begin_in_store])
@pytest.mark.parametrize(("date", "ends"), [(CALLED, "made again"), (None, "timed out")])
def test_another_of_the_name_is_no_longer_what_was_deleted(virtual_time, date, ends, begins):
    row = {"service": "dynamodb", "method": "delete_table", "parameters": {"TableName": "orders"}}
    polls = [[0, table(7)], [60, table(9)]]
    service = StaleService({**row, "answer": {}, "date": date, "polls": polls}, virtual_time)
    end = begin(service, begins=begins)
    assert ends in str(end.exception(60) or end.result().acceptor)


def test_a_goal_that_is_not_reached_says_what_was_asked_for_and_what_is_there(virtual_time):
    row = named("rds: available and pending is no end")
    error = begin(StaleService(row, virtual_time)).exception(60)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert "asked for DBInstanceClass db.m6g.xlarge, is db.m6g.large" in str(error)
    hidden = begin(StaleService(row, virtual_time), show_parameters=False).exception(60)
    assert "db.m6g.xlarge" not in str(hidden)
