"""The files under `data/`: form, content, and that regenerating them changes nothing."""

import contextlib
import itertools
import json
import re
from dataclasses import replace

import export_waiters
import pytest
from botocore import xform_name
from botocore.waiter import WaiterModel
from data.shared import CATALOG, ROOT, full_sample, json_of, operation_of, service_model
from data_rules import check
from laws import by_service
from script_modules import script

from boto_waiters_plus import load_definitions
from boto_waiters_plus.definitions.shipped import (
    shipped_definitions,
    shipped_services,
    shipped_traits,
)
from boto_waiters_plus.definitions.smithy import REPORTS, WAITABLE
from boto_waiters_plus.engine.acceptors import AcceptorState, SuccessMatcher
from boto_waiters_plus.engine.delays import delay_range
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.engine.path_interpreter import MOST_STEPS, Path, SpecEvaluation
from boto_waiters_plus.service.catalog import client_name
from boto_waiters_plus.service.data_model import DataModel, member_names
from boto_waiters_plus.service.places import default_loader
from boto_waiters_plus.service.service_waiters import ServiceWaiters
from boto_waiters_plus.service.shapes import walk
from boto_waiters_plus.validation import Severity

DATA = ROOT / "data"
RULES = json_of("tests/cases/data-rules.json")
REPORTS_OF = shipped_traits(REPORTS)
REPORTED = [(shape, waiter) for shape, reports in REPORTS_OF.items() for waiter in reports]
SERVICES = list(shipped_services())
TRAITS = json_of("data/traits.json")
CONFIDENCES = ("run-on-moto", "enum-checked", "model-only")

SUCCEED_ON_NOTHING = {"WebACLDisassociated"}
"""The operation's answer where there is no web ACL is empty."""


def all_shipped():
    return itertools.chain(*map(shipped_definitions, SERVICES))


def test_services_without_definitions_have_none():
    assert shipped_definitions("no-such-service") == ()
    assert "traits" not in SERVICES


def test_files_are_read_whole_and_names_are_unique():
    for service_id in SERVICES:
        document = json_of(f"data/{service_id}.json")
        written = {
            name: waiter
            for shape in document["shapes"].values()
            for name, waiter in shape["traits"][WAITABLE].items()
        }
        loaded = load_definitions(DATA / f"{service_id}.json")
        assert {each.name: each.to_json() for each in loaded} == written, service_id
        assert shipped_definitions(service_id) == loaded
        assert {each.service for each in loaded} == {shipped_definitions(service_id)[0].service}
        methods = {xform_name(each.name).replace("_", "") for each in loaded}
        assert len(methods) == len(loaded), service_id


def test_every_waiter_is_documented_and_rated_and_has_the_range_of_a_delay():
    for definition in all_shipped():
        origin, *rest = definition.tags
        assert origin in ("curated", "generated"), definition
        if origin == "curated":
            assert re.fullmatch(r"Waits until [^.]+\.( [A-Z][^.]+\.)?", definition.documentation)
            assert rest[0] in CONFIDENCES, definition
        delays = definition.min_delay, definition.max_delay
        assert delays == delay_range(definition.max_delay), definition
        assert 1 <= definition.max_delay <= (60 if origin == "curated" else 300), definition


def test_an_answer_of_nothing_is_no_success():
    """botocore parses a JSON body that was cut off to `{}`, without an error."""
    succeeding = set()
    for definition in all_shipped():
        index = Matching(definition.acceptors).match_response({}, {}).index
        if index is None or definition.states[index] is not AcceptorState.SUCCESS:
            continue
        if definition.acceptors[index].matcher != SuccessMatcher(success=True):
            succeeding.add(definition.name)
    assert succeeding == SUCCEED_ON_NOTHING


def test_traits_of_our_own_are_defined():
    files = [json_of(path) for path in DATA.glob("*.json")]
    shapes = [shape for file in files for shape in file.get("shapes", {}).values()]
    used = {trait for shape in shapes for trait in shape.get("traits", {})}
    assert {each for each in used if each.startswith("boto.waiters#")} <= set(TRAITS["shapes"])


# --- beside botocore's models -------------------------------------------------------------------


@CATALOG
def test_every_waiter_is_a_method_of_a_client():
    for service_id in SERVICES:
        model = service_model(client_name(service_id))
        expected = {f"wait_until_{xform_name(x.name)}" for x in shipped_definitions(service_id)}
        attached = {waiter.method_name for waiter in ServiceWaiters(model, None).values()}
        assert expected <= attached, service_id
        assert not any(xform_name(each).startswith("wait_until_") for each in model.operation_names)


@CATALOG
@pytest.mark.models
def test_regenerating_changes_nothing():
    with script("tools/generate_data.py") as generate_data:
        for service_id, document in generate_data.documents(DATA):
            text = (DATA / f"{service_id}.json").read_text(encoding="utf-8")
            assert text == generate_data.file_text(document), service_id
        assert generate_data.known_states() == json_of("data/states.json")


@CATALOG
@pytest.mark.models
def test_nothing_above_a_note_that_is_not_suppressed_with_a_reason():
    events = check(DATA)
    assert [str(event) for event in events if event.severity > Severity.NOTE] == []
    suppressed = [event for event in events if event.severity is Severity.SUPPRESSED]
    assert suppressed
    assert all(event.suppression_reason for event in suppressed)
    covered = [(f"{event.id}.", event.shape.partition("#")[0]) for event in suppressed]
    for known in TRAITS["metadata"]["suppressions"]:
        # Those of effects are tested with their rules.
        assert known["id"].startswith("Effect") or any(
            event_id.startswith(f"{known['id']}.") and known["namespace"] in ("*", namespace)
            for event_id, namespace in covered
        ), known


# --- rules, reports and the work of expressions ------------------------------------------------


@pytest.mark.models
@pytest.mark.parametrize("row", RULES, ids=[row["name"] for row in RULES])
def test_a_rule_finds_what_it_is_for(row, waitable):
    names, rule = (row["waiter"], row["operation"]), row.get("rule", "WaiterDenied")
    members = row.get("members", {})
    document = waitable(*names, *row["acceptors"], namespace=row["service"], **members)
    [shape] = document["shapes"].values()
    shape["traits"][WAITABLE] |= row.get("siblings", {})
    found = [event.id for event in check(document) if event.id.startswith(rule)]
    assert found == row["finds"]


@pytest.mark.models
@pytest.mark.parametrize(("shape", "waiter"), by_service(REPORTED))
def test_every_word_can_be_read(shape, waiter):
    operation = operation_of(shape)
    shapes = [*walk(operation.output_shape)]
    has_keys = any(each.shape.type_name == "map" for each in shapes)
    for word, path in REPORTS_OF[shape][waiter].items():
        assert word == word.lower().strip()
        assert not DataModel(operation, [("output", path)]).sensitive, path
        # The keys of a map are no members.
        assert has_keys or member_names(path) <= {each.name for each in shapes}, path


def steps_of(paths, document):
    evaluation = SpecEvaluation()
    for path in paths:
        with contextlib.suppress(TypeError, ValueError):
            Path(path).value(document, evaluation)
    return MOST_STEPS - evaluation.steps_left


@CATALOG
def test_shipped_expressions_take_few_steps():
    most = {}
    for service in default_loader().list_available_services("service-2"):
        for waiter in ServiceWaiters(service_model(service), None).values():
            output = full_sample(waiter.operation.output_shape, "text", items=20)
            paths = [path for _, path in waiter.polling.matching.paths]
            both = {"input": {}, "output": output}
            steps = max(steps_of(paths, output), steps_of(paths, both))
            most[steps] = service, waiter.definition.name
    assert max(most) < MOST_STEPS / 50, most[max(most)]


# --- `tools/export_waiters.py`, by which a shipped waiter is sent upstream ----------------------


@pytest.mark.parametrize("form", ["smithy", "waiters-2"])
def test_an_export_is_read_back_as_the_waiter(form, tmp_path, capsys):
    if form == "smithy":
        pytest.importorskip("lark")
    assert export_waiters.main(["kms", "KeyEnabled", "--format", form]) == 0
    text = capsys.readouterr().out
    file = tmp_path / ("kms.smithy" if form == "smithy" else "kms.json")
    file.write_text(text, encoding="utf-8")
    [read] = load_definitions(file)
    [shipped] = [each for each in shipped_definitions("kms") if each.name == "KeyEnabled"]
    assert (read.name, read.operation) == (shipped.name, shipped.operation)
    assert read.acceptors == tuple(replace(each, message=None) for each in shipped.acceptors)
    if form == "waiters-2":
        stock = WaiterModel(json.loads(text)).get_waiter("KeyEnabled")
        assert (stock.operation, stock.delay) == (shipped.operation, shipped.max_delay)


def test_what_waiters_2_cannot_express_is_named(capsys):
    assert export_waiters.main(["batch", "--format", "waiters-2"]) == 1
    output = capsys.readouterr()
    assert "JobsSucceeded compares the input" in output.err
    assert "JobsSucceeded" not in json.loads(output.out)["waiters"]
