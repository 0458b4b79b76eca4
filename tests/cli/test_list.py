"""`boto-wait list`."""

import json
import re

import botocore.session
import pytest
from botocore.model import ServiceModel

from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.service_lookup import client_name
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_services_are_listed_with_their_counts(capsys):
    assert main(["list"]) == 0
    out, err = capsys.readouterr()
    head, *lines = rows(out)
    assert head == ["SERVICE", "WAITERS", "GENERATED", "CURATED", "SERVICE", "ID"]
    by_name = {line[0]: line for line in lines}
    shipped = shipped_definitions("sfn")
    generated = sum("generated" in definition.tags for definition in shipped)
    counts = [len(shipped), generated, len(shipped) - generated]
    assert by_name["stepfunctions"] == ["stepfunctions", *map(str, counts), "sfn"]
    assert len(lines) == sum(bool(shipped_definitions(name)) for name in shipped_services())
    total = sum(len(shipped_definitions(service_id)) for service_id in shipped_services())
    assert err.startswith(f"{len(lines)} services, {total} waiters: ")


@pytest.mark.parametrize("service", ["logs", "cloudwatch-logs", "Logs"])
def test_waiters_are_listed_by_either_service_name(service, capsys):
    assert main(["list", service]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.split(r"  +", lines[0]) == ["WAITER", "OPERATION", "DELAYS", "CONFIDENCE", "TAGS"]
    row = next(line for line in lines if line.startswith("export_task_completed "))
    assert re.split(r"  +", row)[1:] == [
        "DescribeExportTasks",
        "2 to 5 s",
        "run on moto, every value of the enum",
        "curated, run-on-moto",
    ]


def test_waiters_can_be_listed_by_tag(capsys):
    assert main(["list", "rds", "--tag", "curated"]) == 0
    names = {row[0] for row in rows(capsys.readouterr().out)}
    assert "db_instance_stopped" in names
    assert "db_instance_available" not in names


def test_waiters_on_the_search_path_are_listed(queue_ready, capsys):
    assert main(["list", "sqs"]) == 0
    row = capsys.readouterr().out.splitlines()[-1]
    assert re.split(r"  +", row) == ["queue_ready", "GetQueueUrl", "5 s", "not checked"]


def test_definitions_are_listed_by_their_own_tags(on_search_path, waitable, capsys):
    success = {"state": "success", "matcher": {"success": True}}
    members = {"namespace": "com.amazonaws.sqs", "tags": ["team-a"]}
    on_search_path(json.dumps(waitable("QueueReady", "GetQueueUrl", success, **members)))
    for words in (["--tag", "team-a"], ["sqs", "--tag", "team-a"], ["queue", "--tag", "team-a"]):
        assert main(["list", *words, "--output", "json"]) == 0
        [waiter] = json.loads(capsys.readouterr().out)
        assert (waiter["service"], waiter["waiter"]) == ("sqs", "QueueReady")
    assert main(["list", "--tag", "team-b"]) == 2
    assert "did you mean 'team-a'?" in capsys.readouterr().err


def test_a_tag_alone_lists_waiters_of_all_services(capsys):
    assert main(["list", "--tag", "run-on-moto"]) == 0
    head, *found = rows(capsys.readouterr().out)
    assert head[:2] == ["SERVICE", "WAITER"]
    assert len({row[0] for row in found}) > 5
    assert all("run on moto" in " ".join(row) for row in found)


def test_deprecated_waiters_are_marked(on_search_path, waitable, capsys):
    success = {"state": "success", "matcher": {"success": True}}
    members = {"namespace": "com.amazonaws.sqs", "deprecated": True, "tags": ["old"]}
    on_search_path(json.dumps(waitable("QueueReady", "GetQueueUrl", success, **members)))
    assert main(["list", "sqs"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("old (deprecated)")


def test_a_malformed_file_on_the_search_path_is_named(on_search_path, capsys):
    on_search_path("{")
    assert main(["list", "sqs"]) == 2
    assert "sqs/2012-11-05/smithy-waiters-1.json" in capsys.readouterr().err


def test_a_service_without_waiters_gives_a_message(capsys):
    assert main(["list", "sts"]) == 0
    assert capsys.readouterr() == ("", "sts has no waiters\n")


def test_words_find_waiters_of_all_services(capsys):
    assert main(["list", "Transit", "gateway", "deleted"]) == 0
    head, *found = rows(capsys.readouterr().out)
    assert head[:2] == ["SERVICE", "WAITER"]
    assert ("ec2", "transit_gateway_deleted") in {(row[0], row[1]) for row in found}
    assert all("transit_gateway" in row[1] and "deleted" in row[1] for row in found)


@pytest.mark.parametrize("word", ["stack-update-complete", "stack_update_complete"])
def test_a_name_is_found_in_every_spelling(word, capsys):
    assert main(["list", "StackUpdateComplete"]) == 0
    out, _ = capsys.readouterr()
    assert "stack_update_complete" in out
    assert main(["list", word]) == 0
    assert capsys.readouterr().out == out


def test_waiters_of_a_model_on_the_search_path_are_found(tmp_path, monkeypatch, capsys):
    acceptor = {"matcher": "status", "expected": 200, "state": "success"}
    waiter = {"operation": "GetQueueUrl", "delay": 5, "maxAttempts": 9, "acceptors": [acceptor]}
    folder = tmp_path / "sqs/2012-11-05"
    folder.mkdir(parents=True)
    document = {"version": 2, "waiters": {"QueueFound": waiter}}
    (folder / "waiters-2.json").write_text(json.dumps(document))
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    assert main(["list", "queue-found", "--output", "json"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert (found["service"], found["waiter"]) == ("sqs", "QueueFound")


def test_words_of_the_documentation_find_waiters(capsys):
    assert main(["list", "athena", "spark"]) == 0
    out, _ = capsys.readouterr()
    assert "calculation_execution_completed" in out
    assert main(["list", "no", "such", "thing"]) == 0
    assert capsys.readouterr() == ("", "no waiter is described by: no such thing\n")


def test_lists_as_json(capsys):
    assert main(["list", "--output", "json"]) == 0
    services = json.loads(capsys.readouterr().out)
    assert {"service": "stepfunctions", "service_id": "sfn"}.items() <= next(
        each for each in services if each["service"] == "stepfunctions"
    ).items()
    assert main(["list", "sfn", "--output", "json"]) == 0
    waiters = json.loads(capsys.readouterr().out)
    assert {each["service"] for each in waiters} == {"stepfunctions"}
    assert waiters[0].keys() >= {"waiter", "operation", "min_delay", "tags", "documentation"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["athna"], "no service 'athna'; did you mean 'athena'?"),
        (["cloudwatch-lgs"], "no service 'cloudwatch-lgs'; did you mean 'cloudwatch-logs'?"),
        (["zzzzzz\x1b[31m"], "no service 'zzzzzz\\x1b[31m'"),
        (["--tag", "generatd"], "no waiter with the tag 'generatd'; did you mean 'generated'?"),
        (["s3", "--tag", "zzz"], "no waiter with the tag 'zzz'"),
    ],
)
def test_unknown_name_exits_with_2_and_a_suggestion(words, message, capsys):
    assert main(["list", *words]) == 2
    assert capsys.readouterr() == ("", f"boto-wait list: {message}\n")


def test_client_names_are_botocores():
    loader = botocore.session.Session().get_component("data_loader")
    known = set(loader.list_available_services("service-2"))
    wrong = []
    for service_id in shipped_services():
        name = client_name(service_id)
        # Services that are missing are newer than this botocore.
        if name in known:
            model = ServiceModel(loader.load_service_model(name, "service-2"), service_name=name)
            if str(model.service_id.hyphenize()) != service_id:
                wrong.append((service_id, name))
    assert wrong == []
    assert len(known & set(map(client_name, shipped_services()))) >= 100
