"""`boto-wait list` and `boto-wait show`."""

import copy
import json
import re
from pathlib import Path

import botocore.session
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel

CASES = json.loads((Path(__file__).parents[1] / "cases/command_lines.json").read_text("utf-8"))


@pytest.fixture
def listed(command):
    """`listed(words)`: the rows of the first table, without its head; their cells are separated."""

    def run(words):
        code, out, _ = command(f"list {words}")
        assert code == 0
        return rows_of(out.partition("\n\n")[0])

    return run


def rows_of(table):
    return [re.split(r"  +", line) for line in table.splitlines()[1:]]


@pytest.fixture
def as_json(command):
    """`as_json(words)`: the rows as objects."""
    return lambda words: json.loads(command(f"list {words} --output json")[1])


def test_services_are_listed_with_their_counts(listed, as_json, command):
    by_name = {row[0]: row[1:] for row in listed("")}
    waiters = [each for each in as_json("stepfunctions") if each["kind"] == "waiter"]
    generated = sum("generated" in each["tags"] for each in waiters)
    counts = map(str, [len(waiters), generated, len(waiters) - generated])
    assert by_name["stepfunctions"] == [*counts, "sfn"]
    total = sum(int(row[0]) for row in by_name.values())
    assert command("list")[2].startswith(f"{len(by_name)} services, {total} waiters: ")
    services = {each["service"]: each["service_id"] for each in as_json("")}
    assert (services.keys(), services["stepfunctions"]) == (by_name.keys(), "sfn")


@pytest.mark.parametrize(("words", "row"), CASES["listed"])
def test_waiters_and_effects_are_found(words, row, listed):
    assert row in [each[: len(row)] for each in listed(words)]


@pytest.mark.parametrize(("words", "message"), CASES["nothing found"])
def test_nothing_found_is_a_message(words, message, command):
    code, out, err = command(f"list {words}")
    assert (code, out, err.count("\n"), message in err) == (0, "", 1, True)


def test_others_than_those_asked_for_are_left_out(listed, as_json):
    assert "db_instance_available" not in {row[0] for row in listed("rds --tag curated")}
    found = listed("--tag run-on-moto")
    assert len({row[0] for row in found}) > 5
    assert all("run on moto" in " ".join(row) for row in found)
    found = listed("Transit gateway deleted")
    assert all("transit_gateway" in row[1] and "deleted" in row[1] for row in found)
    assert {each["kind"] for each in as_json("rds --tag curated")} == {"waiter"}
    found = as_json("modify db instance")
    assert {(each["kind"], each["after"]) for each in found} == {("effect", "ModifyDBInstance")}


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
    on_search_path(json.dumps(document), "sqs/2012-11-05/waiters-2.json")
    [found] = as_json("queue-found")
    assert (found["service"], found["waiter"]) == ("sqs", "QueueFound")


@pytest.mark.parametrize("words", ["list rds", "list db instance", "show rds"])
def test_effects_stand_below_waiters_under_a_heading(words, command):
    code, out, _ = command(words)
    waiters, effects = out.split("\n\n")
    heading, head, *_ = effects.splitlines()
    assert (code, "`boto-wait begin SERVICE OPERATION`" in heading) == (0, True)
    assert head.split()[-4:] == ["EFFECT", "AFTER", "POLLS", "BASIS"]
    assert head.split()[:-4] == waiters.split()[: "WAITER" not in waiters.split()[0]]
    row = "db_instance_modified ModifyDBInstance DescribeDBInstances goal"
    assert row in " ".join(effects.split())
    facts = json.loads(command(f"{words} --output json")[1])
    kinds = [each["kind"] for each in facts]
    assert [*dict.fromkeys(kinds)] == ["waiter", "effect"]
    counts = len(rows_of(waiters)), len(rows_of(effects)) - 1
    assert (kinds.count("waiter"), kinds.count("effect")) == counts


def test_effects_alone_are_listed(as_json):
    assert {each["kind"] for each in as_json("--changes")} == {"effect"}
    effects = [each for each in as_json("logs") if each["kind"] == "effect"]
    assert as_json("--changes logs") == effects


@pytest.mark.parametrize("service", ["emr", "logs", "ecs", "stepfunctions"])
def test_listed_effects_are_those_that_begin_waits_for(service, as_json, command):
    names = ("after", "name", "operation", "basis", "documentation")
    by_operation = {}
    for effect in as_json(f"--changes {service}"):
        by_operation.setdefault(effect["after"], []).append([effect[name] for name in names])
    assert by_operation
    for operation, effects in by_operation.items():
        shown = json.loads(command(f"show {service} {operation} --output json")[1])
        assert [[each[name] for name in names] for each in shown] == effects


def test_effects_need_what_an_older_botocore_lacks(on_search_path, monkeypatch, as_json, command):
    model = copy.deepcopy(Loader().load_service_model("athena", "service-2"))
    del model["operations"]["GetSession"], model["operations"]["CancelCapacityReservation"]
    del model["shapes"]["QueryExecution"]["members"]["Status"]
    lacked = {"StartSession", "CancelCapacityReservation", "StartQueryExecution"}
    assert lacked < {each["after"] for each in as_json("--changes athena")}
    on_search_path(json.dumps(model), "athena/2017-05-18/service-2.json")
    monkeypatch.setattr(botocore, "__version__", "1.34.0")
    found = {each["after"] for each in as_json("--changes athena")}
    assert (bool(found), found & lacked) == (True, set())
    assert all(json.loads(command(f"show athena {each} --output json")[1]) for each in found)
    helped = re.findall(r"^  ([a-z-]+): ", command("begin athena --help")[1], re.MULTILINE)
    assert {each.replace("-", "") for each in helped} == {each.lower() for each in found}


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


@pytest.mark.parametrize(("words", "text"), [
    ("show sqs queue-ready", "QueueReady of sqs"), ("show sqs", "queue_ready"),
    ("schedule sqs queue-ready --max-wait 1m", "sqs queue-ready, 1m"),
])  # fmt: skip
def test_definitions_can_be_given(words, text, queue_ready, tmp_path, command):
    file = tmp_path / "waiters.json"
    file.write_text(queue_ready())
    code, out, _ = command(f"{words} --definitions", file)
    assert (code, text in out, text in command(words)[1]) == (0, True, False)
    file.write_text("{")
    code, _, err = command(f"{words} --definitions", file)
    assert (code, str(file) in err) == (2, True)


def test_documentation_is_rendered_line_by_line(on_search_path, queue_ready, command):
    text = "Waits until **ready**.\n\n- `a < b`\n- " + "word " * 30 + "\n- \x1b[31mred"
    on_search_path(queue_ready(documentation=text, deprecated=True))
    shown = command("show sqs queue-ready")[1].partition("\n\nmethod")[0].splitlines()
    head = "QueueReady of sqs, polls GetQueueUrl (deprecated)"
    assert shown[:5] == [head, "Waits until **ready**.", "", "* ``a < b``", ""]
    assert max(map(len, shown)) <= 88
    assert shown[-1] == r"* \x1b[31mred"


def test_a_waiter_with_a_failure_state_has_no_note(command):
    assert "No acceptor detects" not in command("show athena query-execution-succeeded")[1]


def test_attempts_are_shown_for_three_waits(on_search_path, queue_ready, command):
    on_search_path(queue_ready())
    _, rest = command("show sqs queue-ready")[1].split("Attempts, with jittered delays of 5 s:\n")
    lines = [re.split(r"  +", line.strip()) for line in rest.splitlines()]
    assert lines[:4] == [
        ["MAX_WAIT", "ATTEMPTS", "TYPICAL TIMES"],
        ["5 min", "60", "0, 5, 10, 15, 20, 25, ..., 300 s"],  # the last two attempts are one
        ["10 min", "120", "0, 5, 10, 15, 20, 25, ..., 600 s"],
        ["30 min", "360", "0, 5, 10, 15, 20, 25, ..., 1800 s"],
    ]


def test_waiters_and_effects_as_json(command):
    facts = json.loads(command("show stepfunctions execution-succeeded --output json")[1])
    method, operation = "wait_until_execution_succeeded", "DescribeExecution"
    assert (facts["method"], facts["operation"]) == (method, operation)
    assert (facts["kind"], facts["service"]) == ("waiter", "stepfunctions")
    assert facts["acceptors"][0]["state"] == "success"
    assert "cause" in facts["reasons"]
    [effect] = json.loads(command("show glue StartJobRun --output json")[1])
    assert (effect["basis"], effect["stop"]) == ("identity", "BatchStopJobRun")
    assert (effect["kind"], effect["service"]) == ("effect", "glue")


@pytest.mark.parametrize("service", ["s3", "cloudwatch-logs"])
def test_a_service_is_shown_as_it_is_listed(service, command):
    for options in ("", "--output json"):
        assert command(f"show {service} {options}") == command(f"list {service} {options}")
