"""Messages that no other test produces, each in one line: the call and what it says."""

import importlib
import json
import logging
import os
import pickle
import re
import sys
import threading
import time
from types import SimpleNamespace

import boto3
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.session import get_session
from case_tables import tabled
from moto import mock_aws

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions, idempotency, operations, typed
from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.client_options import service_model
from boto_waiters_plus.cli.demo.server import MotoServer
from boto_waiters_plus.cli.exit_codes import CannotRunError
from boto_waiters_plus.definitions.idl import parse_idl
from boto_waiters_plus.engine.matching import UNUSABLE
from boto_waiters_plus.engine.wait_event import WaitEvent
from boto_waiters_plus.operations.error_codes import CODES, problem
from boto_waiters_plus.operations.sealing import Seal
from boto_waiters_plus.operations.store import find_operation
from boto_waiters_plus.operations.stored_wait import (
    ClientDescription,
    WaitMaker,
    definition_from_json,
    reopened,
)
from boto_waiters_plus.service.tokens import new_token, token_member
from boto_waiters_plus.signals import SqsSignal
from boto_waiters_plus.validation import check
from boto_waiters_plus.wait.wait_log import WaitLog

URL = "https://sqs.us-east-1.amazonaws.com/1/q"
ENDED = {"machine": "{}", "elapsed": 2, "attempts": 1}
IMAGE = {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1}


def token_of(**shape):
    """The token member of an operation whose token has this shape."""
    member = {"shape": "Token", "idempotencyToken": True}
    model = {
        "metadata": {"serviceId": "Acme", "endpointPrefix": "acme"},
        "operations": {"MakeThing": {"name": "MakeThing", "input": {"shape": "In"}}},
        "shapes": {
            "In": {"type": "structure", "members": {"ClientToken": member}},
            "Token": {"type": "string", **shape},
        },
    }
    return token_member(ServiceModel(model, "acme").operation_model("MakeThing"))


def session_without_models():
    session = get_session()
    loader = Loader(extra_search_paths=[os.devnull], include_default_search_paths=False)
    session.register_component("data_loader", loader)
    return session


def described(**changes):
    facts = {"service": "s3", "region": "us-east-1", "profile": None, "endpoint": "https://x"}
    return ClientDescription(**{**facts, "settings": "{}", **changes})


def resumed(client, **keywords):
    record = {"service": "sns", "operation": "Publish", "parameters": {}, "max_wait": 9}
    return idempotency.resume_call(client, record, **keywords)


def refused(error):
    def decrypt(_):
        raise error

    return decrypt


@pytest.fixture
def ec2(stock_botocore):
    return boto3.client("ec2")


# fmt: off
ERRORS = [
    (AttributeError, "module 'boto_waiters_plus' has no attribute 'nothing'",
     lambda _: bwp.nothing),
    (AttributeError, "module 'boto_waiters_plus.operations' has no attribute 'nothing'",
     lambda _: operations.nothing),
    (ValueError, "ClientToken takes no UUID in any form; pass a token of your own",
     lambda _: new_token(token_of(pattern="^x$"))),
    (TypeError, "wait_for: show_parameters is for waiters; give a label",
     lambda _: conditions.wait_for(int, max_wait=1, show_parameters=False)),
    (TypeError, "wait_for: converted_delays is for waiters; give min_delay and max_delay",
     lambda _: conditions.wait_for(int, max_wait=1, converted_delays="aws")),
    (TypeError, "in_store and path must be given together: they tell where the call is kept",
     lambda ec2: resumed(ec2, path="calls/1")),
    (ValueError, "the client is for the service ec2, but the call was made for sns", resumed),
    (TypeError, "service must be text, not int",
     lambda _: operations.Store(":memory:").list(service=5)),
    (LookupError, "operations/1 is in the memory of another process",
     lambda _: find_operation(None, "closed", "operations/1")),
    (operations.OperationError, "a client of nothing cannot be made: UnknownServiceError",
     lambda _: described(service="nothing").make()),
    (operations.OperationError, "its parameters cannot be decrypted: KeyError",
     lambda _: Seal(None, refused(KeyError())).opened("encrypted:", "parameters")),
    (operations.OperationError, "it cannot be read: KeyError",
     lambda _: WaitMaker(int, Seal(None, None)).wait_of({})),
    (ValueError, "there is no time left: give max_wait",
     lambda _: reopened({**ENDED, "policy": '{"max_wait":1}'}, None, None)),
    (operations.OperationError, "its definition is malformed: 'name' is missing",
     lambda _: definition_from_json("{}")),
    (operations.OperationError, "its definition cannot be read: JSONDecodeError",
     lambda _: definition_from_json("")),
    (TypeError, "a signal belongs to one process: it cannot be pickled or copied",
     lambda _: pickle.dumps(SqsSignal(URL, client=boto3.client("sqs")))),
    (bwp.WaiterDefinitionError, r"\$version must be a string",
     lambda _: parse_idl("$version: 2\nnamespace a", source="file")),
]
# fmt: on


@pytest.mark.parametrize(("kind", "text", "call"), ERRORS, ids=[text for _, text, _ in ERRORS])
def test_error_says(kind, text, call, ec2):
    with pytest.raises(kind, match=text):
        call(ec2)


def test_texts_of_values():
    assert token_of(min=3).problem_of("x") == "must have at least 3 characters, not 1"
    assert repr(UNUSABLE) == "<not evaluable>"
    [event] = check("")
    assert event.message == 'the path is empty; pass "." for the working directory'


def test_titles_of_error_codes():
    titles = {code: problem(code, "")["title"] for code in CODES}
    assert titles == {
        "failed": "The wait reached a failure state, or its call failed",
        "timed_out": "The time of the wait is used up",
        "attempts_used_up": "The attempts of the wait are used up",
        "outcome_unknown": "The call got no answer, and may have been executed",
        "cancelled": "The wait was cancelled",
        "invalid_parameters": "botocore refused the parameters of the call",
        "credentials": "There are no credentials for the call, or they are incomplete",
        "unsupported": "The worker's botocore lacks the service or the operation of the wait",
        "unreadable": "What is stored of the wait cannot be read",
        "internal": "The wait ended in an unexpected error",
        "invalid_argument": "The request is wrong",
        "unauthenticated": "The request has no valid token",
        "not_found": "There is no such operation, or it has expired",
        "method_not_allowed": "The resource has no such method",
        "conflict": "An exclusive operation of this kind is open",
        "request_mismatch": "The request id was used for another request",
        "too_large": "The request is too large",
        "attempt_failed": "An attempt ended in a transient error, and the wait went on",
        "unavailable": "The store does not answer",
    }


@pytest.mark.parametrize(
    ("package", "reloaded", "use", "text"),
    [
        (
            "sqlalchemy",
            "boto_waiters_plus.operations.sql",
            lambda: operations.Store("waits.db"),
            r"a store in a database requires sqlalchemy; install it with: pip .*\[store\]'",
        ),
        (
            "psycopg",
            "psycopg",
            lambda: operations.Store("postgresql://host/name"),
            r"a store on PostgreSQL requires psycopg; .* 'boto-waiters-plus\[store-postgresql\]'",
        ),
        (
            "opentelemetry",
            "boto_waiters_plus.telemetry",
            lambda: importlib.import_module("boto_waiters_plus.telemetry"),
            r"telemetry needs OpenTelemetry: pip install 'boto-waiters-plus\[otel\]'",
        ),
        (
            "distributed",
            "boto_waiters_plus.fleet",
            lambda: importlib.import_module("boto_waiters_plus.fleet"),
            r"fleet requires distributed; install it with: .* 'boto-waiters-plus\[fleet\]'",
        ),
    ],
)
def test_a_missing_extra_is_named(package, reloaded, use, text, monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    for name in [each for each in sys.modules if f"{each}.".startswith(f"{reloaded}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=text):
        use()


def test_an_operation_of_the_parent_process_is_refused(stock_botocore, monkeypatch, answers):
    client = boto3.client("s3")
    answers(client, {"Error": {"Code": "404"}, "ResponseMetadata": {"HTTPStatusCode": 404}})
    operation = operations.start(client, "bucket_exists", max_wait=60, Bucket="b")
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(RuntimeError, match="belongs to the process that this one was forked"):
            operation.exception()
    operation.cancel()


# --- waits ------------------------------------------------------------------------------------


def test_an_empty_list_says_what_is_missing(ec2, answers, virtual_time):
    answers(ec2, {"Reservations": []})
    seen = []
    with pytest.raises(bwp.WaiterTimeoutError):
        bwp.wait_until(
            ec2, "instance_running", InstanceIds=["i-1"], max_wait=5, on_attempt=seen.append
        )
    assert {event.state for event in seen} == {"no reservation"}


def test_a_client_of_aiobotocore_has_another_function(stock_botocore, monkeypatch):
    monkeypatch.setattr("boto_waiters_plus.calls.client_kind.is_async", lambda _: True)
    with pytest.raises(TypeError, match="client is an aiobotocore client: use enable_async"):
        typed.s3.enable(boto3.client("s3"))


def test_a_call_that_takes_all_the_time_leaves_none_for_the_wait(ec2, answers, virtual_time):
    reply = {"Instances": [{"InstanceId": "i-1"}]}
    answers(ec2, lambda: virtual_time.advance(9) or reply)
    with pytest.raises(bwp.WaiterTimeoutError, match="the call took all of max_wait") as caught:
        idempotency.call_once(ec2.run_instances, max_wait=9, then_wait="InstanceRunning", **IMAGE)
    assert caught.value.call.response["Instances"] == reply["Instances"]


def test_a_sensitive_token_is_not_shown(stock_botocore, answers, virtual_time):
    client = boto3.client("chime-sdk-media-pipelines")
    answers(client, {"Error": {"Code": "500"}, "ResponseMetadata": {"HTTPStatusCode": 500}})
    ends = {"SourceType": "ChimeSdkMeeting", "SourceArn": "a", "SinkType": "S3Bucket"}
    with pytest.raises(idempotency.CallTimeoutError, match="pass its token to call_once") as caught:
        idempotency.call_once(client.create_media_capture_pipeline, max_wait=9, SinkArn="b", **ends)
    assert caught.value.token not in str(caught.value)


def test_no_thread_for_a_background_wait_is_an_error(stock_botocore, monkeypatch):
    def refused(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(RuntimeError, match="no thread can be started for a background wait"):
        operations.start(boto3.client("s3"), "bucket_exists", max_wait=9, Bucket="b")


def test_a_wait_without_a_label_is_logged_by_its_name(caplog):
    facts = {"kind": "success", "wait_id": 1, "waiter": "JobDone", "label": "", "service": None}
    caplog.set_level(logging.INFO, logger="boto_waiters_plus")
    WaitLog().write(WaitEvent(**facts, operation="job", attempt=2, elapsed=3.0))
    assert caplog.messages == ["Waiter JobDone succeeded (attempt 2, 3.0 s)"]


# --- the command --------------------------------------------------------------------------------


def command(capsys, *words):
    """Return the exit code and stderr of a command."""
    try:
        code = main(words)
    except SystemExit as error:
        code = error.code
    return code, capsys.readouterr().err


@tabled("words", "text")
def test_wrong_words_are_answered(words, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**30)
    code, said = command(capsys, *words.split())
    assert (code, text in said) == (2, True), said


def test_ctrl_c_tells_how_far_the_wait_came(stock_botocore, monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupted)
    with mock_aws():
        code, said = command(capsys, "s3", "bucket-exists", "--bucket=b", "--max-wait=9")
    assert code == 130
    assert re.search(r"s3 Bucket=b: interrupted after \d.\d s, last state seen: 404 \(1 att", said)


def test_words_of_a_worker_and_a_server(tmp_path, monkeypatch, capsys):
    store = ("--store", str(tmp_path / "waits.db"))
    code, said = command(capsys, "operations", "work", *store, "--until-idle")
    assert (code, "boto-wait operations: working on " in said) == (0, True)
    served = []
    run = lambda _, sockets: served.extend(each.getsockname()[1] for each in sockets)  # noqa: E731
    monkeypatch.setattr("uvicorn.Server.run", run)
    code, said = command(capsys, "operations", "serve", *store, "--port", "0")
    assert code == 0
    assert f"boto-wait operations: serving http://127.0.0.1:{served[0]}/#token=" in said
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, said = command(capsys, "operations", "serve", *store)
    assert (code, "serve requires starlette and uvicorn: pip install" in said) == (2, True)


def test_more_pages_are_named(tmp_path, stock_botocore, capsys):
    file = str(tmp_path / "waits.db")
    store = operations.Store(file)
    for bucket in ("a", "b"):
        client = boto3.client("s3")
        operations.start(client, "bucket_exists", max_wait=9, in_store=store, Bucket=bucket)
    store.close()
    code, said = command(capsys, "operations", "list", "--store", file, "--page-size", "1")
    assert code == 0
    assert re.search(r"^more: --page-token \S+$", said, re.MULTILINE)


def test_a_service_that_botocore_lacks_is_named():
    with pytest.raises(Exception, match="the installed botocore has no service 's3'"):
        service_model(session_without_models(), "s3", "service")


def test_missing_moto_names_the_extra(monkeypatch):
    # The demo drops variables of its process.
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setitem(sys.modules, "moto.server", None)
    extra = re.escape("pip install 'boto-waiters-plus[demo]'")
    with pytest.raises(CannotRunError, match=extra), MotoServer():
        pass


# --- stores that were changed -------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, stock_botocore):
    """A store with one operation; a client; `change(sql)`."""
    store = operations.Store(str(tmp_path / "waits.db"))
    client = boto3.client("s3")
    operation = operations.start(client, "bucket_exists", max_wait=9, in_store=store, Bucket="b")

    def change(sql):
        with store.backend.database.writing() as connection:
            connection.exec_driver_sql(sql)

    yield SimpleNamespace(store=store, client=client, operation=operation, change=change)
    store.close()


def test_a_state_that_cannot_be_read_is_an_error(kept):
    kept.change("update boto_waiters_operations set machine = '{}'")
    kept.store.work(until_idle=True, make_client=lambda _: kept.client)
    assert "its state cannot be read: ValueError" in json.dumps(kept.operation.to_json())


def test_a_time_that_is_over_is_not_resumed(kept):
    kept.store.cancel(kept.operation.path)
    kept.change("update boto_waiters_operations set elapsed = 10")
    with pytest.raises(ValueError, match="there is no time left: give max_wait"):
        kept.store.resume(kept.operation.path)


def until(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def test_a_store_that_breaks_is_logged(kept, answers, caplog):
    answers(kept.client, {"Error": {"Code": "404"}, "ResponseMetadata": {"HTTPStatusCode": 404}})
    stop = threading.Event()
    options = {"make_client": lambda _: kept.client, "stop_event": stop, "lease": 0.3}
    worker = threading.Thread(target=kept.store.work, kwargs=options)
    worker.start()
    until(lambda: kept.operation.metadata["attempts"])
    kept.change("alter table boto_waiters_leases rename to gone")
    until(lambda: "trying again" in caplog.text)
    stop.set()
    worker.join(60)
    assert "no such table: boto_waiters_leases; trying again" in caplog.text
    assert "no such table: boto_waiters_leases; others take over when the lease" in caplog.text
    kept.change("alter table gone rename to boto_waiters_leases")


def test_a_store_without_a_version_is_refused(kept, tmp_path):
    kept.change("delete from boto_waiters_schema")
    with pytest.raises(operations.StoreError, match="it has no schema version"):
        operations.Store(str(tmp_path / "waits.db")).list()
