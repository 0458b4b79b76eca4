"""`boto-wait run`."""

import multiprocessing
import subprocess
import sys
from multiprocessing import spawn

import pytest

POOLS = """
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import boto3
import boto_waiters_plus

s3 = boto3.client("s3", region_name="us-east-1")

def names(depth):
    if depth:
        with ProcessPoolExecutor(1, multiprocessing.get_context(sys.argv[1])) as pool:
            return pool.submit(names, depth - 1).result()
    return hasattr(s3, "wait_until_bucket_exists")

if __name__ == "__main__":
    sys.path[:] = [str(each) for each in sys.path]
    print(names(0), names(1), names(2), flush=True)
    boto_waiters_plus.uninstall()
    print(names(1))
"""
START = "import boto3\nfrom boto_waiters_plus import wait_until\ns3 = boto3.client('s3')\n"


@pytest.fixture
def run(tmp_path, monkeypatch, command):
    """`run(text, *words)`: the end of a script; what running it changes is undone."""
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(spawn, "get_preparation_data", spawn.get_preparation_data)

    def script(text, *words):
        (tmp_path / "script.py").write_text(text)
        return command("run", tmp_path / "script.py", *words)

    return script


def test_clients_of_a_script_are_extended(run, tmp_path):
    text = "assert __name__ == '__main__'\ns3.wait_until_bucket_exists\nimport module_beside, sys\n"
    (tmp_path / "module_beside.py").write_text("")
    code, out, _ = run(f"{START}{text}print(sys.argv[1:])", "--option", "-x", "wait")
    assert (code, out) == (0, "['--option', '-x', 'wait']\n")


@pytest.mark.parametrize(("script", "code"), [
    ("wait_until(s3, 'bucket_exists', Bucket='my-bucket', max_wait=9)", 0),
    ("wait_until(s3, 'bucket_exists', Bucket='none', max_wait=9)", 124),
    ("s3.get_waiter('bucket_exists').wait(Bucket='none')", 124),
    ("s3.head_bucket(Bucket='none')", 254), ("s3.head_bucket()", 2), ("import sys; sys.exit(7)", 7),
])  # fmt: skip
def test_script_exits_with_the_code_of_its_error(script, code, run, aws):
    found, _, err = run(START + script)
    assert (found, "Traceback" in err) == (code, code in (2, 124, 254))


def test_errors_of_the_script_pass_unchanged(run):
    with pytest.raises(ZeroDivisionError):
        run("1 / 0")


@pytest.mark.parametrize(
    "method", [each for each in multiprocessing.get_all_start_methods() if each != "fork"]
)
def test_processes_that_a_script_starts_are_extended(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(POOLS)
    words = [sys.executable, "-m", "boto_waiters_plus.cli", "run", script, method]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True True True\nFalse\n"
