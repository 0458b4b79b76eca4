"""The examples of docs/definitions.md."""

import json
import re
from pathlib import Path

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.definitions.files import load_layers
from boto_waiters_plus.validation import check

PAGE = Path(__file__).parents[2] / "docs" / "definitions.md"
EXAMPLES = [
    text
    for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    if text.startswith("{")
]


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_load_and_pass_the_check(text):
    document = json.loads(text)
    assert load_layers(document)
    service = None if "smithy" in document else "sqs"
    assert [event for event in check(document, service) if event.severity.name != "NOTE"] == []


def test_the_idl_example_is_the_first_json_example():
    pytest.importorskip("lark")
    from boto_waiters_plus.definitions.idl import parse_idl  # noqa: PLC0415 - needs lark

    [text] = re.findall(r"```\n(\$version.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert bwp.load_definitions(parse_idl(text, source="a")) == bwp.load_definitions(
        json.loads(EXAMPLES[0])
    )
