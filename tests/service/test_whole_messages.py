"""Five whole messages, because they are the product; other tests match classes and names."""

import boto3
import pytest
from case_tables import tabled

import boto_waiters_plus as bwp


@tabled("whole messages", "service", "waiter", "parameters", "answer", "message")
def test_message_is(answers, virtual_time, service, waiter, parameters, answer, message):
    bwp.install()
    client = boto3.client(service)
    answers(client, answer)
    with pytest.raises(bwp.WaiterError) as caught:
        bwp.wait_until(client, waiter, max_wait=30, **parameters)
    assert str(caught.value) == message


def test_message_of_a_bad_argument_is(s3):
    with pytest.raises(TypeError) as caught:
        s3.wait_until_bucket_exists(Bucket="b", max_wait=30, retry_transiant=True)
    assert str(caught.value) == "unknown option 'retry_transiant'; did you mean 'retry_transient'?"
