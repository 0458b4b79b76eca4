"""Every test begins and ends with botocore as its own."""

from unittest import mock

import boto3
import botocore
import pytest
from botocore.loaders import create_loader

import boto_waiters_plus as bwp

LOADER = create_loader()


@pytest.fixture(autouse=True)
def _alone():
    bwp.uninstall()
    botocore.register_initializer(_share_loader)
    with mock.patch.object(boto3, "DEFAULT_SESSION", None):
        yield
    botocore.unregister_initializer(_share_loader)
    bwp.uninstall()


@pytest.fixture(autouse=True)
def _no_images(monkeypatch):
    # moto's more than a thousand machine images take longer than all the rest
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")


def _share_loader(session):
    # Reading and parsing the models anew for every test would be most of the time.
    session.register_component("data_loader", LOADER)
