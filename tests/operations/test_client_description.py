"""What a store keeps of a client, and the client that a worker makes of it."""

import dataclasses
from unittest import mock

import boto3
import botocore
import pytest
from botocore.config import Config
from stored_waits import IN_MEMORY, start  # beside this file

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

pytestmark = IN_MEMORY

HERE = "http://127.0.0.1:9"


def client_of(service="kinesis", **arguments):
    return boto3.client(service, **{"region_name": "eu-west-1", **arguments})


@pytest.fixture(autouse=True)
def no_bundle(monkeypatch):
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def made_again(store):
    """`made_again(client)`: the client that a worker makes for a stored wait of this one."""

    def make_again(client, waiter="stream_exists", **parameters):
        made = []

        def make(description):
            assert "hidden" not in repr(description)
            made.append(description.make())
            raise operations.OperationError("unsupported", "the test has its client")

        store.start(client, waiter, max_wait=60, **parameters or {"StreamName": "orders"})
        store.work(until_idle=True, make_client=make)
        return made[0]

    return make_again


@pytest.mark.parametrize("endpoint", [HERE, None])
def test_region_and_endpoint(made_again, endpoint):
    again = made_again(client_of(endpoint_url=endpoint))
    own = endpoint or "https://kinesis.eu-west-1.amazonaws.com"
    assert (again.meta.region_name, again.meta.endpoint_url) == ("eu-west-1", own)


@pytest.mark.parametrize(("name", "value"), [
    ("connect_timeout", 7),
    ("read_timeout", 8),
    ("max_pool_connections", 3),
    ("retries", {"mode": "standard", "total_max_attempts": 2}),
    ("tcp_keepalive", True),
    ("inject_host_prefix", False),
    ("user_agent_extra", "deploy/7"),
    ("user_agent_appid", "deploy"),
    ("use_dualstack_endpoint", True),
    ("use_fips_endpoint", True),
    ("signature_version", botocore.UNSIGNED),
    ("signature_version", "v4a"),
])  # fmt: skip
def test_settings_of_the_client(made_again, name, value):
    client = client_of(config=Config(**{name: value}))
    again = made_again(client)
    assert getattr(again.meta.config, name) == value
    assert again.meta.endpoint_url == client.meta.endpoint_url


def test_settings_of_s3(made_again):
    config = Config(s3={"addressing_style": "path"}, signature_version="s3")
    again = made_again(client_of("s3", config=config), "bucket_exists", Bucket="b")
    assert again.meta.config.s3["addressing_style"] == "path"
    assert again.meta.config.signature_version == "s3"


def test_nothing_secret_is_stored(open_store, made_again, tmp_path):
    file = tmp_path / "secrets.db"
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    config = Config(proxies={"http": "http://user:hidden-word@127.0.0.1:8"})
    url = "http://user:hidden-word@127.0.0.1:9"
    client = client_of(endpoint_url=url, config=config, **dict.fromkeys(names, "hidden-key"))
    store = open_store(str(file))
    start(store, client)
    store.close()
    assert b"127.0.0.1:9" in file.read_bytes()
    assert b"hidden" not in file.read_bytes()
    assert made_again(client).meta.endpoint_url == HERE


def test_a_profile_is_remembered(store, active, stream, tmp_path, monkeypatch):
    config = tmp_path / "config"
    config.write_text("[profile there]\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    bwp.install()
    start(store, boto3.session.Session(profile_name="there").client("kinesis"))
    made = []
    store.work(until_idle=True, make_client=lambda each: made.append(each) or stream(active))
    assert (made[0].profile, made[0].region) == ("there", "us-east-1")


LACKS = [("service", "UnknownServiceError"), ("profile", "ProfileNotFound")]


@pytest.mark.parametrize(("name", "problem"), LACKS)
def test_what_the_worker_lacks_is_named(store, stream, active, name, problem):
    client = stream(active)
    operation = start(store, client)

    def make(description):
        return dataclasses.replace(description, **{name: "newer"}).make()

    store.work(until_idle=True, make_client=make)
    error = operation.metadata["last_error"]
    assert (error["code"], problem in error["detail"]) == ("unsupported", True)
    # Once a worker has it, the wait goes on.
    store.work(until_idle=True, make_client=lambda _: client)
    assert store.get(operation.path).result(10).attempts == 1


# --- certificates -----------------------------------------------------------------------------


@pytest.fixture
def verified(store, tmp_path, monkeypatch):
    """`verified(**arguments)`: `verify=` of the client that a worker in another folder makes."""
    (tmp_path / "bundle.pem").touch()
    monkeypatch.chdir(tmp_path)

    def verify_of(**arguments):
        start(store, client_of(endpoint_url=HERE, **arguments))
        monkeypatch.chdir("/")
        cannot = botocore.exceptions.DataNotFoundError(data_path="kinesis")
        with mock.patch.object(boto3.session.Session, "client", side_effect=cannot) as made:
            store.work(until_idle=True)
        return made.call_args.kwargs["verify"]

    return verify_of


@pytest.mark.parametrize("verify", ["bundle.pem", False, None])
def test_a_client_verifies_as_the_one_before(verified, tmp_path, verify):
    assert verified(verify=verify) == (str(tmp_path / verify) if verify else verify)


@pytest.mark.parametrize("name", ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"])
def test_the_bundle_of_the_environment_is_the_workers(verified, tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, str(tmp_path / "bundle.pem"))
    assert verified() is None


def test_a_missing_bundle_is_named(store, tmp_path):
    bundle = tmp_path / "bundle.pem"
    bundle.touch()
    operation = start(store, client_of(endpoint_url=HERE, verify=str(bundle)))
    bundle.unlink()
    store.work(until_idle=True)
    error = operation.metadata["last_error"]
    assert (error["code"], str(bundle) in error["detail"]) == ("unsupported", True)


def test_settings_that_are_no_object_are_unreadable(store, stream):
    operation = start(store, stream())
    make = lambda each: dataclasses.replace(each, settings="[1]").make()  # noqa: E731
    store.work(until_idle=True, make_client=make)
    assert operation.exception(10).code == "unreadable"
