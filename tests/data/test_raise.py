"""What the rules for a new botocore decide, and what they leave to a person."""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import botocore.session
import pytest
import raise_rules
from data.shared import CATALOG, ROOT, json_of
from page_counts import SENTENCES, counts, with_counts

from boto_waiters_plus.definitions.changes import REFUSED_ITEMS
from boto_waiters_plus.definitions.shipped import from_groups, shipped_definitions
from boto_waiters_plus.definitions.smithy import WAITABLE

CASES = json_of("tests/cases/raise-rules.json")
JOB = {"IN_PROGRESS": "retry", "SUCCEEDED": "success", "FAILED": "failure"}


def operation(name):
    service, _, name = name.partition(".")
    return botocore.session.get_session().get_service_model(service).operation_model(name)


@pytest.mark.parametrize(("waiter", "value", "known", "verdict"), CASES["states"])
def test_a_new_state_is_what_its_words_and_siblings_say(waiter, value, known, verdict):
    answer = raise_rules.verdict_on(waiter, value, JOB | known)
    assert (answer and answer.text) == verdict


@pytest.mark.parametrize(("text", "is_allowed"), CASES["reads"])
def test_a_read_may_be_polled_if_nothing_alarms(text, is_allowed):
    read = operation("kafka.DescribeReplicator")
    assert raise_rules.may_be_polled(read, text) is is_allowed


@pytest.mark.parametrize(("name", "path"), CASES["waiters"])
def test_a_waiter_is_drafted_where_every_value_says_what_it_is(name, path):
    found = raise_rules.waiter_for(operation(name))
    assert (found and found[0].path) == path


@pytest.mark.parametrize(("name", "waiter", "body"), CASES["effects"])
def test_an_effect_follows_where_the_call_names_what_the_waiter_reads(name, waiter, body):
    reads = {"DescribeReplicator": operation("kafka.DescribeReplicator")}
    names = {"DescribeReplicator": ["ReplicatorDeleted", "ReplicatorRunning"]}
    found = raise_rules.effect_for(operation(f"kafka.{name}"), reads, names)
    assert (found and [*found[:2]]) == (waiter and [waiter, body])


@pytest.mark.parametrize(("name", "stop"), CASES["stops"])
def test_what_begins_is_stopped_by_the_call_of_that_name(name, stop):
    begun = operation(name)
    assert raise_rules.stop_of(begun, begun.service_model) == stop


def test_the_end_of_what_can_be_deleted_is_an_error():
    shipped = shipped_definitions("kafka")
    found = raise_rules.deletion_for(operation("kafka.DescribeReplicator"), shipped)
    assert found[0].members["name"] == "ReplicatorDeleted"
    assert raise_rules.deletion_for(operation("ec2.DescribeVolumes"), ()) is None


@pytest.mark.parametrize(("text", "found"), CASES["lifetimes"])
def test_another_time_in_the_same_sentence_is_the_new_lifetime(text, found):
    answer = raise_rules.lifetime_instead("Valid for 24 hours after creation.", text)
    assert (answer and answer[1]) == found


@CATALOG
@pytest.mark.parametrize(("line", "problem"), CASES["answers"])
def test_an_answer_that_cannot_be_right_is_refused_before_any_is_written(tmp_path, line, problem):
    import raise_botocore  # noqa: PLC0415 - loads all of the tools

    file = tmp_path / "answers.txt"
    file.write_text(f"# a comment\n\nread kafka GetCluster: ?\n{line}\n")
    with pytest.raises(SystemExit, match=f":4: .*{problem}"):
        raise_botocore.answers_in(file)


@pytest.mark.models
@CATALOG
def test_answers_are_written_and_what_was_read_is_confirmed(tmp_path):
    for name in ("boto_waiters_plus", "data", "tests/cases", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "docs").mkdir()
    for name in ("pyproject.toml", *SENTENCES):
        shutil.copy(ROOT / name, tmp_path / name)
    effects = json_of("data/effects.json")
    kept = effects["shapes"]["com.amazonaws.kafka#CreateReplicator"]
    effects["shapes"]["com.amazonaws.kafka#NoSuchCall"] = kept
    # As if the list of failures were new.
    del effects["shapes"]["com.amazonaws.ecs#RunTask"]["traits"][REFUSED_ITEMS]
    (tmp_path / "data/effects.json").write_text(json.dumps(effects), encoding="utf-8")
    unread = {"kafka": {"reads": {"DescribeSomething": "allow"}}}
    (tmp_path / "data/unread.json").write_text(json.dumps(unread))
    (tmp_path / "answers.txt").write_text(
        "effect kafka RebootBroker: - no reason is known\n"
        "waiter kafka DescribeCluster: | a cluster | name=ClusterUsable nodel\n"
        "read kafka ListClusters: - it is a test\n"
    )

    def run(*words):
        command = [sys.executable, str(tmp_path / "tools/raise_botocore.py"), "--no-pins", *words]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        subprocess.run(command, env=environment, check=True)

    run("--answers", str(tmp_path / "answers.txt"), "--list-in", str(tmp_path / "list.txt"))
    listed = (tmp_path / "list.txt").read_text(encoding="utf-8")
    assert "gone kafka NoSuchCall" in listed
    assert "check ecs EffectRefusalsUnread.TasksRunning" in listed
    shape = json_of(tmp_path / "data/kafka.json")["shapes"]["com.amazonaws.kafka#DescribeCluster"]
    assert "ClusterUsable" in shape["traits"][WAITABLE]
    assert "ClusterUsable" in json_of(tmp_path / "tests/cases/states/kafka.json")["waiters"]
    assert (
        json_of(tmp_path / "data/pollable.json")["refused"]["kafka"]["ListClusters"]
        == "it is a test"
    )
    assert (
        json_of(tmp_path / "data/no-effect.json")["no reason is known"]["kafka"] == "Reboot Broker"
    )
    run("--confirm")
    assert json_of(tmp_path / "data/unread.json") == {}
    assert "DescribeSomething" in from_groups(
        json_of(tmp_path / "data/pollable.json")["allowed"]["kafka"]
    )


@pytest.mark.parametrize(("page", "written"), [
    ("It has 1 waiter\nfor 1,000 services of 9.", "It has 2,798 waiter\nfor 7 services of 9."),
    ("It has 1 waiters for 9.", None),
    ("It has 1 waiter for 9 services, and it has 1 waiter for 9 services. " * 2, None),
])  # fmt: skip
def test_numbers_of_a_page_are_written_where_each_stands(page, written):
    sentences = ["has {waiters} waiter for {services} services"]
    refusal = pytest.raises(ValueError, match=r"has {waiters} waiter for .* times")
    with refusal if written is None else contextlib.nullcontext():
        assert with_counts(page, sentences, {"waiters": "2,798", "services": "7"}) == written


@pytest.mark.models
@CATALOG
@pytest.mark.parametrize("page", SENTENCES)
def test_pages_have_the_numbers_of_today(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert with_counts(text, SENTENCES[page], counts()) == text


def test_what_is_unread_is_of_what_is_shipped():
    all_allowed = json_of("data/pollable.json")["allowed"]
    for service, kinds in json_of("data/unread.json").items():
        names = {each.name for each in shipped_definitions(service)}
        about = [*kinds.get("states", ()), *kinds.get("waiters", ())]
        assert {what.partition(" ")[0] for what in about} <= names, service
        allowed = from_groups(all_allowed.get(service, ""))
        assert not allowed & kinds.get("reads", {}).keys(), service


@pytest.mark.models
@CATALOG
def test_nothing_is_to_be_read_beside_the_botocore_of_the_definitions(capfd):
    """And a raise to it writes nothing else than what is there."""
    import raise_botocore  # noqa: PLC0415 - loads all of the tools

    before = {path: path.read_bytes() for path in (ROOT / "data").glob("*.json")}
    raise_botocore.main(["--list"])
    assert "Nothing to answer." in capfd.readouterr().out
    assert {path: path.read_bytes() for path in before} == before
