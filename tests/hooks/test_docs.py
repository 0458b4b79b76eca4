"""help(), docstrings and what tools read of an attached method."""

import inspect
import pydoc
import re

import boto3
import pytest
from case_tables import tabled

import boto_waiters_plus as bwp


def page(method):
    return pydoc.plain(pydoc.render_doc(method))


def test_docstring_is_never_empty(s3):
    documentation = s3.wait_until_bucket_exists.__doc__
    assert len(documentation) > 0
    assert documentation.startswith("Wait until the bucket exists (HeadBucket succeeds).")
    assert "\n" not in str.__str__(documentation[: len(documentation)])


def test_help_describes_parameters_and_acceptors(s3):
    text = page(s3.wait_until_bucket_exists)
    for words in (
        "wait_until_bucket_exists",
        "max_wait",
        "**[REQUIRED]** Seconds (or a timedelta) to wait at most.",
        ":param Bucket: **[REQUIRED]** The bucket name.",
        "outcome = client.wait_until_bucket_exists(Bucket=..., max_wait=300)",
        "success when the call succeeds",
        "retry when the call fails with NotFound",
        "Delays are 2 to 5 seconds, with jitter.",
        "``ResponseOutcome``",
        "WaiterFailedError",
        "``head_bucket``",
    ):
        assert words in text, words


@pytest.mark.parametrize("service", ["dynamodb", "kinesis", "iam"])
def test_every_method_has_help(service):
    bwp.install()
    client = boto3.client(service)
    for name in client.waiter_names:
        method = getattr(client, f"wait_until_{name}")
        text = page(method)
        assert "max_wait" in text
        assert inspect.getdoc(method) == inspect.getdoc(method).strip()
        assert str(inspect.signature(method)).startswith("(*, max_wait")


def test_documentation_of_a_definition_is_shown(s3, waitable):
    success = {"state": "success", "matcher": {"success": True}}
    members = {"documentation": "Waits for the bucket.\n\nAnd says so.", "minDelay": 3}
    document = waitable("BucketReady", "HeadBucket", success, maxDelay=7, **members)
    bwp.enable(s3, definitions=document)
    method = s3.wait_until_bucket_ready
    assert method.__doc__[:20] == "Wait for the bucket."
    text = page(method)
    assert "And says so." in text
    assert "Delays are 3 to 7 seconds" in text
    assert "success when the call succeeds" in text


def test_help_renders_commonmark(s3, waitable):
    matcher = {"path": "length(a) < `5` && b", "expected": "true", "comparator": "booleanEquals"}
    success = {"state": "success", "matcher": {"output": matcher}}
    members = {
        "documentation": "Waits.\n\n- for [it](https://x.org)\n- `a < b`",
        "deprecated": True,
    }
    bwp.enable(s3, definitions=waitable("Ready", "ListBuckets", success, **members))
    text = page(s3.wait_until_ready)
    for words in ("**Deprecated.**", "* for `it <https://x.org>`__", "* ``a < b``"):
        assert f"    {words}\n" in text, words
    assert "* success when length(a) < `5` && b is true\n" in text


def test_help_names_differences_from_botocores_waiter(s3):
    """AWS's definition takes a 403 as failure; botocore's own waiter as success."""
    description, _, _ = page(s3.wait_until_bucket_exists).partition("outcome =")
    assert "403" in description


@tabled("service", "name", "line")
def test_first_line_is_in_words_of_the_resource(service, name, line):
    bwp.install()
    method = getattr(boto3.client(service), f"wait_until_{name}")
    # Behind the signature, which newer Pythons print on several lines.
    lines = (each.strip() for each in page(method).splitlines())
    assert next(each for each in lines if each.startswith("Wait until")).startswith(line)


def test_parameters_follow_in_short(s3):
    bwp.install()
    lines = page(boto3.client("ec2").wait_until_instance_running).splitlines()
    # Behind the signature, which newer Pythons print on several lines.
    lines = lines[next(i for i, line in enumerate(lines) if "Wait until" in line) :]
    assert len(lines) < 40
    assert max(map(len, lines)) < 400
    places = [next(i for i, line in enumerate(lines) if words in line) for words in ORDER]
    assert places == sorted(places)


ORDER = ("Polls DescribeInstances", ":param max_wait:", "help(WaitOptions)", ":param InstanceIds:")


def test_every_option_is_described_by_help():
    text = pydoc.plain(pydoc.render_doc(bwp.WaitOptions))
    for name in bwp.WaitOptions.__dataclass_fields__:
        assert re.search(rf"^[ |]+ {name}: \S", text, re.MULTILINE), name


def test_every_public_name_is_listed():
    assert set(bwp.__all__) <= set(dir(bwp))


# --- waiter objects -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "name"), [("s3", "bucket_exists"), ("athena", "query_execution_succeeded")]
)
def test_help_of_a_waiter_object_tells_of_max_wait_and_the_outcome(service, name):
    bwp.install()
    waiter = boto3.client(service).get_waiter(name)
    text = page(waiter.wait)
    for words in (
        "Wait on boto_waiters_plus, and return the outcome.",
        "outcome = waiter.wait(..., max_wait=300)",
        ":param max_wait: Seconds (or a timedelta)",
        "``WaiterConfig={'MaxWait': 300}``",
        "``ResponseOutcome``",
        "``ExceptionOutcome``",
        "**Request Syntax**",
        ":type WaiterConfig: dict",
    ):
        assert words in text, words
    assert text.count("Polls :py:meth:") == 1
    assert ":returns: None" not in text


def test_help_of_a_waiter_object_is_botocores_without_the_engine():
    bwp.install(get_waiter=False)
    text = page(boto3.client("s3").get_waiter("bucket_exists").wait)
    assert "max_wait" not in text
    assert ":returns: None" in text
