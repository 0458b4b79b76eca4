"""`boto-wait` as a process: Ctrl-C, a closed pipe, an unreachable server, completion, its start."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig

import pytest
from moto.server import ThreadedMotoServer

COMMAND = [sys.executable, "-m", "boto_waiters_plus.cli"]

# A shell without job control starts background commands with SIGINT ignored. `preexec_fn` cannot
# undo that: with other threads running, the forked child may hang in it.
WITH_CTRL_C = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("boto_waiters_plus.cli", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def endpoint():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    server.stop()


@pytest.mark.skipif(os.name == "nt", reason="SIGINT goes to a whole console there")
@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (["--bucket", "a"], ["s3 Bucket=a"]),
        (["--each", "bucket", "a", "b"], ["s3 Bucket=a", "s3 Bucket=b"]),
    ],
)
def test_ctrl_c_gives_the_outcome_so_far(endpoint, given, labels):
    words = ["s3", "bucket-exists", *given, "--max-wait", "5m", "--output", "json"]
    process = subprocess.Popen(
        [sys.executable, "-c", WITH_CTRL_C, *words, "--endpoint-url", endpoint],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for _ in labels:
            assert "404, attempt 1" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    found = [json.loads(line) for line in out.splitlines()]
    assert [(facts["label"], facts["outcome"]) for facts in found] == [
        (label, "interrupted") for label in labels
    ]
    assert all(facts["attempts"] >= 1 and facts["observed"] == "404" for facts in found)
    assert [line.partition(": interrupted after")[0] for line in err.splitlines()] == [
        f"boto-wait: {label}" for label in labels
    ]


def test_closed_pipe_gives_no_traceback(endpoint):
    words = ["s3", "bucket-not-exists", "--bucket", "a", "--max-wait", "9"]
    process = subprocess.Popen(
        [*COMMAND, *words, "--endpoint-url", endpoint],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    try:
        assert process.stderr.read() == ""
        process.stderr.close()
        assert process.wait(timeout=60) == 141
    finally:
        process.kill()


@pytest.mark.skipif(shutil.which("bash") is None, reason="a pipe of a shell")
@pytest.mark.parametrize("words", ["list", "list ec2", "show ec2 instance-running"])
def test_the_reader_of_a_listing_may_stop(words):
    # `true` ends long before the command has started.
    script = f'"$@" {words} | true; echo "${{PIPESTATUS[0]}}"'
    shell = ["bash", "-c", script, "bash", *COMMAND]
    ran = subprocess.run(shell, capture_output=True, text=True, check=True, timeout=100)
    assert (ran.stdout, ran.stderr) == ("141\n", "")


def test_unreachable_server_exits_with_255():
    words = ["s3", "bucket-exists", "--bucket", "a", "--max-wait", "30"]
    words += ["--endpoint-url", "http://127.0.0.1:1"]
    environment = {**os.environ, "AWS_MAX_ATTEMPTS": "1"}
    process = subprocess.run(
        [*COMMAND, *words], check=False, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (process.returncode, process.stdout) == (255, "")
    [line] = process.stderr.splitlines()
    assert line.startswith("boto-wait: ")
    assert "EndpointConnectionError at http://127.0.0.1:1" in line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("boto-wait sched", {"schedule", "scheduler"}),
        ("boto-wait sca", {"scan"}),
        ("boto-wait hist", {"history"}),
        ("boto-wait s3 bucket-e", {"bucket-exists"}),
        ("boto-wait show st", {"stepfunctions", "storagegateway"}),
        ("boto-wait show sts", set()),
        ("boto-wait s3 bucket-exists --bu", {"--bucket"}),
        ("boto-wait wait ecs --operation x", set()),
        ("boto-wait s3 get-bucket-versi", {"get-bucket-versioning"}),
        ("boto-wait s3 put-bucket-versi", set()),
        ("boto-wait s3 get-bucket-versioning --until E", {"Enabled"}),
        ("boto-wait s3 get-bucket-versioning --until Enabled S", {"Suspended"}),
        ("boto-wait s3 get-bucket-versioning --until Enabled --buc", {"--bucket"}),
        (
            "boto-wait ecs describe-tasks --until RUNNING --state-path tasks[].l",
            {r"tasks\[\].lastStatus"},
        ),
        ("boto-wait nothing bucket", set()),
    ],
)
def test_words_are_completed(line, words, tmp_path):
    pytest.importorskip("argcomplete")
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "words"),
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    process = subprocess.run(
        COMMAND, check=False, env=environment, capture_output=True, text=True, timeout=60
    )
    assert process.stdout == ""
    assert process.stderr == ""
    found = (tmp_path / "words").read_text() if (tmp_path / "words").exists() else ""
    assert set(found.split()) == words


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
    process = subprocess.run(
        [shell, "-c", COMPLETED_IN[shell]],
        check=True,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert process.stdout.split() == ["bucket-exists"]


def test_stdout_may_lack_characters():
    process = subprocess.run(
        [*COMMAND, "schedule", "s3", "bucket-exists", "--max-wait", "9"],
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "\\xb7" in process.stdout
    assert process.stdout.startswith("s3 bucket-exists, 9.0 s")


def test_no_module_of_other_commands_is_imported():
    words = ["s3", "bucket-exists", "--bucket", "b"]
    script = (
        "import sys\n"
        "from boto_waiters_plus.cli import main\n"
        f"main({words})\n"
        "unwanted = {'boto3', 'asyncio', 'rich', 'argcomplete', 'moto', 'boto_waiters_plus.many'}\n"
        "print(unwanted & {*sys.modules})\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    assert run.stdout == "set()\n"
