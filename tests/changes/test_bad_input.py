"""Bad input is refused before the first request, and the argument named."""

import io

import boto3
import pytest
from case_tables import tabled


@pytest.fixture
def refused(call_once, ec2, answers):
    """`refused(error, match, method, **keywords)`: no request is made."""
    service = answers(ec2, AssertionError("a request was made"))

    def refused(error, match, method, *, client=ec2, max_wait=60, **keywords):
        called = getattr(client, method) if isinstance(method, str) else method
        with pytest.raises(error, match=match):
            call_once(called, max_wait=max_wait, **keywords)
        assert service.requests == []

    return refused


@pytest.mark.parametrize("method", ["describe_instances", "get_password_data"])
@pytest.mark.parametrize("allow_repeat", [True, False])
def test_operations_that_only_read(refused, method, allow_repeat):
    refused(ValueError, f"{method} only reads", method, allow_repeat=allow_repeat)


def test_operations_without_a_token(refused):
    refused(ValueError, "terminate_instances has no idempotency token", "terminate_instances")


@tabled("token", "error")
def test_tokens_that_do_not_fit_the_model(refused, stock_botocore, token, error):
    client = boto3.client("fsx")
    refused(
        ValueError,
        f"ClientRequestToken .*{error}",
        "create_snapshot",
        client=client,
        ClientRequestToken=token,
        Name="s",
        VolumeId="fsvol-1",
    )


def test_waiters_that_are_no_effect(refused, image):
    refused(
        ValueError,
        "another waiter needs a function",
        "run_instances",
        then_wait="VpcAvailable",
        **image,
    )


def test_parameters_that_the_call_does_not_give(refused, stock_botocore):
    client = boto3.client("ecs")
    refused(
        ValueError,
        "TaskSetsSteady needs the parameter cluster",
        "create_task_set",
        client=client,
        then_wait=True,
        service="s",
        taskDefinition="d",
    )


@pytest.mark.parametrize(
    ("keywords", "error", "match"),
    [
        ({"max_wait": None}, TypeError, "call_once needs max_wait"),
        ({"max_wait": float("inf")}, ValueError, "max_wait"),
        ({"allow_repeat": 1}, TypeError, "allow_repeat"),
        ({"adopt_existing": "yes"}, TypeError, "adopt_existing"),
        ({"then_wai": "X"}, TypeError, "did you mean 'then_wait'"),
        ({"then_wait": 7}, TypeError, "name of an effect"),
        ({"then_wait": ("InstanceRunning", 7)}, TypeError, "function of the response"),
        ({"UserData": io.BytesIO()}, TypeError, "UserData is a stream"),
    ],
)
def test_options(refused, image, keywords, error, match):
    refused(error, match, "run_instances", **image, **keywords)


@pytest.mark.parametrize("method", [print, None, "run_instances".upper, object().__repr__])
def test_what_is_no_method_of_a_client(refused, method):
    refused(TypeError, "takes a method of a client", method)
