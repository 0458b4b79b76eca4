"""Real programs beside an `install()` that comes before them, as from a `sitecustomize`.

`tox run -e programs` installs them. Elsewhere the tests of those that are missing are skipped.
The suites of placebo, Cloud Custodian and Airflow's Amazon provider run by `tools/peer_suites.py`.
"""

import importlib.util
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import textwrap

import pytest
from faults.server import FaultServer, answer

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


@pytest.fixture
def service():
    """The URL of S3, where every bucket and object exists."""
    with FaultServer([answer(body=b"")]) as server:
        yield server.url


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
    options = {"timeout": 120, "env": environment, "cwd": folder}
    command = [*map(str, command)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


def run_script(script, environment, folder, *arguments):
    path = folder / "script.py"
    path.write_text(textwrap.dedent(script))
    return run([sys.executable, "-W", "ignore", path, *arguments], environment, folder)


# --- green threads --------------------------------------------------------------------------------

WAITING = """
    import json, ssl, threading, time
    from concurrent.futures import ThreadPoolExecutor
    import boto3
    import boto_waiters_plus as bwp
    from botocore.config import Config

    config = Config(read_timeout=10, connect_timeout=10, retries={"max_attempts": 0})
    ticks = []

    def client(url):
        session = boto3.Session("key", "secret", region_name="us-east-1")
        return session.client("dynamodb", endpoint_url=url, config=config, verify=False)

    def wait(client):
        began = time.monotonic()
        try:
            client.wait_until_table_exists(TableName="t", max_wait=SECONDS)
        except bwp.WaiterTimeoutError:
            return time.monotonic() - began

    def tick():
        while True:
            ticks.append(time.sleep(0.05))

    def report(url):
        # That others run meanwhile shows that the waits are those of green threads.
        threading.Thread(target=tick, daemon=True).start()
        # The first call of a process is spent on imports too.
        wait(client(url))
        with ThreadPoolExecutor(5) as pool:
            took = list(pool.map(wait, [client(url) for _ in range(5)]))
        watchdogs = [t for t in threading.enumerate() if t.name.endswith("watchdog")]
        print(json.dumps([took, len(ticks), len(watchdogs), ssl.SSLContext.__module__]))
"""
GUNICORN = """
    import os, signal

    def post_worker_init(worker):
        from waiting import report
        report(os.environ["URL"])
        os.kill(os.getppid(), signal.SIGTERM)
"""
PATCHES = {
    "gevent": "from gevent import monkey; monkey.patch_all()",
    "eventlet": "import eventlet; eventlet.monkey_patch()",
}
GREEN = [("gevent",), ("eventlet",), ("gevent", "gunicorn")]
SERVER = ["-m", "gunicorn", "-k", "gevent", "-b", "127.0.0.1:0", "-c", "green.py", "builtins:print"]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("program", [pytest.param(each[-1], marks=needs(*each)) for each in GREEN])
def test_deadline_holds_in_green_threads(program, scheme, hung_service, environment, tmp_path):
    waiting = textwrap.dedent(WAITING).replace("SECONDS", str(SECONDS))
    (tmp_path / "waiting.py").write_text(waiting)
    url = f"{scheme}://{hung_service}"
    script = f"{PATCHES.get(program)}\nfrom waiting import report\nreport({url!r})"
    is_served = program == "gunicorn"
    (tmp_path / "green.py").write_text(textwrap.dedent(GUNICORN) if is_served else script)
    # Of itself, eventlet warns.
    ignored = "ignore" if program == "eventlet" else "ignore::DeprecationWarning"
    command = [sys.executable, "-W", ignored, *(SERVER if is_served else ["green.py"])]
    out, err = run(command, {**environment, "URL": url}, tmp_path)
    took, ticks, watchdogs, kind = json.loads(out)
    assert min(took) >= SECONDS
    assert statistics.median(took) < LATE, took
    assert ticks > 10
    assert watchdogs == 1
    assert kind.startswith(("gevent", "eventlet"))
    # As gevent's MonkeyPatchWarning.
    assert [line for line in err.splitlines() if "[INFO]" not in line] == []


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
