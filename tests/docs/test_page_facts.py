"""What pages list is complete, and what they name exists."""

import json
import re
import sys
from collections import Counter
from itertools import accumulate

import boto3
import pytest
from docs.snippets import DOCS, ROOT

import boto_waiters_plus as bwp
from boto_waiters_plus import idempotency
from boto_waiters_plus.cli import DEFAULT_COMMAND
from boto_waiters_plus.cli.parser import COMMANDS
from boto_waiters_plus.definitions.coalescing_trait import shipped_coalescing
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.engine.backoff import jittered_delay

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not in a wheel")


PAGES_AT_THE_TOP = ("README.md", "CHANGELOG.md")


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def test_waiting_page_describes_every_option():
    cells = re.findall(r"^\| (`\w+`.*?) \|", text_of("waiting.md"), re.MULTILINE)
    assert set(bwp.WaitOptions.__dataclass_fields__) <= set(re.findall(r"`(\w+)`", "".join(cells)))


@pytest.mark.parametrize(("min_delay", "count"), [(2, 7), (30, 4)])
def test_delays_page_tells_when_a_patient_wait_polls(min_delay, count):
    """On average: each delay is drawn evenly between its bounds."""
    delays = [
        jittered_delay(
            n, min_delay=min_delay, max_delay=120, random=lambda low, high: (low + high) / 2
        )
        for n in range(1, count)
    ]
    *times, last = (f"{time:g}" for time in (0, *accumulate(delays)))
    assert f" is polled at {', '.join(times)} and {last} s" in " ".join(
        text_of("delays.md").split()
    )
    [definition] = [d for d in shipped_definitions("s3") if d.name == "BucketExists"]
    assert f"`bucket_exists`, whose `minDelay` is {definition.min_delay} s" in text_of("delays.md")


def test_command_page_describes_every_subcommand():
    text = text_of("command.md")
    assert {name for name in COMMANDS if f"boto-wait {name}" in text} == COMMANDS.keys()
    assert DEFAULT_COMMAND in COMMANDS


def test_pages_count_the_waiters_right():
    botocores, own = Counter(), Counter()
    for file in (ROOT / "data").glob("*.json"):
        shapes = json.loads(file.read_text(encoding="utf-8")).get("shapes", {}).values()
        for shape in shapes:
            for waiter in shape.get("traits", {}).get("smithy.waiters#waitable", {}).values():
                (botocores if "generated" in waiter.get("tags", []) else own)[file.name] += 1
    of, new = sum(botocores.values()), sum(own.values())
    services, without = len(botocores | own), len(own.keys() - botocores.keys())
    known = len(botocores)
    readme, changes = ((ROOT / name).read_text(encoding="utf-8") for name in PAGES_AT_THE_TOP)
    assert f"| {known} of 439 | {services} of 439 |" in readme
    assert re.search(
        rf"{of + new:,} for {services} services; botocore .* has {of} for {known}", readme
    )
    assert f"The {new:,} waiters that botocore does not have" in readme
    curated = (
        f"{of} waiters converted from botocore and {new:,} curated ones for {len(own)} services"
    )
    assert f"{curated}, {without} of which have no waiter" in changes
    assert f"for all {services} services with waiters" in changes
    others = f"no waiter for Athena and {439 - known - 1} other services."
    assert f"{others} This package defines waiters for {without} of these" in text_of("howto.md")


def test_pages_count_the_operations_with_shared_calls_right():
    shapes = shipped_coalescing()
    services = {shape.partition("#")[0] for shape in shapes}
    assert f"lists the operations, {len(shapes)} of {len(services)} services" in text_of("many.md")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"where the operation takes a list of identifiers ({len(shapes)} operations)" in changes


def test_operations_page_has_every_code():
    operations = pytest.importorskip("boto_waiters_plus.operations")
    table = text_of("operations.md").split("| code | meaning |")[1].split("##")[0]
    codes = {code for row in table.splitlines() for code in re.findall(r"`(\w+)`", row[:150])}
    assert set(operations.CODES) <= codes


def test_idempotency_page_has_every_public_name():
    text = text_of("idempotency.md")
    assert [name for name in idempotency.__all__ if name not in text] == []


@pytest.mark.parametrize(
    ("page", "folder"), [("operations", "operations"), ("idempotency", "changes")]
)
def test_tests_that_the_page_names_exist(page, folder):
    named = set(re.findall(r"`(test_\w+)`", text_of(f"{page}.md")))
    files = (ROOT / "tests" / folder).glob("test_*.py")
    code = "".join(file.read_text(encoding="utf-8") for file in files)
    assert len(named) > 10
    assert named <= set(re.findall(r"def (test_\w+)", code))


def botocore_members():
    """The members of botocore's modules and of their classes, by module and name."""
    modules = {name: module for name, module in sys.modules.items() if name.startswith("botocore")}
    for name, module in modules.items():
        for key, value in list(vars(module).items()):
            yield f"{name}.{key}", value
            if isinstance(value, type) and value.__module__ == name:
                yield from ((f"{name}.{key}.{each}", own) for each, own in vars(value).items())


def test_readme_names_all_that_install_patches():
    client = boto3.client("s3")
    before = dict(botocore_members())
    bwp.install()
    try:
        client.get_waiter("bucket_exists")
        patched = [
            name for name, value in botocore_members() if before.get(name, value) is not value
        ]
    finally:
        bwp.uninstall()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [sentence] = re.findall(r"patches two functions of botocore, `(.+?)` and `(.+?)`", readme)
    assert sorted(name.split(".", 2)[2] for name in patched) == sorted(sentence)
