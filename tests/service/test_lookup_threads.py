"""Lookups of waiters while another thread is inside one."""

import threading
from concurrent.futures import ThreadPoolExecutor

import botocore.session
import pytest
from botocore.loaders import Loader

import boto_waiters_plus as bwp

SECONDS = 60


class Slow(Loader):
    """A loader whose files of waiters arrive when the test allows it."""

    def __init__(self):
        super().__init__()
        self.inside, self.go_on = threading.Event(), threading.Event()

    def load_data(self, name):
        if "waiters" in name:
            self.inside.set()
            assert self.go_on.wait(SECONDS), "the other lookup has to end first"
        return super().load_data(name)


@pytest.fixture
def slow():
    """The loader, and a function that makes clients with it."""
    bwp.install()
    session, loader = botocore.session.Session(), Slow()
    session.register_component("data_loader", loader)
    return loader, lambda service: session.create_client(service, region_name="us-east-1")


def definition(client, name):
    return getattr(client, f"wait_until_{name}").definition


def test_a_slow_lookup_does_not_block_another_service(slow):
    loader, client = slow
    kinesis, other = client("kinesis"), botocore.session.Session()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(definition, kinesis, "stream_exists")
        assert loader.inside.wait(SECONDS)
        dynamodb = other.create_client("dynamodb", region_name="us-east-1")
        assert definition(dynamodb, "table_exists").name == "TableExists"
        assert not first.done()
        loader.go_on.set()
        assert first.result(SECONDS).name == "StreamExists"


def test_threads_that_look_up_at_once_get_one_definition(slow):
    loader, client = slow
    kinesis = client("kinesis")
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(definition, kinesis, "stream_exists") for _ in range(4)]
        assert loader.inside.wait(SECONDS)
        loader.go_on.set()
        assert len({id(each.result(SECONDS)) for each in found}) == 1
