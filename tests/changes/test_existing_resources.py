"""Whose a resource is that exists already, where the service keeps tokens."""

import json

import boto3
import pytest

from boto_waiters_plus import idempotency
from boto_waiters_plus.service.tokens import token_member

FILE_SYSTEM = {"FileSystemId": "fs-1", "CreationToken": "mine", "LifeCycleState": "creating"}


@pytest.fixture
def client(stock_botocore, virtual_time):
    """`client(service)`: one without retries."""
    return boto3.client


@pytest.fixture
def exists(error_answer):
    """`exists(code, **members)`: an error answer with members of its own."""
    return lambda code, **members: {**error_answer(code, "It already exists.", 409), **members}


def create_file_system(call_once, client, **options):
    return call_once(client.create_file_system, max_wait=60, **options)


def test_resource_under_the_callers_token_is_ours(call_once, client, answers, exists):
    efs = client("efs")
    service = answers(efs, exists("FileSystemAlreadyExists"), {"FileSystems": [FILE_SYSTEM]})
    call = create_file_system(call_once, efs, CreationToken="mine")
    assert call.adopted
    # As the operation itself would have answered.
    assert call.response["FileSystemId"] == "fs-1"
    assert service.operations == ["CreateFileSystem", "DescribeFileSystems"]
    assert service.requests[1]["query_string"] == {"CreationToken": "mine"}


def test_resource_of_a_lost_reply_is_ours(call_once, client, answers, exists, lost):
    efs = client("efs")

    def described():
        token = service.requests[0]["body"]
        return {"FileSystems": [{**FILE_SYSTEM, "CreationToken": _token_of(token)}]}

    service = answers(efs, lost, exists("FileSystemAlreadyExists"), described)
    call = create_file_system(call_once, efs)
    assert (call.adopted, call.attempts) == (True, 2)
    assert call.response["CreationToken"] == call.token


def _token_of(body):
    return json.loads(body)["CreationToken"]


def test_other_parameters_of_an_earlier_call_are_named(client, answers, exists):
    efs = client("efs")
    found = {**FILE_SYSTEM, "PerformanceMode": "maxIO"}
    answers(efs, exists("FileSystemAlreadyExists"), {"FileSystems": [found]})
    with pytest.raises(
        idempotency.AlreadyExistsError, match="It differs in PerformanceMode"
    ) as caught:
        create_file_system(
            idempotency.call_once, efs, CreationToken="mine", PerformanceMode="generalPurpose"
        )
    assert caught.value.differences == ("PerformanceMode",)
    assert caught.value.made_under_token


def test_description_that_fails_leaves_the_error(client, answers, exists, error_answer):
    efs = client("efs")
    answers(efs, exists("FileSystemAlreadyExists"), error_answer("AccessDeniedException", "", 403))
    with pytest.raises(
        idempotency.AlreadyExistsError, match="A request under this token made it"
    ) as caught:
        create_file_system(idempotency.call_once, efs, CreationToken="mine")
    error = caught.value
    assert (error.maybe_ours, error.made_under_token) == (True, True)
    assert (error.check_operation, error.check_parameters) == (
        "DescribeFileSystems",
        {"CreationToken": "mine"},
    )


def test_error_alone_may_say_that_it_is_ours(client, answers, exists):
    """No operation of CloudFront finds a distribution by its caller reference."""
    cloudfront = client("cloudfront")
    answers(cloudfront, exists("DistributionAlreadyExists"))
    with pytest.raises(idempotency.AlreadyExistsError, match="A request under this token") as got:
        idempotency.call_once(
            cloudfront.copy_distribution,
            max_wait=60,
            PrimaryDistributionId="d",
            CallerReference="mine",
        )
    assert got.value.made_under_token


def test_token_of_a_stack_operation_is_found_in_its_events(call_once, client, answers, exists):
    stacks = client("cloudformation")
    events = [
        {"StackId": "s", "OperationId": "2", "ClientRequestToken": "other"},
        {"StackId": "s", "OperationId": "1", "ClientRequestToken": "mine"},
    ]
    service = answers(stacks, exists("TokenAlreadyExistsException"), {"StackEvents": events})
    call = call_once(
        stacks.update_stack,
        max_wait=60,
        StackName="s",
        UsePreviousTemplate=True,
        ClientRequestToken="mine",
    )
    assert call.response == {"StackId": "s", "OperationId": "1"}
    assert service.operations == ["UpdateStack", "DescribeStackEvents"]


@pytest.mark.parametrize("token", ["mine", "theirs"])
def test_error_may_name_the_token_of_the_resource(client, answers, exists, token):
    names = client("servicediscovery")
    error = exists("NamespaceAlreadyExists", CreatorRequestId=token, NamespaceId="ns-1")
    found = {"Namespace": {"Id": "ns-1", "Name": "n", "CreatorRequestId": token}}
    service = answers(names, error, found)
    create = {"max_wait": 60, "Name": "n", "CreatorRequestId": "mine"}
    if token == "mine":
        call = idempotency.call_once(names.create_http_namespace, **create)
        assert call.response["Namespace"]["Id"] == "ns-1"
        assert service.operations == ["CreateHttpNamespace", "GetNamespace"]
    else:
        with pytest.raises(idempotency.AlreadyExistsError, match="Another call made it") as caught:
            idempotency.call_once(names.create_http_namespace, **create)
        assert not caught.value.maybe_ours
        assert service.operations == ["CreateHttpNamespace"]


@pytest.mark.parametrize(
    ("found", "match", "maybe_ours"),
    [
        ("theirs", "Another call made it", False),
        (None, "An earlier call under this token may have made it", True),
    ],
)
def test_description_with_another_token_is_of_others(
    client, answers, exists, found, match, maybe_ours
):
    backup = client("backup")
    if token_member(backup.meta.service_model.operation_model("CreateBackupVault")) is None:
        pytest.skip("this botocore does not mark the token")
    vault = {"BackupVaultName": "v", "CreatorRequestId": found}
    answers(backup, exists("AlreadyExistsException"), vault)
    with pytest.raises(idempotency.AlreadyExistsError, match=match) as caught:
        idempotency.call_once(
            backup.create_backup_vault, max_wait=60, BackupVaultName="v", CreatorRequestId="mine"
        )
    assert caught.value.maybe_ours == maybe_ours


def test_another_token_is_not_ours_after_a_lost_reply(client, answers, exists, lost):
    route53 = client("route53")
    answers(route53, lost, exists("CidrCollectionAlreadyExistsException"))
    with pytest.raises(idempotency.AlreadyExistsError, match="Another call made it") as caught:
        idempotency.call_once(
            route53.create_cidr_collection, max_wait=60, adopt_existing=True, Name="n"
        )
    assert not caught.value.maybe_ours


def test_other_content_under_a_known_token_is_a_mismatch(client, answers, exists):
    answers(route53 := client("route53"), exists("HealthCheckAlreadyExists"))
    with pytest.raises(idempotency.TokenMismatchError):
        idempotency.call_once(
            route53.create_health_check, max_wait=60, HealthCheckConfig={"Type": "TCP"}
        )


def test_adopted_resource_is_answered_as_the_call_would(call_once, client, answers, exists, lost):
    """What has no token in its description is compared, where the caller asks for that."""
    glue = client("glue")
    found = {"Name": "r", "Ruleset": "Rules = []", "Description": "d"}
    answers(glue, lost, exists("AlreadyExistsException"), found)
    call = call_once(
        glue.create_data_quality_ruleset,
        max_wait=60,
        adopt_existing=True,
        Name="r",
        Ruleset="Rules = []",
    )
    assert (call.adopted, call.response) == (True, {"Name": "r"})


def test_resource_that_was_made_earlier_may_be_gone(client, answers, exists):
    stacks = client("cloudformation")
    event = {"StackId": "s", "OperationId": "1", "ClientRequestToken": "mine"}
    failed = {"Stacks": [{"StackName": "s", "StackStatus": "ROLLBACK_COMPLETE"}]}
    answers(stacks, exists("AlreadyExistsException"), {"StackEvents": [event]}, failed)
    with pytest.raises(idempotency.LateArrivalError):
        idempotency.call_once(
            stacks.create_stack,
            max_wait=60,
            then_wait="stack_create_complete",
            StackName="s",
            ClientRequestToken="mine",
        )


def test_resource_on_a_later_page_is_found(call_once, client, answers, exists):
    stacks = client("cloudformation")
    later = {"StackId": "s", "OperationId": "2", "ClientRequestToken": "other"}
    event = {"StackId": "s", "OperationId": "1", "ClientRequestToken": "mine"}
    pages = [{"StackEvents": [later], "NextToken": "2"}, {"StackEvents": [event]}]
    service = answers(stacks, exists("TokenAlreadyExistsException"), *pages)
    call = call_once(stacks.delete_stack, max_wait=60, StackName="s", ClientRequestToken="mine")
    assert call.adopted
    assert service.operations == ["DeleteStack", "DescribeStackEvents", "DescribeStackEvents"]


def test_long_list_is_read_to_its_thousandth_item(client, answers, exists):
    stacks = client("cloudformation")
    event = {"StackId": "s", "OperationId": "2", "ClientRequestToken": "other"}
    pages = [{"StackEvents": [event] * 300, "NextToken": str(page)} for page in range(9)]
    service = answers(stacks, exists("TokenAlreadyExistsException"), *pages)
    with pytest.raises(idempotency.AlreadyExistsError, match="A request under this token made it"):
        idempotency.call_once(
            stacks.update_stack, max_wait=60, StackName="s", ClientRequestToken="mine"
        )
    assert service.operations.count("DescribeStackEvents") == 4


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("AWS.MechanicalTurk.HitAlreadyExists", idempotency.AlreadyExistsError),
        ("AWS.MechanicalTurk.InsufficientFunds", idempotency.CallRefusedError),
    ],
)
def test_member_of_an_error_decides_what_it_means(client, answers, exists, lost, code, error):
    """MTurk has one error for everything that is wrong with a request."""
    turk = client("mturk")
    answers(turk, lost, exists("RequestError", TurkErrorCode=code))
    with pytest.raises(error) as caught:
        idempotency.call_once(
            turk.create_hit_with_hit_type,
            max_wait=60,
            HITTypeId="t",
            LifetimeInSeconds=60,
        )
    assert getattr(caught.value, "made_under_token", False) == code.endswith("HitAlreadyExists")
