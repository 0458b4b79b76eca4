"""A botocore that is newer than the shipped definitions: nothing of it is lost."""

import json
import os
from copy import deepcopy

import boto3
import botocore
import pytest
from botocore.loaders import Loader
from service.roles import refusal
from service.ways import by_waiter, in_store

import boto_waiters_plus as bwp
from boto_waiters_plus.check.installed import check_installed
from boto_waiters_plus.wait import wait_run

STATUS = {"matcher": "path", "argument": "StreamDescription.StreamStatus"}
FAILED = {**STATUS, "state": "failure", "expected": "CREATE_FAILED"}


@pytest.fixture
def newer(tmp_path, monkeypatch):
    """`newer(*states, acceptors=, waiters=)`: a client of a kinesis that has these, too."""

    def make(*states, acceptors=(), waiters=None):
        folder = tmp_path / "kinesis/2013-12-02"
        folder.mkdir(parents=True)
        names = "service-2", "waiters-2"
        model, own = (deepcopy(Loader().load_service_model("kinesis", name)) for name in names)
        model["shapes"]["StreamStatus"]["enum"] += states
        own["waiters"]["StreamExists"]["acceptors"] += acceptors
        own["waiters"] |= waiters or {}
        (folder / "service-2.json").write_text(json.dumps(model))
        (folder / "waiters-2.json").write_text(json.dumps(own))
        monkeypatch.setenv("AWS_DATA_PATH", f"{tmp_path}{os.pathsep}{Loader.BUILTIN_DATA_PATH}")
        monkeypatch.setattr(Loader, "BUILTIN_DATA_PATH", str(tmp_path))
        monkeypatch.setattr(botocore, "__version__", "99.0")
        monkeypatch.setattr(wait_run, "NEW_FAILURES_TOLD", set())
        return bwp.enable(boto3.Session().client("kinesis"))

    return make


def stream(state):
    return {"StreamDescription": {"StreamStatus": state}}


def wait(client, waiter="stream_exists", **options):
    options = {"max_wait": 600, **options}
    return getattr(client, f"wait_until_{waiter}")(StreamName="s", **options)


def test_a_waiter_of_a_newer_botocore_works(newer, answers, virtual_time):
    acceptor = {**STATUS, "state": "success", "expected": "PAUSED"}
    body = {"operation": "describe_stream", "delay": 3, "maxAttempts": 5, "acceptors": [acceptor]}
    client = newer("PAUSED", waiters={"StreamPaused": body})
    answers(client, stream("ACTIVE"), stream("PAUSED"))
    assert wait(client, "stream_paused").attempts == 2


@pytest.mark.parametrize("state", ["CREATE_FAILED", "FAILED", "ERROR"])
def test_an_unknown_failure_is_warned_of_once(newer, answers, virtual_time, state):
    clients = [newer(state), bwp.enable(boto3.Session().client("kinesis"))]
    for client in clients:
        answers(client, stream(state), stream(state), stream("ACTIVE"))
    with pytest.warns(UserWarning, match=f"StreamExists of kinesis.*{state}") as warned:
        attempts = [wait(client).attempts for client in clients]
    assert attempts == [3, 3]
    assert [each.filename for each in warned] == [__file__]


def by_begin(client, waiter, **options):
    return bwp.begin(client.create_stream, ShardCount=1, **options).result()


@pytest.mark.parametrize("way", [by_waiter, by_begin, in_store])
def test_an_unknown_failure_is_warned_of_by_each_way(newer, answers, virtual_time, way):
    client = newer("CREATE_FAILED", "ERROR")
    answers(client, *[{}] * (way is by_begin), stream("CREATE_FAILED"), stream("ACTIVE"))
    with pytest.warns(UserWarning, match="CREATE_FAILED"):
        way(client, "stream_exists", StreamName="s", max_wait=600)


@pytest.mark.parametrize(("state", "waiter", "last"), [
    *((state, "stream_exists", stream("ACTIVE")) for state in ("NO_ERROR", "FAILED_RETRYING", "X")),
    # What failed before is no matter where a resource is to go.
    ("CREATE_FAILED", "stream_not_exists", refusal("ResourceNotFoundException")),
])  # fmt: skip
def test_no_other_state_is_warned_of(newer, answers, virtual_time, recwarn, state, waiter, last):
    client = newer(state)
    answers(client, stream(state), last)
    assert wait(client, waiter).attempts == 2
    assert list(recwarn) == []


def test_a_failure_of_the_users_own_definition_is_the_users(newer, answers, definition, recwarn):
    own = definition("StreamExists", expected="UPDATING")
    client = bwp.enable(newer("CREATE_FAILED"), definitions=own)
    answers(client, stream("CREATE_FAILED"))
    with pytest.raises(bwp.WaiterTimeoutError):
        wait(client, max_wait=0.01)
    assert list(recwarn) == []


def test_new_acceptors_of_botocores_waiter_count(newer, answers, recwarn):
    client = newer("CREATE_FAILED", acceptors=[FAILED])
    answers(client, stream("CREATE_FAILED"))
    with pytest.raises(bwp.WaiterFailedError):
        wait(client)
    assert list(recwarn) == []


def test_search_path_adds_nothing_to_a_shipped_waiter(newer, tmp_path, monkeypatch):
    newer("CREATE_FAILED", acceptors=[FAILED])
    monkeypatch.undo()
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    monkeypatch.setattr(botocore, "__version__", "99.0")
    client = bwp.enable(boto3.Session().client("kinesis"))
    assert "CREATE_FAILED" not in str(client.wait_until_stream_exists.definition.acceptors)


@pytest.mark.parametrize("broken", [{"matcher": "new"}, {"state": "new"}])
def test_an_unknown_form_leaves_the_shipped_waiter(newer, answers, broken):
    client = newer("CREATE_FAILED", acceptors=[{**FAILED, **broken}])
    answers(client, stream("ACTIVE"))
    assert wait(client).attempts == 1
    assert events()[0][:2] == ("WARNING", "BotocoreUnknownForm")


# --- what `boto-wait check --installed` tells ---------------------------------------------------


def events(service="kinesis"):
    return [(str(each.severity), each.id, each.message) for each in check_installed(service)]


def test_new_states_are_told_by_waiter(newer):
    newer("PAUSED", "CREATE_FAILED")
    found = [(severity, rule, "PAUSED" in text) for severity, rule, text in events()]
    assert ("NOTE", "BotocoreNewState.StreamExists", True) in found
    assert ("WARNING", "BotocoreNewState.StreamExists", False) in found
    assert ("NOTE", "BotocoreNewState.StreamNotExists", False) in found


def test_new_waiters_and_acceptors_are_told(newer):
    acceptors = [{"state": "success", "matcher": "status", "expected": 200}]
    body = {"operation": "DescribeStream", "delay": 3, "maxAttempts": 5, "acceptors": acceptors}
    newer("CREATE_FAILED", acceptors=[FAILED], waiters={"StreamBroken": body})
    found = {rule: text for _, rule, text in events()}
    assert "BotocoreNewWaiter.StreamBroken" in found
    assert "CREATE_FAILED" in found["BotocoreNewAcceptors.StreamExists"]
    assert "BotocoreNewState.StreamExists" not in found


@pytest.mark.models
@pytest.mark.nightly(subject="catalog")
def test_nothing_is_new_in_the_botocore_of_the_definitions(monkeypatch):
    monkeypatch.setattr(botocore, "__version__", "99.0")
    assert check_installed() == []
