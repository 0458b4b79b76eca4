"""Real programs beside an `install()` that comes before them, as from a `sitecustomize`.

`tox run -e programs` installs them. Elsewhere the tests of those that are missing are skipped.
"""

import contextlib
import importlib.util
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import textwrap
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly(subject="programs")

INSTALL = "import boto_waiters_plus\nboto_waiters_plus.install()\n"
SECONDS = 1
LATE = SECONDS + 0.9
"""Seconds; far from the 10 in which the read timeout would end the call."""


def needs(*modules):
    """Skip a test where a program is missing; in `tox run -e programs` it fails."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    is_skipped = bool(missing) and "PROGRAMS_REQUIRED" not in os.environ
    return pytest.mark.skipif(is_skipped, reason=f"not installed: {', '.join(missing)}")


class Buckets(BaseHTTPRequestHandler):
    """S3: every bucket and object exists."""

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    """The URL of a service that answers."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Buckets) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def hung_service():
    """The address of a service that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def environment(tmp_path):
    """An environment of its own, in which `install()` comes before everything else."""
    early = tmp_path / "early"
    early.mkdir()
    (early / "sitecustomize.py").write_text(INSTALL)
    path = os.pathsep.join([str(early), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path, "AWS_EC2_METADATA_DISABLED": "true"}


def run(command, environment, folder):
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


def run_script(script, environment, folder, *arguments):
    path = folder / "script.py"
    path.write_text(textwrap.dedent(script))
    return run([sys.executable, "-W", "ignore", path, *arguments], environment, folder)


# --- green threads --------------------------------------------------------------------------------

WAIT = """
    import threading, time
    import boto3
    import boto_waiters_plus as bwp
    from botocore.config import Config

    config = Config(read_timeout=10, connect_timeout=10, retries={"max_attempts": 0})

    def wait(url, seconds):
        session = boto3.Session("key", "secret", region_name="us-east-1")
        client = session.client("dynamodb", endpoint_url=url, config=config, verify=False)
        # The first call of a process is spent on imports too.
        began = time.monotonic()
        try:
            client.wait_until_table_exists(TableName="t", max_wait=seconds)
        except bwp.WaiterTimeoutError:
            return time.monotonic() - began
"""

GREEN = """
    import json, sys
    {patch}
    import threading, time
    from waiting import wait
    # That others run meanwhile shows that the wait is a green thread's.
    ticks = []
    def tick():
        while True:
            ticks.append(time.sleep(0.05))
    threading.Thread(target=tick, daemon=True).start()
    took = [wait(sys.argv[1], {seconds}) for _ in range(3)]
    watchdog = [t for t in threading.enumerate() if t.name.endswith("watchdog")]
    print(json.dumps([took, len(ticks), len(watchdog)]))
"""


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "patch",
    [
        pytest.param("from gevent import monkey; monkey.patch_all()", marks=needs("gevent")),
        pytest.param("import eventlet; eventlet.monkey_patch()", marks=needs("eventlet")),
    ],
    ids=["gevent", "eventlet"],
)
def test_deadline_holds_in_green_threads(patch, scheme, hung_service, environment, tmp_path):
    (tmp_path / "waiting.py").write_text(textwrap.dedent(WAIT))
    script = GREEN.format(patch=patch, seconds=SECONDS)
    out, err = run_script(script, environment, tmp_path, f"{scheme}://{hung_service}")
    took, ticks, watchdogs = json.loads(out)
    assert min(took) >= SECONDS
    assert statistics.median(took) < LATE, took
    assert ticks > 10
    assert watchdogs == 1
    assert err == ""


APP = """
    import json, ssl
    from waiting import wait
    def app(environ, start_response):
        took = wait(environ["QUERY_STRING"], {seconds})
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps([took, ssl.SSLContext.__module__]).encode()]
"""


@needs("gevent", "gunicorn")
def test_gunicorn_with_gevent_workers(hung_service, environment, tmp_path):
    (tmp_path / "waiting.py").write_text(textwrap.dedent(WAIT))
    (tmp_path / "app.py").write_text(textwrap.dedent(APP.format(seconds=SECONDS)))
    command = [sys.executable, "-W", "error", "-m", "gunicorn", "-k", "gevent", "-w", "1"]
    log = tmp_path / "log"
    with log.open("w") as written, gunicorn(command, written, environment, tmp_path) as process:
        url = address(log, process)

        def ask(_):
            with urllib.request.urlopen(f"{url}?http://{hung_service}", timeout=60) as response:
                return json.load(response)

        ask(0)  # imports
        with ThreadPoolExecutor(5) as pool:
            answers = list(pool.map(ask, range(5)))
    assert statistics.median(took for took, _ in answers) < LATE, answers
    assert {kind for _, kind in answers} == {"gevent.ssl"}
    assert "MonkeyPatchWarning" not in log.read_text()


@contextlib.contextmanager
def gunicorn(command, log, environment, folder):
    command = [*command, "-b", "127.0.0.1:0", "app:app"]
    process = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=folder
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def address(log, process):
    """Return the URL that gunicorn wrote into its log, or fail with the log."""
    for _ in range(300):
        found = re.search(r"Listening at: (http://\S+)", log.read_text())
        if found:
            return found[1]
        assert process.poll() is None, log.read_text()
        threading.Event().wait(0.1)
    raise AssertionError(log.read_text())


# --- others that meet botocore --------------------------------------------------------------------


@needs("aioboto3")
def test_waiters_of_aioboto3_resources_are_awaited(service, environment, tmp_path):
    script = """
        import asyncio, sys
        import aioboto3

        async def main():
            session = aioboto3.Session("key", "secret", region_name="us-east-1")
            async with session.resource("s3", endpoint_url=sys.argv[1]) as s3:
                bucket = await s3.Bucket("b")
                for waited in (bucket, await bucket.Object("k")):
                    print(type(await waited.wait_until_exists()).__name__)

        asyncio.run(main())
    """
    out, _ = run_script(script, environment, tmp_path, service)
    assert out.split() == ["ResponseOutcome"] * 2


@needs("awscli")
def test_aws_cli_runs_on_the_botocore_that_it_ships(service, environment, tmp_path):
    command = [sys.executable, "-m", "awscli"]
    version, _ = run([*command, "--version"], environment, tmp_path)
    without, _ = run([*command, "--version"], {**environment, "PYTHONPATH": ""}, tmp_path)
    assert version == without
    script = """
        import sys
        import awscli.clidriver, botocore.session, botocore.waiter
        print(botocore.__file__)
        print(type(vars(botocore.waiter.Waiter)["wait"]).__name__)
        sys.exit(awscli.clidriver.main())
    """
    options = ["--endpoint-url", service, "--region", "us-east-1"]
    wait = ["s3api", "wait", "bucket-exists", "--bucket", "b"]
    out, err = run_script(script, environment, tmp_path, *wait, *options)
    file, wrapper = out.split()
    assert "/awscli/botocore/" in file.replace(os.sep, "/")
    assert (wrapper, err) == ("FunctionWrapper", "")


# The suites of placebo, Cloud Custodian and this provider run by `tools/peer_suites.py`.
@needs("aiobotocore", "airflow")
def test_airflows_provider_repeats_throttled_waits(environment, tmp_path):
    command = [
        sys.executable,
        "-W",
        "ignore",
        Path(__file__).parent / "scripts/airflow_provider.py",
    ]
    printed, _ = run(command, environment, tmp_path)
    without = {**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    assert printed == run(command, without, tmp_path)[0]
    assert printed.splitlines().count("throttled after 8 calls: succeeded") == 3


@needs("PyInstaller")
def test_packed_program_waits(service, environment, tmp_path):
    script = """
        import sys
        import boto3
        import boto_waiters_plus as bwp

        bwp.install()
        session = boto3.Session("key", "secret", region_name="us-east-1")
        s3 = session.client("s3", endpoint_url=sys.argv[1])
        print(type(s3.get_waiter("bucket_exists").wait(Bucket="b")).__name__)
        print(type(s3.wait_until_bucket_exists(Bucket="b", max_wait=20)).__name__)
        print(s3.wait_until_bucket_exists.definition.source)
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(script))
    pack = [sys.executable, "-m", "PyInstaller", "--log-level", "WARN", "program.py"]
    _, warnings = run(pack, {**environment, "PYTHONPATH": ""}, tmp_path)
    out, err = run([tmp_path / "dist" / "program" / "program", service], environment, tmp_path)
    # For PyInstaller, a hook that cannot be loaded is only a warning.
    assert not re.search("WARNING.*boto.waiters.plus", warnings), warnings
    assert err == ""
    assert out.split() == ["ResponseOutcome", "ResponseOutcome", "data/s3.json"], warnings
