"""Responses in the specification's JMESPath data model."""

import datetime as dt
import json
import time
from decimal import Decimal

import boto3
import pytest
from botocore.model import OperationModel, ServiceModel, ShapeResolver
from jmespath import search

import boto_waiters_plus as bwp
from boto_waiters_plus.aws.data_model import DataModel, converted

NOON = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone.utc)
EPOCH = 1704110400

SHAPES = {
    "Output": {
        "type": "structure",
        "members": {
            "Name": {"shape": "String"},
            "Count": {"shape": "Integer"},
            "Ready": {"shape": "Boolean"},
            "Secret": {"shape": "Secret"},
            # The name on the wire is not the member's.
            "Created": {"shape": "Timestamp", "locationName": "createdAt"},
            "Data": {"shape": "Blob"},
            "Body": {"shape": "Stream"},
            "Items": {"shape": "Items"},
            "ByKey": {"shape": "ByKey"},
            "Account": {"shape": "Account"},
            "Tree": {"shape": "Tree"},
            "Free": {"shape": "Document"},
        },
    },
    "Input": {
        "type": "structure",
        "members": {"Since": {"shape": "Timestamp"}, "Ids": {"shape": "Ids"}},
    },
    "Ids": {"type": "list", "member": {"shape": "String"}},
    "String": {"type": "string"},
    "Secret": {"type": "string", "sensitive": True},
    "Integer": {"type": "integer"},
    "Boolean": {"type": "boolean"},
    "Timestamp": {"type": "timestamp"},
    "Blob": {"type": "blob"},
    "Stream": {"type": "blob", "streaming": True},
    "Items": {"type": "list", "member": {"shape": "Item"}},
    "Item": {
        "type": "structure",
        "members": {
            "Id": {"shape": "String"},
            "At": {"shape": "Timestamp"},
            "Raw": {"shape": "Blob"},
        },
    },
    "ByKey": {"type": "map", "key": {"shape": "String"}, "value": {"shape": "Timestamp"}},
    "Account": {"type": "structure", "members": {"Token": {"shape": "Secret"}}, "sensitive": True},
    "Tree": {
        "type": "structure",
        "members": {"Child": {"shape": "Tree"}, "When": {"shape": "Timestamp"}},
    },
    "Document": {"type": "structure", "members": {}, "document": True},
    "Choice": {
        "type": "structure",
        "members": {"When": {"shape": "Timestamp"}, "Name": {"shape": "String"}},
        "union": True,
    },
}
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
        ("Choice", {"When": NOON}, {"When": EPOCH}),
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


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Name", False),
        ("length(Items)", False),
        ("Items[].Id", False),
        ("Items[?Id=='a'].Id", False),
        ("length(Items[?Id=='a']) > `0`", False),
        ("Created", True),
        ("Created > `1700000000`", True),
        ("Items[].At", True),
        ("Items[?At > `5`].Id", True),
        ("max_by(Items, &At).Id", True),
        ("sort_by(Items, &Raw)[0].Id", True),
        ("map(&At, Items)", True),
        ("Items[].{id: Id, at: At}", True),
        ("Items[].[Id, Raw]", True),
        ("Items[0].*", True),
        ("values(Items[0])", True),
        ("to_string(@)", True),
        ("merge(Items[0], Items[1]).Id", True),
        ("ByKey.anything", True),
        ("Tree.Child.Child.When", True),
        ("Tree.Child.Child", False),
        ("Data == 'YQ=='", True),
        ("not_null(Name, Created)", True),
        ("Name || Created", True),
        ("contains(keys(@), 'Created')", False),
    ],
)
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


@pytest.mark.parametrize(
    ("path", "sensitive"),
    [
        ("Name", False),
        ("Secret", True),
        ("length(Secret)", True),
        ("Account", True),
        ("Account.Token", True),
        ("[Name, Secret]", True),
        ("Items[].Id", False),
        ("values(@)", True),
        ("@.*", True),
        ("to_string(@)", True),
    ],
)
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


@pytest.mark.parametrize(
    ("service", "method", "parameters", "response", "path"),
    [
        (
            "iam",
            "GetRolePolicy",
            {"RoleName": "r", "PolicyName": "p"},
            {"PolicyDocument": "%7B%22Action%22%3A%20%22s3%3AGetObject%22%7D"},
            "PolicyDocument",
        ),
        (
            "iam",
            "GetRole",
            {"RoleName": "r"},
            {"Role": {"AssumeRolePolicyDocument": "%7B%22Action%22%3A%20%22s3%3AGetObject%22%7D"}},
            "Role.AssumeRolePolicyDocument",
        ),
        (
            "cloudformation",
            "GetTemplate",
            {"StackName": "s"},
            {"TemplateBody": '{"Action": "s3:GetObject"}'},
            "TemplateBody",
        ),
    ],
)
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


def test_sensitive_values_are_not_observed(answers, waitable, virtual_time):
    document = waitable(
        "Rotated", "GetSecretValue", output("SecretString", "new-secret", "stringEquals")
    )
    bwp.install(definitions=document)
    client = boto3.client("secretsmanager")
    events = []
    answers(client, {"SecretString": "old-secret"}, {"SecretString": "new-secret"})
    outcome = client.wait_until_rotated(SecretId="s", max_wait=60, on_attempt=events.append)
    assert outcome.observed is None
    assert [event.state for event in events] == [None, None]
    other = boto3.client("secretsmanager")
    answers(other, {"SecretString": "old-secret"})
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        other.wait_until_rotated(SecretId="s", max_wait=60)
    assert caught.value.observed is None
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
