"""What attaching costs: nothing at client creation, no directory listing at the first waiter."""

import builtins
import copy
import io
import os
from pathlib import Path
from unittest import mock

import boto3
import pytest
from botocore.loaders import Loader

import boto_waiters_plus as bwp
from boto_waiters_plus.aws import bound_waiter
from boto_waiters_plus.aws import service_waiters as waiters
from boto_waiters_plus.definitions import shipped
from boto_waiters_plus.engine import matching
from boto_waiters_plus.hooks import methods


@pytest.fixture
def reads():
    """Every model that is asked of botocore's loader, and every file that is opened."""
    seen = []
    load, opened, io_opened = Loader.load_data, builtins.open, io.open

    def load_data(self, name):
        seen.append(name)
        return load(self, name)

    def open_file(file, *args, **keywords):
        seen.append(Path(file).name if isinstance(file, (str, os.PathLike)) else "fd")
        return (io_opened if keywords else opened)(file, *args, **keywords)

    with (
        mock.patch.object(Loader, "load_data", load_data),
        mock.patch.object(builtins, "open", open_file),
    ):
        yield seen


def test_client_creation_reads_no_more_than_stocks(reads):
    boto3.client("s3")
    boto3.client("s3")
    reads.clear()
    boto3.client("s3")
    stock = list(reads)
    bwp.install()
    boto3.client("s3")
    reads.clear()
    boto3.client("s3")
    assert reads == stock
    assert not any("waiters" in name for name in reads)


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


def test_methods_are_built_one_by_one(s3):
    with mock.patch.object(methods, "build_method", wraps=methods.build_method) as build:
        s3.wait_until_bucket_exists  # noqa: B018 - builds it
        assert build.call_count == 1
        s3.wait_until_bucket_exists  # noqa: B018 - it is there
        assert build.call_count == 1
        s3.wait_until_object_exists  # noqa: B018 - builds it
        assert build.call_count == 2


def test_first_waiter_lists_no_directory():
    bwp.install()
    session = boto3.Session()
    session._session.register_component("data_loader", Loader(include_default_search_paths=True))
    client = session.client("dynamodb")
    with (
        mock.patch.object(os, "listdir", side_effect=AssertionError("a directory was listed")),
        mock.patch.object(os, "scandir", side_effect=AssertionError("a directory was listed")),
    ):
        assert client.wait_until_table_exists.definition.operation == "DescribeTable"
        assert bwp.wait_until.__name__ == "wait_until"


def test_acceptors_are_compiled_at_the_first_wait_only(s3, answers):
    answers(s3, {})
    with mock.patch.object(bound_waiter, "Matching", wraps=matching.Matching) as compiled:
        method = s3.wait_until_bucket_exists
        assert compiled.call_count == 0
        for _ in range(3):
            method(Bucket="b", max_wait=5)
        assert compiled.call_count == 1


def test_models_that_the_loader_shares_are_not_changed(s3, answers):
    loader = boto3.DEFAULT_SESSION._session.get_component("data_loader")
    version = s3.meta.service_model.api_version
    shared = loader.load_data(f"s3/{version}/waiters-2")
    before = copy.deepcopy(shared)
    answers(s3, {})
    s3.wait_until_bucket_exists(Bucket="b", max_wait=5)
    s3.get_waiter("bucket_exists").wait(Bucket="b")
    assert shared == before


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
