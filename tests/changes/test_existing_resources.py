"""Whose a resource is that exists already, where the service keeps tokens."""

import json

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency

FILE_SYSTEM = {"FileSystemId": "fs-1", "CreationToken": "mine", "LifeCycleState": "creating"}
OTHER_EVENT = {"StackId": "s", "OperationId": "2", "ClientRequestToken": "other"}
OWN_EVENT = {"StackId": "s", "OperationId": "1", "ClientRequestToken": "mine"}
STACK = {"StackName": "s", "ClientRequestToken": "mine"}

pytestmark = pytest.mark.usefixtures("stock_botocore", "virtual_time")


@pytest.fixture
def exists(error_answer):
    """`exists(code, **members)`: an error answer with members of its own."""
    return lambda code, **members: {**error_answer(code, "It already exists.", 409), **members}


@pytest.fixture
def efs():
    return boto3.client("efs")


@pytest.fixture
def stacks():
    return boto3.client("cloudformation")


@pytest.fixture
def create_file_system(call_once, efs):
    return lambda **options: call_once(efs.create_file_system, max_wait=60, **options)


def refused(method, **parameters):
    """Return the error of a call whose resource is not taken for its own."""
    with pytest.raises(idempotency.AlreadyExistsError) as caught:
        idempotency.call_once(method, max_wait=60, **parameters)
    return caught.value


def test_resource_under_the_callers_token_is_ours(create_file_system, efs, answers, exists):
    service = answers(efs, exists("FileSystemAlreadyExists"), {"FileSystems": [FILE_SYSTEM]})
    call = create_file_system(CreationToken="mine")
    assert call.adopted
    # As the operation itself would have answered.
    assert call.response["FileSystemId"] == "fs-1"
    assert service.operations == ["CreateFileSystem", "DescribeFileSystems"]
    assert service.requests[1]["query_string"] == {"CreationToken": "mine"}


def test_resource_of_a_lost_reply_is_ours(create_file_system, efs, answers, exists, lost):
    def described():
        token = json.loads(service.requests[0]["body"])["CreationToken"]
        return {"FileSystems": [{**FILE_SYSTEM, "CreationToken": token}]}

    service = answers(efs, lost, exists("FileSystemAlreadyExists"), described)
    call = create_file_system()
    assert (call.adopted, call.attempts) == (True, 2)
    assert call.response["CreationToken"] == call.token


def test_other_parameters_of_an_earlier_call_are_named(efs, answers, exists):
    found = {**FILE_SYSTEM, "PerformanceMode": "maxIO"}
    answers(efs, exists("FileSystemAlreadyExists"), {"FileSystems": [found]})
    given = {"CreationToken": "mine", "PerformanceMode": "generalPurpose"}
    error = refused(efs.create_file_system, **given)
    assert (error.differences, error.made_under_token) == (("PerformanceMode",), True)


def test_description_that_fails_leaves_the_error(efs, answers, exists, error_answer):
    answers(efs, exists("FileSystemAlreadyExists"), error_answer("AccessDeniedException", "", 403))
    error = refused(efs.create_file_system, CreationToken="mine")
    assert (error.maybe_ours, error.made_under_token) == (True, True)
    check = (error.check_operation, error.check_parameters)
    assert check == ("DescribeFileSystems", {"CreationToken": "mine"})


def test_error_alone_may_say_that_it_is_ours(answers, exists):
    """No operation of CloudFront finds a distribution by its caller reference."""
    cloudfront = boto3.client("cloudfront")
    answers(cloudfront, exists("DistributionAlreadyExists"))
    given = {"PrimaryDistributionId": "d", "CallerReference": "mine"}
    assert refused(cloudfront.copy_distribution, **given).made_under_token


@pytest.mark.parametrize("on_a_later_page", [False, True])
def test_token_of_a_stack_operation_is_found_in_its_events(
    call_once, stacks, answers, exists, on_a_later_page
):
    pages = [{"StackEvents": [OTHER_EVENT, OWN_EVENT]}]
    if on_a_later_page:
        pages = [{"StackEvents": [OTHER_EVENT], "NextToken": "2"}, {"StackEvents": [OWN_EVENT]}]
    service = answers(stacks, exists("TokenAlreadyExistsException"), *pages)
    call = call_once(stacks.update_stack, max_wait=60, UsePreviousTemplate=True, **STACK)
    assert call.adopted
    assert call.response == {"StackId": "s", "OperationId": "1"}
    assert service.operations == ["UpdateStack"] + ["DescribeStackEvents"] * len(pages)


def test_long_list_is_read_to_its_thousandth_item(stacks, answers, exists):
    pages = [{"StackEvents": [OTHER_EVENT] * 300, "NextToken": str(page)} for page in range(9)]
    service = answers(stacks, exists("TokenAlreadyExistsException"), *pages)
    assert refused(stacks.update_stack, **STACK).made_under_token
    assert service.operations.count("DescribeStackEvents") == 4


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("DELETE_COMPLETE", idempotency.LateArrivalError),
        ("ROLLBACK_COMPLETE", bwp.WaiterFailedError),
    ],
)
def test_only_a_resource_that_is_gone_is_late(stacks, answers, exists, state, kind):
    seen = {"Stacks": [{"StackName": "s", "StackStatus": state}]}
    answers(stacks, exists("AlreadyExistsException"), {"StackEvents": [OWN_EVENT]}, seen)
    options = {"max_wait": 60, "then_wait": "stack_create_complete"}
    with pytest.raises(bwp.WaiterFailedError) as caught:
        idempotency.call_once(stacks.create_stack, **options, **STACK)
    assert type(caught.value) is kind


@pytest.mark.parametrize("token", ["mine", "theirs"])
def test_error_may_name_the_token_of_the_resource(answers, exists, token):
    names = boto3.client("servicediscovery")
    error = exists("NamespaceAlreadyExists", CreatorRequestId=token, NamespaceId="ns-1")
    found = {"Namespace": {"Id": "ns-1", "Name": "n", "CreatorRequestId": token}}
    service = answers(names, error, found)
    create = {"Name": "n", "CreatorRequestId": "mine"}
    if token == "mine":
        call = idempotency.call_once(names.create_http_namespace, max_wait=60, **create)
        assert call.response["Namespace"]["Id"] == "ns-1"
        assert service.operations == ["CreateHttpNamespace", "GetNamespace"]
    else:
        assert not refused(names.create_http_namespace, **create).maybe_ours
        assert service.operations == ["CreateHttpNamespace"]


@pytest.mark.parametrize(("found", "maybe_ours"), [("theirs", False), (None, True)])
def test_description_with_another_token_is_of_others(answers, exists, found, maybe_ours):
    backup = boto3.client("backup")
    model = backup.meta.service_model.operation_model("CreateBackupVault")
    if not model.idempotent_members:
        pytest.skip("this botocore does not mark the token")
    vault = {"BackupVaultName": "v", "CreatorRequestId": found}
    answers(backup, exists("AlreadyExistsException"), vault)
    given = {"BackupVaultName": "v", "CreatorRequestId": "mine"}
    assert refused(backup.create_backup_vault, **given).maybe_ours == maybe_ours


def test_another_token_is_not_ours_after_a_lost_reply(answers, exists, lost):
    route53 = boto3.client("route53")
    answers(route53, lost, exists("CidrCollectionAlreadyExistsException"))
    assert not refused(route53.create_cidr_collection, adopt_existing=True, Name="n").maybe_ours


def test_other_content_under_a_known_token_is_a_mismatch(answers, exists):
    answers(route53 := boto3.client("route53"), exists("HealthCheckAlreadyExists"))
    with pytest.raises(idempotency.TokenMismatchError):
        idempotency.call_once(
            route53.create_health_check, max_wait=60, HealthCheckConfig={"Type": "TCP"}
        )


def test_adopted_resource_is_answered_as_the_call_would(call_once, answers, exists, lost):
    """What has no token in its description is compared, where the caller asks for that."""
    glue = boto3.client("glue")
    given = {"Name": "r", "Ruleset": "Rules = []"}
    answers(glue, lost, exists("AlreadyExistsException"), {**given, "Description": "d"})
    options = {"max_wait": 60, "adopt_existing": True}
    call = call_once(glue.create_data_quality_ruleset, **options, **given)
    assert (call.adopted, call.response) == (True, {"Name": "r"})


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("AWS.MechanicalTurk.HitAlreadyExists", idempotency.AlreadyExistsError),
        ("AWS.MechanicalTurk.InsufficientFunds", idempotency.CallRefusedError),
    ],
)
def test_member_of_an_error_decides_what_it_means(answers, exists, lost, code, kind):
    """MTurk has one error for everything that is wrong with a request."""
    turk = boto3.client("mturk")
    answers(turk, lost, exists("RequestError", TurkErrorCode=code))
    given = {"HITTypeId": "t", "LifetimeInSeconds": 60}
    with pytest.raises(idempotency.CallRefusedError) as caught:
        idempotency.call_once(turk.create_hit_with_hit_type, max_wait=60, **given)
    assert type(caught.value) is kind
