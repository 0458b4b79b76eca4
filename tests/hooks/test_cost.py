"""What attaching costs: nothing at client creation, no directory listing at the first waiter."""

import os
from unittest import mock

import boto3
import botocore
import pytest
from botocore.loaders import Loader

import boto_waiters_plus as bwp
from boto_waiters_plus.definitions import packages, shipped
from boto_waiters_plus.engine import matching
from boto_waiters_plus.hooks import methods
from boto_waiters_plus.service import service_waiters as waiters


def version(text):
    return [int(part) for part in text.split(".")]


def test_client_creation_finds_and_compiles_nothing():
    bwp.install()
    with (
        mock.patch.object(waiters.ServiceWaiters, "__init__", side_effect=AssertionError),
        mock.patch.object(shipped, "parse_waiter", side_effect=AssertionError),
        mock.patch.object(matching.Matching, "__init__", side_effect=AssertionError),
        mock.patch.object(methods, "build_method", side_effect=AssertionError),
    ):
        client = boto3.client("s3")
        client.head_bucket  # noqa: B018 - an operation costs nothing either
        assert not hasattr(client, "nope")


def test_first_waiter_lists_no_directory():
    bwp.install()
    session = boto3.Session()
    session._session.register_component("data_loader", Loader(include_default_search_paths=True))
    client = session.client("dynamodb")
    packages.installed_layers()  # looks through `sys.path` once per process
    with (
        mock.patch.object(os, "listdir", side_effect=AssertionError("a directory was listed")),
        mock.patch.object(os, "scandir", side_effect=AssertionError("a directory was listed")),
    ):
        assert client.wait_until_table_exists.definition.operation == "DescribeTable"
        assert bwp.wait_until.__name__ == "wait_until"


@pytest.mark.skipif(
    version(botocore.__version__) < version(shipped.WRITTEN_FOR),
    reason="an older model is compared with each waiter",
)
def test_only_the_waiter_that_is_asked_for_is_parsed():
    bwp.install()
    client = boto3.client("ec2")
    shipped.unread_shipped.cache_clear()
    with mock.patch.object(shipped, "parse_waiter", side_effect=shipped.parse_waiter) as parse:
        assert client.wait_until_instance_running.definition.name == "InstanceRunning"
        assert "wait_until_volume_available" in dir(client)
        assert "volume_available" in client.waiter_names
    shipped.unread_shipped.cache_clear()
    assert [call.args[0] for call in parse.call_args_list] == ["InstanceRunning"]
