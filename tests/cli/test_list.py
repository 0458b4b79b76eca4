"""`boto-wait list`."""

import json
import re

import botocore.session
import pytest
from botocore.model import ServiceModel


@pytest.fixture
def listed(command):
    """`listed(words)`: the rows of the table, without its head; their cells are separated."""

    def run(words):
        code, out, _ = command(f"list {words}")
        assert code == 0
        return [re.split(r"  +", line) for line in out.splitlines()[1:]]

    return run


@pytest.fixture
def as_json(command):
    """`as_json(words)`: the rows as objects."""
    return lambda words: json.loads(command(f"list {words} --output json")[1])


def test_services_are_listed_with_their_counts(listed, as_json, command):
    by_name = {row[0]: row[1:] for row in listed("")}
    waiters = as_json("stepfunctions")
    generated = sum("generated" in each["tags"] for each in waiters)
    counts = map(str, [len(waiters), generated, len(waiters) - generated])
    assert by_name["stepfunctions"] == [*counts, "sfn"]
    total = sum(int(row[0]) for row in by_name.values())
    assert command("list")[2].startswith(f"{len(by_name)} services, {total} waiters: ")
    services = {each["service"]: each["service_id"] for each in as_json("")}
    assert (services.keys(), services["stepfunctions"]) == (by_name.keys(), "sfn")


@pytest.mark.parametrize("service", ["logs", "cloudwatch-logs", "Logs"])
def test_waiters_are_listed_by_either_service_name(service, listed):
    rows = {row[0]: row[1:] for row in listed(service)}
    assert rows["export_task_completed"] == [
        "DescribeExportTasks",
        "2 to 5 s",
        "run on moto, every value of the enum",
        "curated, run-on-moto",
    ]


def test_waiters_can_be_listed_by_tag(listed):
    names = {row[0] for row in listed("rds --tag curated")}
    assert "db_instance_stopped" in names
    assert "db_instance_available" not in names
    found = listed("--tag run-on-moto")
    assert len({row[0] for row in found}) > 5
    assert all("run on moto" in " ".join(row) for row in found)


def test_waiters_on_the_search_path_are_listed(on_search_path, queue_ready, listed, as_json):
    on_search_path(queue_ready(tags=["team-a"], deprecated=True))
    row = ["queue_ready", "GetQueueUrl", "5 s", "not checked", "team-a (deprecated)"]
    assert listed("sqs")[-1] == row
    for words in ("--tag team-a", "sqs --tag team-a", "queue --tag team-a"):
        [waiter] = as_json(words)
        assert (waiter["service"], waiter["waiter"]) == ("sqs", "QueueReady")


def test_waiters_of_a_model_on_the_search_path_are_found(on_search_path, as_json):
    acceptor = {"matcher": "status", "expected": 200, "state": "success"}
    waiter = {"operation": "GetQueueUrl", "delay": 5, "maxAttempts": 9, "acceptors": [acceptor]}
    document = {"version": 2, "waiters": {"QueueFound": waiter}}
    on_search_path(json.dumps(document), "waiters-2.json")
    [found] = as_json("queue-found")
    assert (found["service"], found["waiter"]) == ("sqs", "QueueFound")


@pytest.mark.parametrize("words", ["sts", "no such thing"])
def test_nothing_found_is_a_message(words, command):
    code, out, err = command(f"list {words}")
    assert (code, out, err.count("\n"), words in err) == (0, "", 1, True)


def test_words_find_waiters_of_all_services(listed):
    found = listed("Transit gateway deleted")
    assert ["ec2", "transit_gateway_deleted"] in [row[:2] for row in found]
    assert all("transit_gateway" in row[1] and "deleted" in row[1] for row in found)


def test_words_of_the_documentation_find_waiters(listed):
    assert "calculation_execution_completed" in {row[0] for row in listed("athena spark")}


def test_a_name_is_found_in_every_spelling(listed):
    found = listed("StackUpdateComplete")
    assert "stack_update_complete" in {row[0] for row in found}
    assert listed("stack-update-complete") == listed("stack_update_complete") == found
    ids = listed("cloudwatch-logs export-task-completed")
    assert "export_task_completed" in {row[0] for row in ids}
    assert listed("cloudformation DescribeStacks") == listed("cloudformation describe-stacks") != []


def test_a_word_without_letters_describes_nothing(command):
    code, out, err = command("list s3 +")
    assert (code, out, "no waiter is described" in err) == (0, "", True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("athna", "no service 'athna'; did you mean 'athena'?"),
        ("cloudwatch-lgs", "no service 'cloudwatch-lgs'; did you mean 'cloudwatch-logs'?"),
        ("'zzzzzz\x1b[31m'", "no service 'zzzzzz\\x1b[31m'"),
        ("--tag generatd", "no waiter with the tag 'generatd'; did you mean 'generated'?"),
        ("s3 --tag zzz", "no waiter with the tag 'zzz'"),
    ],
)
def test_unknown_name_exits_with_2_and_a_suggestion(words, message, command):
    assert command(f"list {words}") == (2, "", f"boto-wait list: {message}\n")


@pytest.mark.nightly(subject="catalog")
def test_client_names_are_botocores(as_json):
    loader = botocore.session.Session().get_component("data_loader")
    known = set(loader.list_available_services("service-2"))
    # Services that are missing are newer than this botocore.
    listed = {each["service"]: each["service_id"] for each in as_json("")}
    found = {name: loader.load_service_model(name, "service-2") for name in listed.keys() & known}
    assert len(found) >= 100
    for name, model in found.items():
        assert ServiceModel(model, name).service_id.hyphenize() == listed[name]
