"""An overlay changes the waiter of any place below it."""

import json

import boto3
import botocore.session
import pytest
from botocore.loaders import Loader

import boto_waiters_plus as bwp
from boto_waiters_plus.definitions.files import load_layers
from boto_waiters_plus.service.service_waiters import ServiceWaiters

KINESIS = "com.amazonaws.kinesis"
MISSING = {"state": "retry", "matcher": {"errorType": "ResourceNotFoundException"}}
STATUS = {"path": "StreamDescription.StreamStatus", "comparator": "stringEquals"}


def status(expected):
    return {"state": "success", "matcher": {"output": {**STATUS, "expected": expected}}}


def document(trait, namespace=KINESIS, operation="DescribeStream", **waiters):
    shape = {"type": "apply", "traits": {trait: waiters}}
    return {"smithy": "2.0", "shapes": {f"{namespace}#{operation}": shape}}


def overlay(name="StreamExists", body=None, **where):
    return document("boto.waiters#overlay", **where, **{name: body or {"minDelay": 1}})


def definition(name="StreamExists", expected="MINE", **members):
    body = {"acceptors": [status(expected)], **members}
    return document("smithy.waiters#waitable", **{name: body})


@pytest.fixture(scope="module")
def kinesis():
    return botocore.session.get_session().get_service_model("kinesis")


@pytest.fixture
def folder(tmp_path):
    """A folder on the search path; `folder(name, document)` writes a file there."""
    files = tmp_path / "kinesis" / "2013-12-02"
    files.mkdir(parents=True)

    def put(name, content):
        (files / f"{name}.json").write_text(json.dumps(content))
        return Loader(extra_search_paths=[str(tmp_path)])

    put.path = tmp_path
    return put


def waiters(kinesis, *given, loader=None):
    layers = [layer for each in given for layer in load_layers(each)]
    return ServiceWaiters(kinesis, loader or Loader(), layers)


def found(kinesis, *given, name="StreamExists", loader=None):
    return waiters(kinesis, *given, loader=loader).find(name).definition


def refusal(kinesis, *given):
    with pytest.raises(bwp.WaiterDefinitionError) as caught:
        waiters(kinesis, *given).find("StreamExists")
    return str(caught.value)


def expected_of(waiter):
    return [a.matcher.matcher.expected for a in waiter.acceptors if a.state.value == "success"]


def test_a_shipped_waiter_is_changed(kinesis):
    before = found(kinesis)
    after = found(kinesis, overlay(body={"minDelay": 1, "prepend": [MISSING]}))
    assert after.min_delay == 1
    assert after.max_delay == before.max_delay
    assert after.acceptors[1:] == before.acceptors
    assert after.acceptors[0].to_json() == MISSING


def test_a_waiter_of_a_newer_botocore_is_changed(kinesis, folder):
    acceptor = {"state": "success", "matcher": "status", "expected": 200}
    body = {"operation": "DescribeStream", "delay": 9, "maxAttempts": 2, "acceptors": [acceptor]}
    loader = folder("waiters-2", {"version": 2, "waiters": {"StreamBrandNew": body}})
    changed = found(kinesis, overlay("StreamBrandNew"), name="StreamBrandNew", loader=loader)
    assert changed.min_delay == 1
    assert [a.to_json()["matcher"] for a in changed.acceptors] == [{"success": True}]


def test_overlays_on_the_search_path_change_shipped_waiters(kinesis, folder):
    loader = folder("smithy-waiters-1", overlay())
    assert found(kinesis, loader=loader).min_delay == 1
    assert found(kinesis, overlay(body={"maxDelay": 7}), loader=loader).max_delay == 7
    assert found(kinesis, overlay(body={"maxDelay": 7}), loader=loader).min_delay == 1


def test_a_definition_replaces_waiter_and_overlays_below(kinesis, folder):
    loader = folder("smithy-waiters-1", overlay())
    mine = found(kinesis, definition(), loader=loader)
    assert expected_of(mine) == ["MINE"]
    assert mine.min_delay == 2


def test_overlays_change_definitions_given_with_them(kinesis):
    for given in ([definition(), overlay()], [overlay(), definition()]):
        layers = load_layers(given)
        mine = ServiceWaiters(kinesis, Loader(), layers).find("StreamExists").definition
        assert (expected_of(mine), mine.min_delay) == (["MINE"], 1)


def test_the_upper_of_two_overlays_wins(kinesis):
    upper, lower = overlay(body={"minDelay": 1}), overlay(body={"minDelay": 4, "maxDelay": 50})
    mine = found(kinesis, upper, lower)
    assert (mine.min_delay, mine.max_delay) == (1, 50)
    first = {"state": "retry", "matcher": {"errorType": "First"}}
    mine = found(kinesis, overlay(body={"prepend": [first]}), overlay(body={"prepend": [MISSING]}))
    assert [a.to_json() for a in mine.acceptors[:2]] == [first, MISSING]


def test_a_misspelt_name_is_refused_with_the_nearest(kinesis):
    text = refusal(kinesis, overlay("StreamExist"))
    assert text.startswith("dict: waiter StreamExist: ")
    assert "unknown waiter 'StreamExist'; did you mean 'StreamExists'?" in text


def test_overlays_of_another_operation_are_refused(kinesis):
    text = refusal(kinesis, overlay(operation="ListStreams"))
    assert text.endswith("the waiter polls DescribeStream, not ListStreams")


def test_overlays_of_lacking_operations_are_ignored(kinesis):
    assert found(kinesis, overlay(operation="DescribeStreamOfTomorrow")) == found(kinesis)


def test_overlays_without_a_service_change_what_fits(kinesis):
    """Several services have operations and waiters of the same name."""
    anywhere = {"namespace": "my.own"}
    assert found(kinesis, overlay(**anywhere)).min_delay == 1
    for elsewhere in (
        overlay("ThingExists", **anywhere),
        overlay(operation="ListStreams", **anywhere),
    ):
        assert found(kinesis, elsewhere) == found(kinesis)


def test_an_overlay_retries_not_found_from_any_place(
    answers, error_answer, folder, monkeypatch, virtual_time
):
    """A new resource may not be found for a while."""
    missing = error_answer("ResourceNotFoundException")
    active = {"StreamDescription": {"StreamStatus": "ACTIVE"}}
    change = overlay(body={"prepend": [MISSING]})

    def wait(client):
        asked = answers(client, missing, missing, active)
        client.wait_until_stream_exists(StreamName="s", max_wait=100)
        return len(asked.requests)

    bwp.install()
    with pytest.raises(bwp.WaiterFailedError):
        wait(boto3.client("kinesis"))
    assert wait(bwp.enable(boto3.client("kinesis"), definitions=change)) == 3
    bwp.install(definitions=change)
    assert wait(boto3.client("kinesis")) == 3
    folder("smithy-waiters-1", change)
    monkeypatch.setenv("AWS_DATA_PATH", str(folder.path))
    bwp.install()
    client = botocore.session.Session()
    client.register_component("data_loader", Loader(extra_search_paths=[str(folder.path)]))
    assert wait(client.create_client("kinesis", region_name="us-east-1")) == 3
