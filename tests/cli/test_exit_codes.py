"""The exit codes of `boto-wait`: the table of docs/command.md, for each command that waits."""

import contextlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from botocore import exceptions as botocore
from moto import mock_aws
from moto.server import ThreadedMotoServer

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.exit_codes import (
    MEANINGS,
    OF_A_WAIT,
    Terminated,
    common_exit_code,
    ended_by_sigterm,
    exit_code,
    sighup_as_sigterm,
)
from boto_waiters_plus.engine.acceptors import MatchedAcceptor

PAGE = Path(__file__).parents[2] / "docs/command.md"

REFUSED = botocore.ClientError({"Error": {"Code": "AccessDenied"}}, "HeadBucket")


def failed(cause=None, **facts):
    return bwp.WaiterFailedError("W", "failed", last_exception=cause, **facts)


def many(*errors):
    return bwp.WaitersError("W", "some failed", errors=dict(enumerate(errors)))


TIMEOUT = bwp.WaiterTimeoutError("W", "timed out")
ATTEMPTS = bwp.WaiterAttemptsError("W", "attempts used up")
MATCHED = {"acceptor": MatchedAcceptor(0, "failure when p is F")}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (botocore.ParamValidationError(report="Missing"), 2),
        (TIMEOUT, 124),
        (ATTEMPTS, 124),
        (botocore.NoCredentialsError(), 253),
        (botocore.PartialCredentialsError(provider="env", cred_var="key"), 253),
        (botocore.NoRegionError(), 253),
        (botocore.ProfileNotFound(profile="p"), 253),
        (failed(botocore.CredentialRetrievalError(provider="p", error_msg="m")), 253),
        (failed(botocore.UnauthorizedSSOTokenError()), 253),
        (failed(REFUSED), 254),
        (REFUSED, 254),
        (failed(REFUSED, **MATCHED), 255),
        (failed(), 255),
        (failed(botocore.EndpointConnectionError(endpoint_url="u")), 255),
        (bwp.WaiterCancelledError("W", "cancelled"), 255),
        (many(TIMEOUT, ATTEMPTS), 124),
        (many(failed(REFUSED), failed(REFUSED)), 254),
        (many(TIMEOUT, failed(REFUSED)), 255),
        (RuntimeError(), 255),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_each_error_has_its_code(error, code):
    assert exit_code(error) == code


@pytest.mark.parametrize(
    ("codes", "code"),
    [([], 0), ([0, 0], 0), ([0, 124, 124], 124), ([124, 254], 255), ([253, 0], 253)],
)
def test_several_waits_have_the_code_their_failures_share(codes, code):
    assert common_exit_code(codes) == code


def test_page_and_help_state_all_codes(capsys):
    table = PAGE.read_text().partition("| exit code | meaning |")[2].partition("\n\n")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()[2:]]
    assert [int(code) for code, _ in rows] == sorted(MEANINGS)
    for words in (["s3", "bucket-exists"], ["begin"], ["operations"]):
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        assert " ".join(OF_A_WAIT.split()) in " ".join(capsys.readouterr().out.split())


# --- commands -----------------------------------------------------------------------------------

BUCKET = "s3 bucket-exists --max-wait 9 --bucket"
STATUS = "s3 get-bucket-versioning --max-wait 9 --bucket my-bucket"


@pytest.fixture
def aws(monkeypatch):
    with mock_aws():
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket="my-bucket")
        configuration = {"Status": "Suspended"}
        s3.put_bucket_versioning(Bucket="my-bucket", VersioningConfiguration=configuration)
        yield


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (f"{BUCKET} my-bucket", 0),
        (f"{BUCKET} none", 124),
        (f"{BUCKET} none --max-attempts 2", 124),
        (f"{STATUS} --until Enabled --failure Suspended", 255),
        (f"{STATUS} --until Enabled --bucket none", 254),
        (f"{BUCKET} my-bucket --profile none", 253),
        ("s3 bucket-exists --max-wait 9 --each bucket none nothing", 124),
        ("s3 bucket-exists --max-wait 9", 2),
        ("begin s3 delete-bucket --allow-repeat --max-wait 9 --bucket none", 254),
        ("begin s3 create-bucket --max-wait 9 --bucket new-bucket --allow-repeat", 0),
        (
            "begin s3 create-bucket --max-wait 9 --bucket new-bucket --allow-repeat --profile none",
            253,
        ),
    ],
)
def test_commands_exit_with_the_code_of_the_end(words, code, wait):
    assert wait(*shlex.split(words))[0] == code


@pytest.mark.usefixtures("aws")
def test_waits_that_fail_in_different_ways_exit_with_255(wait, monkeypatch):
    lines = [{"Bucket": "none"}, {"Bucket": "my-bucket"}]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(map(json.dumps, lines))))
    ends = "--until Enabled --failure Suspended --retry-on-error NoSuchBucket"
    words = f"s3 get-bucket-versioning {ends} --max-wait 9 --stdin --output json"
    code, out, _ = wait(*words.split())
    outcomes = {json.loads(line)["outcome"] for line in out.splitlines()}
    assert (code, outcomes) == (255, {"timed out", "failed"})


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("wait_until(s3, 'bucket_exists', Bucket='my-bucket', max_wait=9)", 0),
        ("wait_until(s3, 'bucket_exists', Bucket='none', max_wait=9)", 124),
        ("s3.get_waiter('bucket_exists').wait(Bucket='none')", 124),
        ("s3.head_bucket(Bucket='none')", 254),
        ("s3.head_bucket()", 2),
        ("import sys; sys.exit(7)", 7),
    ],
)
@pytest.mark.usefixtures("aws")
def test_script_exits_with_the_code_of_its_error(script, code, wait, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(sys, "path", [*sys.path])
    start = "import boto3\nfrom boto_waiters_plus import wait_until\ns3 = boto3.client('s3')\n"
    (tmp_path / "script.py").write_text(start + script)
    try:
        found, _, err = wait("run", str(tmp_path / "script.py"))
    except SystemExit as ended:
        found, err = ended.code, ""
    assert found == code
    assert ("Traceback" in err) == (code in (2, 124, 254))


@pytest.mark.parametrize(
    ("replies", "code"),
    [
        ([{"Status": "Enabled"}], 0),
        ([{"Status": "Suspended"}], 255),
        ([REFUSED], 254),
        ([{"Status": "none"}], 124),
    ],
)
def test_stored_wait_has_the_same_code(replies, code, answers, tmp_path, capsys):
    client = boto3.client("s3")
    answers(client, *replies)
    states = {"path": "Status", "success": ["Enabled"], "failure": ["Suspended"]}
    waiter = bwp.WaiterDefinition.from_states("Versioned", "GetBucketVersioning", **states)
    url = str(tmp_path / "waits.db")
    with contextlib.closing(operations.Store(url)) as store:
        path = store.start(client, waiter, max_wait=0.3, min_delay=0.1, Bucket="b").path
        store.work(until_idle=True, make_client=lambda *_, **__: client)
    assert main(["operations", "wait", path, "--store", url]) == code
    assert json.loads(capsys.readouterr().out)["done"] is True


def test_an_unexpected_error_is_no_problem_of_check(monkeypatch, capsys):
    monkeypatch.setattr("boto_waiters_plus.cli.listing.run", lambda _: 1 / 0)
    assert main(["list"]) == 255
    assert "ZeroDivisionError" in capsys.readouterr().err


# --- processes ----------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "boto_waiters_plus.cli"]


@pytest.fixture(scope="module")
def endpoint():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    server.stop()


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM ends a process at once there")
@pytest.mark.parametrize("given", [["--bucket", "a"], ["--each", "bucket", "a", "b"]])
def test_sigterm_gives_the_outcome_so_far(given, endpoint):
    words = ["s3", "bucket-exists", *given, "--max-wait", "5m", "--output", "json"]
    process = subprocess.Popen(
        [*COMMAND, *words, "--endpoint-url", endpoint],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert "404, attempt 1" in process.stderr.readline()
        process.terminate()
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 143
    outcomes = [json.loads(line)["outcome"] for line in out.splitlines()]
    assert outcomes == ["interrupted"] * (1 if given[0] == "--bucket" else 2)
    assert not re.search("Traceback", err)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGHUP")
@pytest.mark.parametrize(("handler", "ends"), [(signal.SIG_DFL, True), (signal.SIG_IGN, False)])
def test_sighup_ends_a_server_unless_it_is_ignored(handler, ends):
    before, reached = signal.signal(signal.SIGHUP, handler), []
    try:
        with contextlib.suppress(Terminated), ended_by_sigterm(), sighup_as_sigterm():
            signal.raise_signal(signal.SIGHUP)
            reached.append(1)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert (reached == []) is ends


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM ends a process at once there")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_other_commands_too(sent, endpoint, tmp_path):
    url = str(tmp_path / "waits.db")
    where = ["--endpoint-url", endpoint, "--store", url]
    words = ["s3", "bucket-exists", "--bucket", "a", "--max-wait", "5m", "--background", *where]
    started = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True)
    # The process reports when it waits; a shell may have left SIGINT ignored.
    script = """
import signal, sys
from concurrent import futures
from boto_waiters_plus.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
waits = futures.wait
futures.wait = lambda *a, **k: print("waiting", flush=True) or waits(*a, **k)
sys.exit(main())
"""
    waiting = ["operations", "wait", started.stdout.strip(), "--store", url]
    process = subprocess.Popen(
        [sys.executable, "-c", script, *waiting],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    ending = {signal.SIGTERM: (143, "terminated"), signal.SIGINT: (130, "interrupted")}[sent]
    assert (process.returncode, err) == (ending[0], f"boto-wait: {ending[1]}\n")
