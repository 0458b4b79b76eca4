"""Tokens that are derived from a key."""

import pytest

from boto_waiters_plus.idempotency import token_for


def test_token_depends_on_key_and_operation(ec2):
    tokens = {
        token_for(ec2, operation, key)
        for operation in ("RunInstances", "CreateVolume")
        for key in ("job-1", "job-2", "job-1 ")
    }
    assert len(tokens) == 6


@pytest.mark.parametrize("operation", ["RunInstances", "run_instances"])
def test_token_stays_the_same_from_one_release_to_the_next(ec2, operation):
    assert token_for(ec2, operation, "job-1") == "ef744a05-9e16-56b2-a2eb-ba277315f6ba"


@pytest.mark.parametrize(("operation", "key", "error", "match"), [
    ("RunInstance", "k", ValueError, "'RunInstances'"),
    ("DescribeInstances", "k", ValueError, "DescribeInstances has no"),
    ("RunInstances", "", ValueError, "key"),
    ("RunInstances", 7, TypeError, "key"),
])  # fmt: skip
def test_bad_input_is_refused(ec2, operation, key, error, match):
    with pytest.raises(error, match=match):
        token_for(ec2, operation, key)
