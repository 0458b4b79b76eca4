"""The private names of botocore, boto3 and urllib3 that this package leans on.

Each test is named for one of them, so that a release that changes it is told by name.
"""

import importlib
import inspect
import traceback
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.awsrequest
import botocore.session
import pytest
from botocore import credentials
from botocore.config import Config
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.parsers import ResponseParserError
from botocore.stub import Stubber
from botocore.tokens import DeferredRefreshableToken
from botocore.waiter import NormalizedOperationMethod, SingleWaiterConfig, Waiter
from calls.support import respond
from service.roles import refusal, sending

from boto_waiters_plus.calls import private_names
from boto_waiters_plus.common.process import frames_of

VERSION = tuple(int(part) for part in botocore.__version__.split(".")[:2])
CONFIG = {"operation": "HeadBucket", "delay": 5, "maxAttempts": 20, "acceptors": []}


@pytest.fixture
def client():
    return boto3.client("cloudformation")


def refreshable(refresh=None, **options):
    return credentials.RefreshableCredentials("a", "b", "c", None, refresh, "test", **options)


def test_unique_id_handlers_of_a_stubbed_client(client):
    assert not private_names.is_stubbed(client)
    with Stubber(client):
        assert private_names.is_stubbed(client)
    assert not private_names.is_stubbed(client)


def test_operation_method_of_a_waiter():
    waiter = Waiter("w", SingleWaiterConfig(CONFIG), print)
    assert private_names.call_of_waiter(waiter) is print
    waiter._operation_method = repr
    assert private_names.call_of_waiter(waiter) is repr


def test_client_method_of_a_normalized_operation_method():
    class Own(NormalizedOperationMethod):
        pass

    client = boto3.client("s3")
    operation = client.get_waiter("bucket_exists")._operation_method
    assert private_names.client_method_of(operation) == client.head_bucket
    assert private_names.client_method_of(print) is None
    assert private_names.client_method_of(Own(print)) is None


@pytest.mark.skipif(VERSION < (1, 41), reason="its models do not mark what only reads")
def test_operation_model_of_an_operation():
    model = boto3.client("lambda").meta.service_model
    assert private_names.is_marked_readonly(model.operation_model("GetFunction"))
    assert not private_names.is_marked_readonly(model.operation_model("CreateFunction"))


def test_config_of_a_single_waiter_config():
    config = SingleWaiterConfig(CONFIG)
    assert private_names.model_of_config(config) is CONFIG
    config.delay = 1
    assert private_names.model_of_config(config)["delay"] == 5
    assert private_names.model_of_config(object()) is None


def test_waiter_config_of_a_client():
    client = boto3.client("s3")
    own = client.get_waiter("bucket_exists").config
    assert private_names.is_botocores_model(client, own)
    assert not private_names.is_botocores_model(client, SingleWaiterConfig(dict(own._config)))
    assert not private_names.is_botocores_model(None, own)
    assert not private_names.is_botocores_model(client, object())


def test_session_of_a_boto3_session():
    found = private_names.botocore_session_of(boto3.Session())
    assert isinstance(found, botocore.session.Session)
    assert private_names.botocore_session_of(found) is found
    assert private_names.botocore_session_of(object()) is None


@pytest.mark.skipif(VERSION < (1, 38), reason="it has no marks in its user agent")
def test_context_and_feature_ids():
    context = importlib.import_module("botocore.context")
    with private_names.marked_as_waiter():
        assert context.get_context().features == {"B"}
    assert context.get_context() is None


@pytest.mark.parametrize(("error", "is_transient", "is_throttle"), [
    (refusal("ThrottlingException"), True, True), (refusal("RequestTimeout"), True, False),
    (refusal("InternalFailure", status=500), True, False), (refusal("AccessDenied"), False, False),
    (ReadTimeoutError(endpoint_url="u"), True, False), (ValueError("x"), False, False),
])  # fmt: skip
def test_retries_standard_tells_retryable_errors(error, is_transient, is_throttle):
    response = None if isinstance(error, Exception) else error
    error = ClientError(response, "X") if response else error
    assert private_names.is_retryable(error, response) == (is_transient, is_throttle)


def test_retries_standard_tells_how_long_its_first_delay_is():
    error = ReadTimeoutError(endpoint_url="u")
    context = private_names.retries.RetryContext(attempt_number=1, caught_exception=error)
    longest = private_names.retries.ExponentialBackoff(random=lambda: 1.0).delay_amount(context)
    assert private_names.has_brief_delays() == (longest < 0.1)


# --- of bounded calls ---------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "most"), [("legacy", 5), ("standard", 3)])
@pytest.mark.usefixtures("sleeps")
def test_request_tells_how_often_it_is_sent(mode, most):
    client = boto3.client("s3", endpoint_url="http://x", config=Config(retries={"mode": mode}))
    found = []

    def note(request_dict, **_):
        found.append(private_names.most_attempts(request_dict))

    client.meta.events.register("needs-retry", note)
    respond(client, (503, b""))
    with pytest.raises(ClientError):
        client.list_buckets()
    assert found[1:] == [most] * (most - 1)
    assert private_names.most_attempts({"context": {}}) is None


def test_refresh_needed_of_credentials(client):
    assert private_names.refresh_of(client) is None
    client._request_signer._credentials = own = refreshable()
    assert private_names.refresh_of(client) == (own.refresh_needed, own.get_frozen_credentials)
    assert private_names.refresh_of(object()) is None


@pytest.mark.skipif(VERSION < (1, 36), reason="its credentials tell no account")
def test_account_id_of_credentials(client):
    assert private_names.account_of(client) is None
    for own in (credentials.Credentials("a", "b", account_id="1"), refreshable(account_id="1")):
        client._request_signer._credentials = own
        assert private_names.account_of(client) == "1"
    assert private_names.account_of(object()) is None


def test_should_refresh_of_a_bearer_token(client):
    with_token = boto3.client("codecatalyst")
    assert private_names.refresh_of(with_token) is None
    token = DeferredRefreshableToken("test", lambda: None)
    with_token._request_signer._auth_token = client._request_signer._auth_token = token
    assert private_names.refresh_of(with_token).is_needed()
    assert private_names.refresh_of(client) is None


@pytest.mark.skipif(VERSION < (1, 40), reason="it may have none")
def test_request_credentials_of_the_signer():
    assert private_names.signs_with_given_credentials()


@pytest.mark.parametrize("mfa", [{}, {"SerialNumber": "me"}])
def test_prompter_of_what_assumes_a_role(client, mfa):
    def fetcher_of(source, arguments):
        assume_role = credentials.AssumeRoleCredentialFetcher
        return assume_role(None, source, "role", arguments, mfa_prompter=input)

    def prompters(refresh):
        client._request_signer._credentials = refreshable(refresh)
        return list(private_names.prompters_of(client))

    fetcher = fetcher_of(refreshable(), mfa)
    by_serial = credentials.create_mfa_serial_refresher(fetcher.fetch_credentials)
    for refresh in (fetcher.fetch_credentials, by_serial):
        for fetch in (refresh, fetcher_of(refreshable(refresh), {}).fetch_credentials):
            assert prompters(fetch) == [(fetcher, "_mfa_prompter")] * bool(mfa)
    assert [prompters(other) for other in (None, mock.Mock(), print)] == [[], [], []]
    assert list(private_names.prompters_of(object())) == []


def test_new_conn_of_urllib3s_connection():
    class Connection(private_names.SocketMaker, botocore.awsrequest.AWSHTTPSConnection):
        def make_socket(self, new_socket):
            raise ConnectionResetError

    connection = Connection("127.0.0.1", port=9)
    assert private_names.asks_socket_maker(connection)
    with pytest.raises(ConnectionResetError):
        connection.connect()
    assert not private_names.asks_socket_maker(private_names.SocketMaker())


def test_pool_classes_by_scheme_of_a_client(client):
    session = private_names.http_session_of(client)
    pools = private_names.pool_classes_of(session)
    assert set(pools) == {"http", "https"}
    assert all(inspect.isclass(pool) and hasattr(pool, "ConnectionCls") for pool in pools.values())
    assert session._manager.pool_classes_by_scheme is pools
    assert private_names.http_session_of(object()) is None
    of_a_future_botocore = SimpleNamespace(_pool_classes_by_scheme=tuple(pools))
    assert private_names.pool_classes_of(of_a_future_botocore) is None


@pytest.mark.parametrize("verify", [None, False, "bundle.pem"])
def test_verify_of_an_http_session(verify, monkeypatch):
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    client = boto3.client("s3", verify=verify)
    assert private_names.verification_of(client) == (True if verify is None else verify)
    assert private_names.verification_of(None) is True


# --- of frames ----------------------------------------------------------------------------------


@pytest.fixture
def sent_twice(monkeypatch):
    """A client, and the frames of its call whose second answer cannot be read."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    client = boto3.client("cloudformation")
    sending(client, (503, b"<Response/>"), (200, b"<cut off"))
    with mock.patch("time.sleep"), pytest.raises(ResponseParserError) as caught:
        client.describe_stacks()
    return client, frames_of(caught.value)


def test_locals_of_make_api_call(sent_twice):
    client, frames = sent_twice
    [frame] = filter(private_names.makes_call, frames)
    assert private_names.call_in(frame) == (client, "DescribeStacks")


@pytest.mark.parametrize("event", ["before-call", "before-send"])
def test_event_name_of_emitters(client, event):
    client.meta.events.register(event, lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        client.describe_stacks()
    frames = frames_of(caught.value)
    [*_, found] = filter(None, map(private_names.event_in, frames))
    assert found == f"{event}.cloudformation.DescribeStacks"
    traceback.clear_frames(caught.tb)
    assert private_names.event_in(frames[-2]) == "unknown"


def test_attempts_of_send_request(sent_twice):
    assert [*filter(None, map(private_names.attempts_in, sent_twice[1]))] == [2]


def test_response_of_a_parser(sent_twice):
    [response] = filter(None, map(private_names.response_in, sent_twice[1]))
    assert (response["status_code"], response["body"]) == (200, b"<cut off")


def test_get_auth_instance_of_the_signer(client):
    client._request_signer._credentials = mock.Mock(get_frozen_credentials=lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        client.describe_stacks()
    assert any(map(private_names.gets_credentials, frames_of(caught.value)))
