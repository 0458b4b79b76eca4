"""Curated waiters on real clients against moto: `tests/cases/on-moto.json`.

A wait of the table has the steps that bring its resource about (after those of the setup it
names), the parameters of the wait, and what it ends in. `$name` stands for what a step saved,
`${name}` for the same inside of a text.
"""

import functools
import io
import re
import zipfile

import boto3
import jmespath
import pytest
from data.shared import CATALOG, ROOT, json_of
from installed_models import IS_OLDER
from moto import mock_aws

from boto_waiters_plus import WaiterFailedError, wait_until
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.testing import virtual_time

pytestmark = [
    CATALOG,
    pytest.mark.skipif(IS_OLDER, reason="the installed botocore lacks some of the operations"),
]

CASES = json_of("tests/cases/on-moto.json")
TABLES = {path.stem: json_of(path) for path in (ROOT / "tests/cases/states").glob("*.json")}
CONFIG = {"batch": {"use_docker": False}, "lambda": {"use_docker": False}}


def expected_of(wait):
    return wait.get("expect", "success")


def wait_id(wait):
    return "-".join([wait["service"], wait["waiter"], *filter(None, [wait.get("expect")])])


@pytest.fixture(scope="module")
def clients():
    """One client a service: making them is what takes the time."""
    return functools.cache(boto3.Session(region_name="us-east-1").client)


@pytest.mark.parametrize("wait", CASES["waits"], ids=wait_id)
def test_waiter_ends_as_its_resource_says(wait, clients):
    saved = {}
    with mock_aws(config=CONFIG):
        for step in steps_of(wait):
            take(step, wait["service"], clients, saved)
        client, parameters = clients(wait["service"]), filled(wait["wait"], saved)
        with virtual_time():
            try:
                ended = wait_until(client, wait["waiter"], max_wait=900, **parameters)
            except WaiterFailedError as error:
                ended = error
        assert ended.acceptor.text.partition(" ")[0] == expected_of(wait)


def test_the_tag_says_which_waiters_run_here():
    ids = {table["service"]: service_id for service_id, table in TABLES.items()}
    succeed = [each for each in CASES["waits"] if expected_of(each) == "success"]
    tagged = {
        (service_id, definition.name)
        for service_id in TABLES
        for definition in shipped_definitions(service_id)
        if "run-on-moto" in definition.tags
    }
    assert {(ids[each["service"]], each["waiter"]) for each in succeed} == tagged


def steps_of(entry):
    before = steps_of(CASES["setups"][entry["after"]]) if "after" in entry else []
    return before + entry.get("steps", [])


def take(step, service, clients, saved):
    client = clients(step.get("service", service))
    response = getattr(client, step["call"])(**filled(step["with"], saved))
    for name, path in step.get("save", {}).items():
        saved[name] = jmespath.search(path, response)
        assert saved[name] is not None, f"{step['call']} gave no {path}"


def filled(value, saved):
    if isinstance(value, dict):
        return {name: filled(item, saved) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, saved) for item in value]
    if not isinstance(value, str):
        return value
    if value == "$zip":
        return zipped_function()
    if re.match(r"\$\w", value):
        return jmespath.search(value[1:], saved)
    return re.sub(r"\$\{(\w+)\}", lambda match: saved[match[1]], value)


def zipped_function():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a.py", "def b(event, context): pass")
    return content.getvalue()
