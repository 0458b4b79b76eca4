"""The places of a client's definitions, and which definitions are refused or ignored."""

import copy
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import boto3
import botocore
import botocore.session
import pytest
from botocore import xform_name
from botocore.loaders import Loader

import boto_waiters_plus as bwp
from boto_waiters_plus.options import NO_OPTIONS, WaitOptions, policy_for

KINESIS = "com.amazonaws.kinesis"
FOLDER = "kinesis/2013-12-02"
STATUS = "StreamDescription.StreamStatus"
ANY = {"state": "success", "matcher": {"success": True}}


def status(expected):
    matcher = {"path": STATUS, "expected": expected, "comparator": "stringEquals"}
    return {"state": "success", "matcher": {"output": matcher}}


def own(name="StreamExists", expected="MINE", *, acceptors=None, **where):
    where = {"namespace": KINESIS, "operation": "DescribeStream", "members": {}, **where}
    body = {"acceptors": acceptors or [status(expected)], **where["members"]}
    shape = {"type": "apply", "traits": {"smithy.waiters#waitable": {name: body}}}
    return {"smithy": "2.0", "shapes": {f"{where['namespace']}#{where['operation']}": shape}}


def waiters_2(**delays):
    """botocore's waiters of these names and delays, each for a state of its name."""
    status = {"state": "success", "matcher": "path", "argument": STATUS}
    body = {"operation": "DescribeStream", "maxAttempts": 5}
    waiters = {
        name: {**body, "delay": delay, "acceptors": [{**status, "expected": name}]}
        for name, delay in delays.items()
    }
    return {"version": 2, "waiters": waiters}


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """`on_path(name, document)` writes a file to botocore's search path."""
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))

    def put(name, content, folder=FOLDER):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / f"{name}.json").write_text(json.dumps(content))

    return put


def client(*definitions, service="kinesis"):
    return bwp.enable(boto3.Session().client(service), definitions=definitions)


def definition(client, name="StreamExists"):
    return getattr(client, f"wait_until_{xform_name(name)}").definition


def expected_of(client, name="StreamExists"):
    found = [a for a in definition(client, name).acceptors if a.state.value == "success"]
    return found[0].matcher.matcher.expected


# --- precedence ---------------------------------------------------------------------------------


def test_the_first_place_with_the_waiter_wins(on_path):
    on_path("waiters-2", waiters_2(StreamExists=3))
    assert expected_of(client()) == "ACTIVE"
    assert "data/kinesis.json" in definition(client()).source
    on_path("smithy-waiters-1", own(expected="PATH"))
    assert expected_of(client()) == "PATH"
    assert expected_of(client(own(expected="GIVEN"))) == "GIVEN"


def test_extras_of_the_search_path_are_merged(installed, on_path):
    base, extra = waiters_2(StreamBase=3), waiters_2(StreamExtra=3)
    on_path("waiters-2", base)
    on_path("waiters-2.sdk-extras", {"version": 1, "merge": {"waiters": extra["waiters"]}})
    session = botocore.session.Session()
    kinesis = session.create_client("kinesis", region_name="us-east-1")
    for name in ("StreamExtra", "StreamBase"):
        assert expected_of(kinesis, name) == name
    assert session.get_component("data_loader").load_data(f"{FOLDER}/waiters-2") == base


def test_smithys_delays_replace_converted_ones_only(on_path):
    on_path("waiters-2", waiters_2(StreamNew=3, Slow=300))
    mine = own("StreamOwn", "OWN", members={"minDelay": 4, "tags": ["generated"]})
    kinesis = client(mine)

    def delays(waiter, options=bwp.SMITHY, **members):
        policy = policy_for(replace(definition(kinesis, waiter), **members), options, 300)
        return policy.delays.min_delay, policy.delays.max_delay

    assert delays("StreamExists") == (10, 120)
    assert delays("StreamNew") == (3, 120)
    assert delays("Slow") == (300, 300)
    assert delays("StreamNew", NO_OPTIONS) == (1, 3)
    assert delays("StreamNew", max_delay=7) == (1, 7)
    assert delays("StreamOwn") == (4, 120)
    assert delays("StreamConsumerActive") == delays("StreamConsumerActive", NO_OPTIONS)
    assert delays("StreamExists", WaitOptions(max_delay=60).merged_over(bwp.SMITHY)) == (10, 60)
    assert delays("StreamExists", WaitOptions(converted_delays="short")) == (3, 10)


def test_a_replaced_shipped_waiter_is_told_once(definition, tmp_path, caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    file = tmp_path / "StreamExists.json"
    file.write_text(json.dumps(definition("StreamExists", expected="READY")))
    for _ in range(2):
        assert expected_of(client(tmp_path)) == "READY"
    [told] = [each for each in caplog.messages if "replaces" in each]
    assert "waiter StreamExists of kinesis" in told
    assert str(file) in told


# --- refused, or ignored ------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["given", "search path"])
@pytest.mark.parametrize("name", ["Mine", "StreamExists"])
def test_operations_that_botocore_lacks_are_named(on_path, place, name):
    lacking = own(name, operation="DescribeStrem")
    if place == "search path":
        on_path("smithy-waiters-1", lacking)
    kinesis = client(*([lacking] if place == "given" else []))
    source = "dict" if place == "given" else f"{FOLDER}/smithy-waiters-1.json on botocore's "
    match = f"^{source}.*{name}.*DescribeStrem.*DescribeStream"
    with pytest.raises(bwp.WaiterDefinitionError, match=match):
        bwp.wait_until(kinesis, name, StreamName="s", max_wait=60)
    with pytest.raises(AttributeError, match=match):
        definition(kinesis, name)
    assert definition(kinesis, "StreamNotExists").name == "StreamNotExists"
    assert f"wait_until_{xform_name(name)}" not in dir(kinesis)


def test_definitions_without_a_service_may_not_fit(caplog):
    where = {"namespace": "example", "operation": "NotOfKinesis"}
    kinesis = client(own("Mine", **where), own("StreamExists", **where))
    assert expected_of(kinesis) == "ACTIVE"
    with pytest.raises(bwp.WaiterDefinitionError, match="NotOfKinesis"):
        bwp.wait_until(kinesis, "Mine", max_wait=60)
    assert "wait_until_mine" not in dir(kinesis)
    assert caplog.records == []


@pytest.mark.parametrize(("operation", "acceptors", "problem"), [
    ("SubscribeToShard", [status("A")], "event stream"),
    ("AddTagsToStream", [ANY, status("A")], "acceptor 1"),
])  # fmt: skip
def test_what_no_wait_can_judge_is_refused(operation, acceptors, problem):
    kinesis = client(own("Mine", operation=operation, acceptors=acceptors, namespace="example"))
    with pytest.raises(bwp.WaiterDefinitionError, match=problem):
        bwp.wait_until(kinesis, "Mine", max_wait=60)


@pytest.mark.parametrize("version", ["1.34.0", None])
def test_shipped_waiters_need_the_operation_and_its_state(on_path, monkeypatch, version):
    """An older botocore may lack both."""
    if version is not None:
        monkeypatch.setattr(botocore, "__version__", version)
    model = copy.deepcopy(Loader().load_service_model("athena", "service-2"))
    del model["operations"]["GetSession"]
    del model["shapes"]["QueryExecution"]["members"]["Status"]
    on_path("service-2", model, folder="athena/2017-05-18")
    names = dir(client(service="athena"))
    assert "wait_until_session_idle" not in names
    assert ("wait_until_query_execution_succeeded" in names) is (version is None)


@pytest.mark.parametrize(("service", "namespace"), [
    ("logs", "com.amazonaws.cloudwatchlogs"), ("autoscaling", "com.amazonaws.autoscaling"),
    ("elbv2", "com.amazonaws.elasticloadbalancingv2"), ("stepfunctions", "com.amazonaws.sfn"),
    ("cognito-idp", "com.amazonaws.cognitoidentityprovider"),
])  # fmt: skip
def test_aws_namespaces_match_any_name_of_the_service(service, namespace):
    operation = botocore.session.get_session().get_service_model(service).operation_names[0]
    mine = own("Mine", acceptors=[ANY], namespace=namespace, operation=operation)
    assert definition(client(mine, service=service), "Mine").operation == operation


# --- a definition together with its operation --------------------------------------------------

PAGES = [(11, None, 100), (60, None, 100), (10, None, None), (60, 70, 70)]
NAMES = [f"name-{number}" for number in range(60)]


def test_a_waiter_that_polls_a_change_warns_the_caller_once(answers, waitable, recwarn):
    client = bwp.enable(boto3.client("dynamodb"), definitions=waitable("Mine", "DeleteTable", ANY))
    answers(client, {})
    for _ in range(2):
        bwp.wait_until(client, "Mine", TableName="t", max_wait=60)
    assert [(each.category, each.filename) for each in recwarn] == [(UserWarning, __file__)]
    assert "DeleteTable" in str(recwarn[0].message)


@pytest.mark.parametrize(("count", "given", "sent"), PAGES)
def test_a_page_has_all_that_a_request_names(answers, count, given, sent):
    client, names = bwp.enable(boto3.client("autoscaling")), NAMES[:count]
    found = [{"AutoScalingGroupName": name, "Instances": []} for name in names]
    asked = answers(client, {"AutoScalingGroups": found})
    extra = {} if given is None else {"MaxRecords": given}
    client.wait_until_group_exists(AutoScalingGroupNames=names, max_wait=9, **extra)
    assert [request["body"].get("MaxRecords") for request in asked.requests] == [sent]


def test_more_names_than_a_page_has_are_refused(answers):
    client = bwp.enable(boto3.client("ecs"))
    asked = answers(client, {"capacityProviders": []})
    with pytest.raises(ValueError, match="capacityProviders"):
        client.wait_until_capacity_providers_active(capacityProviders=NAMES[:11], max_wait=9)
    assert asked.requests == []


def test_a_list_may_be_empty_unless_it_has_the_identifiers():
    ec2, ecs = bwp.enable(boto3.client("ec2")), bwp.enable(boto3.client("ecs"))
    with pytest.raises(ValueError, match="InstanceIds"):
        bwp.Wait(ec2, "InstanceRunning", {"InstanceIds": (), "Filters": []})
    assert bwp.Wait(ec2, "InstanceRunning", {"Filters": [], "InstanceIds": ["i-1"]})
    assert bwp.Wait(ecs, "ServicesStable", {"include": [], "services": ["s"]})


# --- while another thread is inside a lookup ----------------------------------------------------


class Slow(Loader):
    """A loader whose files of waiters arrive when the test allows it."""

    def __init__(self):
        super().__init__()
        self.inside, self.go_on = threading.Event(), threading.Event()

    def load_data(self, name):
        if "waiters" in name:
            self.inside.set()
            assert self.go_on.wait(60), "the other lookup has to end first"
        return super().load_data(name)


@pytest.fixture
def slow(installed):
    """The loader, and a client that it loads for."""
    session, loader = botocore.session.Session(), Slow()
    session.register_component("data_loader", loader)
    return loader, session.create_client("kinesis", region_name="us-east-1")


def stream_exists(client):
    return client.wait_until_stream_exists.definition


def test_a_slow_lookup_does_not_block_another_service(slow):
    loader, kinesis = slow
    dynamodb = botocore.session.Session().create_client("dynamodb", region_name="us-east-1")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(stream_exists, kinesis)
        assert loader.inside.wait(60)
        assert dynamodb.wait_until_table_exists.definition.name == "TableExists"
        assert not first.done()
        loader.go_on.set()
        assert first.result(60).name == "StreamExists"


def test_threads_that_look_up_at_once_get_one_definition(slow):
    loader, kinesis = slow
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(stream_exists, kinesis) for _ in range(4)]
        assert loader.inside.wait(60)
        loader.go_on.set()
        assert len({id(each.result(60)) for each in found}) == 1
