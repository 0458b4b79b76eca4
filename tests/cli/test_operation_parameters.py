"""Parameters on the command line; the table is tests/cases/command_parameters.json."""

import json
import shlex
from pathlib import Path

import pytest
from botocore.loaders import create_loader
from botocore.model import ServiceModel

from boto_waiters_plus.cli.exit_codes import UsageError
from boto_waiters_plus.cli.operation_parameters import (
    add_operation_parameters,
    check_parameters,
    given_parameters,
)
from boto_waiters_plus.cli.parser import Parser

CASES = json.loads((Path(__file__).parents[1] / "cases/command_parameters.json").read_text())
LOADER = create_loader()


def read(operation, words):
    service, name = operation.split()
    model = ServiceModel(LOADER.load_service_model(service, "service-2"), service)
    operation = model.operation_model(name)
    parser = Parser()
    add_operation_parameters(parser, operation)
    return operation, given_parameters(parser.parse_args(words), operation)


@pytest.mark.parametrize("case", [c for c in CASES if "parameters" in c], ids=lambda c: c["words"])
def test_words_are_read_by_the_model(case):
    _, parameters = read(case["operation"], shlex.split(case["words"]))
    assert parameters == case["parameters"]


@pytest.mark.parametrize("case", [c for c in CASES if "error" in c], ids=lambda c: c["words"])
def test_wrong_words_are_refused_by_name(case):
    with pytest.raises(UsageError) as caught:
        check_parameters(*read(case["operation"], shlex.split(case["words"])))
    assert str(caught.value) == case["error"]


def test_values_can_be_in_files(tmp_path):
    (tmp_path / "ids").write_text('["i-1"]')
    (tmp_path / "all").write_text('{"MaxResults": 5}')
    words = ["--instance-ids", f"file://{tmp_path}/ids"]
    words += ["--cli-input-json", f"file://{tmp_path}/all"]
    _, parameters = read("ec2 DescribeInstances", words)
    assert parameters == {"InstanceIds": ["i-1"], "MaxResults": 5}


def test_blobs_are_read_from_files(tmp_path):
    (tmp_path / "payload").write_bytes(b"\xff")
    _, parameters = read("lambda Invoke", ["--payload", f"fileb://{tmp_path}/payload"])
    assert parameters == {"Payload": b"\xff"}
    _, parameters = read("lambda Invoke", ["--payload", "ü"])
    assert parameters == {"Payload": "ü".encode()}
