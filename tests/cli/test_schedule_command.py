"""`boto-wait schedule`, and `boto-wait history`, whose times it draws."""

import re

import pytest

from boto_waiters_plus.history import History, HistoryKey

S3 = "schedule s3 bucket-exists --max-wait"


def test_botocores_schedule_is_drawn_above_ours(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "112")
    title, stock, facts, ours, *_ = command(f"{S3} 5m")[1].splitlines()
    assert title == "s3 bucket-exists, 5m00s"
    # 20 attempts, 5 s apart, on 100 columns of 3 s each.
    assert re.fullmatch(r"botocore {4}(\|·?){20}·+", stock)
    assert facts.strip() == "20 attempts, delay of 5 s, a change is seen 2.5 s late, ends at 1m35s"
    assert re.fullmatch(r"wait_until {2}[|2-9·]{100}", ours)


def test_a_waiter_that_botocore_lacks_is_drawn_alone(command):
    words = "schedule athena query-execution-succeeded --max-wait 20 --min-delay 5 --max-delay 5"
    _, out, _ = command(words)
    assert "botocore" not in out
    # Half of each gap, weighted by its length: three of 5 s, one of 4.75 s and the rest.
    assert "4 attempts, delays of 5 s, a change is seen 3.7 s late" in out


# --- the history of earlier waits ---------------------------------------------------------------

KEY = HistoryKey("rds", "DBInstanceAvailable", "eu-west-1", "db.m6g", from_call=False)


@pytest.fixture
def file(tmp_path):
    history = History(tmp_path / "history.sqlite")
    for number in range(20):
        history.add(KEY, "success", 400.0 + number)
    history.add(KEY, "timeout", 60.0)
    history.add(KEY._replace(service="ec2", waiter="InstanceRunning"), "failure", 90.0)
    return history.path


def test_times_are_listed_and_deleted(file, command):
    _, ec2, rds = [line.split() for line in command("history --file", file)[1].splitlines()]
    assert ec2[:2] == ["ec2", "instance-running"]
    name = ["rds", "db-instance-available", "eu-west-1", "db.m6g", "wait"]
    assert rds == [*name, "20", "0", "1", "6m50s"]
    _, _, err = command("history rds db-instance-available --clear --file", file)
    assert err == "boto-wait history: 21 times deleted\n"
    code, out, err = command("history rds --file", file)
    assert (code, out, str(file) in err) == (0, "", True)


def test_the_learned_schedule_is_drawn(file, command):
    words = "schedule rds db-instance-available --max-wait 10m --history --file"
    ours, learned = [line.split() for line in command(words, file)[1].splitlines()[4:7:2]]
    assert learned[:2] == ["eu-west-1,", "db.m6g:"]
    assert learned[3:] == ["attempts,", "delays", "by", "21", "earlier", "waits"]
    assert int(learned[2]) < int(ours[0])


def test_a_damaged_history_ends_the_command(tmp_path, command):
    path = tmp_path / "history.sqlite"
    path.write_bytes(b"no database" * 100)
    code, _, err = command("history --file", path)
    assert (code, str(path) in err) == (255, True)
