"""Lookups of waiters while another thread is inside one."""

import threading
from concurrent.futures import ThreadPoolExecutor

import botocore.session
import pytest
from botocore.loaders import Loader

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
def slow(installed):
    """The loader, and a client that it loads for."""
    session, loader = botocore.session.Session(), Slow()
    session.register_component("data_loader", loader)
    return loader, session.create_client("kinesis", region_name="us-east-1")


def stream_exists(client):
    return client.wait_until_stream_exists.definition


def test_a_slow_lookup_does_not_block_another_service(slow):
    loader, kinesis = slow
    dynamodb = botocore.session.Session().create_client("dynamodb", region_name="us-east-1")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(stream_exists, kinesis)
        assert loader.inside.wait(SECONDS)
        assert dynamodb.wait_until_table_exists.definition.name == "TableExists"
        assert not first.done()
        loader.go_on.set()
        assert first.result(SECONDS).name == "StreamExists"


def test_threads_that_look_up_at_once_get_one_definition(slow):
    loader, kinesis = slow
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(stream_exists, kinesis) for _ in range(4)]
        assert loader.inside.wait(SECONDS)
        loader.go_on.set()
        assert len({id(each.result(SECONDS)) for each in found}) == 1
