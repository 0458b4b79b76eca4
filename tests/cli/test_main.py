"""`boto-wait` itself: help, invalid arguments, a closed pipe."""

import re
import subprocess
import sys

import pytest

from boto_waiters_plus.cli import main


def test_help_names_the_subcommands(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert re.search(r"^ +demo ", capsys.readouterr().out, re.MULTILINE)


def test_help_does_not_import_botocore():
    script = (
        "import sys\n"
        "from boto_waiters_plus.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print('botocore' in sys.modules)\n"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.endswith("\nFalse\n")


@pytest.mark.parametrize("arguments", [[], ["check"]])
def test_missing_arguments_exit_with_2_and_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert re.match(r"boto-wait.*: the following arguments are required: .* \(see `boto-wait", line)


def test_unknown_option_is_answered_with_the_nearest(capsys):
    assert main(["list", "--tags"]) == 2
    message = "boto-wait list: unknown option --tags; did you mean --tag?\n"
    assert capsys.readouterr() == ("", message)
