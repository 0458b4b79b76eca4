"""The files under `data/`: form, content, and that regenerating them changes nothing."""

import json
import re
from pathlib import Path

import boto3
import botocore
import pytest
from beside import beside
from botocore import xform_name
from script_modules import script

from boto_waiters_plus import enable, load_definitions
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.definitions.smithy import WAITABLE
from boto_waiters_plus.engine.acceptors import SuccessMatcher
from boto_waiters_plus.engine.backoff import delay_range
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.service.service_waiters import ServiceWaiters
from boto_waiters_plus.validation import Severity

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
LISTS = ("no-effect", "no-waiter", "pollable", "sensitive")
"""Files that hold no shapes."""
FILES = sorted(path for path in DATA.glob("*.json") if path.stem not in LISTS)
TRAITS = json.loads((DATA / "traits.json").read_text(encoding="utf-8"))
WRITTEN_FROM = TRAITS["metadata"]["boto.waiters"]["botocore"]
SERVICES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["service"]
    for path in sorted((ROOT / "tests/cases/states").glob("*.json"))
}
PUBLIC_MODELS, needs_public_models = beside("conformance/smithy-waiters-public.json")
CONFIDENCES = ("run-on-moto", "enum-checked", "model-only")

OF_AWS = {"GroupExists", "GroupInService", "GroupNotExists"}
"""AWS's own waiters for Auto Scaling, that botocore lacks."""

SEEN = re.compile("documentation|example|The service (answers|writes)|Taken over from botocore")
"""Where a value was seen that no model has."""

SUCCEED_ON_NOTHING = {"WebACLDisassociated"}
"""The operation's answer where there is no web ACL is empty."""


@pytest.fixture(scope="module")
def generate_data():
    """The tool that writes the generated part."""
    with script("tools/generate_data.py") as module:
        yield module


def curated(service_id):
    return [each for each in shipped_definitions(service_id) if "curated" in each.tags]


def all_curated():
    return [each for service_id in SERVICES for each in curated(service_id)]


def version(text):
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def test_files_have_the_form_that_regenerating_gives_them(generate_data):
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
        assert text == generate_data.file_text(document), path
        assert list(document["shapes"]) == sorted(document["shapes"]), path
        for shape in document["shapes"].values():
            waiters = shape.get("traits", {}).get(WAITABLE, {})
            assert list(waiters) == sorted(waiters), path


def test_files_parse_and_names_are_unique():
    for service_id in SERVICES:
        definitions = load_definitions(DATA / f"{service_id}.json")
        methods = [xform_name(definition.name).replace("_", "") for definition in definitions]
        assert len(set(methods)) == len(methods), service_id


def test_every_curated_waiter_is_documented_and_rated():
    for definition in all_curated():
        assert re.fullmatch(r"Waits until [^.]+\.( [A-Z][^.]+\.)?", definition.documentation)
        origin, confidence, *_ = definition.tags
        assert origin == "curated", definition
        assert confidence in CONFIDENCES, definition


def test_shipped_delays_are_the_range_of_a_delay():
    for service_id in shipped_services():
        for definition in shipped_definitions(service_id):
            delays = definition.min_delay, definition.max_delay
            assert delays == delay_range(definition.max_delay), definition
            most = 60 if "curated" in definition.tags else 300
            assert 1 <= definition.max_delay <= most, definition


def test_nothing_is_modelled_that_is_implied():
    """Section "Do not model implicit acceptors"."""
    for definition in all_curated():
        for acceptor in definition.to_json()["acceptors"]:
            [(kind, _)] = acceptor["matcher"].items()
            assert (acceptor["state"], kind) != ("failure", "errorType"), definition
            if acceptor["state"] == "retry" and definition.name not in OF_AWS:
                assert kind == "errorType", definition


def test_an_answer_of_nothing_is_no_success():
    """botocore parses a JSON body that was cut off to `{}`, without an error."""
    succeeding = {
        definition.name
        for definition in all_curated()
        if definition.acceptors[0].matcher != SuccessMatcher(success=True)
        and Matching(definition.acceptors).match_response({}, {}).index is not None
    }
    assert succeeding == SUCCEED_ON_NOTHING


def test_every_curated_waiter_is_a_method_of_a_client(service_model):
    models = {service_id: service_model(name) for service_id, name in SERVICES.items()}
    for service_id, model in models.items():
        # An older botocore lacks whole services.
        if model is not None or version(botocore.__version__) >= version(WRITTEN_FROM):
            assert_methods(service_id, model)


def assert_methods(service_id, model):
    waiters = ServiceWaiters(model, None)
    expected = {
        f"wait_until_{xform_name(definition.name)}"
        for definition in curated(service_id)
        if definition.operation in model.operation_names
    }
    attached = {waiter.method_name for waiter in waiters.values()}
    if version(botocore.__version__) >= version(WRITTEN_FROM):
        assert len(expected) == len(curated(service_id)), service_id
        assert expected <= attached, service_id
    # An older model lacks the state of a few of them.
    assert expected & attached or not expected, service_id
    for operation in model.operation_names:
        assert not xform_name(operation).startswith("wait_until_")


def test_a_real_client_has_them_among_its_attributes():
    client = enable(boto3.client("athena", region_name="us-east-1"))
    assert "wait_until_query_execution_succeeded" in dir(client)
    assert client.wait_until_query_execution_succeeded.definition.tags[0] == "curated"


@needs_public_models
def test_waiters_only_aws_has_are_as_published():
    models = json.loads(PUBLIC_MODELS.read_text(encoding="utf-8"))
    of_aws = models["autoscaling"]["waiters"]
    ours = {each.name: each for each in curated("auto-scaling") if each.name in OF_AWS}
    assert set(ours) == set(of_aws)
    for name, model in of_aws.items():
        body = ours[name].to_json()
        assert ours[name].operation == model["operation"]
        assert body["acceptors"] == model["waiter"]["acceptors"]
        delays = ours[name].min_delay, ours[name].max_delay
        assert delays == delay_range(model["waiter"].get("minDelay", 2))


def test_regenerating_keeps_what_is_curated(generate_data):
    if version(botocore.__version__) < version(WRITTEN_FROM):
        pytest.skip(f"the files were generated from botocore {WRITTEN_FROM}")
    for service_id, document in generate_data.documents(DATA):
        regenerated = {
            name
            for shape in document["shapes"].values()
            for name, waiter in shape["traits"][WAITABLE].items()
            if "curated" in waiter["tags"]
        }
        assert regenerated == {definition.name for definition in curated(service_id)}


@pytest.mark.models
def test_regenerating_changes_nothing(generate_data):
    for service_id, document in generate_data.documents(DATA):
        text = (DATA / f"{service_id}.json").read_text(encoding="utf-8")
        assert text == generate_data.file_text(document), service_id


def test_nothing_above_a_note_that_is_not_suppressed_with_a_reason(events_of_data):
    """On an older botocore too: what that lacks are notes. A newer one has states of its own."""
    events = events_of_data
    is_newer = version(botocore.__version__) > version(WRITTEN_FROM)
    accepted = Severity.WARNING if is_newer else Severity.NOTE
    assert [str(event) for event in events if event.severity > accepted] == []
    suppressed = [event for event in events if event.severity is Severity.SUPPRESSED]
    assert suppressed
    assert all(event.suppression_reason for event in suppressed)


@pytest.mark.models
def test_every_suppression_is_needed(events_of_data):
    covered = [(event.id, event.shape) for event in events_of_data if event.suppression_reason]
    idle = [
        suppression
        for suppression in TRAITS["metadata"]["suppressions"]
        if not any(
            f"{event_id}.".startswith(f"{suppression['id']}.")
            and suppression["namespace"] in ("*", shape.partition("#")[0])
            for event_id, shape in covered
        )
    ]
    assert idle == []


def test_every_suppression_says_why_and_covers_a_namespace_of_ours():
    namespaces = {
        shape_id.partition("#")[0]
        for path in FILES
        for shape_id in json.loads(path.read_text(encoding="utf-8"))["shapes"]
    }
    suppressions = TRAITS["metadata"]["suppressions"]
    assert suppressions
    for suppression in suppressions:
        assert set(suppression) == {"id", "namespace", "reason"}
        assert suppression["namespace"] in namespaces | {"*"}
        assert suppression["reason"].endswith(".")
        if suppression["id"].startswith("WaiterUnknownEnumValue"):
            assert SEEN.search(suppression["reason"]), suppression


def test_traits_of_our_own_are_defined():
    used = {
        trait
        for path in FILES
        for shape in json.loads(path.read_text(encoding="utf-8"))["shapes"].values()
        for trait in shape.get("traits", {})
        if trait.startswith("boto.waiters#")
    }
    assert used <= set(TRAITS["shapes"])
    assert all(shape_id.startswith("boto.waiters#") for shape_id in TRAITS["shapes"])
    assert [
        member["traits"]["smithy.api#enumValue"]
        for member in TRAITS["shapes"]["boto.waiters#Confidence"]["members"].values()
    ] == list(CONFIDENCES)
