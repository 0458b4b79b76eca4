"""help(), docstrings and what tools read of an attached method."""

import inspect
import pydoc

import boto3
import pytest

import boto_waiters_plus as bwp


def page(method):
    return pydoc.plain(pydoc.render_doc(method))


def test_docstring_is_never_empty(s3):
    documentation = s3.wait_until_bucket_exists.__doc__
    assert len(documentation) > 0
    assert documentation.startswith("Waits until")
    assert "\n" not in str.__str__(documentation[: len(documentation)])


def test_help_describes_parameters_and_acceptors(s3):
    text = page(s3.wait_until_bucket_exists)
    for words in (
        "wait_until_bucket_exists",
        "max_wait",
        "**[REQUIRED]** Seconds (or a timedelta) to wait at most.",
        ":param Bucket: **[REQUIRED]**",
        "outcome = client.wait_until_bucket_exists(",
        "success when the call succeeds",
        "retry when the call fails with NotFound",
        "Delays are 2 to 5 seconds, with jitter.",
        "ResponseOutcome or ExceptionOutcome",
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
    assert method.__doc__[:21] == "Waits for the bucket."
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
    description, _, _ = page(s3.wait_until_bucket_exists).partition("Request Syntax")
    assert "403" in description
