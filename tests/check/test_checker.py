"""The checker and the loader have the same verdict on a document."""

import json
from pathlib import Path

import pytest

from boto_waiters_plus import WaiterDefinitionError, load_definitions
from boto_waiters_plus.validation import Severity, check

CASES = json.loads((Path(__file__).parents[1] / "cases" / "malformed.json").read_text())


def waiter_model(waiter):
    trait = {"smithy.waiters#waitable": {"Ready": waiter}}
    shape = "com.amazonaws.eks#DescribeCluster"
    return {"smithy": "2.0", "shapes": {shape: {"type": "apply", "traits": trait}}}


DOCUMENTS = {
    **{case["name"]: waiter_model(case["waiter"]) for case in CASES["waiters"]},
    **{case["name"]: case["model"] for case in CASES["models"]},
    **{case["name"]: case["document"] for case in CASES["documents"]},
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_checker_refuses_what_the_loader_refuses(name, tmp_path):
    file = tmp_path / "waiters.json"
    file.write_text(json.dumps(DOCUMENTS[name]))
    with pytest.raises(WaiterDefinitionError):
        load_definitions(file)
    assert max(event.severity for event in check(file)) >= Severity.DANGER
