"""Bad input of `wait_until_*` and `wait_until`: refused before the first request.

What is refused of options is in tests/test_options.py and tests/wait/test_precedence.py.
"""

import json
from itertools import product

import boto3
import pytest
from botocore.exceptions import ParamValidationError

import boto_waiters_plus as bwp


@pytest.mark.parametrize(("parameters", "text"), [
    ({}, 'Missing required parameter in input: "Bucket"'),
    ({"Bucket": "b", "Timeout": 3}, 'Unknown parameter in input: "Timeout"'),
    ({"Bucket": "b", "ExpectedBucketOwner": 3}, "Invalid type for parameter"),
])  # fmt: skip
def test_operation_parameters_are_botocores_to_refuse(s3, answers, parameters, text):
    requests = answers(s3, {}).requests
    with pytest.raises(ParamValidationError, match=text) as caught:
        s3.wait_until_bucket_exists(max_wait=30, **parameters)
    assert caught.value.__cause__ is None
    assert requests == []


@pytest.mark.parametrize(("given", "words"), [
    ({"timeout": 9}, "max_wait"), ({"max_wiat": 9}, "'max_wait'"),
    ({"delay": 9, "Nope": 1}, "min_delay and max_delay .*delay$"),
])  # fmt: skip
def test_get_waiter_adds_the_right_name_to_botocores_words(given, words):
    bwp.install()
    waiter = boto3.client("s3").get_waiter("bucket_exists")
    with pytest.raises(ParamValidationError, match=words) as caught:
        waiter.wait(Bucket="b", **given)
    assert str(caught.value).startswith(str(ParamValidationError(**caught.value.kwargs)))


# --- parameters ---------------------------------------------------------------------------------


def test_idempotency_token_is_filled_once_a_wait(answers, waitable, virtual_time):
    """botocore would fill a fresh one into every poll and so make each a request of its own."""
    bwp.install()
    client = boto3.client("dynamodb")
    never = {"state": "success", "matcher": {"errorType": "Never"}}
    bwp.enable(client, definitions=waitable("Written", "TransactWriteItems", never))
    asked = answers(client, {})
    items = [{"Put": {"TableName": "orders", "Item": {"id": {"S": "1"}}}}]

    def tokens(**keywords):
        asked.requests.clear()
        with pytest.raises(bwp.WaiterAttemptsError):
            client.wait_until_written(TransactItems=items, max_wait=600, max_attempts=3, **keywords)
        return [json.loads(request["body"])["ClientRequestToken"] for request in asked.requests]

    first, second = tokens(), tokens()
    assert len(first) == len(second) == 3
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]
    assert tokens(ClientRequestToken="mine") == ["mine"] * 3


# --- a definition in place of the name ------------------------------------------------------------


def test_a_definition_of_another_service_or_operation_is_refused(definition):
    (ready,) = bwp.load_definitions(definition("StreamReady"))
    with pytest.raises(bwp.WaiterDefinitionError, match="s3"):
        bwp.wait_until(boto3.client("s3"), ready, max_wait=60)
    (ready,) = bwp.load_definitions(definition("StreamReady", operation="DescribeStreams"))
    with pytest.raises(bwp.WaiterDefinitionError, match=r"StreamReady.*DescribeStreams"):
        bwp.wait_until(boto3.client("kinesis"), ready, max_wait=60)


# --- names that no waiter has --------------------------------------------------------------------

WAYS = {
    "wait_until": lambda client, name: bwp.wait_until(client, name, max_wait=9),
    "Wait": lambda client, name: bwp.Wait(client, name, {}, max_wait=9),
    "attribute": lambda client, name: getattr(client, f"wait_until_{name}"),
    "get_waiter": lambda client, name: client.get_waiter(name),
}
NEAR = {
    "crawler_complete": ["crawler_succeeded", "crawler_ready"],
    "crawlerready": ["crawler_ready"],
    "nothing_alike": [],
}
NEAR_CLASS_NAMES = {"CrawlerRead": ["CrawlerReady"], "Crawler_Ready": ["CrawlerReady"]}


@pytest.mark.parametrize(
    ("way", "name"), [*product(WAYS, NEAR), *product(["wait_until", "Wait"], NEAR_CLASS_NAMES)]
)
def test_every_way_suggests_the_nearest_names(way, name):
    bwp.install()
    with pytest.raises((ValueError, AttributeError), match=r"(?i)glue") as raised:
        WAYS[way](boto3.client("glue"), name)
    prefix = "wait_until_" if way == "attribute" else ""
    near = (NEAR | NEAR_CLASS_NAMES)[name]
    assert all(f"'{prefix}{each}'" in str(raised.value) for each in near)
