"""The sessions that `install` reaches, and `enable` of one session or one client."""

import json

import boto3
import botocore.session
import botocore.waiter
import pytest
from botocore.exceptions import ProfileNotFound
from botocore.hooks import HierarchicalEmitter
from botocore.waiter import WaiterModel, create_waiter_with_client

import boto_waiters_plus as bwp

STOCK_WAIT = botocore.waiter.Waiter.__dict__["wait"]


def waits(client):
    return hasattr(client, "wait_until_stream_exists")


def wait(client):
    return client.get_waiter("stream_exists").wait(StreamName="s")


# --- install ------------------------------------------------------------------------------------


class OwnSession(botocore.session.Session):
    """A session of a user's own class."""

    def create_client(self, *args, **keywords):
        return super().create_client(*args, **keywords)


SESSIONS = {
    "boto3's": boto3.Session,
    "botocore's": botocore.session.get_session,
    "boto3's default": lambda: boto3.client("sts") and boto3.DEFAULT_SESSION,
    "with an emitter": lambda: botocore.session.Session(event_hooks=HierarchicalEmitter()),
    "without handlers": lambda: botocore.session.Session(include_builtin_handlers=False),
    "of a subclass": OwnSession,
}


def client_of(session):
    create = session.client if hasattr(session, "client") else session.create_client
    return create("kinesis")


@pytest.mark.parametrize("when", ["before", "used before", "after"])
@pytest.mark.parametrize("make", SESSIONS.values(), ids=SESSIONS)
def test_install_reaches_every_session(make, when):
    if when != "after":
        session = make()
    if when == "used before":
        assert not waits(client_of(session))
    bwp.install()
    client = client_of(make() if when == "after" else session)
    assert all(callable(getattr(client, f"wait_until_{name}")) for name in client.waiter_names)
    assert waits(client)
    bwp.uninstall()
    assert not waits(client)


# --- settings of the session --------------------------------------------------------------------


@pytest.fixture
def _config(tmp_path, monkeypatch):
    """A config file with one profile, and the environment naming another."""
    path = tmp_path / "config"
    path.write_text(f"[profile good]\nregion = eu-west-3\ndata_path = {tmp_path / 'models'}\n")
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(path))
    monkeypatch.setenv("AWS_PROFILE", "missing")


@pytest.mark.usefixtures("_config")
def test_a_sessions_own_profile_is_read():
    bwp.install()
    assert boto3.Session(profile_name="good").client("kinesis").meta.region_name == "eu-west-3"
    session = botocore.session.get_session()  # as in stock: no error yet
    with pytest.raises(ProfileNotFound):
        session.create_client("kinesis")


@pytest.mark.usefixtures("_config")
def test_the_search_path_of_a_profile_is_used(tmp_path, definition):
    models = tmp_path / "models" / "kinesis" / "2013-12-02"
    models.mkdir(parents=True)
    (models / "smithy-waiters-1.json").write_text(json.dumps(definition("StreamOfMine")))
    bwp.install()
    client = botocore.session.Session(profile="good").create_client("kinesis")
    assert hasattr(client, "wait_until_stream_of_mine")


# --- enable -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [boto3.Session, botocore.session.get_session, lambda: boto3.client("kinesis")]
)
def test_enabled_targets_have_all_and_others_stay_stock(make, answers, active, kinesis):
    target = make()
    assert bwp.enable(target) is target
    client = target if hasattr(target, "meta") else client_of(target)
    answers(client, active)
    for outcome in (wait(client), client.wait_until_stream_exists(StreamName="s", max_wait=60)):
        assert isinstance(outcome, bwp.ResponseOutcome)
    assert "wait_until_stream_exists" in dir(client)
    other = kinesis(boto3.Session())
    assert wait(other) is None
    assert not waits(other)
    assert botocore.waiter.Waiter.__dict__["wait"] is STOCK_WAIT


def test_enabled_client_sees_a_mock_of_wait(monkeypatch, kinesis):
    client = bwp.enable(kinesis())
    monkeypatch.setattr(botocore.waiter.Waiter, "wait", lambda self, **keywords: "mocked")
    assert wait(client) == "mocked"
    assert client.operations == []


def test_waiter_built_from_a_model_on_an_enabled_client_is_stock_without_install(kinesis):
    client = bwp.enable(kinesis())
    acceptor = {"state": "success", "matcher": "status", "expected": 200}
    data = {"operation": "DescribeStream", "delay": 1, "maxAttempts": 2, "acceptors": [acceptor]}
    model = WaiterModel({"version": 2, "waiters": {"Own": data}})
    waiter = create_waiter_with_client("Own", model, client)
    assert waiter.wait(StreamName="s") is None
    assert not hasattr(waiter, "outcome")


def test_what_is_enabled_keeps_it_after_uninstall(kinesis):
    told, heard = [], []
    bwp.install(on_event=told.append)
    session = bwp.enable(boto3.Session())
    client = bwp.enable(kinesis(), on_event=heard.append)
    wait(client)
    assert len(told) == len(heard) == 3
    bwp.uninstall()
    for enabled in (client, kinesis(session)):
        assert waits(enabled)
        assert isinstance(wait(enabled), bwp.ResponseOutcome)
    assert (len(told), len(heard)) == (3, 6)
