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
        "success when the call succeeds",
        "retry when the call fails with NotFound",
        "Delays are 2 to 5 seconds",
        "``ResponseOutcome``",
        "WaiterFailedError",
        "``head_bucket``",
    ):
        assert words in text, words
    # AWS's definition takes a 403 as failure; botocore's own waiter as success.
    description, _, _ = text.partition("outcome =")
    assert "403" in description
    documentation = method.__doc__
    assert documentation.startswith("Wait until the bucket exists (HeadBucket succeeds).")
    assert "\n" not in str.__str__(documentation[: len(documentation)])


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


def test_documentation_of_a_definition_is_shown_as_commonmark(s3, waitable):
    matcher = {"path": "length(a) < `5` && b", "expected": "true", "comparator": "booleanEquals"}
    success = {"state": "success", "matcher": {"output": matcher}}
    members = {
        "documentation": "Waits.\n\n- for [it](https://x.org)\n- `a < b`",
        "deprecated": True,
    }
    bwp.enable(s3, definitions=waitable("Ready", "ListBuckets", success, **members))
    method = s3.wait_until_ready
    assert method.__doc__.startswith("Wait")
    text = page(method)
    for words in ("**Deprecated.**", "* for `it <https://x.org>`__", "* ``a < b``"):
        assert f"    {words}\n" in text, words
    assert "* success when length(a) < `5` && b is true\n" in text


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("s3.bucket_exists", "the bucket exists (HeadBucket succeeds)."),
        ("s3.bucket_not_exists", "the bucket does not exist (HeadBucket fails with NotFound)."),
        ("ec2.instance_running", "the instance is running (every State.Name is 'running')."),
        ("cloudformation.stack_create_complete", "stack status is CREATE_COMPLETE."),
        ("ec2.nat_gateway_deleted", "the nat gateway is deleted (every State is"),
        ("iam.role_exists", "the role exists (GetRole succeeds)."),
        ("elb.any_instance_in_service", "any instance is in service (any State is"),
        ("ecs.services_stable", "the services are stable ("),
        ("ecs.tasks_running", "the tasks are running (every lastStatus is 'RUNNING')"),
    ],
)
def test_first_line_is_in_words_of_the_resource(name, line):
    bwp.install()
    service, _, name = name.partition(".")
    method = getattr(boto3.client(service), f"wait_until_{name}")
    # Behind the signature, which newer Pythons print on several lines.
    lines = (each.strip() for each in page(method).splitlines())
    assert next(each for each in lines if each.startswith("Wait until")).startswith(
        f"Wait until {line}"
    )


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
    waiter = boto3.client(service).get_waiter(name)
    text = page(waiter.wait)
    for words in (
        "outcome = waiter.wait(..., max_wait=300)",
        ":param max_wait: Seconds (or a timedelta)",
        "``WaiterConfig={'MaxWait': 300}``",
        "``ResponseOutcome``",
        "**Request Syntax**",
        ":type WaiterConfig: dict",
    ):
        assert words in text, words
    assert text.count("Polls :py:meth:") == 1
    assert ":returns: None" not in text
    bwp.install(get_waiter=False)
    assert "max_wait" not in page(boto3.client("s3").get_waiter("bucket_exists").wait)
