"""`install` and `uninstall` beside threads, beside forks, and without each other."""

import os
import subprocess
import sys
import textwrap
import threading

import boto3
import botocore.session
import botocore.waiter
import pytest

import boto_waiters_plus as bwp

ROUNDS = 60


def test_clients_are_made_while_others_install():
    errors = []
    done = threading.Event()

    def make_clients():
        try:
            while not done.is_set():
                session = boto3.session.Session("key", "secret", region_name="us-east-1")
                session.client("sts")
        # For the test, whatever it is.
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=make_clients) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(ROUNDS):
        bwp.install()
        bwp.uninstall()
    done.set()
    for thread in threads:
        thread.join(60)
    assert errors == []


def test_a_method_found_before_install_uses_later_definitions(definition, answers, active):
    bwp.install()
    client = boto3.client("kinesis")
    answers(client, active)
    early = client.wait_until_stream_exists
    assert early.definition.min_delay != 7
    bwp.install(definitions=definition("StreamExists", minDelay=7, maxDelay=7))
    assert client.wait_until_stream_exists.definition.min_delay == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_child_forked_during_install_can_install():
    script = """
        import os, threading
        import boto_waiters_plus as bwp
        import boto_waiters_plus.hooks.installation

        inside, go_on = threading.Event(), threading.Event()
        register = bwp.hooks.installation.botocore.register_initializer

        def slow(initializer):
            inside.set()
            go_on.wait(60)
            register(initializer)

        bwp.hooks.installation.botocore.register_initializer = slow
        threading.Thread(target=bwp.install, daemon=True).start()
        inside.wait(60)
        child = os.fork()
        if not child:
            bwp.uninstall()
            os._exit(7)
        _, status = os.waitpid(child, 0)
        go_on.set()
        print(os.waitstatus_to_exitcode(status))
    """
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.stdout.strip(), result.stderr) == ("7", "")


def test_uninstall_without_install_leaves_no_trace():
    before = dict(vars(botocore.waiter.Waiter)), dict(vars(botocore.session.Session))
    session = boto3.session.Session("key", "secret", region_name="us-east-1")
    client = bwp.enable(session).client("s3")
    assert client.wait_until_bucket_exists
    bwp.uninstall()
    assert (dict(vars(botocore.waiter.Waiter)), dict(vars(botocore.session.Session))) == before


def test_get_waiter_false_leaves_waiter_objects_to_botocore(answers, active):
    before = botocore.waiter.Waiter.__dict__["wait"]
    bwp.install(get_waiter=False)
    client = boto3.client("kinesis")
    answers(client, active)
    assert client.wait_until_stream_exists(StreamName="s", max_wait=5).attempts == 1
    assert client.get_waiter("stream_exists").wait(StreamName="s") is None
    assert botocore.waiter.Waiter.__dict__["wait"] is before
    with pytest.raises(ValueError, match="Waiter does not exist"):
        client.get_waiter("stream_consumer_deleted_or_else")


def test_a_second_install_can_give_waiter_objects_back(answers, active):
    bwp.install()
    bwp.install(get_waiter=False)
    client = boto3.client("kinesis")
    answers(client, active)
    assert client.get_waiter("stream_exists").wait(StreamName="s") is None
    bwp.install()
    assert client.get_waiter("stream_exists").wait(StreamName="s").attempts == 1


@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_get_waiter_must_be_a_boolean(value):
    with pytest.raises(TypeError, match="get_waiter must be True or False"):
        bwp.install(get_waiter=value)
