"""The private names of botocore, boto3 and urllib3 that this package leans on.

Each test is named for one of them, so that a release that changes it is told by name.
"""

import importlib
import inspect
import time
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.awsrequest
import botocore.session
import botocore.waiter
import pytest
from botocore.credentials import RefreshableCredentials
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.stub import Stubber
from botocore.tokens import DeferredRefreshableToken
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter
from case_tables import tabled
from urllib3.connection import HTTPConnection

from boto_waiters_plus.calls import private_names

VERSION = tuple(int(part) for part in botocore.__version__.split(".")[:2])
KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
CONFIG = {"operation": "HeadBucket", "delay": 5, "maxAttempts": 20, "acceptors": []}


def test_unique_id_handlers_of_a_stubbed_client():
    client = boto3.client("s3", region_name="us-east-1")
    assert not private_names.is_stubbed(client)
    with Stubber(client):
        assert "boto_stubber" in client.meta.events._emitter._unique_id_handlers
        assert private_names.is_stubbed(client)
    assert not private_names.is_stubbed(client)


def test_operation_method_of_a_waiter():
    def operation(**_):
        return {}

    waiter = Waiter("w", SingleWaiterConfig(CONFIG), operation)
    assert waiter._operation_method is operation
    assert private_names.call_of_waiter(waiter) is operation
    replacement = waiter._operation_method = lambda **_: {"replaced": True}
    assert private_names.call_of_waiter(waiter) is replacement


def test_client_method_of_a_normalized_operation_method():
    client = boto3.client("s3")
    operation = client.get_waiter("bucket_exists")._operation_method
    assert type(operation) is NormalizedOperationMethod
    assert operation._client_method == client.head_bucket
    assert private_names.client_method_of(operation).__self__ is client


@pytest.mark.skipif(VERSION < (1, 41), reason="its models do not mark what only reads")
def test_operation_model_of_an_operation():
    model = boto3.client("lambda").meta.service_model
    assert private_names.is_marked_readonly(model.operation_model("GetFunction"))
    assert not private_names.is_marked_readonly(model.operation_model("CreateFunction"))


def test_client_method_of_anything_else_is_none():
    class Own(NormalizedOperationMethod):
        pass

    assert private_names.client_method_of(print) is None
    assert private_names.client_method_of(Own(print)) is None


def test_config_of_a_single_waiter_config():
    config = SingleWaiterConfig(CONFIG)
    assert config._config is CONFIG
    assert private_names.model_of_config(config) == CONFIG
    assert (config.delay, config.max_attempts) == (5, 20)
    assert private_names.model_of_config(object()) is None
    config.delay = 1
    assert private_names.model_of_config(config)["delay"] == 5


def test_waiter_config_of_a_client():
    client = boto3.client("s3")
    own = client.get_waiter("bucket_exists").config
    assert client._get_waiter_config()["waiters"]["BucketExists"] is own._config
    assert private_names.is_botocores_model(client, own)
    assert not private_names.is_botocores_model(client, SingleWaiterConfig(dict(own._config)))
    assert not private_names.is_botocores_model(None, own)
    assert not private_names.is_botocores_model(client, object())


def test_session_of_a_boto3_session():
    session = boto3.Session()
    assert isinstance(session._session, botocore.session.Session)
    assert private_names.botocore_session_of(session) is session._session
    assert private_names.botocore_session_of(session._session) is session._session
    assert private_names.botocore_session_of(object()) is None


def test_context_and_feature_ids():
    if VERSION < (1, 38):
        pytest.skip("this botocore has no marks in its user agent")
    context = importlib.import_module("botocore.context")
    useragent = importlib.import_module("botocore.useragent")
    assert private_names.start_as_current_context is context.start_as_current_context
    assert private_names.register_feature_id is useragent.register_feature_id
    with private_names.marked_as_waiter():
        assert context.get_context().features == {"B"}
    assert context.get_context() is None


def test_waiter_module_has_its_own_time():
    """Tests patch `botocore.waiter.time`; the drop-in path sleeps by it."""
    assert botocore.waiter.time is time


@tabled("code", "status", "expected")
def test_retries_standard_tells_retryable_errors(code, status, expected):
    response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    error = ClientError(response, "X")
    assert private_names.is_retryable(error, response) == tuple(expected)


def test_retries_standard_tells_retryable_transport_errors():
    assert private_names.retries is not None
    assert private_names.is_retryable(ReadTimeoutError(endpoint_url="u"), None) == (True, False)
    assert private_names.is_retryable(ValueError("x"), None) == (False, False)


def test_stock_wait_is_a_function_of_the_class():
    assert inspect.isfunction(botocore.waiter.Waiter.__dict__["wait"])
    assert inspect.isfunction(botocore.session.Session.__dict__["create_client"])


# --- of bounded calls ---------------------------------------------------------------------------


def test_new_conn_of_urllib3s_connection():
    assert inspect.isfunction(HTTPConnection.__dict__["_new_conn"])
    assert list(inspect.signature(HTTPConnection._new_conn).parameters) == ["self"]


def test_exponential_backoff_config():
    backoff = private_names.retries.ExponentialBackoff
    scale = private_names.non_throttling_scale("dynamodb")
    if hasattr(backoff, "_DEFAULT_BACKOFF_CONFIG"):
        assert "non_throttling_base_scale" in backoff._DEFAULT_BACKOFF_CONFIG
        assert scale == backoff._SERVICE_BACKOFF_CONFIG["dynamodb"]["non_throttling_base_scale"]
    else:
        assert VERSION < (1, 44), "ExponentialBackoff has lost its configuration"
        assert scale == 1
    assert 0 < private_names.non_throttling_scale("s3") <= 1


def test_default_attempts():
    assert private_names.retries.DEFAULT_MAX_ATTEMPTS == private_names.default_attempts("s3") == 3
    assert private_names.default_attempts("dynamodb") >= 3
    assert VERSION < (1, 44) or private_names.retries._SERVICE_MAX_ATTEMPTS["dynamodb"] == 4


def test_refresh_check():
    client = boto3.client("s3", region_name="us-east-1", **KEYS)
    assert private_names.refresh_check_of(client) is None
    credentials = client._request_signer._credentials = mock.Mock()
    assert private_names.refresh_check_of(client) is credentials.refresh_needed
    assert inspect.isfunction(RefreshableCredentials.refresh_needed)
    assert private_names.refresh_check_of(object()) is None


def test_refresh_check_of_a_bearer_token():
    client = boto3.client("codecatalyst", region_name="us-east-1", **KEYS)
    assert private_names.refresh_check_of(client) is None
    client._request_signer._auth_token = token = DeferredRefreshableToken("test", lambda: None)
    assert private_names.refresh_check_of(client)() == "mandatory"
    others = boto3.client("s3", region_name="us-east-1", **KEYS)
    others._request_signer._auth_token = token
    assert private_names.refresh_check_of(others) is None


def test_socket_maker_of_botocores_connections():
    made = []

    class Connection(private_names.SocketMaker, botocore.awsrequest.AWSHTTPSConnection):
        def make_socket(self, new_socket):
            made.append(new_socket)
            raise ConnectionResetError

    connection = Connection("127.0.0.1", port=9)
    assert private_names.asks_socket_maker(connection)
    with pytest.raises(ConnectionResetError):
        connection.connect()
    assert len(made) == 1
    assert not private_names.asks_socket_maker(private_names.SocketMaker())


def test_pool_classes_of_one_client():
    session = private_names.http_session_of(boto3.client("s3", region_name="us-east-1", **KEYS))
    pools = private_names.pool_classes_of(session)
    assert set(pools) == {"http", "https"}
    assert all(inspect.isclass(pool) and hasattr(pool, "ConnectionCls") for pool in pools.values())
    assert session._manager.pool_classes_by_scheme is pools
    assert private_names.http_session_of(object()) is None
    assert private_names.pool_classes_of(None) is None
    of_a_future_botocore = SimpleNamespace(_pool_classes_by_scheme=tuple(pools))
    assert private_names.pool_classes_of(of_a_future_botocore) is None


@pytest.mark.parametrize("verify", [None, False, "bundle.pem"])
def test_verify_of_an_http_session(verify, monkeypatch):
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    client = boto3.client("s3", region_name="us-east-1", verify=verify, **KEYS)
    expected = True if verify is None else verify
    assert private_names.http_session_of(client)._verify == expected
    assert private_names.verification_of(client) == expected
    assert private_names.verification_of(None) is True
