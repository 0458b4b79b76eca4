"""A malformed file on the search path: listings skip it, lookups are refused."""

import json
import logging
from unittest import mock

import botocore.session
import pytest
from botocore.loaders import Loader

import boto_waiters_plus as bwp

FILE = "kinesis/2013-12-02/smithy-waiters-1.json"
PLACE = f"{FILE} on botocore's search path: waiter Mine, acceptor 0: "


@pytest.fixture
def broken(waitable):
    """`broken(name)`: the text of a file with a waiter whose first acceptor is malformed."""
    return lambda name: json.dumps(
        waitable(name, "DescribeStream", {"state": "done"}, namespace="com.amazonaws.kinesis")
    )


@pytest.fixture
def client(tmp_path, broken):
    """`client(service)` of a session whose search path has the file."""
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text(broken("Mine"))
    bwp.install()
    session = botocore.session.Session()
    session.register_component("data_loader", Loader(extra_search_paths=[str(tmp_path)]))
    return lambda service="kinesis": session.create_client(service, region_name="us-east-1")


def test_dir_logs_once_what_it_cannot_list(client, broken, caplog, tmp_path):
    # A name of its own: a text is logged once a process, and other tests list the broken waiter.
    (tmp_path / FILE).write_text(broken("MineToo"))
    with caplog.at_level(logging.WARNING, "boto_waiters_plus"):
        for kinesis in (client(), client()):
            assert {"describe_stream", "wait_until_stream_exists"} <= set(dir(kinesis))
            assert "wait_until_mine_too" not in dir(kinesis)
    [record] = [r for r in caplog.records if "refused" in r.message]
    assert PLACE.replace("Mine", "MineToo") in record.message


LOOKUPS = [
    lambda client: client.wait_until_mine,
    lambda client: client.wait_until_stream_exists,
    lambda client: bwp.wait_until(client, "StreamExists", StreamName="s", max_wait=60),
    lambda client: bwp.Wait(client, "StreamExists", {"StreamName": "s"}, max_wait=60),
]


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_waiters_of_the_service_are_refused_by_place(client, lookup):
    with pytest.raises(bwp.WaiterDefinitionError, match=PLACE) as caught:
        lookup(client())
    assert (caught.value.waiter, caught.value.acceptor) == ("Mine", 0)


def test_definitions_of_the_call_come_before_the_malformed_file(client):
    mine = bwp.WaiterDefinition.from_states("Mine", "DescribeStream", path="a", success=["A"])
    kinesis = bwp.enable(client(), definitions=mine)
    assert kinesis.wait_until_mine.definition == mine


# Of a waiter that is malformed, the others of its file are usable.
BODY = {"operation": "ListStreams", "delay": 1, "maxAttempts": 9}
BODY["acceptors"] = [{"state": "success", "matcher": "status", "expected": 200}]
ONE_BAD = json.dumps({"version": 2, "waiters": {"Good": BODY, "Bad": {**BODY, "delay": "soon"}}})


@pytest.mark.parametrize("content", ["[]", "{}", '{"waiters": 1}', "{", "7", ONE_BAD])
def test_malformed_waiters_2_refuses_names_not_shipped(client, tmp_path, content):
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).with_name("waiters-2.json").write_text(content)
    kinesis = client()
    assert "wait_until_stream_exists" in dir(kinesis)
    assert kinesis.wait_until_stream_exists.definition.name == "StreamExists"
    if content is ONE_BAD:
        assert kinesis.wait_until_good.definition.min_delay == 1
    with pytest.raises(bwp.WaiterDefinitionError, match=r"kinesis/2013-12-02/waiters-2\.json: "):
        kinesis.wait_until_bad  # noqa: B018 - the lookup is what is tested


def test_everything_else_of_the_client_works(client):
    kinesis = client()
    assert hasattr(kinesis, "describe_stream")
    assert not any(hasattr(kinesis, name) for name in ("wait_until_mine", "wait_for_ever"))
    assert callable(mock.create_autospec(kinesis).describe_stream)
    assert kinesis.get_waiter("stream_exists").name == "StreamExists"
    assert kinesis.can_paginate("list_streams")
    assert hasattr(client("dynamodb"), "wait_until_table_exists")
