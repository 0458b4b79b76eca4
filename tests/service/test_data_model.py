"""Responses in the specification's JMESPath data model."""

import datetime as dt
import json
import time
from decimal import Decimal
from functools import partial

import boto3
import pytest
from botocore.model import ServiceModel, ShapeResolver
from case_tables import tabled, tables
from installed_models import installed_operation

import boto_waiters_plus as bwp
from boto_waiters_plus.service.data_model import DataModel, converted

NOON = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone.utc)
EPOCH = 1704110400

SHAPES = tables("service")["shapes"]
GET = {"name": "Get", "input": {"shape": "Input"}, "output": {"shape": "Output"}}
METADATA = {"apiVersion": "2024-01-01", "protocol": "json", "serviceId": "Test"}
MODEL = ServiceModel({"metadata": METADATA, "operations": {"Get": GET}, "shapes": SHAPES})
OPERATION = MODEL.operation_model("Get")


def data_model(path, kind="output"):
    return DataModel(OPERATION, [(kind, path)])


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("Timestamp", NOON, EPOCH),
        ("Timestamp", NOON.replace(microsecond=250000), EPOCH + 0.25),
        ("Timestamp", NOON.astimezone(dt.timezone(dt.timedelta(hours=5))), EPOCH),
        ("Timestamp", NOON.replace(tzinfo=None), EPOCH),
        ("Timestamp", dt.datetime(1969, 12, 31, tzinfo=dt.timezone.utc), -86400),
        ("Timestamp", EPOCH, EPOCH),
        ("Timestamp", "2024-01-01T12:00:00Z", EPOCH),
        ("Timestamp", "2024-01-01T14:00:00+02:00", EPOCH),
        ("Timestamp", "2024-01-01", EPOCH - 12 * 3600),
        ("Timestamp", str(EPOCH), EPOCH),
        ("Timestamp", "soon", "soon"),
        ("Blob", b"\x00\xff", "AP8="),
        ("Blob", bytearray(b"abc"), "YWJj"),
        ("Blob", "abc", "YWJj"),
        ("Stream", object(), None),
        ("String", b"#!user data", "IyF1c2VyIGRhdGE="),
        ("Items", [{"At": NOON, "Raw": b"a"}], [{"At": EPOCH, "Raw": "YQ=="}]),
        ("Items", ({"At": NOON},), [{"At": EPOCH}]),
        ("Ids", {"a"}, ["a"]),
        ("Ids", frozenset(), []),
        ("Integer", Decimal(3), 3),
        ("Integer", Decimal("2.5"), 2.5),
        ("String", {"List": ["ü"]}, '{"List": ["ü"]}'),
        ("Document", {"any": (1, {2})}, {"any": [1, [2]]}),
        ("ByKey", {"a": NOON}, {"a": EPOCH}),
        ("Tree", {"Child": {"Child": {"When": NOON}}}, {"Child": {"Child": {"When": EPOCH}}}),
        ("Output", {"Unknown": NOON, "Name": "n"}, {"Unknown": EPOCH, "Name": "n"}),
        ("Output", {"Items": None, "Created": None}, {"Items": None, "Created": None}),
        ("Choice", {"When": "2024-01-01T12:00:00Z"}, {"When": EPOCH}),
    ],
)
def test_value_is_converted_by_its_shape(name, value, expected):
    result = converted(ShapeResolver(SHAPES).get_shape_by_name(name), value)
    assert result == expected
    assert type(result) is type(expected)


def test_conversion_does_not_change_the_response():
    response = {"Created": NOON, "Items": [{"At": NOON}], "ResponseMetadata": {"a": 1}}
    before = {"Created": NOON, "Items": [{"At": NOON}], "ResponseMetadata": {"a": 1}}
    output = data_model("Created").output(response)
    assert output == {"Created": EPOCH, "Items": [{"At": EPOCH}]}
    assert response == before
    assert data_model("Name").output(response).keys() == {"Created", "Items"}


def test_a_streaming_body_is_not_read():
    class Body:
        def read(self):
            raise AssertionError("the body was read")

    assert data_model("Body").output({"Body": Body()}) == {"Body": None}


@tabled("paths that reach a timestamp or blob convert", "path", "expected")
def test_paths_that_reach_a_timestamp_or_blob_convert(path, expected):
    assert (data_model(path).output({"Created": NOON}) == {"Created": EPOCH}) is expected


def test_input_counts_only_for_input_output_matchers():
    assert data_model("Since").input({"Since": NOON}) == {"Since": NOON}
    model = data_model("input.Since == `5`", "inputOutput")
    assert model.output({"Created": NOON}) == {"Created": EPOCH}
    assert model.input({"Since": NOON, "Ids": ("a",)}) == {"Since": EPOCH, "Ids": ["a"]}


@tabled("paths over sensitive members are sensitive", "path", "sensitive")
def test_paths_over_sensitive_members_are_sensitive(path, sensitive):
    assert data_model(path).sensitive is sensitive


# --- on clients ---------------------------------------------------------------------------------


@pytest.fixture
def waited(answers, waitable):
    """`waited(service, operation, path, response)`: the outcome and the requests."""

    def wait(service, operation, path, response, kind="output", **parameters):
        matcher = {kind: {"path": path, "expected": "true", "comparator": "booleanEquals"}}
        document = waitable("Mine", operation, {"state": "success", "matcher": matcher})
        client = bwp.enable(boto3.client(service), definitions=document)
        asked = answers(client, response)
        return client.wait_until_mine(**parameters, max_wait=3), asked.requests

    return wait


def test_timestamp_is_compared_as_a_number(waited):
    response, path = {"Table": {"CreationDateTime": NOON}}, f"Table.CreationDateTime >= `{EPOCH}`"
    outcome, _ = waited("dynamodb", "DescribeTable", path, response, TableName="orders")
    assert outcome.observed is True
    assert outcome.response["Table"]["CreationDateTime"] is NOON


@tabled(
    "members that botocore decodes are strings",
    "service",
    "operation",
    "parameters",
    "response",
    "member",
)
def test_members_that_botocore_decodes_are_strings(
    waited, service, operation, parameters, response, member
):
    path = f"contains({member}, 's3:GetObject')"
    assert waited(service, operation, path, response, **parameters)[0].observed is True


def test_tuples_and_text_of_the_caller_follow_the_model(waited):
    """Lists may be given as tuples, and moments in any form that botocore reads."""
    path = "length(input.MetricDataQueries) == `2` && input.StartTime < input.EndTime"
    queries = ({"Id": "a", "Expression": "1"}, {"Id": "b", "Expression": "2"})
    times = {"StartTime": "2024-01-01T00:00:00Z", "EndTime": "2024-01-01T01:00:00+00:00"}
    parameters = {"MetricDataQueries": queries, **times}
    assert waited("cloudwatch", "GetMetricData", path, {}, "inputOutput", **parameters)


@pytest.mark.parametrize(
    ("service", "operation", "sent"),
    [
        ("ec2", "DescribeSpotPriceHistory", "2026-01-01T12:00:00Z"),
        ("cloudtrail", "LookupEvents", "1767268800"),
    ],
)
def test_a_time_without_a_zone_is_what_botocore_sends(
    monkeypatch, waited, service, operation, sent
):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    naive, path = dt.datetime(2026, 1, 1, 12), "input.StartTime == `1767268800`"  # noqa: DTZ001
    try:
        _, [request] = waited(service, operation, path, {}, "inputOutput", StartTime=naive)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert sent in str(request["body"])


@tabled("sensitive values are not observed", "service", "operation", "parameters", "member")
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
    _, [request] = waited(
        "dynamodb", "TransactWriteItems", path, {}, "inputOutput", TransactItems=items
    )
    assert json.loads(request["body"])["ClientRequestToken"]
