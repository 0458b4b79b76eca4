"""Whose a resource is that exists already, where the service keeps tokens.

The rest is in `cases/call-once.json`.
"""

import json

import boto3
import pytest

from boto_waiters_plus import idempotency

pytestmark = pytest.mark.usefixtures("stock_botocore", "virtual_time")


def refused(method, **parameters):
    """Return the error of a call whose resource is not taken for its own."""
    with pytest.raises(idempotency.AlreadyExistsError) as caught:
        idempotency.call_once(method, max_wait=60, **parameters)
    return caught.value


def test_resource_of_a_lost_reply_is_ours(call_once, answers, error_answer, lost):
    def described():
        token = json.loads(service.requests[0]["body"])["CreationToken"]
        return {"FileSystems": [{"FileSystemId": "fs-1", "CreationToken": token}]}

    efs = boto3.client("efs")
    service = answers(efs, lost, error_answer("FileSystemAlreadyExists"), described)
    call = call_once(efs.create_file_system, max_wait=60)
    assert (call.adopted, call.attempts) == (True, 2)
    assert call.response["CreationToken"] == call.token
    assert service.requests[2]["query_string"] == {"CreationToken": call.token}


def test_long_list_is_read_to_its_tenth_page(answers, error_answer):
    stacks = boto3.client("cloudformation")
    event = {"StackId": "s", "OperationId": "2", "ClientRequestToken": "other"}
    pages = [{"StackEvents": [event], "NextToken": str(page)} for page in range(12)]
    service = answers(stacks, error_answer("TokenAlreadyExistsException"), *pages)
    assert refused(stacks.update_stack, StackName="s", ClientRequestToken="mine").made_under_token
    assert service.operations.count("DescribeStackEvents") == 10


@pytest.mark.parametrize(("found", "maybe_ours"), [("theirs", False), (None, True)])
def test_description_with_another_token_is_of_others(answers, error_answer, found, maybe_ours):
    backup = boto3.client("backup")
    model = backup.meta.service_model.operation_model("CreateBackupVault")
    if not model.idempotent_members:
        pytest.skip("this botocore does not mark the token")
    vault = {"BackupVaultName": "v", "CreatorRequestId": found}
    answers(backup, error_answer("AlreadyExistsException"), vault)
    given = {"BackupVaultName": "v", "CreatorRequestId": "mine"}
    assert refused(backup.create_backup_vault, **given).maybe_ours == maybe_ours
