"""Labels: which resource a wait is about, on everything that the package says."""

import logging

import boto3
import pytest
from service.ways import by_batch, by_method, by_task, by_waiter

import boto_waiters_plus as bwp
from boto_waiters_plus import conditions

INSTANCES = "ec2.DescribeInstances"
ANY = {"acceptors": [{"state": "success", "matcher": {"success": True}}]}


def filters(key="Name", **values):
    return {"Filters": [{key: name, "Values": [*each]} for name, each in values.items()]}


@pytest.mark.parametrize(
    ("name", "parameters", "label"),
    [
        ("s3.HeadBucket", {"Bucket": "my-bucket"}, "Bucket=my-bucket"),
        ("s3.HeadObject", {"Bucket": "b", "Key": "k", "IfMatch": "x"}, "Bucket=b, Key=k"),
        (INSTANCES, {"InstanceIds": ["i-1"]}, "InstanceIds=[i-1]"),
        (INSTANCES, {"InstanceIds": ["i-0", "i-1", "i-2"]}, "InstanceIds=[i-0, i-1, i-2]"),
        (INSTANCES, {"InstanceIds": [*"012345678"]}, "InstanceIds=[0, 1 and 7 more]"),
        (INSTANCES, {"InstanceIds": ("i-0",)}, "InstanceIds=[i-0]"),
        (INSTANCES, filters(x=["y"]), "Filters=[x=y]"),
        (
            INSTANCES,
            filters(**{"tag:Name": ["web", "db"], "vpc-id": ["vpc-1"]}),
            "Filters=[tag:Name=web|db, vpc-id=vpc-1]",
        ),
        (INSTANCES, filters(a="1", b="2", c="3", d="4"), "Filters=[a=1, b=2 and 2 more]"),
        (INSTANCES, {**filters(x=["y"]), "InstanceIds": ["i-1"]}, "InstanceIds=[i-1]"),
        (INSTANCES, filters(tag=["x" * 300]), f"Filters=[tag={'x' * 93}...]"),
        (INSTANCES, filters(**{"tag:Password": ["hidden"]}), ""),
        (INSTANCES, filters(arn=["arn:aws:x:r:1:a/b"]), "Filters=[arn=a/b]"),
        (INSTANCES, {"Filters": "x"}, ""),
        (INSTANCES, {"Filters": [3]}, ""),
        ("ssm.DescribeInstanceInformation", filters("Key", env=["prod"]), "Filters=[env=prod]"),
        ("secretsmanager.ListSecrets", filters("Key", name=["db"]), "Filters=[name=db]"),
        (INSTANCES, {"InstanceIds": [3], "NextToken": "t"}, ""),
        ("cloudformation.DescribeStacks", {"StackName": "web"}, "StackName=web"),
        ("kinesis.DescribeStream", {"StreamName": "s", "Limit": 3}, "StreamName=s"),
        (
            "ecs.DescribeServices",
            {"services": ["a", "b", "c", "d"], "cluster": "prod"},
            "cluster=prod, services=[a and 3 more]",
        ),
        ("s3.HeadBucket", {"Bucket": "x" * 300}, f"Bucket={'x' * 97}..."),
        ("s3.HeadObject", {"Bucket": "b", "Key": "a\nb"}, "Bucket=b, Key=a\\nb"),
        ("s3.HeadBucket", {"Bucket": 5}, ""),
        ("s3.HeadObject", {"Bucket": "b", "SSECustomerKey": "secret"}, "Bucket=b"),
        ("cognito-idp.GetUser", {"AccessToken": "secret"}, ""),
        ("iam.GetAccessKeyLastUsed", {"AccessKeyId": "AKIA"}, ""),
        ("secretsmanager.DescribeSecret", {"SecretId": "db"}, "SecretId=db"),
        # Sensitive by the model, or an idempotency token.
        (
            "cognito-idp.DescribeUserPoolClient",
            {"UserPoolId": "pool", "ClientId": "secret"},
            "UserPoolId=pool",
        ),
        (
            "chime-sdk-voice.DeleteVoiceConnectorTerminationCredentials",
            {"VoiceConnectorId": "v", "Usernames": ["secret"]},
            "VoiceConnectorId=v",
        ),
        ("athena.StopQueryExecution", {"QueryExecutionId": "token"}, ""),
    ],
)
def test_label_of_an_operation(waitable, name, parameters, label):
    service, _, operation = name.partition(".")
    definitions = waitable("Mine", operation, *ANY["acceptors"])
    client = bwp.enable(boto3.client(service), definitions=definitions)
    assert bwp.Wait(client, "Mine", parameters).label == f"{service} {label}".rstrip()


WAYS = [by_method, by_task, by_waiter, by_batch]
PLANTED = {"waiter": "bucket_exists", "Bucket": "planted", "max_wait": 9}


def ended(wait, client, what=PLANTED, **options):
    """Return the outcome or the error of a wait."""
    try:
        return wait(client, **what, **options)
    except bwp.WaiterError as error:
        return error


@pytest.mark.parametrize("wait", WAYS)
def test_every_wait_has_its_label(wait, answers, missing, virtual_time):
    events = []
    bwp.install(on_event=events.append)
    client = boto3.client("s3")
    answers(client, {}, missing)
    assert ended(wait, client).label == "s3 Bucket=planted"
    error = ended(wait, client)
    assert error.label == "s3 Bucket=planted"
    assert "or s3 Bucket=planted: " in str(error)
    assert {event.label for event in events} == {"s3 Bucket=planted"}


def texts_of(wait, client, caplog, what=PLANTED):
    """Return all texts of a wait in one."""
    events = []
    bwp.enable(client, on_event=events.append)
    caplog.set_level(logging.DEBUG, logger="boto_waiters_plus")
    end = ended(wait, client, what, on_attempt=events.append)
    parts = [str(end), repr(end), repr(getattr(end, "kwargs", "")), end.label, caplog.text]
    parts += [str(end.by_id), repr(end.__cause__) if isinstance(end, Exception) else ""]
    return "\n".join([*parts, *map(repr, events)])


@pytest.mark.parametrize("wait", WAYS)
@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"Error": {"Code": "404", "Message": "Not Found"}, "ResponseMetadata": {}},
        {"Error": {"Code": "AccessDenied", "Message": "no"}, "ResponseMetadata": {}},
        {"Error": {"Code": "503", "Message": "Slow Down"}, "ResponseMetadata": {}},
    ],
    ids=["success", "timeout", "failure", "transient"],
)
def test_show_parameters_false_hides_them_everywhere(wait, answer, answers, caplog, virtual_time):
    bwp.install(defaults={"show_parameters": False})
    client = boto3.client("s3")
    answers(client, answer)
    text = texts_of(wait, client, caplog)
    assert "planted" not in text
    assert "BucketExists" in text
    # The test would miss nothing: by default the value is there.
    bwp.install(defaults={"show_parameters": True})
    assert "planted" in texts_of(wait, client, caplog)


@pytest.mark.parametrize("state", ["terminated", "pending", "running"])
def test_hidden_identifiers_are_counted(state, answers, caplog, virtual_time):
    ec2 = bwp.enable(boto3.client("ec2"), defaults={"show_parameters": False})
    instances = [
        {"InstanceId": f"i-planted{n}", "State": {"Name": each}}
        for n, each in enumerate(["running", state])
    ]
    answers(ec2, {"Reservations": [{"Instances": instances}]})
    ids = [each["InstanceId"] for each in instances]
    what = {"waiter": "instance_running", "InstanceIds": ids, "max_wait": 60}
    text = texts_of(by_method, ec2, caplog, what)
    assert "planted" not in text
    assert ("1 of 2 identifiers" in text) == (state != "running")


def test_a_batch_hides_parameters_or_shows_the_callers_label(s3, answers, missing, virtual_time):
    answers(s3, missing)
    options = {"max_wait": 9, "show_parameters": False}
    waits = [bwp.Wait(s3, "BucketExists", {"Bucket": f"planted{n}"}, **options) for n in range(12)]
    waits.append(bwp.Wait(s3, "BucketExists", {"Bucket": "planted"}, label="web tier", **options))
    reports = []
    with pytest.raises(bwp.WaitersError) as caught:
        bwp.wait_all(waits, progress=reports.append)
    assert "planted" not in f"{caught.value}{caught.value!r}{waits}{reports}"
    assert caught.value.errors[12].label == waits[12].label == "web tier"
    assert "web tier" in str(caught.value.errors[12])
    assert repr(waits[12]) == "Wait(BucketExists for web tier, max_wait=9)"
    assert "web tier" in {report.label for report in reports}


@pytest.mark.parametrize(("options", "kind", "words"), [
    ({"label": 5}, TypeError, "label"), ({"label": ""}, ValueError, "label"),
    ({"show_parameters": "no"}, TypeError, "show_parameters"),
    ({"on_attempt": "print"}, TypeError, "on_attempt"),
])  # fmt: skip
def test_bad_input_is_refused_before_a_request(s3, answers, options, kind, words):
    asked = answers(s3, {})
    with pytest.raises(kind, match=words):
        bwp.Wait(s3, "BucketExists", {"Bucket": "b"}, **options)
    if "label" not in options:
        with pytest.raises(kind, match=words):
            s3.wait_until_bucket_exists(Bucket="b", max_wait=60, **options)
    with pytest.raises(kind, match=words):
        conditions.wait_for(lambda: 1, max_wait=60, **options)
    with pytest.raises(kind, match=words):
        conditions.poll(lambda: 1, ANY, max_wait=60, **options)
    assert asked.requests == []
