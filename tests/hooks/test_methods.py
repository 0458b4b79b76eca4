"""`wait_until_*` as attributes of a client: found, listed, called, mocked."""

import inspect
from unittest import mock

import boto3
import pytest

import boto_waiters_plus as bwp

NAMES = [
    f"wait_until_{what}_{end}" for what in ("bucket", "object") for end in ("exists", "not_exists")
]


def test_methods_exist_and_are_listed_once(s3):
    assert all(hasattr(s3, name) for name in NAMES)
    for name in ("wait_until_nope", "wait_until_", "wait_until_BucketExists", "nope"):
        assert not hasattr(s3, name)
    assert {"head_bucket", "meta", "get_waiter", "waiter_names", *NAMES} <= set(dir(s3))
    assert len(dir(s3)) == len(set(dir(s3)))


def test_method_is_a_bound_method_with_its_own_name(s3):
    method = s3.wait_until_bucket_exists
    assert inspect.ismethod(method)
    assert method.__self__ is s3
    assert method.__name__ == "wait_until_bucket_exists"
    assert method.__qualname__ == "S3.wait_until_bucket_exists"
    assert s3.wait_until_bucket_exists.__func__ is method.__func__


# --- signature ----------------------------------------------------------------------------------


def test_signature_has_max_wait_parameters_and_options(s3):
    signature = inspect.signature(s3.wait_until_object_exists)
    names = list(signature.parameters)
    assert {"VersionId", "IfMatch", "min_delay", "max_attempts", "on_attempt"} <= set(names)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
    required = [n for n, p in signature.parameters.items() if p.default is p.empty]
    assert required == ["max_wait", "Bucket", "Key"]
    assert signature.return_annotation == "WaiterOutcome"


# --- mocks --------------------------------------------------------------------------------------


def test_autospec_enforces_the_signature(s3):
    mocked = mock.create_autospec(s3)
    mocked.wait_until_bucket_exists(Bucket="b", max_wait=60)
    for keywords in ({"Bucket": "b"}, {"max_wait": 3}, {"Bucket": "b", "max_wait": 3, "x": 1}):
        with pytest.raises(TypeError):
            mocked.wait_until_bucket_exists(**keywords)
    with pytest.raises(TypeError):
        s3.wait_until_bucket_exists("b", max_wait=60)


@pytest.mark.parametrize("autospec", [False, True])
def test_method_of_an_instance_can_be_patched(s3, answers, autospec):
    calls = answers(s3, {}).requests
    replaced = {"autospec": autospec, "return_value": "mocked"}
    with mock.patch.object(s3, "wait_until_bucket_exists", **replaced) as method:
        assert s3.wait_until_bucket_exists(Bucket="b", max_wait=60) == "mocked"
        method.assert_called_once_with(Bucket="b", max_wait=60)
    assert calls == []
    assert s3.wait_until_bucket_exists(Bucket="b", max_wait=60).attempts == 1


# --- beside others ------------------------------------------------------------------------------


def test_getattr_events_still_answer():
    bwp.install()
    session = boto3.Session()
    session.events.register("getattr.s3.extra", lambda **_: "from a handler")
    session.events.register("getattr.s3.wait_until_extra", lambda **_: "waits")
    session.events.register("getattr.s3.wait_until_bucket_exists", lambda **_: "handler")
    client = session.client("s3")
    assert client.extra == "from a handler"
    assert client.wait_until_extra == "waits"
    assert callable(client.wait_until_bucket_exists)


@pytest.mark.parametrize("register", ["register_first", "register_last"])
def test_attribute_of_another_handler_wins_over_shipped_waiters(register, definition):
    def add(class_attributes, **_):
        names = ("wait_until_stream_exists", "wait_until_mine")
        class_attributes |= dict.fromkeys(names, lambda self: "theirs")

    session = boto3.Session()
    getattr(session.events, register)("creating-client-class.kinesis", add)
    bwp.install()
    client = session.client("kinesis")
    assert client.wait_until_stream_exists() == "theirs"
    assert client.wait_until_stream_not_exists.definition.name == "StreamNotExists"
    # Who defines a waiter of this name is told.
    bwp.install(definitions=definition("Mine"))
    assert session.client("sts")
    with pytest.raises(bwp.WaiterDefinitionError, match="wait_until_mine"):
        session.client("kinesis")


def test_parameter_called_name_is_the_operations(answers):
    """17 of botocore's waiters have one; nothing of ours that stands beside it takes its place."""
    bwp.install()
    client = boto3.client("eks")
    asked = answers(client, {"cluster": {"status": "ACTIVE"}})
    client.wait_until_cluster_active(name="main", max_wait=60)
    bwp.wait_until(client, "ClusterActive", name="main", max_wait=60)
    client.get_waiter("cluster_active").wait(name="main")
    assert [request["url_path"] for request in asked.requests] == ["/clusters/main"] * 3
