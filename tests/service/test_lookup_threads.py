"""Lookups of waiters while another thread is inside one."""

import os
import subprocess
import sys
import threading

import botocore.session
import pytest
from botocore.loaders import Loader

from boto_waiters_plus.service.service_waiters import ServiceWaiters

SECONDS = 20

LOOKUP_IN_A_CHILD = """
import os, threading, time
import botocore.session
from botocore.loaders import Loader
from boto_waiters_plus.service.service_waiters import ServiceWaiters

session = botocore.session.Session()
kinesis, dynamodb = map(session.get_service_model, ("kinesis", "dynamodb"))
inside = threading.Event()

class SlowAtFirst(Loader):
    def load_data(self, name):
        if not inside.is_set():
            inside.set()
            time.sleep(3600)
        return super().load_data(name)

waiters = ServiceWaiters(kinesis, SlowAtFirst())
threading.Thread(target=waiters.find, args=["StreamExists"], daemon=True).start()
inside.wait()
child = os.fork()
if child == 0:
    waiters.find("StreamExists").matching
    ServiceWaiters(dynamodb, Loader()).find("TableExists").matching
    os._exit(7)
_, status = os.waitpid(child, 0)
os._exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_during_a_lookup_can_look_up():
    command = [sys.executable, "-c", LOOKUP_IN_A_CHILD]
    try:
        done = subprocess.run(command, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        pytest.fail("the lookup in the child of the fork hangs")
    assert done.returncode == 7


class Slow(Loader):
    """A loader whose first file arrives when the test allows it."""

    def __init__(self):
        super().__init__()
        self.inside, self.go_on = threading.Event(), threading.Event()

    def load_data(self, name):
        self.inside.set()
        assert self.go_on.wait(SECONDS)
        return super().load_data(name)


@pytest.fixture
def in_thread():
    """`in_thread(function, *arguments)` runs it in a thread that does not outlive the test."""
    threads = []

    def start(function, *arguments):
        thread = threading.Thread(target=function, args=arguments)
        threads.append(thread)
        thread.start()
        return thread

    yield start
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()


def models(*services):
    session = botocore.session.get_session()
    return [session.get_service_model(service) for service in services]


def test_a_slow_lookup_does_not_block_another_service(in_thread):
    kinesis, dynamodb = models("kinesis", "dynamodb")
    slow, found = Slow(), []
    in_thread(ServiceWaiters(kinesis, slow).find, "StreamExists")
    assert slow.inside.wait(SECONDS)
    other = in_thread(lambda: found.append(ServiceWaiters(dynamodb, Loader()).find("TableExists")))
    other.join(SECONDS / 4)
    is_blocked = other.is_alive()
    slow.go_on.set()
    assert not is_blocked
    assert found[0].definition.name == "TableExists"


def test_threads_that_look_up_at_once_get_one_waiter(in_thread):
    [kinesis] = models("kinesis")
    slow, found = Slow(), []
    waiters = ServiceWaiters(kinesis, slow)
    threads = [in_thread(lambda: found.append(waiters.find("StreamExists"))) for _ in range(4)]
    slow.go_on.set()
    for thread in threads:
        thread.join(SECONDS)
    assert len(found) == 4
    assert len(set(map(id, found))) == 1
