"""Responses in the specification's JMESPath data model."""

import datetime as dt
import json
import time
from copy import deepcopy
from decimal import Decimal
from functools import partial

import boto3
import jmespath
import pytest
from case_tables import experiments
from installed_models import installed_operation
from service.own_service import clients_of

import boto_waiters_plus as bwp

NOON = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone.utc)
EPOCH = 1704110400


def structure(text, **more):
    """Return a structure: members of a text such as `Since=Timestamp Ids`."""
    pairs = (word.partition("=")[::2] for word in text.split())
    members = {name: {"shape": shape or name} for name, shape in pairs}
    return {"type": "structure", "members": members, **more}


KINDS = ("String", "Integer", "Boolean", "Timestamp", "Blob")
SHAPES = {
    "Output": structure(
        "Name=String Count=Integer Ready=Boolean Secret Created=Timestamp Data=Blob Body=Stream "
        "Items ByKey Account Tree Free=Document"
    ),
    "Input": structure("Since=Timestamp Ids"),
    "Ids": {"type": "list", "member": {"shape": "String"}},
    **{name: {"type": name.lower()} for name in KINDS},
    "Secret": {"type": "string", "sensitive": True},
    "Stream": {"type": "blob", "streaming": True},
    "Items": {"type": "list", "member": {"shape": "Item"}},
    "Item": structure("Id=String At=Timestamp Raw=Blob"),
    "ByKey": {"type": "map", "key": {"shape": "String"}, "value": {"shape": "Timestamp"}},
    "Account": structure("Token=Secret", sensitive=True),
    "Tree": structure("Child=Tree When=Timestamp"),
    "Document": structure("", document=True),
    "Choice": structure("When=Timestamp Name=String", union=True),
}
SHAPES["Output"]["members"]["Created"]["locationName"] = "createdAt"


class Body:
    """A streaming body, which is not read."""

    def read(self):
        raise AssertionError("the body was read")


@pytest.fixture(scope="module")
def make_client(tmp_path_factory):
    """Makes a client whose output has a member of each shape, `OfTimestamp` and so on."""
    members = {f"Of{name}": {"shape": name} for name in SHAPES} | SHAPES["Output"]["members"]
    shapes = {**SHAPES, "All": {"type": "structure", "members": members}}
    return clients_of(tmp_path_factory.mktemp("own"), "Get", shapes=shapes, output={"shape": "All"})


@pytest.fixture
def waited(answers, waitable):
    """`waited(client, operation, path, response, **parameters)`: the outcome, the requests."""

    def wait(client, operation, path, response, kind="output", expected="true", **parameters):
        comparator = "booleanEquals" if expected == "true" else "stringEquals"
        matcher = {kind: {"path": path, "expected": expected, "comparator": comparator}}
        document = waitable("Mine", operation, {"state": "success", "matcher": matcher})
        asked = answers(bwp.enable(client, definitions=document), response)
        return client.wait_until_mine(**parameters, max_wait=60, max_attempts=1), asked.requests

    return wait


@pytest.fixture
def outcome(waited, make_client):
    """`outcome(path, expected, response)`: of a wait of one attempt."""
    client = make_client()
    return lambda path, expected, got: waited(client, "Get", path, got, expected=expected)[0]


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "value", "expected"), [
    ("Timestamp", NOON, EPOCH),
    ("Timestamp", NOON.replace(microsecond=250000), EPOCH + 0.25),
    ("Timestamp", NOON.astimezone(dt.timezone(dt.timedelta(hours=5))), EPOCH),
    ("Timestamp", NOON.replace(tzinfo=None), EPOCH),
    ("Timestamp", dt.datetime(1969, 12, 31, tzinfo=dt.timezone.utc), -86400),
    ("Timestamp", EPOCH, EPOCH), ("Timestamp", str(EPOCH), EPOCH), ("Timestamp", "soon", "soon"),
    ("Timestamp", "2024-01-01T12:00:00Z", EPOCH),
    ("Timestamp", "2024-01-01T14:00:00+02:00", EPOCH),
    ("Timestamp", "2024-01-01", EPOCH - 12 * 3600),
    ("Blob", b"\x00\xff", "AP8="), ("Blob", bytearray(b"abc"), "YWJj"), ("Blob", "abc", "YWJj"),
    ("Stream", Body(), None), ("String", b"#!user data", "IyF1c2VyIGRhdGE="),
    ("Items", [{"At": NOON, "Raw": b"a"}], [{"At": EPOCH, "Raw": "YQ=="}]),
    ("Items", ({"At": NOON},), [{"At": EPOCH}]), ("Ids", {"a"}, ["a"]), ("Ids", frozenset(), []),
    ("Integer", Decimal(3), 3), ("Integer", Decimal("2.5"), 2.5),
    ("String", {"List": ["ü"]}, '{"List": ["ü"]}'),
    ("Document", {"any": (1, {2})}, {"any": [1, [2]]}), ("ByKey", {"a": NOON}, {"a": EPOCH}),
    ("Tree", {"Child": {"Child": {"When": NOON}}}, {"Child": {"Child": {"When": EPOCH}}}),
    ("Output", {"Unknown": NOON, "Name": "n"}, {"Unknown": EPOCH, "Name": "n"}),
    ("Output", {"Items": None, "Created": None}, {"Items": None, "Created": None}),
    ("Choice", {"When": "2024-01-01T12:00:00Z"}, {"When": EPOCH}),
])  # fmt: skip
def test_value_is_converted_by_its_shape(outcome, name, value, expected):
    text = json.dumps([expected, None], separators=(",", ":"))
    found = outcome(f"to_string([Of{name}, Created])", text, {f"Of{name}": value})
    assert found.response[f"Of{name}"] is value


def document(moment, data, raw):
    item, tree = {"At": moment, "Raw": raw}, {"Child": {"Child": {"When": moment}}}
    items = [{"Id": "a", **item}, {"Id": "b", **item}]
    by_key = {"anything": moment}
    return {"Created": moment, "Data": data, "Items": items, "Tree": tree, "ByKey": by_key}


RAW, CONVERTED = document(NOON, b"a", b"b"), document(EPOCH, "YQ==", "Yg==")


@pytest.mark.parametrize("path", [
    "Name", "length(Items)", "Items[].Id", "Items[?Id=='a'].Id", "length(Items[?Id=='a']) > `0`",
    "Created", "Created > `1700000000`", "Items[].At", "Items[?At > `5`].Id",
    "max_by(Items, &At).Id", "sort_by(Items, &Raw)[0].Id", "map(&At, Items)",
    "Items[].{id: Id, at: At}", "Items[].[Id, Raw]", "Items[0].*", "values(Items[0])",
    "to_string(@)", "merge(Items[0], Items[1]).Id", "ByKey.anything", "Tree.Child.Child.When",
    "Data == 'YQ=='", "not_null(Name, Created)", "Name || Created", "contains(keys(@), 'Created')",
])  # fmt: skip
def test_paths_that_reach_a_timestamp_or_blob_convert(outcome, path):
    found = json.dumps(jmespath.search(path, CONVERTED))
    outcome(f"({path}) == `{found}`", "true", RAW)


@pytest.mark.parametrize(("path", "sensitive"), [
    ("Name", False), ("Secret", True), ("length(Secret)", True), ("Account", True),
    ("Account.Token", True), ("[Name, Secret]", True), ("Items[].Id", False), ("values(@)", True),
    ("@.*", True), ("to_string(@)", True), ("to_string(Count)", False),
    ("Items[].to_string(Id)", True), ("to_string(values(ByKey))", True), ("values(ByKey)", False),
    ("ByKey.*", True), ("{Count: @} | to_string(Count)", True),
])  # fmt: skip
def test_paths_over_sensitive_members_are_sensitive(outcome, path, sensitive):
    response = {"Name": "n", "Secret": "s", "Account": {"Token": "t"}, "Count": 1}
    response |= {"Items": [{"Id": "a"}], "ByKey": {}}
    found = outcome(f"({path}) != `0`", "true", response)
    assert found.observed is (None if sensitive else True)


# --- on clients ---------------------------------------------------------------------------------


CODED = "%7B%22Action%22%3A%20%22s3%3AGetObject%22%7D"


@pytest.mark.parametrize(("name", "parameters", "response", "member"), [
    ("iam.GetRolePolicy", {"RoleName": "r", "PolicyName": "p"}, {"PolicyDocument": CODED},
     "PolicyDocument"),
    ("cloudformation.GetTemplate", {"StackName": "s"},
     {"TemplateBody": '{"Action": "s3:GetObject"}'}, "TemplateBody"),
])  # fmt: skip
def test_members_that_botocore_decodes_are_strings(waited, name, parameters, response, member):
    service, operation = name.split(".")
    path = f"contains({member}, 's3:GetObject')"
    # botocore decodes in place.
    outcome, _ = waited(boto3.client(service), operation, path, deepcopy(response), **parameters)
    assert outcome.observed is True


def test_tuples_and_text_of_the_caller_follow_the_model(waited):
    """Lists may be given as tuples, and moments in any form that botocore reads."""
    path = "length(input.MetricDataQueries) == `2` && input.StartTime < input.EndTime"
    queries = ({"Id": "a", "Expression": "1"}, {"Id": "b", "Expression": "2"})
    times = {"StartTime": "2024-01-01T00:00:00Z", "EndTime": "2024-01-01T01:00:00+00:00"}
    parameters = {"MetricDataQueries": queries, **times}
    client = boto3.client("cloudwatch")
    assert waited(client, "GetMetricData", path, {}, "inputOutput", **parameters)


@pytest.mark.parametrize(("service", "operation", "sent"), [
    ("ec2", "DescribeSpotPriceHistory", "2026-01-01T12:00:00Z"),
    ("cloudtrail", "LookupEvents", "1767268800"),
])  # fmt: skip
def test_time_without_zone_is_what_botocore_sends(monkeypatch, waited, service, operation, sent):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    naive, path = dt.datetime(2026, 1, 1, 12), "input.StartTime == `1767268800`"  # noqa: DTZ001
    try:
        client = boto3.client(service)
        _, [request] = waited(client, operation, path, {}, "inputOutput", StartTime=naive)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert sent in str(request["body"])


@experiments("observes", "service", "operation", "parameters", "member")
def test_sensitive_values_are_not_observed(
    answers, waitable, virtual_time, service, operation, parameters, member
):
    installed_operation(f"{service}.{operation}")
    old, new, events = "https://b/?X-Amz-Signature=old-secret", "rotated", []
    matcher = {"path": member, "expected": new, "comparator": "stringEquals"}
    acceptor = {"state": "success", "matcher": {"output": matcher}}
    client = bwp.enable(boto3.client(service), definitions=waitable("Rotated", operation, acceptor))
    answers(client, {member: old}, {member: new}, {member: old})
    wait = partial(client.wait_until_rotated, **parameters, max_wait=60)
    outcome = wait(on_attempt=events.append)
    shown = new if member == "QueueUrl" else None
    assert outcome.observed == shown
    assert [event.state for event in events] == [None, shown]
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        wait()
    assert "old-secret" not in f"{caught.value} {caught.value!r}"


def test_input_is_what_the_caller_gave(waited):
    """Before botocore adds tokens, and before handlers change it."""
    path = "length(input.TransactItems) == `1` && !(input.ClientRequestToken)"
    items = [{"Put": {"TableName": "orders", "Item": {"id": {"S": "1"}}}}]
    client, operation = boto3.client("dynamodb"), "TransactWriteItems"
    _, [request] = waited(client, operation, path, {}, "inputOutput", TransactItems=items)
    assert json.loads(request["body"])["ClientRequestToken"]
