"""Bad input is refused before the first request, and the argument named."""

import io

import boto3
import pytest

RUN = {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1}
TASK_SET = {"service": "s", "taskDefinition": "d"}
SNAPSHOT = {"Name": "s", "VolumeId": "fsvol-1"}


@pytest.mark.parametrize(
    ("service", "method", "parameters", "options", "error", "match"),
    [
        ("ec2", "describe_instances", {}, {}, ValueError, "only reads"),
        ("ec2", "get_password_data", {}, {"allow_repeat": True}, ValueError, "only reads"),
        ("ec2", "terminate_instances", {}, {}, ValueError, "allow_repeat"),
        ("ec2", "run_instances", RUN, {"then_wait": "VpcReady"}, ValueError, "ec2 .* 'VpcReady'"),
        ("ecs", "create_task_set", TASK_SET, {"then_wait": True}, ValueError, "parameter cluster"),
        ("ec2", "run_instances", RUN, {"then_wai": "X"}, TypeError, "'then_wait'"),
        ("ec2", "run_instances", RUN, {"delay": 7}, TypeError, "min_delay"),
        ("ec2", "run_instances", RUN, {"then_wait": ("X", 7)}, TypeError, "function"),
        ("ec2", "run_instances", {**RUN, "UserData": io.BytesIO()}, {}, TypeError, "UserData"),
        *(
            ("fsx", "create_snapshot", {**SNAPSHOT, "ClientRequestToken": token}, {}, ValueError, m)
            for token, m in [
                ("", "ClientRequestToken .* not 0"),
                ("x" * 65, "ClientRequestToken .* not 65"),
                ("a b", "ClientRequestToken must match"),
                (7, "ClientRequestToken .* not int"),
            ]
        ),
    ],
)
def test_arguments_are_refused(
    call_once, stock_botocore, answers, service, method, parameters, options, error, match
):
    client = boto3.client(service)
    made = answers(client, AssertionError("a request was made"))
    with pytest.raises(error, match=match):
        call_once(getattr(client, method), **{"max_wait": 60, **options}, **parameters)
    assert made.requests == []


@pytest.mark.parametrize("method", [print, None, "run_instances".upper, object().__repr__])
def test_what_is_no_method_of_a_client_is_refused(call_once, method):
    with pytest.raises(TypeError, match="method"):
        call_once(method, max_wait=60)


def test_a_parameter_may_have_the_name_of_an_option(call_once, answers):
    client = boto3.client("batch")
    made = answers(client, {})
    job = {"jobName": "j", "jobQueue": "q", "jobDefinition": "d"}
    timeout = {"attemptDurationSeconds": 60}
    call_once(client.submit_job, max_wait=9, allow_repeat=True, timeout=timeout, **job)
    assert len(made.requests) == 1
