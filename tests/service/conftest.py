"""Fixtures of clients that are made after `install`."""

import boto3
import pytest

import boto_waiters_plus as bwp


@pytest.fixture
def installed():
    """Let clients that are made from now on wait by the package."""
    bwp.install()


@pytest.fixture
def cloudformation(installed):
    return boto3.client("cloudformation")


@pytest.fixture
def ecs(installed):
    return boto3.client("ecs")


@pytest.fixture
def iam(installed):
    return boto3.client("iam")
