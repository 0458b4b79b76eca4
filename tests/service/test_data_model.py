"""Responses in the specification's JMESPath data model."""

import datetime as dt
import json
import time
from decimal import Decimal

import boto3
import pytest
from botocore.model import OperationModel, ServiceModel, ShapeResolver
from case_tables import tabled, tables
from installed_models import installed_operation
from jmespath import search

import boto_waiters_plus as bwp
from boto_waiters_plus.service.data_model import DataModel, converted

NOON = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone.utc)
EPOCH = 1704110400

SHAPES = tables("service")["test_data_model.py::SHAPES"]
MODEL = ServiceModel(
    {
        "metadata": {"apiVersion": "2024-01-01", "protocol": "json", "serviceId": "Test"},
        "operations": {
            "Get": {
                "name": "Get",
                "http": {"method": "POST", "requestUri": "/"},
                "input": {"shape": "Input"},
                "output": {"shape": "Output"},
            }
        },
        "shapes": SHAPES,
    }
)
OPERATION: OperationModel = MODEL.operation_model("Get")


def shape(name):
    return ShapeResolver(SHAPES).get_shape_by_name(name)


def converts(model):
    """Whether the model converts documents."""
    return model.output({"Created": NOON}) == {"Created": EPOCH}


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
        ("Blob", b"", ""),
        ("Stream", object(), None),
        ("String", "2024", "2024"),
        ("String", b"#!user data", "IyF1c2VyIGRhdGE="),
        ("Integer", 3, 3),
        ("Boolean", True, True),
        ("Items", [{"At": NOON, "Raw": b"a"}], [{"At": EPOCH, "Raw": "YQ=="}]),
        ("Items", [], []),
        ("Items", ({"At": NOON},), [{"At": EPOCH}]),
        ("Ids", {"a"}, ["a"]),
        ("Ids", frozenset(), []),
        ("Integer", Decimal(3), 3),
        ("Integer", Decimal("2.5"), 2.5),
        (
            "String",
            {"Version": "2012-10-17", "List": ["ü"]},
            '{"Version": "2012-10-17", "List": ["ü"]}',
        ),
        ("Document", {"any": (1, {2})}, {"any": [1, [2]]}),
        ("ByKey", {"a": NOON}, {"a": EPOCH}),
        ("Tree", {"Child": {"Child": {"When": NOON}}}, {"Child": {"Child": {"When": EPOCH}}}),
        ("Output", {"Unknown": NOON, "Name": "n"}, {"Unknown": EPOCH, "Name": "n"}),
        ("Output", {"Items": None, "Created": None}, {"Items": None, "Created": None}),
        ("Choice", {"When": "2024-01-01T12:00:00Z"}, {"When": EPOCH}),
        ("Document", {"any": [1, {"thing": None}]}, {"any": [1, {"thing": None}]}),
    ],
)
def test_value_is_converted_by_its_shape(name, value, expected):
    result = converted(shape(name), value)
    assert result == expected
    assert type(result) is type(expected)


def test_conversion_does_not_change_the_response():
    response = {"Created": NOON, "Items": [{"At": NOON}], "ResponseMetadata": {"a": 1}}
    before = {"Created": NOON, "Items": [{"At": NOON}], "ResponseMetadata": {"a": 1}}
    output = data_model("Created").output(response)
    assert output == {"Created": EPOCH, "Items": [{"At": EPOCH}]}
    assert response == before


def test_a_streaming_body_is_not_read():
    class Body:
        def read(self):
            raise AssertionError("the body was read")

    assert data_model("Body").output({"Body": Body()}) == {"Body": None}


# --- which paths convert ------------------------------------------------------------------------


@tabled("path", "expected")
def test_paths_that_reach_a_timestamp_or_blob_convert(path, expected):
    assert converts(data_model(path)) is expected


def test_input_counts_only_for_input_output_matchers():
    assert not converts(data_model("Since == output.Name"))
    assert data_model("Since").input({"Since": NOON}) == {"Since": NOON}
    model = data_model("input.Since == `5`", "inputOutput")
    assert converts(model)
    assert model.input({"Since": NOON}) == {"Since": EPOCH}
    model = data_model("length(input.Ids) == output.Count", "inputOutput")
    assert not converts(model)
    assert model.input({"Ids": ("a", "b")}) == {"Ids": ["a", "b"]}


@tabled("path", "sensitive")
def test_paths_over_sensitive_members_are_sensitive(path, sensitive):
    assert data_model(path).sensitive is sensitive


# --- on clients ---------------------------------------------------------------------------------


def output(path, expected, comparator="booleanEquals"):
    matcher = {"path": path, "expected": expected, "comparator": comparator}
    return {"state": "success", "matcher": {"output": matcher}}


def test_timestamp_is_compared_as_a_number(answers, waitable):
    bwp.install(
        definitions=waitable(
            "Recent", "DescribeTable", output(f"Table.CreationDateTime >= `{EPOCH}`", "true")
        )
    )
    client = boto3.client("dynamodb")
    answers(client, {"Table": {"CreationDateTime": NOON}})
    outcome = client.wait_until_recent(TableName="orders", max_wait=3)
    assert outcome.observed is True
    assert outcome.response["Table"]["CreationDateTime"] is NOON


@tabled("service", "method", "parameters", "response", "path")
def test_members_that_botocore_decodes_are_strings(
    answers, waitable, service, method, parameters, response, path
):
    definition = waitable("Allowed", method, output(f"contains({path}, 's3:GetObject')", "true"))
    bwp.install(definitions=definition)
    client = boto3.client(service)
    answers(client, response)
    outcome = client.wait_until_allowed(**parameters, max_wait=3)
    assert outcome.observed is True
    assert not isinstance(search(path, outcome.response), str)


def test_tuples_and_text_of_the_caller_follow_the_model(answers, waitable):
    """Lists may be given as tuples, and moments in any form that botocore reads."""
    path = "length(input.MetricDataQueries) == `2` && input.StartTime < input.EndTime"
    matcher = {"path": path, "expected": "true", "comparator": "booleanEquals"}
    definition = waitable(
        "Known", "GetMetricData", {"state": "success", "matcher": {"inputOutput": matcher}}
    )
    client = bwp.enable(boto3.client("cloudwatch"), definitions=definition)
    answers(client, {})
    queries = ({"Id": "a", "Expression": "1"}, {"Id": "b", "Expression": "2"})
    outcome = client.wait_until_known(
        MetricDataQueries=queries,
        StartTime="2024-01-01T00:00:00Z",
        EndTime="2024-01-01T01:00:00+00:00",
        max_wait=3,
    )
    assert outcome.attempts == 1


class SentError(Exception):
    """Instead of sending a request."""


@pytest.mark.parametrize(
    ("service", "operation", "member", "sent"),
    [
        ("ec2", "describe_spot_price_history", "StartTime", b"StartTime=2026-01-01T12%3A00%3A00Z"),
        ("cloudtrail", "lookup_events", "StartTime", b'"StartTime": 1767268800'),
        ("iot", "list_audit_findings", "startTime", b'"startTime": 1767268800'),
    ],
)
def test_a_time_without_a_zone_is_what_botocore_sends(
    monkeypatch, service, operation, member, sent
):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    client = boto3.client(service)
    naive = dt.datetime(2026, 1, 1, 12)  # noqa: DTZ001 - that is the case

    def send(request, **_):
        raise SentError(request.body)

    client.meta.events.register("before-send", send)
    try:
        with pytest.raises(SentError) as raised:
            getattr(client, operation)(**{member: naive})
        model = client.meta.service_model.operation_model(
            client.meta.method_to_api_mapping[operation]
        )
        seen = DataModel(model, [("inputOutput", f"input.{member}")]).input({member: naive})
    finally:
        monkeypatch.undo()
        time.tzset()
    (body,) = raised.value.args
    assert sent in (body.encode() if isinstance(body, str) else body)
    assert seen == {member: 1767268800}


@tabled("service", "operation", "parameters", "member")
def test_sensitive_values_are_not_observed(
    answers, waitable, virtual_time, service, operation, parameters, member
):
    installed_operation(f"{service}.{operation}")
    old, new = "https://b/?X-Amz-Signature=old-secret", "rotated"
    document = waitable("Rotated", operation, output(member, new, "stringEquals"))
    bwp.install(definitions=document)
    client = boto3.client(service)
    events = []
    answers(client, {member: old}, {member: new})
    outcome = client.wait_until_rotated(**parameters, max_wait=60, on_attempt=events.append)
    shown = new if member == "QueueUrl" else None
    assert outcome.observed == shown
    assert [event.state for event in events] == [None, shown]
    other = boto3.client(service)
    answers(other, {member: old})
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        other.wait_until_rotated(**parameters, max_wait=60)
    assert "old-secret" not in str(caught.value)
    assert "old-secret" not in repr(caught.value)


def test_input_is_what_the_caller_gave(answers, waitable):
    """Before botocore adds tokens, and before handlers change it."""
    matcher = {
        "path": "length(input.TransactItems) == `1` && !(input.ClientRequestToken)",
        "expected": "true",
        "comparator": "booleanEquals",
    }
    document = waitable(
        "Written", "TransactWriteItems", {"state": "success", "matcher": {"inputOutput": matcher}}
    )
    bwp.install(definitions=document)
    client = boto3.client("dynamodb")
    asked = answers(client, {})
    item = {"Put": {"TableName": "orders", "Item": {"id": {"S": "1"}}}}
    outcome = client.wait_until_written(TransactItems=[item], max_wait=3)
    assert outcome.attempts == 1
    assert json.loads(asked.requests[0]["body"])["ClientRequestToken"]


def test_output_has_no_response_metadata():
    response = {"Name": "n", "ResponseMetadata": {"HTTPStatusCode": 200}}
    for path in ("Name", "Created"):
        assert data_model(path).output(response) == {"Name": "n"}
