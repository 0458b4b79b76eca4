"""`boto-wait run`."""

import sys

import pytest

from boto_waiters_plus.cli import main


@pytest.fixture
def script(tmp_path, monkeypatch):
    """`script(text)`: the path of a script; what running it changes is undone."""
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(sys, "path", [*sys.path])

    def write(text):
        (tmp_path / "script.py").write_text(text)
        return str(tmp_path / "script.py")

    return write


def test_clients_of_a_script_are_extended(script, capsys):
    text = (
        "import boto3, sys\n"
        "assert __name__ == '__main__'\n"
        "print(boto3.client('sqs').meta.service_model.service_name, sys.argv[1:])\n"
        "boto3.client('s3').wait_until_bucket_exists\n"
    )
    assert main(["run", script(text), "--option", "-x", "wait"]) == 0
    assert capsys.readouterr().out == "sqs ['--option', '-x', 'wait']\n"


def test_modules_beside_the_script_are_found(script, tmp_path):
    (tmp_path / "module_beside.py").write_text("")
    assert main(["run", script("import module_beside")]) == 0


def test_exit_code_and_errors_are_the_scripts(script):
    with pytest.raises(SystemExit) as caught:
        main(["run", script("raise SystemExit(7)")])
    assert caught.value.code == 7
    with pytest.raises(ZeroDivisionError):
        main(["run", script("1 / 0")])


def test_missing_script_exits_with_2(capsys):
    assert main(["run", "/nonexistent.py"]) == 2
    assert capsys.readouterr().err == "boto-wait run: no such file: /nonexistent.py\n"
