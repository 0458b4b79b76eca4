"""Shipped waiters on a botocore that is older than they are."""

import copy
import json

import botocore
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel

from boto_waiters_plus.definitions.shipped import WRITTEN_FOR, data_root
from boto_waiters_plus.service.service_waiters import ServiceWaiters


def test_the_version_is_the_one_in_the_data():
    metadata = json.loads((data_root() / "traits.json").read_text())["metadata"]
    assert metadata["boto.waiters"]["botocore"] == WRITTEN_FOR


@pytest.mark.parametrize(("version", "has_waiter"), [("1.34.0", False), (WRITTEN_FOR, True)])
def test_a_state_that_an_older_model_lacks_has_no_waiter(monkeypatch, version, has_waiter):
    monkeypatch.setattr(botocore, "__version__", version)
    document = copy.deepcopy(Loader().load_service_model("athena", "service-2"))
    del document["shapes"]["QueryExecution"]["members"]["Status"]
    waiters = ServiceWaiters(ServiceModel(document, "athena"), Loader())
    assert ("query_execution_succeeded" in waiters.readable_names) is has_waiter
    assert (waiters.find("query_execution_succeeded") is not None) is has_waiter
    assert waiters.find("session_idle") is not None
