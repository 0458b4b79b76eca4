"""help(), docstrings and what tools read of an attached method."""

import inspect
import pydoc
import re

import boto3
import pytest

import boto_waiters_plus as bwp


def page(method):
    return pydoc.plain(pydoc.render_doc(method))


def test_help_describes_parameters_and_acceptors(s3):
    method = s3.wait_until_bucket_exists
    text = page(method)
    for words in (
        ":param Bucket: **[REQUIRED]** The bucket name.",
        "outcome = client.wait_until_bucket_exists(Bucket=..., max_wait=300)",
        "retry when the call fails with NotFound",
        "Delays are 2 to 5 seconds",
    ):
        assert words in text, words
    # AWS's definition takes a 403 as failure; botocore's own waiter as success.
    assert "403" in text.partition("outcome =")[0]
    assert "\n" not in str.__str__(method.__doc__[: len(method.__doc__)])


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


def test_documentation_of_a_definition_is_shown_as_rst(s3, waitable):
    success = {"state": "success", "matcher": {"success": True}}
    members = {"documentation": "Waits.\n\n- for [it](https://x.org)", "deprecated": True}
    bwp.enable(s3, definitions=waitable("Ready", "ListBuckets", success, **members))
    text = page(s3.wait_until_ready)
    for words in ("**Deprecated.**", "* for `it <https://x.org>`__"):
        assert f"    {words}\n" in text, words


@pytest.mark.parametrize(("name", "line"), [
    ("s3.bucket_not_exists", "the bucket does not exist (HeadBucket fails with NotFound)."),
    ("cloudformation.stack_create_complete", "stack status is CREATE_COMPLETE."),
    ("ec2.nat_gateway_deleted", "the nat gateway is deleted (every State is"),
    ("elb.any_instance_in_service", "any instance is in service (any State is"),
])  # fmt: skip
def test_first_line_is_in_words_of_the_resource(name, line):
    bwp.install()
    service, _, name = name.partition(".")
    method = getattr(boto3.client(service), f"wait_until_{name}")
    assert inspect.getdoc(method).startswith(f"Wait until {line}")
    assert f"Wait until {line}" in page(method)


def test_every_option_is_described_by_help():
    text = pydoc.plain(pydoc.render_doc(bwp.WaitOptions))
    for name in bwp.WaitOptions.__dataclass_fields__:
        assert re.search(rf"^[ |]+ {name}: \S", text, re.MULTILINE), name


# --- waiter objects -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "name"), [("s3", "bucket_exists"), ("athena", "query_execution_succeeded")]
)
def test_help_of_a_waiter_object_tells_of_max_wait_and_the_outcome(service, name):
    bwp.install()
    text = page(boto3.client(service).get_waiter(name).wait)
    for words in ("waiter.wait(..., max_wait=300)", "``ResponseOutcome``", "**Request Syntax**"):
        assert words in text, words
    assert text.count("Polls :py:meth:") == 1
    assert ":returns: None" not in text
    bwp.install(get_waiter=False)
    assert "max_wait" not in page(boto3.client("s3").get_waiter("bucket_exists").wait)
