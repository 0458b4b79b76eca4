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
    parameters = given_parameters(parser.parse_args(words), operation)
    return operation, parameters


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["words"])
def test_words_are_read_by_the_model(case):
    words = shlex.split(case["words"])
    if "error" not in case:
        assert read(case["operation"], words)[1] == case["parameters"]
        return
    with pytest.raises(UsageError) as caught:
        check_parameters(*read(case["operation"], words))
    assert case["error"] in str(caught.value)


def test_values_can_be_in_files(tmp_path):
    (tmp_path / "ids").write_text('["i-1"]')
    (tmp_path / "all").write_text('{"MaxResults": 5}')
    (tmp_path / "payload").write_bytes(b"\xff")
    words = ["--instance-ids", f"file://{tmp_path}/ids"]
    words += ["--cli-input-json", f"file://{tmp_path}/all"]
    _, parameters = read("ec2 DescribeInstances", words)
    assert parameters == {"InstanceIds": ["i-1"], "MaxResults": 5}
    for word, value in [(f"fileb://{tmp_path}/payload", b"\xff"), ("ü", "ü".encode())]:
        assert read("lambda Invoke", ["--payload", word])[1] == {"Payload": value}


@pytest.mark.parametrize(("name", "size"), [("bytes", 1), ("large", 2**30)])
def test_files_that_are_no_text_are_refused(tmp_path, name, size):
    with (tmp_path / name).open("wb") as file:
        file.write(b"\xff")
        file.truncate(size)
    with pytest.raises(UsageError, match=name):
        read("s3 HeadBucket", ["--bucket", f"file://{tmp_path / name}"])
