"""`boto-wait` in a process of its own: signals, a closed pipe, what is imported, the demo."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig

import pytest
from changes.token_service import ACCOUNT, serving

# A shell without job control starts background commands with SIGINT ignored. `preexec_fn` cannot
# undo that: with other threads running, the forked child may hang in it.
COMMAND = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("boto_waiters_plus.cli", run_name="__main__", alter_sys=True)
"""
SIGNALS = pytest.mark.parametrize(
    ("sent", "code", "error"),
    [(signal.SIGTERM, 143, "Terminated"), (signal.SIGINT, 130, "KeyboardInterrupt")],
)
ON_POSIX = pytest.mark.skipif(os.name == "nt", reason="signals are others there")
RUN = "begin ec2 run-instances --image-id ami-1 --min-count 1 --max-count 1 --output json"

pytestmark = pytest.mark.nightly(subject="wire")


@pytest.fixture
def service():
    with serving() as kept:
        yield kept
        kept.may_answer.set()


@pytest.fixture
def started():
    """`started(line, *words)`: the process of a command; it is killed in the end."""
    processes = []

    def start(line, *words, environment=None, **options):
        command = [sys.executable, "-c", COMMAND, *shlex.split(line), *map(str, words)]
        options["env"] = {**os.environ, **ACCOUNT, **(environment or {})}
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        processes.append(subprocess.Popen(command, **options))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@ON_POSIX
@SIGNALS
@pytest.mark.parametrize("given", ["--instance-ids i-1", "--each instance-ids i-1 i-2"])
def test_signal_gives_the_outcome_so_far(started, service, given, sent, code, error):
    words = f"ec2 instance-running {given} --max-wait 5m --output json --endpoint-url"
    process = started(words, service.url)
    number = 2 if "each" in given else 1
    for _ in range(number):
        assert "attempt 1" in process.stderr.readline()
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    facts = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == code
    assert [each["outcome"] for each in facts] == ["interrupted"] * number
    assert all(each["attempts"] >= 1 for each in facts)
    assert "Traceback" not in err


@ON_POSIX
@SIGNALS
def test_signal_leaves_a_call_that_goes_on(started, service, tmp_path, sent, code, error):
    pytest.importorskip("sqlalchemy")
    service.may_answer.clear()
    words = f"{RUN} --max-wait 5m --then instance-exists --endpoint-url {service.url} --store"
    process = started(words, tmp_path / "my calls.db")
    told = [process.stderr.readline() for _ in range(2)]
    while "RunInstances" not in service.actions:
        assert process.poll() is None
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    facts = json.loads(out)
    assert (process.returncode, "Traceback" in err) == (code, False)
    assert (facts["error"]["type"], facts["outcome_unknown"]) == (error, True)
    assert [facts["token"] in told[0], facts["resume"] in told[1]] == [True, True]
    # The command of the JSON goes on, under the same token.
    service.may_answer.set()
    resumed = started(facts["resume"].removeprefix("boto-wait "), "--output", "json")
    out, _ = resumed.communicate(timeout=60)
    assert json.loads(out)["token"] == facts["token"]
    assert [each["token"] for each in service.instances.values()] == [facts["token"]]


@pytest.mark.parametrize("words", ["list", "list ec2", "show ec2 instance-running"])
def test_reader_of_a_listing_may_stop(started, words):
    process = started(words)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 141


OF_OTHERS = {"boto3", "asyncio", "rich", "argcomplete", "moto", "boto_waiters_plus.many"}


@pytest.mark.parametrize(
    ("words", "unwanted"),
    [("--help", {"botocore"}), ("s3 bucket-exists --bucket b", OF_OTHERS)],
)
def test_no_module_of_other_commands_is_imported(words, unwanted):
    script = (
        "import sys\nfrom boto_waiters_plus.cli import main\n"
        f"try: main({words.split()})\nexcept SystemExit: pass\n"
        f"print('imported:', {unwanted} & {{*sys.modules}})\n"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert run.stdout.endswith("imported: set()\n")


COMPLETED_IN = {
    "bash": """eval "$(register-python-argcomplete boto-wait)"
        COMP_LINE="boto-wait s3 bucket-e" COMP_POINT=21 COMP_TYPE=9
        COMP_WORDS=(boto-wait s3 bucket-e) COMP_CWORD=2
        _python_argcomplete boto-wait bucket-e s3
        echo "${COMPREPLY[@]}" """,
    "fish": """register-python-argcomplete --shell fish boto-wait | source
        complete -C "boto-wait s3 bucket-e" """,
}


@pytest.mark.parametrize("shell", COMPLETED_IN)
def test_shells_complete_by_the_lines_of_the_page(shell, tmp_path):
    pytest.importorskip("argcomplete")
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    options = {"env": {**os.environ, "PATH": path, "HOME": str(tmp_path)}, "timeout": 60}
    options |= {"capture_output": True, "text": True}
    process = subprocess.run([shell, "-c", COMPLETED_IN[shell]], check=True, **options)
    assert process.stdout.split() == ["bucket-exists"]


# --- the demo -----------------------------------------------------------------------------------

# Must not reach the demo: each of these breaks a client that reads it.
HOSTILE = {"AWS_PROFILE": "absent", "AWS_CONFIG_FILE": "/none", "AWS_MAX_ATTEMPTS": "many"}
HOSTILE |= dict.fromkeys(["AWS_ENDPOINT_URL", "HTTP_PROXY", "http_proxy"], "http://127.0.0.1:9")


def test_demo_ends_as_expected_in_a_hostile_environment(started, tmp_path):
    process = started("demo", environment={**HOSTILE, "COLUMNS": "80"}, cwd=tmp_path)
    out, err = process.communicate(timeout=170)
    assert process.returncode == 0, out + err
    lines = out.splitlines()
    ours = [line for line in lines if line.startswith("  this package")]
    assert (len(ours), max(map(len, lines)) <= 80) == (5, True)
    assert re.search(r"WaiterTimeoutError after \d\.\d\d s", ours[0])
    sides = re.split(r"^  (?:botocore|this package) ", out, flags=re.MULTILINE)[1:]
    assert [side for side in sides if not re.search(r"\b\d+(\.\d)? calls?\b", side)] == []
    assert "User initiated shutdown" in " ".join(out.split())


@ON_POSIX
def test_interrupted_demo_exits_with_130(started, tmp_path):
    process = started("demo", cwd=tmp_path)
    assert process.stderr.readline().startswith("Starting")
    # After the first result all waits are running, botocore's among them.
    assert process.stdout.readline() == "\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "boto-wait: interrupted"
