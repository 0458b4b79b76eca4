"""Screened rounds: a sibling's call tells which of many waits are worth a call of their own."""

import collections
import json
import logging
import threading
import time
from functools import partial
from types import SimpleNamespace

import pytest
from batch.calls import parsed
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.stub import Stubber
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import boto_waiters_plus as bwp
from boto_waiters_plus import Wait, operations, wait_all
from boto_waiters_plus.signals import Signal
from boto_waiters_plus.testing import virtual_time as open_virtual_time

from .conftest import SESSION

DELAY = 10
PATIENCE = 60


class Jobs:
    """Training jobs that complete when the clock says, the calls of a client, and the list.

    Args:
        client: answers from here.
        clock: the virtual time.
        ends: when each job completes, in seconds from now.

    Attributes:
        calls: the number of calls, by operation.
        described: the jobs that were described, in order.
        pages: the requests for pages of the list.
        is_behind: whether the list still shows every job in progress.
    """

    def __init__(self, client, clock, ends):
        self.client, self.clock, self.ends = client, clock, ends
        self.began = clock.now
        self.calls = collections.Counter()
        self.described = []
        self.pages = []
        self.is_behind = False
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
        return parsed(found)

    def state(self, job, ago=0):
        return "Completed" if self.clock.now - self.began - ago >= self.ends[job] else "InProgress"

    def describe(self, job):
        return item(job, self.state(job))

    def fail_describe(self, answer, is_failing):
        """Answer an error of the calls for these jobs."""
        known = self.describe

        def describe(job):
            if is_failing(job):
                raise ClientError(answer, "DescribeTrainingJob")
            return known(job)

        self.describe = describe

    def list(self, body):
        return page_of(self.listed(), body, body["MaxResults"])

    def listed(self):
        """Return the items of the list, in order."""
        return [self.summary(job) for job in self.ends]

    def meddle(self, meddle):
        """Call a function with the number of a page before the page is read."""
        whole = self.list

        def listed(body):
            meddle(len(self.pages))
            return whole(body)

        self.list = listed

    def summary(self, job):
        return item(job, "InProgress" if self.is_behind else self.state(job))

    def waits(self, jobs=None, waiter="TrainingJobCompleted", **options):
        options = {"min_delay": DELAY, "max_delay": DELAY, "max_wait": 1000, **options}
        jobs = self.ends if jobs is None else jobs
        return [Wait(self.client, waiter, {"TrainingJobName": job}, **options) for job in jobs]


def names(count):
    return [f"job-{number:04}" for number in range(count)]


def item(job, state, **members):
    return {"TrainingJobName": job, "TrainingJobStatus": state, **members}


def page_of(items, body, size):
    start = int(body.get("NextToken", 0))
    end = start + size
    more = {"NextToken": str(end)} if end < len(items) else {}
    return {"TrainingJobSummaries": items[start:end], **more}


def old_jobs(count):
    """Return items of jobs that no wait is about."""
    return [item(f"old-{each}", "Failed") for each in range(count)]


@pytest.fixture
def jobs_of(client_of, virtual_time):
    """`jobs_of(20, rounds=2)`: so many jobs, which complete evenly over some rounds.

    With `end`, all of them complete then.
    """

    def make(count, *, rounds=1, end=None, is_behind=False):
        rounds_of = [1 + place * rounds // count for place in range(count)]
        ends = [each * DELAY - 1 if end is None else end for each in rounds_of]
        jobs = Jobs(
            client_of("sagemaker"), virtual_time, dict(zip(names(count), ends, strict=True))
        )
        jobs.is_behind = is_behind
        return jobs

    return make


def elapsed(results):
    return [each.elapsed for each in results]


def attempts(results):
    return [each.attempts for each in results]


# --- which calls are made -----------------------------------------------------------------------


def test_only_jobs_that_ended_are_described(results_of, jobs_of):
    jobs = jobs_of(30, rounds=3)
    outcomes = results_of(jobs.waits())
    assert attempts(outcomes) == [2] * 10 + [3] * 10 + [4] * 10
    assert elapsed(outcomes) == [10] * 10 + [20] * 10 + [30] * 10
    assert sorted(jobs.described) == sorted(jobs.ends)
    assert jobs.calls["ListTrainingJobs"] == 4
    # The outcome is that of the own call.
    assert outcomes[0].response["TrainingJobName"] == "job-0000"
    assert not outcomes[0].coalesced


def test_background_waits_are_screened(jobs_of):
    jobs = jobs_of(30, end=95.0)
    options = {"min_delay": DELAY, "max_delay": DELAY, "max_wait": 1000}
    start = partial(operations.start, jobs.client, "TrainingJobCompleted", **options)
    started = [start(TrainingJobName=job) for job in jobs.ends]
    assert all(each.result(PATIENCE).observed == "Completed" for each in started)
    assert jobs.calls["ListTrainingJobs"] >= 5
    # A wait that begins while there are few has its own calls.
    assert jobs.calls["DescribeTrainingJob"] <= 120


def done(path):
    states = {"path": path, "success": ["Completed"]}
    return bwp.WaiterDefinition.from_states("Done", "DescribeTrainingJob", **states)


@pytest.mark.parametrize(("count", "of_waits", "options", "lists"), [
    (9, {}, {}, 0),
    (10, {}, {}, 2),
    (10, {}, {"screen": False}, 0),
    (10, {}, {"coalesce": False}, 0),
    # The list has all that the definition reads.
    (10, {"waiter": done("TrainingJobStatus")}, {}, 2),
    (10, {"waiter": done("SecondaryStatus || TrainingJobStatus")}, {}, 0),
])  # fmt: skip
def test_screens_are_on_from_10_waits_by_default(jobs_of, count, of_waits, options, lists):
    jobs = jobs_of(count)
    wait_all(jobs.waits(**of_waits), **options)
    assert jobs.calls["ListTrainingJobs"] == lists


def test_list_that_misled_a_wait_is_not_believed_again(jobs_of):
    jobs = jobs_of(20, end=115.0)
    jobs.ends["job-0000"] = 5.0
    jobs.is_behind = True
    assert elapsed(wait_all(jobs.waits())) == [90] + [120] * 19


@pytest.mark.parametrize(
    ("options", "seconds", "described"),
    [({}, 90, 10), ({"success_count": 3}, 110, 30), ({"success_for": 25}, 115, 30)],
)
def test_each_wait_has_its_own_call_in_the_tenth_round(jobs_of, options, seconds, described):
    jobs = jobs_of(10, end=15.0, is_behind=True)
    assert elapsed(wait_all(jobs.waits(**options))) == [seconds] * 10
    assert jobs.calls == {"ListTrainingJobs": 9, "DescribeTrainingJob": described}


def test_last_attempt_is_an_own_call(jobs_of):
    jobs = jobs_of(10, end=1e6)
    results = wait_all(jobs.waits(max_wait=45), on_failure="collect")
    # The one before tells how long a call takes.
    assert sorted(jobs.described) == sorted([*jobs.ends, *jobs.ends])
    ends = {(type(each), each.observed) for each in results}
    assert ends == {(bwp.WaiterTimeoutError, "InProgress")}
    assert [each.last_response["TrainingJobName"] for each in results] == list(jobs.ends)


@pytest.mark.parametrize(
    ("end", "kind"), [(15.0, bwp.ResponseOutcome), (1e6, bwp.WaiterAttemptsError)]
)
def test_last_of_max_attempts_is_an_own_call(jobs_of, end, kind):
    jobs = jobs_of(10, end=end, is_behind=True)
    results = wait_all(jobs.waits(max_attempts=4), on_failure="collect")
    assert {(type(each), each.attempts, each.elapsed) for each in results} == {(kind, 4, 30)}


def test_jobs_that_the_list_omits_are_described(jobs_of):
    jobs = jobs_of(12, end=15.0)
    jobs.listed = lambda: [jobs.summary(job) for job in names(12)[:11]]
    assert elapsed(wait_all(jobs.waits())) == [20] * 12
    assert jobs.described[:2] == ["job-0011", "job-0011"]


def test_unknown_job_fails_as_without_a_screen(jobs_of, error_answer):
    jobs = jobs_of(12)
    jobs.listed = lambda: [jobs.summary(job) for job in names(11)]
    unknown = error_answer("ValidationException", "not found")
    jobs.fail_describe(unknown, lambda job: job == "job-0011")
    results = wait_all(jobs.waits(), on_failure="collect")
    assert isinstance(results[11], bwp.WaiterFailedError)
    assert elapsed(results) == [10] * 11 + [0]


def test_transient_error_is_no_own_call(jobs_of, error_answer):
    jobs = jobs_of(10, end=15.0, is_behind=True)
    later = error_answer("ServiceUnavailable", "later", 503)
    jobs.fail_describe(later, lambda job: jobs.described.count(job) == 1)
    assert attempts(wait_all(jobs.waits())) == [11] * 10


def test_waits_by_arn_are_found(client_of, virtual_time):
    arn = "arn:aws:sagemaker:us-east-1:1:training-job/{}"
    ends = {arn.format(job): 5.0 for job in names(10)}
    jobs = Jobs(client_of("sagemaker"), virtual_time, ends)
    jobs.summary = lambda job: item(job[len(arn) - 2 :], jobs.state(job), TrainingJobArn=job)
    wait_all(jobs.waits())
    assert jobs.calls == {"ListTrainingJobs": 2, "DescribeTrainingJob": 10}


def test_events_show_the_state_of_the_list(jobs_of):
    jobs, events = jobs_of(10, end=15.0), []
    wait_all(jobs.waits(on_attempt=events.append))
    assert [event.state for event in events] == ["InProgress"] * 20 + ["Completed"] * 10
    assert [event.attempt for event in events if event.label.endswith("job-0003")] == [1, 2, 3]


def test_stubbed_client_has_no_screens(client_of, virtual_time, caplog):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    client = client_of("sagemaker")
    with Stubber(client) as stubber:
        for _ in range(10):
            stubber.add_client_error("describe_training_job", "ValidationException")
        waits = Jobs.waits(SimpleNamespace(client=client), names(10), max_wait=60)
        results = wait_all(waits, on_failure="collect", threads=1)
    assert {(type(each), each.attempts) for each in results} == {(bwp.WaiterFailedError, 1)}
    assert "one by one" not in caplog.text


# --- pages --------------------------------------------------------------------------------------


def test_scan_ends_when_all_are_seen(jobs_of):
    jobs = jobs_of(100)
    jobs.listed = lambda: [jobs.summary(job) for job in names(100)] + old_jobs(900)
    wait_all(jobs.waits())
    page = {"SortBy": "CreationTime", "SortOrder": "Descending", "MaxResults": 100}
    assert jobs.pages == [page, page]


def test_list_that_saves_nothing_is_given_up(jobs_of, caplog):
    jobs = jobs_of(20, end=300.0)
    jobs.listed = lambda: old_jobs(5000)
    assert elapsed(wait_all(jobs.waits())) == [300] * 20
    assert jobs.calls["ListTrainingJobs"] <= 6
    assert "one by one" not in caplog.text


def test_pages_go_on_whoever_leaves(jobs_of):
    jobs = jobs_of(250)
    cancels = [threading.Event() for _ in range(6)]
    waits = jobs.waits(names(244))
    for job, cancel in zip(names(250)[244:], cancels, strict=True):
        waits += jobs.waits([job], cancel_event=cancel)
    jobs.meddle(lambda page: [cancel.set() for cancel in cancels[page - 1 : page]])
    results = wait_all(waits, on_failure="collect")
    assert elapsed(results[:244]) == [10] * 244
    assert {type(each) for each in results[244:]} == {bwp.WaiterCancelledError}
    assert [page.get("NextToken") for page in jobs.pages] == [None, "100", "200"] * 2


def test_signal_in_a_delay_makes_own_calls(jobs_of, virtual_time):
    jobs, wake = jobs_of(20, end=15.0, is_behind=True), Signal()
    virtual_time.call_at(16, wake.notify)
    assert elapsed(wait_all(jobs.waits(wake_signal=wake))) == pytest.approx([16] * 20, abs=0.06)


@pytest.mark.parametrize("page", [1, 2])
def test_signal_between_pages_makes_an_own_call(jobs_of, page):
    jobs, wake = jobs_of(250, end=55.0), Signal()
    waits = jobs.waits(names(249)) + jobs.waits(names(250)[249:], wake_signal=wake)
    summary = jobs.summary

    def end_at(number):
        if number == page:
            jobs.ends["job-0249"] = 0
            wake.set()

    def behind(job):
        jobs.is_behind = job == "job-0249"
        return summary(job)

    jobs.meddle(end_at)
    jobs.summary = behind
    assert wait_all(waits)[249].elapsed < 1


@pytest.mark.parametrize("longest", [30, 60])
def test_pages_have_one_time_together(jobs_of, longest):
    """It is a share of what the first wait to end has left: the list holds no wait past its end."""
    jobs = jobs_of(300, end=1e6)
    jobs.meddle(lambda _: time.sleep(4))
    waits = jobs.waits(names(1), max_wait=30) + jobs.waits(names(300)[1:], max_wait=longest)
    wait_all(waits, on_failure="collect")
    # A quarter of 30 s: the third would begin after 8 s.
    assert [page.get("NextToken") for page in jobs.pages][:3] == [None, "100", None]
    assert len(jobs.pages) == 3 or longest > 30


# --- lists that fail ----------------------------------------------------------------------------


def client_error(code):
    metadata = {"HTTPStatusCode": 400}
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": metadata}, "ListTrainingJobs")


def raising(error):
    def listed(_body):
        raise error

    return listed


denied = raising(client_error("AccessDeniedException"))


@pytest.mark.parametrize(("fault", "reason"), [
    (denied, "AccessDeniedException"),
    (raising(client_error("ThrottlingException")), "ThrottlingException"),
    (raising(EndpointConnectionError(endpoint_url="https://a.test")), "EndpointConnectionErr"),
    (lambda _: {"TrainingJobSummaries": "<html>"}, "TypeError"),
    (raising(ValueError("a hook of the caller's own")), "ValueError"),
])  # fmt: skip
def test_screen_that_fails_is_dropped_with_one_line(jobs_of, caplog, fault, reason):
    caplog.set_level(logging.INFO, "boto_waiters_plus")
    jobs = jobs_of(20, rounds=2)
    jobs.list = fault
    for _ in range(2):
        jobs.began = jobs.clock.now
        outcomes = wait_all(jobs.waits())
        assert elapsed(outcomes) == [10] * 10 + [20] * 10
        assert attempts(outcomes) == [2] * 10 + [3] * 10
    (line,) = [each for each in caplog.messages if "one by one" in each]
    assert "DescribeTrainingJob" in line
    assert "permission sagemaker:ListTrainingJobs" in line
    assert f"failed: {reason}" in line
    assert jobs.calls["ListTrainingJobs"] == 1
    # Other clients keep their screens.
    other = jobs_of(10)
    wait_all(other.waits())
    assert other.calls["ListTrainingJobs"] == 2


def test_failed_list_is_called_for_no_other_group(jobs_of):
    jobs = jobs_of(20)
    jobs.list = denied
    others = jobs.waits(names(20)[10:], initial_delay=5, max_delay=11)
    wait_all([*jobs.waits(names(10)), *others])
    assert jobs.calls["ListTrainingJobs"] == 1


def test_page_that_fails_spoils_no_other(jobs_of):
    jobs = jobs_of(150, rounds=2)
    whole = jobs.list
    jobs.list = lambda body: denied(body) if "NextToken" in body else whole(body)
    assert set(elapsed(wait_all(jobs.waits()))) == {10, 20}


def test_throttled_list_leaves_fewer_calls_in_flight(jobs_of):
    jobs, began = jobs_of(10, end=0), []

    def describe(job):
        began.append(jobs.clock.now)
        time.sleep(1)
        return item(job, "Completed")

    jobs.list, jobs.describe = raising(client_error("ThrottlingException")), describe
    wait_all(jobs.waits())
    assert began[1] >= began[0] + 1


# --- whatever the list says ---------------------------------------------------------------------

ODD_ITEMS = ({}, "text", 5, None, item(None, "InProgress"))
SOME = names(12)
A_JOB = st.sampled_from(SOME)
LISTS = st.fixed_dictionaries(
    {
        "ends": st.fixed_dictionaries(dict.fromkeys(SOME, st.floats(0, 150))),
        "finals": st.fixed_dictionaries(
            dict.fromkeys(SOME, st.sampled_from(["Completed", "Failed"]))
        ),
        "behind": st.sampled_from([0, 60, 1e9]),
        "omitted": st.sets(A_JOB, max_size=4),
        "lies": st.dictionaries(
            A_JOB, st.sampled_from(["InProgress", "Completed", "Odd", ""]), max_size=4
        ),
        "odd": st.lists(st.sampled_from(ODD_ITEMS), max_size=2),
        "denied_after": st.none() | st.integers(0, 20),
        "page": st.sampled_from([5, 100]),
        "success_count": st.integers(1, 3),
    }
)


def results_by(case, *, screen):
    """Return how the waits ended, and when."""
    with open_virtual_time() as clock:
        jobs = Jobs(SESSION.client("sagemaker"), clock, case["ends"])
        is_over = jobs.state

        def state(job, ago=0):
            return case["finals"][job] if is_over(job, ago) == "Completed" else "InProgress"

        def listed(body):
            if case["denied_after"] is not None and len(jobs.pages) > case["denied_after"]:
                return denied(body)
            told = [job for job in jobs.ends if job not in case["omitted"]]
            states = {job: state(job, case["behind"]) for job in told} | case["lies"]
            page = page_of([item(job, states[job]) for job in told], body, case["page"])
            page["TrainingJobSummaries"] += case["odd"]
            return page

        jobs.state, jobs.list = state, listed
        waits = jobs.waits(success_count=case["success_count"])
        results = wait_all(waits, on_failure="collect", screen=screen)
        return [type(each) for each in results], elapsed(results)


# To shrink an example would take minutes.
@given(LISTS)
@settings(max_examples=10, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_no_list_changes_an_outcome(case):
    alone, screened = results_by(case, screen=False), results_by(case, screen=True)
    assert screened[0] == alone[0]
    late = [b - a for a, b in zip(alone[1], screened[1], strict=True)]
    assert min(late) >= -1e-6
    assert max(late) <= 9 * DELAY + 1


@pytest.mark.nightly(subject="catalog")
def test_polls_of_moto(client_of, virtual_time):
    rds = client_of("rds")
    made = {"DBInstanceClass": "db.t3.micro", "Engine": "postgres"}
    for name in names(40):
        rds.create_db_instance(DBInstanceIdentifier=name, **made)
    for name in names(40)[::4]:
        rds.stop_db_instance(DBInstanceIdentifier=name)
    calls, results = collections.Counter(), {}
    rds.meta.events.register("before-call", lambda **_: calls.update([screen]))
    for screen in (True, False):
        options = {"min_delay": DELAY, "max_delay": DELAY, "max_wait": 125}
        asked = [{"DBInstanceIdentifier": name} for name in names(40)]
        waits = [Wait(rds, "DBInstanceStopped", each, **options) for each in asked]
        found = wait_all(waits, on_failure="collect", screen=screen)
        results[screen] = [(type(each), each.observed) for each in found]
    assert results[True] == results[False]
    assert calls[True] <= 0.3 * calls[False]
