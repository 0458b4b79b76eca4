"""The places of a client's definitions, and which definitions are refused or ignored."""

import copy
import datetime as dt
import json
import logging
from dataclasses import replace

import boto3
import botocore.session
import pytest
from botocore import xform_name
from botocore.exceptions import DataNotFoundError
from botocore.loaders import Loader, create_loader
from case_tables import tabled

import boto_waiters_plus as bwp
from boto_waiters_plus.definitions.overlays import WaiterOverlay
from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.definitions.unread_waiter import UnreadWaiter
from boto_waiters_plus.options import NO_OPTIONS, WaitOptions, policy_for
from boto_waiters_plus.service import definition_places
from boto_waiters_plus.service.service_waiters import ServiceWaiters

VERSION = "2013-12-02"  # kinesis
STATUS = "StreamDescription.StreamStatus"
NOON = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone.utc)


def status(expected):
    matcher = {"path": STATUS, "expected": expected, "comparator": "stringEquals"}
    return {"state": "success", "matcher": {"output": matcher}}


def waiters_2(**waiters):
    return {"version": 2, "waiters": waiters}


def waiter_2(expected, **members):
    acceptor = {"state": "success", "matcher": "path", "argument": STATUS, "expected": expected}
    body = {"operation": "DescribeStream", "delay": 3, "maxAttempts": 5, "acceptors": [acceptor]}
    return {**body, **members}


@pytest.fixture(scope="module")
def kinesis():
    return botocore.session.get_session().get_service_model("kinesis")


@pytest.fixture
def models(tmp_path):
    """`models(name, document)` writes a file to a search path and returns its loader."""
    folder = tmp_path / "kinesis" / VERSION
    folder.mkdir(parents=True)

    def put(name, document):
        text = document if isinstance(document, str) else json.dumps(document)
        (folder / f"{name}.json").write_text(text)
        return Loader(extra_search_paths=[str(tmp_path)])

    put.path = tmp_path
    return put


def expected_of(waiters, name="StreamExists"):
    return waiters.find(name).definition.acceptors[0].matcher.matcher.expected


# --- precedence ---------------------------------------------------------------------------------


def test_the_first_place_with_the_waiter_wins(kinesis, models, waitable):
    given = bwp.load_definitions(waitable("StreamExists", "DescribeStream", status("GIVEN")))
    models("smithy-waiters-1", waitable("StreamExists", "DescribeStream", status("PATH")))
    loader = models("waiters-2", waiters_2(StreamExists=waiter_2("BOTOCORE")))
    plain = Loader()

    assert expected_of(ServiceWaiters(kinesis, loader, given)) == "GIVEN"
    assert expected_of(ServiceWaiters(kinesis, loader)) == "PATH"
    assert expected_of(ServiceWaiters(kinesis, plain)) == "ACTIVE"
    assert (
        "data/kinesis.json" in ServiceWaiters(kinesis, plain).find("StreamExists").definition.source
    )


def test_waiters_of_a_newer_botocore_work(kinesis, models):
    loader = models("waiters-2", waiters_2(StreamBrandNew=waiter_2("SHINY")))
    waiters = ServiceWaiters(kinesis, loader)
    definition = waiters.find("stream_brand_new").definition
    assert (definition.min_delay, definition.max_delay) == (1, 3)
    assert waiters.find("StreamExists").operation.name == "DescribeStream"


def test_smithys_delays_replace_converted_ones_only(kinesis, models, waitable):
    loader = models(
        "waiters-2", waiters_2(StreamNew=waiter_2("NEW"), Slow=waiter_2("N", delay=300))
    )
    own = waitable("StreamOwn", "DescribeStream", status("OWN"), minDelay=4, tags=["generated"])
    changes = {"StreamNotExists": {"max_delay": 9}, "StreamExists": {"tags": ("mine",)}}
    overlays = [
        WaiterOverlay(name=name, operation="DescribeStream", **change)
        for name, change in changes.items()
    ]
    copied = replace(ServiceWaiters(kinesis, loader).find("StreamNew").definition, max_delay=7)
    waiters = ServiceWaiters(kinesis, loader, [*bwp.load_definitions(own), *overlays])

    def delays(waiter, options=bwp.SMITHY):
        definition = waiters.find(waiter).definition if isinstance(waiter, str) else waiter
        policy = policy_for(definition, options, 300)
        return policy.min_delay, policy.max_delay

    assert delays("StreamExists") == (10, 120)
    assert delays("StreamNew") == (3, 120)
    assert delays("Slow") == (300, 300)
    assert delays(copied) == (1, 7)
    assert delays("StreamOwn") == (4, 120)
    assert delays("StreamNotExists") == (3, 9)
    assert delays("StreamConsumerActive") == delays("StreamConsumerActive", NO_OPTIONS)
    assert delays("StreamExists", WaitOptions(max_delay=60).merged_over(bwp.SMITHY)) == (10, 60)
    assert delays("StreamExists", WaitOptions(converted_delays="short")) == (3, 10)


def test_extras_of_the_search_path_are_merged(kinesis, models):
    base = waiters_2(StreamBase=waiter_2("BASE"))
    models("waiters-2", base)
    extra = {"version": 1, "merge": {"waiters": {"StreamExtra": waiter_2("EXTRA")}}}
    loader = models("waiters-2.sdk-extras", extra)
    waiters = ServiceWaiters(kinesis, loader)
    assert expected_of(waiters, "StreamExtra") == "EXTRA"
    assert expected_of(waiters, "StreamBase") == "BASE"
    assert loader.load_data(f"kinesis/{VERSION}/waiters-2") == base


# --- either name --------------------------------------------------------------------------------


@tabled("name", "found")
def test_only_both_forms_of_a_name_work(kinesis, name, found):
    assert (ServiceWaiters(kinesis, Loader()).find(name) is not None) is found


def test_snake_names_are_botocores():
    rds = botocore.session.get_session().get_service_model("rds")
    waiters = ServiceWaiters(rds, create_loader())
    assert waiters.find("DBInstanceAvailable") is waiters.find("db_instance_available")
    assert waiters.find("DBInstanceAvailable").method_name == "wait_until_db_instance_available"


@pytest.mark.parametrize("operation", ["describeStream", "describe_stream", "DescribeStream"])
def test_operations_may_be_named_like_methods(kinesis, models, operation):
    loader = models("smithy-waiters-1", waiters_2(Mine=waiter_2("ACTIVE", operation=operation)))
    waiter = ServiceWaiters(kinesis, loader).find("Mine")
    assert waiter.definition.operation == waiter.operation.name == "DescribeStream"


# --- refused, or ignored ------------------------------------------------------------------------


def shipped(monkeypatch, *names, operation):
    """Make the package ship these waiters of one operation for every service."""
    body = {"acceptors": [status("A")]}
    found = {n: UnreadWaiter(n, operation, "kinesis", "data", body, parse_waiter) for n in names}
    monkeypatch.setattr(definition_places, "unread_shipped", lambda _: found)


def test_shipped_operations_that_botocore_lacks_are_ignored(kinesis, monkeypatch):
    shipped(monkeypatch, "FromTheFuture", operation="NotYet")
    waiters = ServiceWaiters(kinesis, Loader())
    assert waiters.find("FromTheFuture") is None
    assert "from_the_future" not in waiters.readable_names
    assert waiters.find("StreamExists").definition.source.endswith("waiters-2.json")


@pytest.mark.parametrize("place", ["definitions", "search path"])
@pytest.mark.parametrize("name", ["Mine", "StreamExists"])
def test_users_operations_that_botocore_lacks_are_named(kinesis, models, waitable, place, name):
    document = waitable(name, "DescribeStrem", status("A"), namespace="com.amazonaws.kinesis")
    given = bwp.load_definitions(document) if place == "definitions" else ()
    loader = models("smithy-waiters-1", document) if place == "search path" else Loader()
    waiters = ServiceWaiters(kinesis, loader, given)
    with pytest.raises(bwp.WaiterDefinitionError) as caught:
        waiters.find(name)
    source = (
        "dict" if given else f"kinesis/{VERSION}/smithy-waiters-1.json on botocore's search path"
    )
    assert str(caught.value) == (
        f"{source}: waiter {name}: kinesis has no operation DescribeStrem; "
        "did you mean DescribeStream?"
    )
    assert waiters.find("StreamNotExists").definition.name == "StreamNotExists"
    assert xform_name(name) not in waiters.readable_names


def test_lacking_operations_are_named_by_clients(waitable):
    document = waitable("Mine", "DescribeStrem", status("A"), namespace="com.amazonaws.kinesis")
    client = bwp.enable(boto3.client("kinesis"), definitions=document)
    match = "waiter Mine: kinesis has no operation DescribeStrem; did you mean DescribeStream"
    with pytest.raises(bwp.WaiterDefinitionError, match=match):
        bwp.wait_until(client, "Mine", max_wait=1)
    with pytest.raises(AttributeError, match=match):
        client.wait_until_mine  # noqa: B018 - the lookup is what is tested
    assert "wait_until_mine" not in dir(client)


def test_definitions_without_a_service_may_not_fit(kinesis, waitable, caplog):
    documents = [waitable(name, "NotOfKinesis", status("A")) for name in ("Mine", "StreamExists")]
    waiters = ServiceWaiters(kinesis, Loader(), bwp.load_definitions(documents))
    assert expected_of(waiters) == "ACTIVE"
    with pytest.raises(bwp.WaiterDefinitionError, match="kinesis has no operation NotOfKinesis"):
        waiters.find("Mine")
    assert "mine" not in waiters.readable_names
    assert caplog.records == []


def test_event_stream_is_refused(kinesis, waitable):
    document = waitable("Subscribed", "SubscribeToShard", status("A"))
    waiters = ServiceWaiters(kinesis, Loader(), bwp.load_definitions(document))
    with pytest.raises(bwp.WaiterDefinitionError, match=r"waiter Subscribed: .* event stream"):
        waiters.find("Subscribed")


def test_output_matcher_without_an_output_is_refused(kinesis, waitable):
    document = waitable(
        "Tagged", "AddTagsToStream", {"state": "success", "matcher": {"success": True}}, status("A")
    )
    waiters = ServiceWaiters(kinesis, Loader(), bwp.load_definitions(document))
    with pytest.raises(bwp.WaiterDefinitionError, match=r"waiter Tagged, acceptor 1: output match"):
        waiters.find("Tagged")


@tabled("text", "problem", ids=["cut off", "list", "nothing", "no acceptors"])
def test_malformed_file_on_the_search_path_is_named(
    kinesis, models, monkeypatch, answers, text, problem
):
    loader = models("smithy-waiters-1", text)
    with pytest.raises(bwp.WaiterDefinitionError, match=problem) as caught:
        ServiceWaiters(kinesis, loader).find("StreamExists")
    assert f"kinesis/{VERSION}/smithy-waiters-1.json" in str(caught.value)

    monkeypatch.setenv("AWS_DATA_PATH", str(models.path))
    client = boto3.client("kinesis")
    asked = answers(client, {"StreamDescription": {"StreamStatus": "ACTIVE"}})
    with pytest.raises(bwp.WaiterDefinitionError):
        bwp.wait_until(client, "StreamExists", StreamName="s", max_wait=3)
    assert asked.requests == []
    client.get_waiter("stream_exists").wait(StreamName="s")  # botocore's own does not read it


def test_definition_is_for_its_own_service(kinesis, waitable):
    sts = botocore.session.get_session().get_service_model("sts")
    document = waitable("Mine", "DescribeStream", status("A"), namespace="com.amazonaws.kinesis")
    given = bwp.load_definitions(document)
    assert ServiceWaiters(kinesis, Loader(), given).find("Mine").definition == given[0]
    assert ServiceWaiters(sts, Loader(), given).find("Mine") is None


@tabled("service", "namespace")
def test_aws_namespaces_match_any_name_of_the_service(service, namespace, waitable):
    model = botocore.session.get_session().get_service_model(service)
    operation = model.operation_names[0]
    document = waitable(
        "Mine", operation, {"state": "success", "matcher": {"success": True}}, namespace=namespace
    )
    given = bwp.load_definitions(document)
    found = ServiceWaiters(model, create_loader(), given).find("Mine")
    assert (found.definition.name, found.definition.operation) == ("Mine", operation)


# --- all of them --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def all_waiters():
    """The waiters of every service, with the content of botocore's own file."""
    loader = create_loader()
    session = botocore.session.get_session()
    session.register_component("data_loader", loader)
    found = []
    for name in session.get_available_services():
        version = loader.determine_latest_version(name, "service-2")
        try:
            own = loader.load_data(f"{name}/{version}/waiters-2")["waiters"]
        except DataNotFoundError:
            own = {}
        if own:
            model = session.get_service_model(name)
            found.append((name, ServiceWaiters(model, loader), own))
    return found


def test_every_waiter_of_botocore_is_a_method(all_waiters):
    total = 0
    for service, waiters, own in all_waiters:
        total += len(own)
        for name, body in own.items():
            waiter = waiters.find(name)
            assert waiter is not None, f"{service} {name}"
            assert waiter.operation.name == body["operation"]
            assert waiter.method_name == "wait_until_" + xform_name(name)
    assert total >= 200


def test_generated_definitions_never_need_converting(all_waiters):
    converting = [
        f"{service} {name}"
        for service, waiters, _ in all_waiters
        for name, waiter in waiters.items()
        if "generated" in waiter.definition.tags
        and waiter.data_model.output({"At": NOON}) != {"At": NOON}
    ]
    assert converting == []


def test_lookup_does_not_change_the_loaders_documents(kinesis):
    loader = create_loader()
    shared = loader.load_data(f"kinesis/{VERSION}/waiters-2")
    before = copy.deepcopy(shared)
    waiters = ServiceWaiters(kinesis, loader)
    for waiter in waiters.values():
        assert waiter.matching
    assert shared == before


def test_a_replaced_shipped_waiter_is_told_once(kinesis, definition, tmp_path, caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    for name in ("StreamExists", "StreamReady"):
        (tmp_path / f"{name}.json").write_text(json.dumps(definition(name, expected="READY")))
    for _ in range(2):
        waiters = ServiceWaiters(kinesis, Loader(), bwp.load_definitions(tmp_path))
        assert expected_of(waiters) == expected_of(waiters, "StreamReady") == "READY"
    [record] = [each for each in caplog.records if "replaces" in each.getMessage()]
    assert record.levelname == "INFO"
    file = tmp_path / "StreamExists.json"
    assert record.getMessage() == (
        f"waiter StreamExists of kinesis comes from {file}, and replaces data/kinesis.json"
    )
