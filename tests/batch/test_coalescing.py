"""Waits of one kind on one client share calls, and each has its own share of the response."""

import collections

import pytest
from batch.calls import parsed
from botocore.exceptions import ParamValidationError

import boto_waiters_plus as bwp
from boto_waiters_plus import Wait, wait_all


@pytest.fixture
def ec2(client_of):
    return client_of("ec2")


@pytest.fixture
def instances(ec2):
    """`instances(3)`: the identifiers of new ones, which run."""

    def make(count):
        made = ec2.run_instances(ImageId="ami-12345678", MinCount=count, MaxCount=count)
        return [instance["InstanceId"] for instance in made["Instances"]]

    return make


def running(ec2, *ids, max_wait=600, **options):
    return Wait(ec2, "InstanceRunning", {"InstanceIds": list(ids)}, max_wait=max_wait, **options)


def waits_by(client, waiter, member, ids):
    return [Wait(client, waiter, {member: [each]}, max_wait=600) for each in ids]


def ids_of(response):
    return [each["InstanceId"] for one in response["Reservations"] for each in one["Instances"]]


def asked_for(params, member):
    body = params["body"].items()
    return [value for name, value in body if name.startswith(f"{member}.")]


def calls_of(client):
    """Return a list of the identifiers of each call to come."""
    calls = []

    def note(params, **_):
        calls.append(asked_for(params, "InstanceId"))

    client.meta.events.register("before-call.ec2.DescribeInstances", note)
    return calls


def answer_instead(client, answer, member="InstanceId"):
    """Answer calls by hand: `answer(ids)` gives a parsed response with its status, or None."""

    def hand(params, **_):
        found = answer(asked_for(params, member))
        return found and parsed(found, found.pop("status", 200))

    client.meta.events.register("before-call", hand)


def client_error(code, status=400):
    return {"Error": {"Code": code, "Message": "No."}, "status": status}


def answer_states(client, state_of, unknown=()):
    """Answer calls by the state of each identifier; an unknown one is an error of the call."""

    def answer(ids):
        if {*ids} & {*unknown}:
            return client_error("InvalidInstanceID.NotFound")
        found = [{"InstanceId": each, "State": {"Name": state_of(each)}} for each in ids]
        return {"Reservations": [{"Instances": found}]}

    answer_instead(client, answer)


def names(count):
    return [f"i-{number:017x}" for number in range(count)]


# --- hundreds -----------------------------------------------------------------------------------


def test_hundreds_of_instances_take_a_few_calls_a_round(ec2, virtual_time):
    ids = names(200)
    late, gone, unknown = {*ids[100:140]}, {*ids[50:60]}, {ids[0], ids[37]}

    def state_of(each):
        if each in gone:
            return "terminated"
        return "pending" if each in late and virtual_time.now < 20 else "running"

    calls, rounds = calls_of(ec2), collections.Counter()
    ec2.meta.events.register("before-call", lambda **_: rounds.update([virtual_time.now]))
    answer_states(ec2, state_of, unknown)
    results = wait_all([running(ec2, each) for each in ids], on_failure="collect")
    for each, result in zip(ids, results, strict=True):
        if each in unknown:  # which the waiter takes as "not yet"
            assert isinstance(result, bwp.WaiterTimeoutError)
            assert result.last_response["Error"]["Code"] == "InvalidInstanceID.NotFound"
        elif each in gone:
            assert isinstance(result, bwp.WaiterFailedError)
            assert ids_of(result.last_response) == [each]
            assert (result.attempts, result.observed) == (1, ["terminated"])
        else:
            assert isinstance(result, bwp.ResponseOutcome)
            assert ids_of(result.response) == [each]
            assert (result.elapsed >= 20) == (each in late)
    assert sum(getattr(result, "coalesced", False) for result in results) > 180
    first, *others = rounds.values()
    # Each unknown identifier takes two calls in each of seven halvings.
    assert first <= 2 + 2 * 7 * len(unknown)
    # Unknown identifiers are asked for alone from then on.
    assert max(others) <= 2 + len(unknown)
    assert all(len(ids) <= 100 for ids in calls)


# --- which waits share calls --------------------------------------------------------------------


def test_coalescing_can_be_turned_off(ec2, instances, virtual_time):
    ids, calls = instances(3), calls_of(ec2)
    outcomes = wait_all([running(ec2, each) for each in ids], coalesce=False)
    assert sorted(calls) == sorted([each] for each in ids)
    assert not any(outcome.coalesced for outcome in outcomes)


def test_waits_for_several_ids_share_calls(ec2, instances, virtual_time):
    ids, calls = instances(5), calls_of(ec2)
    asked = [ids[:2], ids[1:4], ids[4:]]
    outcomes = wait_all([running(ec2, *each) for each in asked])
    assert calls == [ids]
    assert [sorted(ids_of(each.response)) for each in outcomes] == [sorted(e) for e in asked]
    assert [list(each.by_id) for each in outcomes] == asked


@pytest.mark.parametrize(("one", "other"), [
    ({"Filters": [{"Name": "vpc-id", "Values": ["vpc-1"]}]}, {}),
    ({"DryRun": False}, {}),
    ({"InstanceIds": "i-1"}, {}),
    ({"min_delay": 5}, {}),
    ({"delay_pace": lambda _: 20}, {}),
    ({"delay_pace": "fixed"}, {}),
    ({"call_in_thread": True}, {"call_in_thread": True}),
])  # fmt: skip
def test_different_requests_or_delays_share_no_calls(ec2, instances, virtual_time, one, other):
    ids, calls = instances(2), calls_of(ec2)
    waits = []
    for each, changes in zip(ids, (one, other), strict=True):
        parameters = {name: changes[name] for name in changes if "_" not in name}
        options = {name: changes[name] for name in changes if "_" in name}
        asked = {"InstanceIds": [each], **parameters}
        waits.append(Wait(ec2, "InstanceRunning", asked, max_wait=60, **options))
    wait_all(waits, on_failure="collect")
    assert ids not in calls
    assert [ids[1]] in calls


def test_bounds_of_waits_that_share_may_differ(ec2, instances, virtual_time):
    ids, calls = instances(4), calls_of(ec2)
    bounds = [{"max_wait": 20}, {"max_attempts": 3}, {"missing_ok_for": 30}, {"success_for": 0}]
    bounds[1]["retry_errors_for"] = {"UnauthorizedOperation": 30}
    wait_all([running(ec2, each, **options) for each, options in zip(ids, bounds, strict=True)])
    assert calls == [ids]


def test_different_waiters_or_clients_share_no_calls(client_of, ec2, instances, virtual_time):
    ids, other = instances(2), client_of("ec2")
    calls, of_other = calls_of(ec2), calls_of(other)
    ec2.terminate_instances(InstanceIds=ids)
    asked = [(ec2, "InstanceTerminated"), (ec2, "InstanceRunning"), (other, "InstanceTerminated")]
    waits = [each for pair in asked for each in waits_by(*pair, "InstanceIds", ids)]
    results = wait_all(waits, on_failure="collect")
    assert (calls, of_other) == ([ids, ids], [ids])
    ended, failed = bwp.ResponseOutcome, bwp.WaiterFailedError
    assert [type(each) for each in results[::2]] == [ended, failed, ended]


def test_equal_values_of_different_types_are_not_shared(ec2, instances, virtual_time):
    waits = [
        Wait(ec2, "InstanceRunning", {"InstanceIds": [each], "DryRun": flag}, max_wait=60)
        for each, flag in zip(instances(2), (False, 0), strict=True)
    ]
    outcome, refused = wait_all(waits, on_failure="collect")
    assert isinstance(refused, ParamValidationError)
    assert isinstance(outcome, bwp.ResponseOutcome)


def test_names_and_ids_share_no_calls(ec2, virtual_time):
    ids = [ec2.create_security_group(GroupName=name, Description="d")["GroupId"] for name in "abcd"]
    asked = [{"GroupNames": ["a"]}, {"GroupIds": ids[1:2]}]
    asked += [{"GroupNames": ["c"]}, {"GroupIds": ids[3:]}]
    calls = []
    ec2.meta.events.register("before-call.ec2", lambda params, **_: calls.append(params))
    outcomes = wait_all([Wait(ec2, "SecurityGroupExists", each, max_wait=60) for each in asked])
    found = [[one["GroupId"] for one in each.response["SecurityGroups"]] for each in outcomes]
    assert found == [[each] for each in ids]
    assert len(calls) == 2


def test_wait_above_the_id_limit_is_sent_whole(ec2, virtual_time):
    few, many, calls = names(2), names(101), calls_of(ec2)
    answer_states(ec2, lambda _: "running")
    wait_all([running(ec2, *many), *(running(ec2, each) for each in few)])
    assert sorted(calls, key=len) == [few, many]


# --- other waiters ------------------------------------------------------------------------------


def test_error_of_a_shared_call_may_be_success(client_of, virtual_time):
    elb = client_of("elbv2")

    def answer(asked):
        if virtual_time.now >= 30 or asked != ["there"]:
            return client_error("LoadBalancerNotFound")
        return {"LoadBalancers": [{"LoadBalancerName": "there"}]}

    answer_instead(elb, answer, "Names.member")
    waits = waits_by(elb, "LoadBalancersDeleted", "Names", ["there", "never"])
    there, never = wait_all(waits)
    assert {type(there), type(never)} == {bwp.ExceptionOutcome}
    assert there.elapsed >= 30
    assert (never.elapsed, never.coalesced) == (0, False)


def test_omission_in_a_response_may_be_success(client_of, virtual_time):
    scaling = client_of("autoscaling")

    def answer(asked):
        there = [] if virtual_time.now >= 20 else [name for name in asked if name != "never"]
        return {"AutoScalingGroups": [{"AutoScalingGroupName": name} for name in there]}

    answer_instead(scaling, answer, "AutoScalingGroupNames.member")
    names = ["one", "never", "two"]
    outcomes = wait_all(waits_by(scaling, "GroupNotExists", "AutoScalingGroupNames", names))
    assert [outcome.response["AutoScalingGroups"] for outcome in outcomes] == [[], [], []]
    assert [outcome.elapsed >= 20 for outcome in outcomes] == [True, False, True]
    # That identifier was asked for once more, alone.
    assert [outcome.coalesced for outcome in outcomes] == [True, False, True]


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "status", "made"), [
    # Access may be denied to one of them.
    ("UnauthorizedOperation", 403, 3),
    ("ExpiredToken", 403, 1),
    ("Throttling", 400, 1),
    ("InternalError", 500, 1),
])  # fmt: skip
def test_errors_about_the_caller_are_not_halved(ec2, virtual_time, code, status, made):
    calls = calls_of(ec2)
    answer_instead(ec2, lambda _: client_error(code, status))
    waits = [running(ec2, each, retry_transient=False) for each in names(2)]
    results = wait_all(waits, on_failure="collect")
    assert len(calls) == made
    assert {(type(each), each.attempts) for each in results} == {(bwp.WaiterFailedError, 1)}


def test_a_bad_minute_of_a_shared_call_ends_no_wait(ec2, instances, virtual_time):
    ids, calls = instances(30), calls_of(ec2)
    unavailable = client_error("Unavailable", 503)
    answer_instead(ec2, lambda _: {**unavailable} if len(calls) < 5 else None)
    outcomes = wait_all([running(ec2, each) for each in ids])
    assert all(outcome.attempts >= 5 for outcome in outcomes)
    assert all(len(asked) == 30 for asked in calls[:5])


def test_response_without_identifiers_disbands_the_group(ec2, virtual_time):
    calls = calls_of(ec2)
    state = {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}
    answer_instead(ec2, lambda _: {**state})
    ids = [f"i-{number}" for number in range(4)]
    outcomes = wait_all([running(ec2, each) for each in ids])
    assert calls[0] == ids
    assert sorted(calls[1:]) == [[each] for each in ids]  # alone, in whatever order
    # In the same attempt.
    assert {(each.coalesced, each.attempts, each.elapsed) for each in outcomes} == {(False, 1, 0)}


# --- ends and callbacks -------------------------------------------------------------------------


def test_each_wait_has_its_own_events(ec2, instances, virtual_time):
    ids = instances(3)
    ec2.stop_instances(InstanceIds=ids[:1])
    virtual_time.call_at(10, lambda: ec2.start_instances(InstanceIds=ids[:1]))
    seen, progress = collections.defaultdict(list), []
    wait_all(
        [running(ec2, each, min_delay=15, on_attempt=seen[each].append) for each in ids],
        progress=progress.append,
    )
    states = [[event.state for event in seen[each]] for each in ids]
    assert states == [["stopped", "running"], ["running"], ["running"]]
    assert {each.index for each in progress} == {0, 1, 2}


def test_the_first_of_those_that_share_ends_all(any_of, ec2, instances, virtual_time):
    ids, calls = instances(3), calls_of(ec2)
    ec2.stop_instances(InstanceIds=ids)
    virtual_time.call_at(30, lambda: ec2.start_instances(InstanceIds=ids[1:2]))
    wait, outcome = any_of([running(ec2, each) for each in ids])
    assert wait.parameters["InstanceIds"] == ids_of(outcome.response) == ids[1:2]
    assert all(asked == ids for asked in calls)


# --- by identifier, of a single wait ------------------------------------------------------------


def test_single_wait_has_items_by_id(s3, ec2, instances, virtual_time):
    ids, stock = instances(3), bwp.enable(ec2).get_waiter("instance_running")
    found = bwp.wait_until(ec2, "InstanceRunning", max_wait=60, InstanceIds=ids)
    for outcome in (found, stock.wait(InstanceIds=ids)):
        assert [each["InstanceId"] for each in outcome.by_id.values()] == [*outcome.by_id] == ids
    # Without identifiers there are none.
    assert bwp.wait_until(s3, "BucketExists", max_wait=9, Bucket="first").by_id == {}
    assert bwp.wait_until(ec2, "InstanceRunning", max_wait=9).by_id == {}
