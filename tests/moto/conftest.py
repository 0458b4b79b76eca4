"""Every test begins and ends with botocore as it is."""

import pytest


@pytest.fixture(autouse=True)
def _stock(stock_botocore):
    pass


@pytest.fixture(autouse=True)
def _no_images(monkeypatch):
    # moto's more than a thousand machine images take longer than all the rest.
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
