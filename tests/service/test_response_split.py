"""Splitting a response into shares, and what an error of a shared call may be about."""

import copy
import json
import pickle

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from case_tables import tabled

from boto_waiters_plus.batch.shared_call import may_be_about_one
from boto_waiters_plus.definitions.coalescing_trait import Coalescing, Items
from boto_waiters_plus.service.response_split import ById, asked_ids, coalescing_of, shares_of

INSTANCES = Coalescing(
    ids=("InstanceIds",),
    items=(Items(path=("Reservations", "Instances"), id=("InstanceId",)),),
    limit=100,
    token="NextToken",
)
SERVICES = Coalescing(
    ids=("services",),
    items=(
        Items(path=("services",), id=("serviceArn", "serviceName")),
        Items(path=("failures",), id=("arn",)),
    ),
    limit=10,
    token=None,
)
BUILDS = Coalescing(
    ids=("ids",),
    items=(Items(path=("builds",), id=("id", "arn")), Items(path=("buildsNotFound",), id=())),
    limit=100,
    token=None,
)
ARN = "arn:aws:ecs:eu-west-1:123456789012:service/cluster/"


def instance(name, **members):
    return {"InstanceId": name, "State": {"Name": "running"}, **members}


def reservation(*names, owner="me"):
    return {
        "ReservationId": f"r-{names[0]}",
        "Groups": [{"GroupId": "sg"}],
        "Instances": [instance(name) for name in names],
        "OwnerId": owner,
    }


def service(name):
    return {"serviceName": name, "serviceArn": ARN + name, "status": "ACTIVE"}


def ids_in(share):
    return [[each["InstanceId"] for each in one["Instances"]] for one in share["Reservations"]]


# --- shares -----------------------------------------------------------------------------------


def test_each_share_has_its_items_in_their_place():
    answer = {
        "Reservations": [reservation("a", "b", "c"), reservation("d"), reservation("e", "f")],
        "ResponseMetadata": {"RequestId": "1"},
    }
    whole = copy.deepcopy(answer)
    shares = shares_of(answer, [["b"], ["f", "a"], ["e", "d"], ["c"]], INSTANCES)
    assert [ids_in(share) for share in shares[:3]] == [[["b"]], [["a"], ["f"]], [["d"], ["e"]]]
    assert shares[0] == {
        "Reservations": [
            {**whole["Reservations"][0], "Instances": [whole["Reservations"][0]["Instances"][1]]}
        ],
        "ResponseMetadata": {"RequestId": "1"},
    }
    assert list(shares[0]["Reservations"][0]) == list(whole["Reservations"][0])


def test_omitted_identifiers_get_an_empty_share():
    answer = {"Reservations": [reservation("a")], "ResponseMetadata": {}}
    shares = shares_of(answer, [["a"], ["unknown"]], INSTANCES)
    assert shares[1] == {"Reservations": [], "ResponseMetadata": {}}


def test_changing_one_share_changes_no_other():
    answer = {
        "Reservations": [reservation("a", "b")],
        "ResponseMetadata": {"HTTPHeaders": {"x": "y"}},
    }
    asked = [["a"], ["b"], ["a", "b"]]
    shares = shares_of(answer, asked, INSTANCES)
    before = copy.deepcopy(shares[1:])

    def spoil(value):
        if isinstance(value, dict):
            for each in value.values():
                spoil(each)
            value.clear()
        elif isinstance(value, list):
            for each in value:
                spoil(each)
            value.clear()

    spoil(shares[0])
    assert shares[1:] == before


@tabled("answer")
def test_response_that_cannot_be_split_has_no_shares(answer):
    assert shares_of(answer, [["a"], ["b"]], INSTANCES) is None


@pytest.mark.parametrize("token", [None, ""])
def test_empty_token_means_no_next_page(token):
    answer = {"Reservations": [reservation("a")], "NextToken": token}
    found, missing = shares_of(answer, [["a"], ["b"]], INSTANCES)
    assert found["Reservations"] == [reservation("a")]
    assert missing["Reservations"] == []


def test_names_arns_and_failures_find_their_shares():
    answer = {
        "services": [service("web"), service("api"), service("web-2")],
        "failures": [{"arn": ARN + "gone", "reason": "MISSING"}],
    }
    asked = [["web"], [ARN + "api"], ["gone"], ["arn:aws:ecs:eu-west-1:123456789012:service/web-2"]]
    shares = shares_of(answer, asked, SERVICES)
    names = [[each["serviceName"] for each in share["services"]] for share in shares]
    assert names == [["web"], ["api"], [], ["web-2"]]
    assert [len(share["failures"]) for share in shares] == [0, 0, 1, 0]


def test_only_an_arn_matches_by_its_end():
    answer = {"builds": [{"id": "project:1"}]}
    assert shares_of(answer, [["1"], ["x"]], BUILDS) is None
    assert shares_of({"builds": [{"id": "1"}]}, [["project:1"]], BUILDS) is None


def test_items_may_be_the_identifiers_themselves():
    answer = {"builds": [{"id": "p:1"}], "buildsNotFound": ["p:2", "p:3"]}
    shares = shares_of(answer, [["p:1", "p:3"], ["p:2"]], BUILDS)
    assert shares == [
        {"builds": [{"id": "p:1"}], "buildsNotFound": ["p:3"]},
        {"builds": [], "buildsNotFound": ["p:2"]},
    ]


# --- identifiers--------------------------------------------------------------------------------


@tabled("parameters", "expected")
def test_only_a_list_of_distinct_strings_is_shared(parameters, expected):
    assert asked_ids(INSTANCES, parameters) == (expected and tuple(expected))


def test_ids_in_two_parameters_are_not_shared():
    operation = boto3.client("elbv2", region_name="eu-west-1").meta.service_model.operation_model(
        "DescribeLoadBalancers"
    )
    coalescing = coalescing_of(operation)
    assert asked_ids(coalescing, {"Names": ["a"]}) == ("Names", ["a"])
    assert asked_ids(coalescing, {"Names": ["a"], "LoadBalancerArns": ["b"]}) is None


def client_error(code, status):
    response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "DescribeInstances")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (client_error("InvalidInstanceID.NotFound", 400), True),
        (client_error("InvalidInstanceID.Malformed", 400), True),
        (client_error("ClusterNotFoundFault", 404), True),
        # A policy may deny one of them.
        (client_error("AccessDeniedException", 400), True),
        (client_error("UnauthorizedOperation", 403), True),
        (client_error("InvalidVolume.NotFound", None), True),
        (client_error("RequestLimitExceeded", 503), False),
        (client_error("ThrottlingException", 400), False),
        (client_error("TooManyRequestsException", 429), False),
        (client_error("InternalError", 500), False),
        (client_error("ServiceUnavailable", 503), False),
        (client_error("ExpiredToken", 403), False),
        (client_error("ExpiredTokenException", 400), False),
        (client_error("AuthFailure", 401), False),
        (client_error("SignatureDoesNotMatch", 403), False),
        (EndpointConnectionError(endpoint_url="https://ec2"), False),
        (ValueError(), False),
    ],
)
def test_errors_about_one_identifier_are_told_by_kind(error, expected):
    assert may_be_about_one(error) is expected


# --- by identifier ----------------------------------------------------------------------------


@pytest.fixture
def coalescing():
    model = boto3.client("ec2").meta.service_model.operation_model("DescribeInstances")
    return coalescing_of(model)


def no_acceptor(share, parameters):
    return None


def test_items_are_found_by_identifier_in_order(coalescing):
    response = {"Reservations": [reservation("a", "b"), reservation("c")]}
    found = ById(coalescing, {"InstanceIds": ["c", "unknown", "a"]}, response, no_acceptor)
    assert list(found) == ["c", "a"]
    assert found["c"] == instance("c")
    assert len(found) == 2
    assert "unknown" not in found
    assert found == {"a": instance("a"), "c": instance("c")}


def test_items_are_pickled_but_not_in_the_repr(coalescing):
    response = {"Reservations": [reservation("i-secret")]}
    found = ById(coalescing, {"InstanceIds": ["i-secret"]}, response, no_acceptor)
    assert pickle.loads(pickle.dumps(found)) == {"i-secret": instance("i-secret")}
    assert copy.deepcopy(found) == {"i-secret": instance("i-secret")}
    assert "secret" not in repr(found)
    assert json.dumps(dict(found))


@tabled("parameters", "response")
def test_unknown_operations_have_no_items(coalescing, parameters, response):
    assert dict(ById(coalescing, parameters, response, no_acceptor)) == {}
