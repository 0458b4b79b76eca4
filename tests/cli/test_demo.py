"""The demo, run as a command."""

import os
import re
import signal
import subprocess
import sys

import pytest

# Must not reach the demo: each of these breaks a client that reads it.
HOSTILE = {
    "AWS_PROFILE": "absent",
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_MAX_ATTEMPTS": "many",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
}


def environment(**more):
    without = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    return {**without, **more}


# A shell without job control starts background commands with SIGINT ignored. `preexec_fn` cannot
# undo that: with other threads running, the forked child may hang in it.
WITH_CTRL_C = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("boto_waiters_plus.cli", run_name="__main__", alter_sys=True)
"""


def demo(directory, *words, **more):
    return subprocess.Popen(
        [sys.executable, "-c", WITH_CTRL_C, "demo", *words],
        cwd=directory,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_demo_ends_as_expected_in_a_hostile_environment_on_one_screen(tmp_path):
    process = demo(tmp_path, **HOSTILE, COLUMNS="80")
    try:
        output, errors = process.communicate(timeout=170)
    finally:
        process.kill()
    assert process.returncode == 0, output + errors
    lines = [*errors.splitlines(), *output.splitlines()]
    assert 25 < len(lines) <= 40
    assert max(map(len, lines)) <= 80
    ours = [line for line in lines if line.startswith("  this package")]
    assert len(ours) == 5
    assert re.search(r"WaiterTimeoutError after 2\.\d\d s", ours[0])
    text = " ".join(output.split())
    assert "User initiated shutdown" in text
    assert re.search(
        r"one wait for all, one result: 1 call, .*; a wait for each: 100 calls, ", text
    )
    assert re.search(r"a wait for each, 100 outcomes: \d calls?, ", text)
    assert len(re.findall(r"\d\.\d s late and \d+\.\d calls on average", text)) == 2


def test_demo_without_moto_names_what_to_install(tmp_path):
    (tmp_path / "moto.py").write_text("raise ModuleNotFoundError('No module named flask')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = demo(tmp_path, PYTHONPATH=path)
    try:
        output, message = process.communicate(timeout=100)
    finally:
        process.kill()
    assert process.returncode == 255
    assert output == ""
    assert "No module named flask" in message
    assert "pip install 'boto-waiters-plus[demo]'" in message
    assert "Traceback" not in message


@pytest.mark.skipif(os.name == "nt", reason="SIGINT goes to a whole console there")
def test_interrupted_demo_exits_with_130_at_once(tmp_path):
    process = demo(tmp_path)
    try:
        assert process.stderr.readline().startswith("Starting")
        # After the first result all waits are running, botocore's among them.
        assert process.stdout.readline() == "\n"
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert message.splitlines()[-1] == "boto-wait: interrupted"
    assert "Traceback" not in message
