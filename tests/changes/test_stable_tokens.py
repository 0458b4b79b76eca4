"""Tokens that are derived from a key."""

import pytest
from case_tables import tabled

from boto_waiters_plus.idempotency import token_for


def test_token_depends_on_key_and_operation(ec2):
    tokens = {
        token_for(ec2, operation, key)
        for operation in ("RunInstances", "CreateVolume")
        for key in ("job-1", "job-2", "job-1 ")
    }
    assert len(tokens) == 6


def test_token_stays_the_same_from_one_release_to_the_next(ec2):
    expected = "ef744a05-9e16-56b2-a2eb-ba277315f6ba"
    assert token_for(ec2, "RunInstances", "job-1") == expected
    assert token_for(ec2, "run_instances", "job-1") == expected


@tabled("operation", "key", "error", "match")
def test_bad_input_is_refused(ec2, operation, key, error, match):
    with pytest.raises(error, match=match):
        token_for(ec2, operation, key)


def test_rerun_with_the_same_key_sends_the_same_token(ec2, answers, image, running):
    service = answers(ec2, running)
    for _ in range(2):
        ec2.run_instances(ClientToken=token_for(ec2, "RunInstances", "job-1"), **image)
    first, second = (request["body"]["ClientToken"] for request in service.requests)
    assert first == second
