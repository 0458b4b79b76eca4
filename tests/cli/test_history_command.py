"""`boto-wait history`, and `schedule --history`."""

import sys

import pytest

from boto_waiters_plus.cli import main
from boto_waiters_plus.history import History, HistoryKey

KEY = HistoryKey("rds", "DBInstanceAvailable", "eu-west-1", "db.m6g", from_call=False)


@pytest.fixture
def file(tmp_path):
    history = History(tmp_path / "history.sqlite")
    for number in range(20):
        history.add(KEY, "success", 400.0 + number)
    history.add(KEY, "timeout", 60.0)
    history.add(KEY._replace(service="ec2", waiter="InstanceRunning"), "failure", 90.0)
    return str(history.path)


def test_times_are_listed_and_deleted(file, capsys):
    assert main(["history", "--file", file]) == 0
    _, ec2, rds = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ec2[:2] == ["ec2", "instance-running"]
    name = ["rds", "db-instance-available", "eu-west-1", "db.m6g", "wait"]
    assert rds == [*name, "20", "0", "1", "6m50s"]
    assert main(["history", "rds", "db-instance-available", "--clear", "--file", file]) == 0
    assert capsys.readouterr().err == "boto-wait history: 21 times deleted\n"
    assert main(["history", "rds", "--file", file]) == 0
    assert capsys.readouterr() == ("", f"boto-wait history: nothing is kept in {file}\n")


def test_the_learned_schedule_is_drawn(file, capsys):
    words = ["schedule", "rds", "db-instance-available", "--max-wait", "10m"]
    assert main([*words, "--history", "--file", file]) == 0
    ours, learned = [line.split() for line in capsys.readouterr().out.splitlines()[4:7:2]]
    assert learned[:2] == ["eu-west-1,", "db.m6g:"]
    assert learned[3:] == ["attempts,", "delays", "by", "21", "earlier", "waits"]
    assert int(learned[2]) < int(ours[0])


def test_a_damaged_or_missing_history_ends_the_command(tmp_path, monkeypatch, capsys):
    path = tmp_path / "history.sqlite"
    path.write_bytes(b"no database" * 100)
    assert main(["history", "--file", str(path)]) == 255
    assert f"{path} cannot be read: file is not a database" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert main(["history"]) == 255
    assert "boto-waiters-plus[history]" in capsys.readouterr().err
