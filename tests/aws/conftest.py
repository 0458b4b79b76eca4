"""Every test begins and ends with botocore as it is."""

import pytest


@pytest.fixture(autouse=True)
def _stock(stock_botocore):
    pass
