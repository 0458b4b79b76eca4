"""Parameters on the command line; the table is tests/cases/command_parameters.json."""

import json
import shlex
from pathlib import Path

import pytest

CASES = json.loads((Path(__file__).parents[1] / "cases/command_parameters.json").read_text())

pytestmark = pytest.mark.filterwarnings("ignore:waiter Mine polls")


@pytest.fixture
def polled(command, called, waitable, tmp_path):
    """`polled(operation, *words)`: the exit code, stderr, and what the operation is called with."""
    asked = []

    def poll(operation, *words):
        service, name = operation.split()
        file = tmp_path / "waiters.json"
        success = {"state": "success", "matcher": {"success": True}}
        file.write_text(json.dumps(waitable("Mine", name, success)))
        code, _, err = command(f"{service} mine --max-wait 9 --definitions", file, *words)
        return code, err, asked

    called(lambda _, parameters: asked.append(parameters) or {})
    return poll


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["words"])
def test_words_are_read_by_the_model(polled, case):
    code, err, asked = polled(case["operation"], *shlex.split(case["words"]))
    if "error" in case:
        assert (code, asked) == (2, [])
        assert case["error"] in err
    else:
        assert (code, asked) == (0, [case["parameters"]])


def test_values_can_be_in_files(polled, tmp_path):
    (tmp_path / "ids").write_text('["i-1"]')
    (tmp_path / "all").write_text('{"MaxResults": 5}')
    (tmp_path / "payload").write_bytes(b"\xff")
    words = ["--instance-ids", f"file://{tmp_path}/ids"]
    words += ["--cli-input-json", f"file://{tmp_path}/all"]
    *_, asked = polled("ec2 DescribeInstances", *words)
    assert asked.pop() == {"InstanceIds": ["i-1"], "MaxResults": 5}
    for word, value in [(f"fileb://{tmp_path}/payload", b"\xff"), ("ü", "ü".encode())]:
        polled("lambda Invoke", "--function-name", "f", "--payload", word)
        assert asked.pop()["Payload"] == value


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_a_value(polled, tmp_path, encoding):
    for name, text in (("ids", '["i-1"]'), ("all", '{"MaxResults": 5}'), ("token", "É")):
        (tmp_path / name).write_bytes(text.encode(encoding))
    words = ["--instance-ids", f"file://{tmp_path}/ids", "--next-token", f"file://{tmp_path}/token"]
    for given in (f"file://{tmp_path}/all", '\ufeff{"MaxResults": 5}'):
        *_, asked = polled("ec2 DescribeInstances", *words, "--cli-input-json", given)
        assert asked.pop() == {"InstanceIds": ["i-1"], "MaxResults": 5, "NextToken": "É"}


@pytest.mark.parametrize(("name", "size"), [("bytes", 1), ("large", 2**30)])
def test_files_that_are_no_text_are_refused(polled, tmp_path, name, size):
    with (tmp_path / name).open("wb") as file:
        file.write(b"\xff")
        file.truncate(size)
    code, err, _ = polled("s3 HeadBucket", "--bucket", f"file://{tmp_path / name}")
    assert (code, name in err) == (2, True)
