"""`enable`: one session, or one client, with or without `install`."""

import boto3
import botocore.session
import botocore.waiter
import pytest
from botocore.waiter import WaiterModel, create_waiter_with_client

import boto_waiters_plus as bwp

STOCK_WAIT = botocore.waiter.Waiter.__dict__["wait"]


def waits(client):
    return hasattr(client, "wait_until_stream_exists")


def wait(client):
    return client.get_waiter("stream_exists").wait(StreamName="s")


@pytest.mark.parametrize(
    "make",
    [boto3.Session, botocore.session.get_session, lambda: boto3.client("kinesis")],
    ids=["boto3 session", "botocore session", "client"],
)
def test_target_is_returned(make):
    target = make()
    assert bwp.enable(target) is target


@pytest.mark.parametrize("target", [None, "kinesis", boto3, object(), boto3.Session])
def test_anything_else_is_refused(target):
    with pytest.raises(TypeError, match="session, or a client, not"):
        bwp.enable(target)


def test_resource_is_refused_with_a_hint_at_what_it_is():
    with pytest.raises(TypeError, match="ServiceResource"):
        bwp.enable(boto3.resource("dynamodb"))


def test_enabled_client_runs_on_the_engine_and_others_stay_stock(answers, active):
    client, other = boto3.client("kinesis"), boto3.client("kinesis")
    answers(client, active)
    answers(other, active)
    bwp.enable(client)
    assert isinstance(wait(client), bwp.ResponseOutcome)
    assert isinstance(
        client.wait_until_stream_exists(StreamName="s", max_wait=1), bwp.ResponseOutcome
    )
    assert "wait_until_stream_exists" in dir(client)
    assert wait(other) is None
    assert not waits(other)
    assert botocore.waiter.Waiter.__dict__["wait"] is STOCK_WAIT


@pytest.mark.parametrize("make", [boto3.Session, botocore.session.get_session])
def test_enabled_session_gives_its_clients_all_and_others_stay_stock(make, answers, active):
    session = bwp.enable(make())
    create = session.client if hasattr(session, "client") else session.create_client
    client = create("kinesis")
    answers(client, active)
    assert isinstance(wait(client), bwp.ResponseOutcome)
    assert waits(client)
    other = boto3.Session().client("kinesis")
    answers(other, active)
    assert wait(other) is None
    assert not waits(other)


def test_resources_of_an_enabled_session_return_outcomes(answers):
    session = bwp.enable(boto3.Session())
    dynamodb = session.resource("dynamodb")
    answers(dynamodb.meta.client, {"Table": {"TableStatus": "ACTIVE"}})
    assert isinstance(dynamodb.Table("orders").wait_until_exists(), bwp.ResponseOutcome)


def test_enabled_targets_keep_it_after_uninstall(answers, active):
    bwp.install()
    session, client = boto3.Session(), boto3.client("kinesis")
    bwp.enable(session)
    bwp.enable(client)
    bwp.uninstall()
    answers(client, active)
    later = session.client("kinesis")
    answers(later, active)
    for enabled in (client, later):
        assert waits(enabled)
        assert isinstance(wait(enabled), bwp.ResponseOutcome)
        outcome = enabled.wait_until_stream_exists(StreamName="s", max_wait=1)
        assert isinstance(outcome, bwp.ResponseOutcome)


def test_client_of_an_enabled_session_made_before_stays_as_it_was(answers, active):
    session = boto3.Session()
    client = session.client("kinesis")
    answers(client, active)
    bwp.enable(session)
    assert not waits(client)
    assert wait(client) is None


def test_enabled_client_sees_a_mock_of_wait(monkeypatch, answers, active):
    client = bwp.enable(boto3.client("kinesis"))
    calls = answers(client, active).operations
    monkeypatch.setattr(botocore.waiter.Waiter, "wait", lambda self, **keywords: "mocked")
    assert wait(client) == "mocked"
    assert calls == []


def test_enabled_client_runs_on_the_engine_below_a_wrapper_that_uninstall_left(
    monkeypatch, answers, active
):
    """A tracer lies over our wrapper, so that `uninstall` can only make it pass through."""
    bwp.install()
    ours = botocore.waiter.Waiter.wait

    def traced(self, **keywords):
        return ours(self, **keywords)

    monkeypatch.setattr(botocore.waiter.Waiter, "wait", traced)
    client = bwp.enable(boto3.client("kinesis"))
    answers(client, active)
    bwp.uninstall()
    assert isinstance(wait(client), bwp.ResponseOutcome)


def test_waiter_built_from_a_model_on_an_enabled_client_is_stock_without_install(answers, active):
    client = bwp.enable(boto3.client("kinesis"))
    answers(client, active)
    data = {
        "operation": "DescribeStream",
        "delay": 1,
        "maxAttempts": 2,
        "acceptors": [{"state": "success", "matcher": "status", "expected": 200}],
    }
    model = WaiterModel({"version": 2, "waiters": {"Own": data}})
    waiter = create_waiter_with_client("Own", model, client)
    assert waiter.wait(StreamName="s") is None
    assert not hasattr(waiter, "outcome")


def test_enabling_twice_is_enabling_once(answers, active):
    client = boto3.client("kinesis")
    calls = answers(client, active).operations
    told = []
    for _ in range(3):
        bwp.enable(client, on_event=told.append)
    wait(client)
    assert len(calls) == 1
    assert [event.kind for event in told] == ["started", "attempt", "ended"]
    names = [base.__name__ for base in type(client).__mro__]
    assert len(names) == len(set(names))


def test_enabling_a_client_of_an_installed_session_keeps_both(answers, active):
    told, heard = [], []
    bwp.install(on_event=told.append)
    client = bwp.enable(boto3.client("kinesis"), on_event=heard.append)
    answers(client, active)
    wait(client)
    assert len(told) == len(heard) == 3
    bwp.uninstall()
    wait(client)
    assert (len(told), len(heard)) == (3, 6)


def test_client_may_be_used_before_it_is_enabled_with_a_definition_of_the_same_name(
    answers, creating, definition, virtual_time
):
    bwp.install()
    client = boto3.client("kinesis")
    answers(client, creating)
    assert client.wait_until_stream_exists.definition.max_delay == 10
    bwp.enable(client, definitions=definition("StreamExists", expected="CREATING"))
    outcome = client.wait_until_stream_exists(StreamName="s", max_wait=5)
    assert outcome.observed == "CREATING"


def test_bad_settings_leave_the_target_as_it_was(definition):
    client, session = boto3.client("kinesis"), boto3.Session()
    for target in (client, session):
        with pytest.raises(bwp.WaiterDefinitionError):
            bwp.enable(target, definitions=definition("Broken", minDelay=0))
        with pytest.raises(TypeError):
            bwp.enable(target, defaults={"unknown": 1})
        with pytest.raises(TypeError):
            bwp.enable(target, on_event=3)
    assert not waits(client)
    assert not waits(session.client("kinesis"))
    assert [base.__name__ for base in type(client).__mro__] == ["Kinesis", "BaseClient", "object"]


def test_definition_whose_name_an_enabled_client_has_is_refused(definition):
    client = boto3.client("kinesis")
    type(client).wait_until_mine = "taken"
    with pytest.raises(bwp.WaiterDefinitionError, match=r"waiter Mine.*wait_until_mine"):
        bwp.enable(client, definitions=definition("Mine"))
    assert not waits(client)


def test_definition_whose_name_is_taken_is_refused_by_a_second_enable_too(definition):
    client = bwp.enable(boto3.client("kinesis"))
    type(client).wait_until_mine = "taken"
    with pytest.raises(bwp.WaiterDefinitionError, match=r"waiter Mine.*wait_until_mine"):
        bwp.enable(client, definitions=definition("Mine"))
