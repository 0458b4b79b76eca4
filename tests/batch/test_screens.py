"""Screened rounds: a sibling's call tells which of many waits are worth a call of their own."""

import asyncio
import collections
import json
import logging
import socket
import threading
import time

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.stub import Stubber
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.many import Wait, as_completed, wait_all, wait_all_async, wait_any
from boto_waiters_plus.signals import Signal
from boto_waiters_plus.testing import virtual_time

SESSION = boto3.session.Session(region_name="us-east-1")
DELAY = 10


class Ok:
    status_code = 200


class Jobs:
    """Training jobs that complete when the clock says, the calls of a client, and the list.

    Args:
        client: answers from here.
        clock: the virtual time.
        ends: when each job completes, in seconds from now.

    Attributes:
        calls: the number of calls, by operation.
        described: the jobs that were described, in order.
    """

    def __init__(self, client, clock, ends):
        self.client, self.clock, self.ends = client, clock, ends
        self.began = clock.now
        self.calls = collections.Counter()
        self.described = []
        self.pages = []
        client.meta.events.register("before-call.sagemaker.*", self.answer)

    def answer(self, model, params, **_):
        self.calls[model.name] += 1
        body = json.loads(params["body"])
        if model.name == "DescribeTrainingJob":
            self.described.append(body["TrainingJobName"])
            found = self.describe(body["TrainingJobName"])
        else:
            self.pages.append(body)
            found = self.list(body)
        return Ok(), {**found, "ResponseMetadata": {"HTTPStatusCode": 200}}

    def state(self, job, ago=0):
        return "Completed" if self.clock.now - self.began - ago >= self.ends[job] else "InProgress"

    def describe(self, job):
        return {"TrainingJobName": job, "TrainingJobStatus": self.state(job)}

    def list(self, body):
        start, jobs = int(body.get("NextToken", 0)), self.listed()
        page = jobs[start : start + body["MaxResults"]]
        more = {"NextToken": str(start + len(page))} if start + len(page) < len(jobs) else {}
        return {"TrainingJobSummaries": page, **more}

    def listed(self):
        """Return the items of the list, in order."""
        return [self.summary(job) for job in self.ends]

    def summary(self, job):
        return {"TrainingJobName": job, "TrainingJobStatus": self.state(job)}


@pytest.fixture
def client():
    return SESSION.client("sagemaker")


def names(count):
    return [f"job-{number:04}" for number in range(count)]


def waits_for(client, jobs, waiter="TrainingJobCompleted", **options):
    options = {"min_delay": DELAY, "max_delay": DELAY, "max_wait": 1000, **options}
    return [Wait(client, waiter, {"TrainingJobName": job}, **options) for job in jobs]


def old_jobs(count):
    """Return items of jobs that no wait is about."""
    return [
        {"TrainingJobName": f"old-{each}", "TrainingJobStatus": "Failed"} for each in range(count)
    ]


def completing(count, *, rounds):
    """Return when each of some jobs completes: evenly over some rounds."""
    return {
        job: (1 + place * rounds // count) * DELAY - 1 for place, job in enumerate(names(count))
    }


def test_only_jobs_that_ended_are_described(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(30, rounds=3))
    outcomes = wait_all(waits_for(client, jobs.ends))
    assert [outcome.attempts for outcome in outcomes] == [2] * 10 + [3] * 10 + [4] * 10
    assert sorted(jobs.described) == sorted(jobs.ends)
    assert jobs.calls["ListTrainingJobs"] == 4
    assert [outcome.elapsed for outcome in outcomes] == [10] * 10 + [20] * 10 + [30] * 10


def test_the_outcome_is_that_of_the_own_call(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(10, rounds=1))
    outcome = wait_all(waits_for(client, jobs.ends))[0]
    assert outcome.response["TrainingJobStatus"] == "Completed"
    assert outcome.response["TrainingJobName"] == "job-0000"
    assert not outcome.coalesced


@pytest.mark.parametrize(
    ("count", "options", "lists"),
    [(9, {}, 0), (10, {}, 2), (10, {"screen": False}, 0), (10, {"coalesce": False}, 0)],
)
def test_screens_are_on_from_10_waits_by_default(client, virtual_time, count, options, lists):
    jobs = Jobs(client, virtual_time, completing(count, rounds=1))
    wait_all(waits_for(client, jobs.ends), **options)
    assert jobs.calls["ListTrainingJobs"] == lists


def test_each_wait_has_its_own_call_in_the_tenth_round(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 1.0))
    jobs.summary = lambda job: {"TrainingJobName": job, "TrainingJobStatus": "InProgress"}
    outcomes = wait_all(waits_for(client, jobs.ends))
    assert [outcome.attempts for outcome in outcomes] == [10] * 10
    assert jobs.calls == {"ListTrainingJobs": 9, "DescribeTrainingJob": 10}


def test_list_that_misled_a_wait_is_not_believed_again(client, virtual_time):
    jobs = Jobs(client, virtual_time, {**dict.fromkeys(names(20), 115.0), "job-0000": 5.0})
    jobs.summary = lambda job: {"TrainingJobName": job, "TrainingJobStatus": "InProgress"}
    outcomes = wait_all(waits_for(client, jobs.ends))
    assert [outcome.elapsed for outcome in outcomes] == [90] + [120] * 19


def test_last_attempt_is_an_own_call(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 1e6))
    results = wait_all(waits_for(client, jobs.ends, max_wait=45), on_failure="collect")
    # The one before tells how long a call takes.
    assert sorted(jobs.described) == sorted([*jobs.ends, *jobs.ends])
    for job, error in zip(jobs.ends, results, strict=True):
        assert isinstance(error, bwp.WaiterTimeoutError)
        assert error.last_response["TrainingJobName"] == job
        assert error.observed == "InProgress"


def test_jobs_that_the_list_omits_are_described(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(12), 15.0))
    jobs.listed = lambda: [jobs.summary(job) for job in names(12)[:11]]
    outcomes = wait_all(waits_for(client, jobs.ends))
    assert jobs.described[:2] == ["job-0011", "job-0011"]
    assert [outcome.elapsed for outcome in outcomes] == [20] * 12


def test_scan_ends_when_all_are_seen(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(100, rounds=1))
    jobs.listed = lambda: [jobs.summary(job) for job in names(100)] + old_jobs(900)
    wait_all(waits_for(client, jobs.ends))
    assert jobs.calls["ListTrainingJobs"] == 2
    page = {"SortBy": "CreationTime", "SortOrder": "Descending", "MaxResults": 100}
    assert jobs.pages == [page, page]


def test_pages_are_read_while_they_are_worth_it(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(250, rounds=1))
    wait_all(waits_for(client, jobs.ends))
    tokens = [page.get("NextToken") for page in jobs.pages]
    assert tokens == [None, "100", "200"] * 2
    assert jobs.calls["DescribeTrainingJob"] == 250


def test_list_that_saves_nothing_is_given_up(client, virtual_time, caplog):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(20), 300.0))
    jobs.listed = lambda: old_jobs(5000)
    outcomes = wait_all(waits_for(client, jobs.ends))
    assert jobs.calls["ListTrainingJobs"] <= 6
    assert {outcome.elapsed for outcome in outcomes} == {300}
    assert [record for record in caplog.records if "one by one" in record.message] == []


def denied(*_, **__):
    details = {"Code": "AccessDeniedException", "Message": "not authorized"}
    raise ClientError({"Error": details}, "ListTrainingJobs")


def throttled(*_, **__):
    details = {"Code": "ThrottlingException", "Message": "Rate exceeded"}
    raise ClientError({"Error": details, "ResponseMetadata": {"HTTPStatusCode": 400}}, "List")


def gone(*_, **__):
    raise EndpointConnectionError(endpoint_url="https://api.sagemaker.test")


def unparseable(*_, **__):
    return {"TrainingJobSummaries": "<html>"}


def mistaken(*_, **__):
    raise ValueError("a hook of the caller's own")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (denied, "AccessDeniedException"),
        (throttled, "ThrottlingException"),
        (gone, "EndpointConnectionError"),
        (unparseable, "TypeError"),
        (mistaken, "ValueError"),
    ],
)
def test_screen_that_fails_is_dropped_with_one_line(client, virtual_time, caplog, fault, reason):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    jobs = Jobs(client, virtual_time, completing(20, rounds=2))
    jobs.list = fault
    for _ in range(2):
        jobs.began = virtual_time.now
        outcomes = wait_all(waits_for(client, jobs.ends))
        assert [outcome.elapsed for outcome in outcomes] == [10] * 10 + [20] * 10
        assert [outcome.attempts for outcome in outcomes] == [2] * 10 + [3] * 10
    lines = [each.getMessage() for each in caplog.records if "one by one" in each.getMessage()]
    text = "Waits for DescribeTrainingJob are polled one by one: ListTrainingJobs, which tells the "
    text += f"states of many (permission sagemaker:ListTrainingJobs), failed: {reason}"
    assert lines == [text]
    assert jobs.calls["ListTrainingJobs"] == 1


def test_list_that_hangs_is_dropped_in_time(caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        client = SESSION.client("sagemaker", endpoint_url=url)

        def answer(model, **_):
            if model.name == "DescribeTrainingJob":
                return Ok(), {"TrainingJobStatus": "Completed"}
            return None  # the server, which never does

        client.meta.events.register("before-call.sagemaker.*", answer)
        outcomes = wait_all(waits_for(client, names(10), max_wait=4, min_delay=1, max_delay=1))
    assert all(0.9 < outcome.elapsed < 4 for outcome in outcomes)
    assert [each for each in caplog.messages if each.endswith("failed: it took too long")]


def test_hook_that_blocks_the_list_costs_time_only(client, caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    ended = threading.Event()

    def answer(model, **_):
        if model.name == "ListTrainingJobs":
            ended.wait(20)
        return Ok(), {"TrainingJobStatus": "Completed"}

    client.meta.events.register("before-call.sagemaker.*", answer)
    outcomes = wait_all(waits_for(client, names(10), max_wait=8, min_delay=1, max_delay=1))
    ended.set()
    assert all(0.9 < outcome.elapsed < 8 for outcome in outcomes)
    assert [each for each in caplog.messages if each.endswith("failed: it took too long")]


def test_list_that_had_little_time_is_called_again(client, caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    is_described, lists = threading.Event(), []

    def answer(model, params, **_):
        if model.name == "DescribeTrainingJob":
            is_described.set()
            return Ok(), {"TrainingJobStatus": "Completed" if lists[2:] else "InProgress"}
        lists.append(params)
        if len(lists) == 1:
            is_described.wait(20)
        return Ok(), {
            "TrainingJobSummaries": [
                {"TrainingJobName": job, "TrainingJobStatus": "InProgress"} for job in names(11)
            ]
        }

    client.meta.events.register("before-call.sagemaker.*", answer)
    delays = {"min_delay": 0.05, "max_delay": 0.05}
    waits = waits_for(client, names(10), **delays)
    waits += waits_for(client, names(11)[10:], max_wait=1, **delays)
    wait_all(waits, on_failure="collect")
    assert len(lists) > 2
    assert [each for each in caplog.messages if "failed: it took" in each] == []


def test_pages_have_one_time_together(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(1000), 1e6))
    whole = jobs.list

    def listed(body):
        time.sleep(4)
        return whole(body)

    jobs.list = listed
    wait_all(waits_for(client, jobs.ends, max_wait=30), on_failure="collect")
    # A quarter of 30 s: the third would begin after 8 s.
    assert [page.get("NextToken") for page in jobs.pages] == [None, "100", None]


def test_list_is_no_call_of_a_wait(client):
    is_over = threading.Event()

    def answer(model, **_):
        is_over.wait(20)
        return Ok(), {"TrainingJobStatus": "Completed"}

    client.meta.events.register("before-call.sagemaker.*", answer)
    waits = waits_for(client, names(30), max_wait=3, min_delay=0.1, max_delay=0.1)
    results = wait_all(waits, on_failure="collect")
    is_over.set()
    # Ten connections: the others are still queued.
    assert sorted(error.attempts for error in results) == [0] * 20 + [1] * 10


def test_throttled_list_leaves_fewer_calls_in_flight(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 0))
    began = []

    def describe(job):
        began.append(virtual_time.now)
        time.sleep(1)
        return {"TrainingJobName": job, "TrainingJobStatus": "Completed"}

    jobs.list, jobs.describe = throttled, describe
    wait_all(waits_for(client, jobs.ends))
    assert began[1] >= began[0] + 1


ODD_ITEMS = ({}, "text", 5, None, {"TrainingJobName": None, "TrainingJobStatus": "InProgress"})


@st.composite
def lists(draw):
    """Return when jobs end, and how the list of a service is wrong about them."""
    some = names(24)
    return {
        "ends": {job: draw(st.floats(0, 300)) for job in some},
        "finals": {job: draw(st.sampled_from(["Completed", "Failed"])) for job in some},
        "behind": draw(st.sampled_from([0, 60, 1e9])),
        "omitted": draw(st.sets(st.sampled_from(some), max_size=8)),
        "lies": draw(
            st.dictionaries(
                st.sampled_from(some),
                st.sampled_from(["InProgress", "Completed", "Odd", ""]),
                max_size=8,
            )
        ),
        "odd": draw(st.lists(st.sampled_from(ODD_ITEMS), max_size=2)),
        "denied_after": draw(st.none() | st.integers(0, 20)),
        "page": draw(st.sampled_from([5, 100])),
        "success_count": draw(st.integers(1, 3)),
    }


def results_by(case, *, screen):
    """Return how the waits ended, and when."""
    with virtual_time() as clock:
        jobs = Jobs(SESSION.client("sagemaker"), clock, case["ends"])
        is_over = jobs.state

        def state(job, ago=0):
            return case["finals"][job] if is_over(job, ago) == "Completed" else "InProgress"

        def listed(body):
            if case["denied_after"] is not None and len(jobs.pages) > case["denied_after"]:
                return denied(body)
            start = int(body.get("NextToken", 0))
            told = [job for job in jobs.ends if job not in case["omitted"]]
            items = [
                {
                    "TrainingJobName": job,
                    "TrainingJobStatus": case["lies"].get(job, state(job, case["behind"])),
                }
                for job in told[start : start + case["page"]]
            ]
            more = {"NextToken": str(start + len(items))} if told[start + len(items) :] else {}
            return {"TrainingJobSummaries": items + case["odd"], **more}

        jobs.state, jobs.list = state, listed
        waits = waits_for(jobs.client, jobs.ends, success_count=case["success_count"])
        results = wait_all(waits, on_failure="collect", screen=screen)
        return [type(each) for each in results], [each.elapsed for each in results]


# To shrink an example would take minutes.
@given(lists())
@settings(max_examples=20, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_no_list_changes_an_outcome(case):
    alone, screened = results_by(case, screen=False), results_by(case, screen=True)
    assert screened[0] == alone[0]
    late = [b - a for a, b in zip(alone[1], screened[1], strict=True)]
    assert min(late) >= -1e-6
    assert max(late) <= 9 * DELAY + 1


@pytest.mark.parametrize("options", [{"success_count": 3}, {"success_for": 25}])
def test_list_that_is_behind_undoes_no_success(client, virtual_time, options):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 15.0))
    jobs.summary = lambda job: {"TrainingJobName": job, "TrainingJobStatus": "InProgress"}
    outcomes = wait_all(waits_for(client, jobs.ends, **options))
    # From the own call of the tenth round on.
    assert all(110 <= outcome.elapsed <= 115 for outcome in outcomes)


def test_last_of_max_attempts_is_an_own_call(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 15.0))
    jobs.summary = lambda job: {"TrainingJobName": job, "TrainingJobStatus": "InProgress"}
    outcomes = wait_all(waits_for(client, jobs.ends, max_attempts=4))
    assert [outcome.attempts for outcome in outcomes] == [4] * 10


@pytest.mark.timing
def test_last_attempt_has_the_time_that_an_own_call_takes(client, virtual_time):
    began = virtual_time.now

    def answer(model, **_):
        state = "Completed" if virtual_time.now - began > 3.1 else "InProgress"
        if model.name == "DescribeTrainingJob":
            time.sleep(0.4)
            return Ok(), {"TrainingJobStatus": state}
        return Ok(), {
            "TrainingJobSummaries": [
                {"TrainingJobName": job, "TrainingJobStatus": state} for job in names(10)
            ]
        }

    client.meta.events.register("before-call.sagemaker.*", answer)
    outcomes = wait_all(waits_for(client, names(10), min_delay=1, max_delay=1, max_wait=4))
    assert all(outcome.elapsed < 4 for outcome in outcomes)


@pytest.mark.parametrize("page", [1, 2])
def test_signal_between_pages_makes_an_own_call(client, virtual_time, page):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(250), 55.0))
    wake = Signal()
    waits = waits_for(client, names(249))
    waits += waits_for(client, names(250)[249:], wake_signal=wake)
    state, whole = jobs.state, jobs.list
    is_behind = True

    def listed(body):
        nonlocal is_behind
        if len(jobs.pages) == page:
            jobs.ends["job-0249"] = 0
            wake.set()
        is_behind = True
        found = whole(body)
        is_behind = False
        return found

    jobs.state = lambda job: "InProgress" if is_behind and job == "job-0249" else state(job)
    jobs.list = listed
    assert wait_all(waits)[249].elapsed < 1


def test_pages_go_on_whoever_leaves(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(250, rounds=1))
    cancels = [threading.Event() for _ in range(6)]
    waits = waits_for(client, names(244))
    for job, cancel in zip(names(250)[244:], cancels, strict=True):
        waits += waits_for(client, [job], cancel_event=cancel)
    whole = jobs.list

    def listed(body):
        if len(jobs.pages) <= len(cancels):
            cancels[len(jobs.pages) - 1].set()
        return whole(body)

    jobs.list = listed
    results = wait_all(waits, on_failure="collect")
    assert {outcome.elapsed for outcome in results[:244]} == {10}
    assert [page.get("NextToken") for page in jobs.pages] == [None, "100", "200"] * 2


def test_failed_list_is_called_for_no_other_group(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(20, rounds=1))
    jobs.list = denied
    waits = waits_for(client, names(10))
    waits += waits_for(client, names(20)[10:], initial_delay=5, max_delay=11)
    wait_all(waits)
    assert jobs.calls["ListTrainingJobs"] == 1


def test_transient_error_is_no_own_call(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 15.0))
    jobs.summary = lambda job: {"TrainingJobName": job, "TrainingJobStatus": "InProgress"}
    describe = jobs.describe

    def unavailable_once(job):
        if jobs.described.count(job) == 1:
            metadata = {"HTTPStatusCode": 503}
            details = {"Code": "ServiceUnavailable", "Message": "later"}
            raise ClientError({"Error": details, "ResponseMetadata": metadata}, "Describe")
        return describe(job)

    jobs.describe = unavailable_once
    outcomes = wait_all(waits_for(client, jobs.ends))
    assert {outcome.attempts for outcome in outcomes} == {11}


def test_pages_of_others_are_not_read_for_one_that_is_not_listed(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(101), 15.0))
    jobs.listed = lambda: [jobs.summary(job) for job in names(100)] + old_jobs(5000)
    wait_all(waits_for(client, jobs.ends))
    # Two rounds, each with a page of ours and a few more.
    assert jobs.calls["ListTrainingJobs"] <= 12


def test_page_that_fails_spoils_no_other(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(150, rounds=2))
    whole = jobs.list
    jobs.list = lambda body: denied() if "NextToken" in body else whole(body)
    outcomes = wait_all(waits_for(client, jobs.ends))
    assert {outcome.elapsed for outcome in outcomes} == {10, 20}


def test_other_clients_keep_their_screens(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(10, rounds=1))
    jobs.list = denied
    wait_all(waits_for(client, jobs.ends))
    other = SESSION.client("sagemaker")
    jobs = Jobs(other, virtual_time, completing(10, rounds=1))
    wait_all(waits_for(other, jobs.ends))
    assert jobs.calls["ListTrainingJobs"] == 2


def test_stubbed_client_has_no_screens(client, virtual_time):
    with Stubber(client) as stubber:
        for job in names(10):
            response = {"TrainingJobStatus": "Completed"}
            # Members that the model requires are in every answer of the service.
            response |= {
                "TrainingJobName": job,
                "TrainingJobArn": f"arn:aws:sagemaker:us-east-1:1:training-job/{job}",
                "ModelArtifacts": {"S3ModelArtifacts": "s3://m"},
                "SecondaryStatus": "Completed",
                "AlgorithmSpecification": {"TrainingInputMode": "File"},
                "ResourceConfig": {"VolumeSizeInGB": 1},
                "StoppingCondition": {},
                "CreationTime": 0,
            }
            stubber.add_response("describe_training_job", response)
        assert len(wait_all(waits_for(client, names(10)), threads=1)) == 10


def test_unknown_job_fails_as_without_a_screen(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(12, rounds=1))
    jobs.listed = lambda: [jobs.summary(job) for job in names(11)]
    known = jobs.describe

    def describe(job):
        if job == "job-0011":
            details = {"Code": "ValidationException", "Message": "Requested resource not found."}
            raise ClientError({"Error": details}, "DescribeTrainingJob")
        return known(job)

    jobs.describe = describe
    results = wait_all(waits_for(client, jobs.ends), on_failure="collect")
    assert isinstance(results[11], bwp.WaiterFailedError)
    assert results[11].elapsed == 0
    assert [outcome.elapsed for outcome in results[:11]] == [10] * 11


def test_waits_by_arn_are_found(client, virtual_time):
    arn = "arn:aws:sagemaker:us-east-1:1:training-job/{}"
    jobs = Jobs(client, virtual_time, {arn.format(job): 5.0 for job in names(10)})
    jobs.summary = lambda job: {
        "TrainingJobName": job.rpartition("/")[2],
        "TrainingJobArn": job,
        "TrainingJobStatus": jobs.state(job),
    }
    wait_all(waits_for(client, jobs.ends))
    assert jobs.calls == {"ListTrainingJobs": 2, "DescribeTrainingJob": 10}


def test_max_attempts_count_screened_rounds(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 1e6))
    results = wait_all(waits_for(client, jobs.ends, max_attempts=4), on_failure="collect")
    assert {type(result) for result in results} == {bwp.WaiterAttemptsError}
    assert {result.attempts for result in results} == {4}
    assert {result.elapsed for result in results} == {30}


def test_progress_shows_the_state_of_the_list(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 15.0))
    events = []
    wait_all(waits_for(client, jobs.ends, on_attempt=events.append))
    states = [event.state for event in events]
    assert states == ["InProgress"] * 20 + ["Completed"] * 10
    assert [event.attempt for event in events if event.label.endswith("job-0003")] == [1, 2, 3]


def test_signal_makes_an_own_call(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(10), 15.0))
    waits = waits_for(client, names(9))
    wake = Signal()
    waits += waits_for(client, names(10)[9:], wake_signal=wake)
    whole = jobs.list

    def listed(body):
        if len(jobs.pages) == 1:
            wake.set()
        return whole(body)

    jobs.list = listed
    wait_all(waits)
    assert jobs.described[0] == "job-0009"
    assert jobs.described.count("job-0009") == 2
    assert jobs.calls["DescribeTrainingJob"] == 11


def test_cancelled_wait_spoils_no_screen(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(250, rounds=1))
    cancel = threading.Event()
    waits = waits_for(client, names(249))
    waits += waits_for(client, names(250)[249:], cancel_event=cancel)
    whole = jobs.list

    def listed(body):
        cancel.set()
        return whole(body)

    jobs.list = listed
    results = wait_all(waits, on_failure="collect")
    assert isinstance(results[249], bwp.WaiterCancelledError)
    assert {outcome.elapsed for outcome in results[:249]} == {10}


def test_background_waits_are_screened(client, virtual_time):
    jobs = Jobs(client, virtual_time, dict.fromkeys(names(30), 95.0))
    options = {"min_delay": DELAY, "max_delay": DELAY, "max_wait": 1000}
    started = [
        operations.start(client, "TrainingJobCompleted", TrainingJobName=job, **options)
        for job in jobs.ends
    ]
    assert all(each.result(30).response["TrainingJobStatus"] == "Completed" for each in started)
    assert jobs.calls["ListTrainingJobs"] >= 5
    # A wait that begins while there are few has its own calls.
    assert jobs.calls["DescribeTrainingJob"] <= 120


@pytest.mark.parametrize("run", ["as_completed", "wait_any", "wait_all_async"])
def test_all_functions_screen(client, virtual_time, run):
    jobs = Jobs(client, virtual_time, completing(20, rounds=2))
    waits = waits_for(client, jobs.ends)
    if run == "as_completed":
        assert len(dict(as_completed(waits))) == 20
    elif run == "wait_any":
        assert wait_any(waits)[0] in waits[:10]
    else:
        asyncio.run(wait_all_async(waits))
    assert jobs.calls["DescribeTrainingJob"] <= 20
    assert 2 <= jobs.calls["ListTrainingJobs"] <= 3


def test_definition_that_reads_more_is_not_screened(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(10, rounds=1))
    definition = bwp.WaiterDefinition.from_states(
        "Uploaded", "DescribeTrainingJob", path="SecondaryStatus", success=["Completed"]
    )
    describe = jobs.describe
    jobs.describe = lambda job: {**describe(job), "SecondaryStatus": jobs.state(job)}
    wait_all(waits_for(client, jobs.ends, definition))
    assert jobs.calls["ListTrainingJobs"] == 0


def test_definition_of_the_callers_own_is_screened(client, virtual_time):
    jobs = Jobs(client, virtual_time, completing(10, rounds=1))
    definition = bwp.WaiterDefinition.from_states(
        "Done", "DescribeTrainingJob", path="TrainingJobStatus", success=["Completed"]
    )
    wait_all(waits_for(client, jobs.ends, definition))
    assert jobs.calls == {"ListTrainingJobs": 2, "DescribeTrainingJob": 10}


@pytest.mark.parametrize("option", ["screen", "coalesce"])
def test_options_are_true_or_false(client, option):
    with pytest.raises(TypeError, match=option):
        wait_all(waits_for(client, names(1)), **{option: "no"})


def moto_jobs(client):
    for name in names(40):
        client.create_training_job(
            TrainingJobName=name,
            AlgorithmSpecification={"TrainingInputMode": "File"},
            RoleArn="arn:aws:iam::123456789012:role/r",
            OutputDataConfig={"S3OutputPath": "s3://bucket/o"},
            ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            StoppingCondition={"MaxRuntimeInSeconds": 60},
        )
        yield "TrainingJobCompleted", {"TrainingJobName": name}


def moto_executions(client):
    steps = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
    machine = client.create_state_machine(
        name="orders", definition=json.dumps(steps), roleArn="arn:aws:iam::123456789012:role/r"
    )["stateMachineArn"]
    for number in range(40):
        arn = client.start_execution(stateMachineArn=machine)["executionArn"]
        if number % 3 == 0:
            client.stop_execution(executionArn=arn)
        yield "ExecutionSucceeded", {"executionArn": arn}


def moto_databases(client):
    for name in names(40):
        client.create_db_instance(
            DBInstanceIdentifier=name, DBInstanceClass="db.t3.micro", Engine="postgres"
        )
        yield "DBInstanceStopped", {"DBInstanceIdentifier": name}
    for name in names(40)[::4]:
        client.stop_db_instance(DBInstanceIdentifier=name)


@pytest.mark.parametrize(
    ("service", "resources", "most"),
    # Moto's training jobs have ended at once.
    [
        ("sagemaker", moto_jobs, 1.03),
        ("stepfunctions", moto_executions, 0.3),
        ("rds", moto_databases, 0.3),
    ],
)
def test_polls_of_moto(virtual_time, service, resources, most):
    client = SESSION.client(service)
    wanted = list(resources(client))
    calls = collections.Counter()
    event = f"before-call.{client.meta.service_model.service_id.hyphenize()}.*"
    client.meta.events.register(event, lambda **_: calls.update([screen]))
    results = {}
    for screen in (True, False):
        waits = [
            Wait(client, waiter, parameters, min_delay=DELAY, max_delay=DELAY, max_wait=125)
            for waiter, parameters in wanted
        ]
        results[screen] = wait_all(waits, on_failure="collect", screen=screen)
    screened, alone = (
        [(type(each), each.observed) for each in results[screen]] for screen in (True, False)
    )
    assert screened == alone
    assert calls[True] <= most * calls[False]
