"""A store whose rows were changed behind its back."""

import json
from contextlib import closing

import boto3
import pytest
from stored_waits import changed  # beside this file

from boto_waiters_plus import operations


@pytest.fixture
def kept(tmp_path, stock_botocore):
    """The file of a store, and the path of its one operation."""
    file = tmp_path / "waits.db"
    with closing(operations.Store(str(file))) as store:
        client = boto3.client("s3")
        wait = operations.start(client, "bucket_exists", max_wait=9, in_store=store, Bucket="b")
        return file, wait.path


def test_a_state_that_cannot_be_read_is_the_error_of_its_wait(kept):
    file, path = kept
    changed(file, "update boto_waiters_operations set machine = '{}'")
    with closing(operations.Store(str(file))) as store:
        store.work(until_idle=True, make_client=lambda _: boto3.client("s3"))
        found = store.get(path).to_json()
    assert found["done"]
    assert "unreadable" in json.dumps(found["error"])


def test_a_wait_without_time_is_resumed_with_max_wait_only(kept):
    file, path = kept
    changed(file, "update boto_waiters_operations set elapsed = 10")
    with closing(operations.Store(str(file))) as store:
        store.cancel(path)
        with pytest.raises(ValueError, match="max_wait"):
            store.resume(path)
        assert not store.resume(path, max_wait=5).done()


def test_a_store_without_a_version_is_refused(kept):
    file, _ = kept
    changed(file, "delete from boto_waiters_schema")
    store = operations.Store(str(file))
    with closing(store), pytest.raises(operations.StoreError, match="version"):
        store.list()
