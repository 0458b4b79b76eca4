"""`tools/export_waiters.py`, by which a shipped waiter is sent upstream."""

import json
from dataclasses import replace

import pytest
from botocore.waiter import WaiterModel
from export_waiters import main

from boto_waiters_plus import load_definitions
from boto_waiters_plus.definitions.shipped import shipped_definitions


@pytest.mark.parametrize("form", ["smithy", "waiters-2"])
def test_an_export_is_read_back_as_the_waiter(form, tmp_path, capsys):
    if form == "smithy":
        pytest.importorskip("lark")
    assert main(["kms", "KeyEnabled", "--format", form]) == 0
    text = capsys.readouterr().out
    file = tmp_path / ("kms.smithy" if form == "smithy" else "kms.json")
    file.write_text(text, encoding="utf-8")
    [read] = load_definitions(file)
    [shipped] = [each for each in shipped_definitions("kms") if each.name == "KeyEnabled"]
    assert (read.name, read.operation) == (shipped.name, shipped.operation)
    assert read.acceptors == tuple(replace(each, message=None) for each in shipped.acceptors)
    if form == "waiters-2":
        stock = WaiterModel(json.loads(text)).get_waiter("KeyEnabled")
        assert (stock.operation, stock.delay) == (shipped.operation, shipped.max_delay)


def test_what_waiters_2_cannot_express_is_named(capsys):
    assert main(["batch", "--format", "waiters-2"]) == 1
    output = capsys.readouterr()
    assert "JobsSucceeded compares the input" in output.err
    assert "JobsSucceeded" not in json.loads(output.out)["waiters"]
