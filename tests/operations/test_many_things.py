"""`begin` for calls that are about several things, on effects made up for the test."""

import datetime as dt

import pytest
from stored_waits import begin_in_store
from test_begin import StaleService, begin, named

import boto_waiters_plus as bwp
from boto_waiters_plus.changes import known_effects
from boto_waiters_plus.definitions.changes import EffectTrait

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
