"""`boto-wait SERVICE WAITER` with wrong arguments: one line on stderr, and the exit code."""

import io
import sys

import pytest
from botocore.exceptions import NoRegionError

VERSIONING = "s3 get-bucket-versioning --bucket b --max-wait 9"


@pytest.mark.parametrize(("words", "message"), [
    ("s33 bucket-exists", "'s33'; did you mean 's3'?"), ("lst", "'list'"),
    ("s3 bucket-exist", "'bucket-exists'"),
    ("s3 bucket-exists --bukket b --max-wait 9", "--bukket; did you mean"),
    ("s3 bucket-exists --parameter b --max-wait 9", "--parameter\n"),
    ("s3 bucket-exists --\x1b[31m b --max-wait 9", "--\\x1b[31m"),
    ("s3 bucket-exists b --max-wait 9", "'b'"), ("--bucket b s3 bucket-exists", "before --bucket"),
    ("s3 bucket-exists --bucket b", "--max-wait"),
    ("s3 bucket-exists --max-wait 9", "HeadBucket needs --bucket"),
    ("s3 bucket-exists --max-wait soon", "--max-wait: 'soon'"),
    ("s3 bucket-exists --bucket b --max-wait 9 --min-delay 3 --max-delay 2", "--min-delay (3.0)"),
    ("s3 bucket-exists --bucket b --max-wait 9 --min-delay 0", "--min-delay must be"),
    ("s3 bucket-exists --bucket b --max-wait 9 --max-attempts 0", "--max-attempts must be"),
    ("s3 bucket-exists --bucket b --max-wait 9 --success-for 9", "less than --max-wait (9 s)"),
    ("s3 bucket-exists --max-wait 9 --each buckt a", "'buckt'; did"),
    ("s3 bucket-exists --max-wait 9 --each bucket", "--each bucket"),
    ("s3 bucket-exists --max-wait 9 - --each bucket a", "--each and --stdin"),
    ("s3 bucket-exists --definitions /nonexistent", "/nonexistent"),
    ("s3 bucket-exists --max-wait 9 --bucket b --endpoint-url x", "Invalid endpoint: x"),
    ("s3 get-bucket-versioning --bucket b", "get-bucket-versioning is an operation"),
    ("s3 bucket-exists --until Enabled --bucket b --max-wait 9", "such as head-bucket"),
    ("s3 bucket-exists --failure X --bucket b --max-wait 9", "such as head-bucket"),
    ("s3 get-bucket-versionin --until x", "'get-bucket-versioning'"),
    (f"{VERSIONING} --until enabled", "unknown state 'enabled'"),
    (f"{VERSIONING} --until", "--until is empty"),
    (f"{VERSIONING} --until Enabled --state-path a[", "path 'a['"),
    (f"{VERSIONING} --until Enabled --path Status", "--path"),
    (f"{VERSIONING} --operation x", "get-bucket-versioning is an operation"),
    ("s3 put-bucket-acl --until x --max-wait 9 --bucket b", "PutBucketAcl"),
    ("ecs describe-tasks --tasks a --max-wait 9 --until RUNNING", "--state-path"),
])  # fmt: skip
def test_wrong_arguments_exit_with_2_and_one_line(words, message, command):
    code, out, err = command(words)
    assert (code, out, err.count("\n"), message in err) == (2, "", 1, True)
    assert err.startswith("boto-wait: ")


@pytest.mark.parametrize(
    ("option", "right"),
    [
        *((name, "--max-wait") for name in ("timeout", "wait-timeout")),
        *(
            (name, "--min-delay or --max-delay")
            for name in ("interval", "delay", "poll-interval", "frequency")
        ),
        ("pre-wait", "--initial-delay"),
        *((name, "--max-attempts") for name in ("max-attempt", "maxAttempts")),
    ],
)
def test_another_name_of_an_option_is_answered_with_ours(option, right, command):
    _, _, err = command(f"s3 bucket-exists --{option} 9")
    assert err == f"boto-wait: unknown option --{option}; did you mean {right}?\n"


ERRORS = "s3 bucket-exists --bucket b --max-wait 9 --retry-errors-for"
TABLE = "dynamodb table-exists --max-wait 9 --table-name orders"
RUN = "ec2 run-instances --image-id ami-1 --min-count 1 --max-count 1 --max-wait 9"


@pytest.mark.parametrize(("words", "message"), [
    ("show athna session-idle", "'athena'"), ("show s3 bucket-exist", "'bucket-exists'"),
    ("show sts anything", "'anything'"), ("show s3 get-object-acl", "'get-object-acl'"),
    ("list --tags", "--tag?"), ("run /nonexistent.py", "/nonexistent.py"),
    ("schedule s3 bucket-exists --max-wait 0", "--max-wait"),
    ("schedule s3 bucket-exists --max-wait 9 --min-delay 3 --max-delay 2", "--min-delay"),
    (f"{TABLE} --query outcome --background", "--query"),
    (f"{ERRORS} AccessDenied", "--retry-errors-for"), (f"{ERRORS} =60", "--retry-errors-for"),
    (f"{ERRORS} AccessDenied=soon", "--retry-errors-for"),
    (f"begin {RUN} --instance-market-options SpotOptions=x", "--instance-market-options"),
])  # fmt: skip
def test_wrong_arguments_of_a_command_are_one_line(words, message, command):
    code, out, err = command(words)
    assert (code, out, err.count("\n"), message in err) == (2, "", 1, True)


def test_a_parameter_with_the_name_of_an_option_is_given_as_json(command):
    words = "cloudsearchdomain search --until u --state-path status.rid --max-wait 9 --query a"
    code, _, err = command(words)
    assert (code, "query in --cli-input-json" in err) == (2, True)


@pytest.mark.parametrize("text", ["", '"b"', "{"])
def test_malformed_stdin_is_refused(text, command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    code, _, err = command("s3 bucket-exists --stdin --max-wait 9")
    assert (code, "stdin" in err) == (2, True)


MISSPELT = "no HeadBucket parameter {!r}; did you mean 'Bucket'?"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"Buket": "b"}', MISSPELT.format("Buket")),
        ('{"bucket": "b"}', MISSPELT.format("bucket")),
        ('{"Bucket": "b", "Buckett\\n": "b"}', MISSPELT.format("Buckett\n")),
        ("{}", "HeadBucket needs --bucket"),
        ('{"Bucket": ["b"]}', "Invalid type for parameter Bucket"),
        ('{"Bucket": "b"', "not JSON: "),
        ('["b"]', "must be a JSON object"),
    ],
)
def test_a_wrong_line_of_stdin_is_named(command, monkeypatch, called, line, message):
    asked = []
    called(lambda *call: asked.append(call) or {})
    monkeypatch.setattr(sys, "stdin", io.StringIO(f'{{"Bucket": "b"}}\n\n{line}\n'))
    code, out, err = command("s3 bucket-exists --stdin --max-wait 9")
    assert (code, out, err.count("\n"), asked) == (2, "", 1, [])
    assert err.startswith("boto-wait: line 3 of stdin")
    assert message in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("max-results 5 x", "value 2 of --each max-results must be a number, not 'x'"),
        ('filters Name=a \'{"Nme": "a"}\'', "value 2 of --each filters: Unknown parameter in F"),
        ("filters Name=a x", "value 2 of --each filters must be Key=value"),
        ("filtres Name=a", "no DescribeInstances parameter 'filtres'; did you mean 'filters'?"),
    ],
)
def test_a_wrong_value_of_each_is_named(command, words, message):
    code, out, err = command(f"ec2 instance-running --max-wait 9 --each {words}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"boto-wait: {message}")


@pytest.mark.parametrize(
    "words", ["sqs --help", "sqs queue-ready", "sqs get-queue-url --until X", "list sqs"]
)
def test_a_malformed_file_on_the_search_path_is_named(words, on_search_path, command):
    on_search_path("{")
    code, _, err = command(words)
    assert (code, "sqs/2012-11-05/smithy-waiters-1.json" in err) == (2, True)


@pytest.mark.parametrize(
    ("missing", "words", "message"),
    [
        (["AWS_DEFAULT_REGION"], "ec2 instance-running", "region"),
        ([], "s3 bucket-exists --bucket b --profile x", "profile (x)"),
        (
            ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
            "s3 bucket-exists --bucket b --quiet",
            "credentials",
        ),
    ],
)
def test_missing_configuration_exits_with_253(missing, words, message, command, monkeypatch):
    for name in missing:
        monkeypatch.delenv(name)
    code, out, err = command(f"{words} --max-wait 9")
    assert (code, out, err.count("\n")) == (253, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("", {"region_name": None, "endpoint_url": None, "verify": None}),
        ("--region eu-west-1", {"region_name": "eu-west-1"}),
        ("--endpoint-url http://x --no-verify-ssl", {"endpoint_url": "http://x", "verify": False}),
        ("--ca-bundle /x.pem", {"verify": "/x.pem"}),
        ("--ca-bundle /x.pem --no-verify-ssl", {"verify": False}),
    ],
)
def test_connection_options_reach_the_client(words, given, command, monkeypatch):
    asked = {}

    def create_client(_, service, **keywords):
        asked.update(keywords, service=service)
        raise NoRegionError

    monkeypatch.setattr("botocore.session.Session.create_client", create_client)
    assert command(f"s3 bucket-exists --bucket b --max-wait 9 {words}")[0] == 253
    assert {"service": "s3", **given}.items() <= asked.items()


@pytest.mark.parametrize(("text", "said"), [
    ("90", "1m30s"), ("1.5", "1.5 s"), ("45m", "45m00s"), ("1h30m", "1h30m"), ("1d2h3m", "26h03m"),
])  # fmt: skip
def test_durations(text, said, command):
    _, out, _ = command(
        f"schedule s3 bucket-exists --min-delay 1h --max-delay 9h --max-wait {text}"
    )
    assert out.startswith(f"s3 bucket-exists, {said}\n")


@pytest.mark.parametrize("text", ["", " ", "m", "30m1h", "-5", "inf", "1e3", "5 min"])
def test_other_durations_are_refused(text, command):
    code, _, err = command("s3 bucket-exists", f"--max-wait={text}")
    assert (code, "argument --max-wait" in err) == (2, True)


@pytest.mark.filterwarnings("always:the model of")
def test_a_state_that_no_model_lists_is_warned_of(command):
    words = "forecast describe-dataset-group --dataset-group-arn a --until CREATE.FAILED"
    code, _, err = command(words)
    warning, error = err.splitlines()
    assert (code, "--max-wait" in error) == (2, True)
    assert warning.startswith("boto-wait: warning: the model of DescribeDatasetGroup")
