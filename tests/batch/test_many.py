"""`wait_all`, `wait_any`, `as_completed` and their asyncio twins on blocking clients."""

import asyncio
import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus import Wait, as_completed, as_completed_async, wait_all, wait_any
from boto_waiters_plus.conditions import ConditionWait

PATIENCE = 60
"""Seconds in which a thread runs on any machine."""


def gone(s3, bucket, **options):
    return Wait(s3, "bucket_not_exists", {"Bucket": bucket}, **{"max_wait": 30, **options})


@pytest.fixture
def requests(s3):
    """The operations that the client calls."""
    seen = []
    s3.meta.events.register("before-call", lambda model, **_: seen.append(model.name))
    return seen


def types(results):
    return [type(each) for each in results]


def broken(_):
    raise ZeroDivisionError


# --- outcomes -----------------------------------------------------------------------------------


def test_no_waits_have_no_results(all_of):
    assert all_of(iter([])) == []


def test_changing_parameters_later_changes_no_wait(s3):
    parameters = {"Bucket": "first"}
    wait = Wait(s3, "bucket_exists", parameters, max_wait=60)
    parameters["Bucket"] = "never"
    assert wait_all([wait])[0].attempts == 1
    assert not hasattr(s3, "wait_until_bucket_exists")


def test_each_wait_is_yielded_when_it_ends(completing, exists, s3, virtual_time):
    virtual_time.call_at(11, lambda: s3.create_bucket(Bucket="late"))
    late = exists(s3, "late", delay_pace=lambda _: 10)
    never, first = exists(s3, "never", max_wait=15), exists(s3, "first")
    waits, results = zip(*completing([late, never, first]), strict=True)
    assert waits == (first, never, late)
    assert isinstance(results[1], bwp.WaiterTimeoutError)
    assert [results[0].elapsed, results[2].elapsed] == [0, 20]


def test_polling_goes_on_while_the_caller_is_busy(exists, s3):
    busy, polled = threading.Event(), threading.Event()

    def poll(params, **_):
        if "second" in params["url"]:
            assert busy.wait(PATIENCE)
            polled.set()

    s3.meta.events.register("before-call.s3", poll)
    waits = [exists(s3, "first"), exists(s3, "second")]
    results = as_completed(waits)
    assert next(results)[0] is waits[0]
    # The next result has not been asked for.
    busy.set()
    assert polled.wait(PATIENCE)
    assert [wait for wait, _ in results] == [waits[1]]


def test_unused_iterator_makes_no_request(exists, s3, requests):
    as_completed([exists(s3, "first")]).close()
    assert requests == []


def test_first_success_comes_with_its_wait(any_of, exists, s3, virtual_time, kinds_told):
    virtual_time.call_at(11, lambda: s3.create_bucket(Bucket="sooner"))
    virtual_time.call_at(50, lambda: s3.create_bucket(Bucket="later"))
    waits = [exists(s3, bucket, delay_pace=lambda _: 10) for bucket in ("later", "sooner")]
    wait, outcome = any_of([*waits, exists(s3, "never", max_attempts=1)])
    assert wait is waits[1]
    assert (outcome.elapsed, virtual_time.now) == (20, 20)
    assert sorted({*kinds_told} - {"start", "attempt"}) == ["cancel", "success", "timeout"]


def test_no_success_raises_an_error_naming_all(any_of, exists, s3, virtual_time):
    with pytest.raises(bwp.WaitersError) as raised:
        any_of([exists(s3, "never", max_wait=20), exists(s3, "never", max_attempts=1)])
    assert types(raised.value.errors.values()) == [bwp.WaiterTimeoutError, bwp.WaiterAttemptsError]
    assert raised.value.waiter.startswith("wait_any")


# --- failures -----------------------------------------------------------------------------------


@pytest.fixture
def mixed(exists, s3, virtual_time):
    """Two waits that succeed late, and two that fail early."""
    virtual_time.call_at(50, lambda: s3.create_bucket(Bucket="late"))
    failing = [exists(s3, "never", max_wait=20), gone(s3, "first", max_attempts=1)]
    return [exists(s3, "late"), *failing, exists(s3, "late")]


def raised_by(run, waits, **options):
    with pytest.raises(bwp.WaitersError) as raised:
        run(waits, **options)
    return raised.value


def test_every_wait_ends_before_failures_are_raised(all_of, mixed, virtual_time):
    error = raised_by(all_of, mixed)
    assert virtual_time.now >= 50
    assert list(error.errors) == [1, 2]
    assert types(error.errors.values()) == [bwp.WaiterTimeoutError, bwp.WaiterAttemptsError]
    assert [each is not None for each in error.outcomes] == [True, False, False, True]


def test_on_failure_cancel_cancels_the_rest(all_of, mixed, virtual_time):
    error = raised_by(all_of, mixed, on_failure="cancel")
    assert virtual_time.now == 0
    text = str(error)
    assert isinstance(error.errors.pop(2), bwp.WaiterAttemptsError)
    assert types(error.errors.values()) == [bwp.WaiterCancelledError] * 3
    assert "[2] Waiter BucketNotExists" in text
    assert "[0]" not in text
    assert "3 were cancelled" in text


@pytest.mark.parametrize("hidden", [False, True])
def test_other_errors_are_named_without_their_text(exists, s3, virtual_time, hidden):
    bwp.enable(s3, defaults={"show_parameters": not hidden})
    text = str(raised_by(wait_all, [exists(s3, "secret/name"), exists(s3, "first")]))
    assert text.endswith(": ParamValidationError")
    assert ("secret/name" in text) is not hidden


@pytest.mark.parametrize(("parameters", "words"), [
    ({"Buckt": "hidden", "Key": "k"}, "Buckt is unknown, Bucket is missing"),
    ({"Bucket": "b", "Key": "k", "PartNumber": "hidden"}, "the type of PartNumber is wrong"),
    ({'Buckt"\nUnknown: "b': "hidden", "Key": "k"}, "Bucket is missing"),
])  # fmt: skip
def test_wrong_and_missing_parameters_are_named(s3, parameters, words, virtual_time):
    definition = bwp.WaiterDefinition.from_states("F", "HeadObject", path="ETag", success=["x"])
    error = raised_by(wait_all, [Wait(s3, definition, parameters, max_wait=10)])
    text = str(error).partition("ParamValidationError")[2]
    assert words in text
    assert "hidden" not in text


def test_the_error_of_many_has_the_facts_of_all(mixed):
    error = raised_by(wait_all, mixed, max_wait=60)
    assert isinstance(error, bwp.WaiterError)
    assert error.kwargs["name"] == error.waiter == "wait_all"
    assert (error.last_response, error.max_wait) == ({}, 60)
    ended = [each for each in (*error.errors.values(), *error.outcomes) if each is not None]
    assert error.attempts == sum(each.attempts for each in ended)
    assert error.elapsed == max(each.elapsed for each in ended)
    causes = getattr(error.__cause__, "exceptions", (error.__cause__,))
    # Groups of errors came with Python 3.11.
    assert causes in (tuple(error.errors.values()), (error.errors[1],))


def test_the_error_of_many_can_be_copied_and_pickled(mixed):
    error = raised_by(wait_all, mixed)
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (type(other), str(other)) == (type(error), str(error))
        assert list(other.errors) == list(error.errors)
        assert types(other.errors.values()) == types(error.errors.values())
        assert types(other.outcomes) == types(error.outcomes)


def test_an_error_that_cannot_be_pickled_leaves_its_name():
    class UnpicklableError(Exception):
        def __reduce__(self):
            raise TypeError("holds a lock")

    error = bwp.WaitersError("wait_all", "why", errors={3: UnpicklableError()}, outcomes=[None] * 4)
    other = pickle.loads(pickle.dumps(error))
    assert str(other) == str(error)
    assert "UnpicklableError" in str(other.errors[3])


def test_message_describes_a_few_failures_and_names_others(exists, s3, virtual_time):
    waits = [exists(s3, "never" if n % 2 else "first", max_attempts=1) for n in range(200)]
    text = str(raised_by(wait_all, [*waits, gone(s3, "first", max_attempts=1)]))
    assert "101 of 201 waits did not succeed" in text
    assert "\n  [1] Waiter BucketExists used up" in text
    assert "[199] Waiter" not in text
    assert "] BucketExists: WaiterAttemptsError" in text
    assert text.endswith("[200] BucketNotExists: WaiterAttemptsError")
    assert len(text) < 10_000


# --- options and settings -------------------------------------------------------------


def test_set_cancel_event_makes_no_request(all_of, exists, s3, requests):
    stop = threading.Event()
    stop.set()
    waits = [exists(s3, "first") for _ in range(3)]
    results = all_of(waits, on_failure="collect", cancel_event=stop)
    assert {(type(each), each.attempts) for each in results} == {(bwp.WaiterCancelledError, 0)}
    assert requests == []


def test_calls_stay_within_the_threads_given(all_of, exists, s3):
    threads = set()
    s3.meta.events.register("before-call.s3", lambda **_: threads.add(threading.current_thread()))
    all_of([exists(s3, "first") for _ in range(40)], threads=2)
    assert 1 <= len(threads) <= 2
    assert threading.main_thread() not in threads
    # A call that hangs keeps no program alive.
    assert all(thread.daemon for thread in threads)


# --- callbacks ----------------------------------------------------------------------------------


def test_callback_that_raises_is_warned_of_once(exists, s3, virtual_time, caplog):
    virtual_time.call_at(10, lambda: s3.create_bucket(Bucket="late"))
    bwp.install(on_event=broken)
    waits = [exists(s3, "late", on_attempt=broken) for _ in range(3)]
    with pytest.warns(RuntimeWarning) as warned:
        outcomes = wait_all(waits, progress=broken)
    assert types(outcomes) == [bwp.ResponseOutcome] * 3
    names = sorted(str(warning.message).partition(" ")[0] for warning in warned)
    assert names == ["on_attempt", "on_event", "progress"]
    assert {warning.filename for warning in warned} == {__file__}
    assert [record.exc_info[0] for record in caplog.records] == [ZeroDivisionError] * 3


@pytest.mark.filterwarnings("error")
def test_warning_as_error_leaves_the_outcomes(results_of, exists, s3, caplog):
    (outcome,) = results_of([exists(s3, "first", on_attempt=broken)])
    assert isinstance(outcome, bwp.ResponseOutcome)
    assert [each.levelname for each in caplog.records] == ["ERROR", "WARNING"]


def test_failed_callback_is_warned_of_on_early_exit(exists, s3):
    results = as_completed([exists(s3, "first", on_attempt=broken), exists(s3, "never")])
    next(results)
    with pytest.warns(RuntimeWarning, match="ZeroDivisionError"):
        results.close()


def test_system_exit_in_a_callback_is_raised(results_of, exists, s3):
    def leave(_):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        results_of([exists(s3, "first", on_attempt=leave), exists(s3, "never", max_wait=600)])


@pytest.mark.parametrize("callback", ["on_attempt", "progress"])
def test_slow_callback_holds_no_other_wait(exists, s3, callback):
    begun, polled = threading.Event(), threading.Event()
    meanwhile = []

    def slow(_):
        begun.set()
        meanwhile.append(polled.wait(PATIENCE))

    def poll():
        if begun.is_set():
            polled.set()
        return begun.is_set()

    of_all = {"progress": slow} if callback == "progress" else {}
    of_wait = {} if of_all else {"on_attempt": slow}
    other = ConditionWait(poll, interval=0.01, success_count=2)
    wait_all([exists(s3, "first", **of_wait), other], max_wait=PATIENCE, **of_all)
    assert set(meanwhile) == {True}


def test_callbacks_run_in_the_callers_thread_before_the_end(all_of, exists, s3):
    threads, news = set(), []

    def note(each):
        threads.add(threading.get_ident())
        news.append(each)

    bwp.install(on_event=lambda _: threads.add(threading.get_ident()))
    all_of([exists(s3, "first", on_attempt=note), exists(s3, "second")], progress=note)
    assert threads == {threading.get_ident()}
    counts = [each.ended for each in news if hasattr(each, "ended")]
    assert counts == sorted(counts)
    assert news[-1].ended == 2


def test_callback_may_wait_for_others(exists, s3, virtual_time):
    inner = []

    def poll(_):
        inner.append(wait_all([exists(s3, "second")])[0].attempts)

    outcomes = wait_all([exists(s3, "first", on_attempt=poll) for _ in range(3)])
    assert inner == [outcome.attempts for outcome in outcomes] == [1, 1, 1]


# --- threads and loops --------------------------------------------------------------------------


def test_batches_in_one_loop_run_side_by_side(exists, s3, virtual_time):
    virtual_time.call_at(15, lambda: s3.create_bucket(Bucket="late"))

    async def one(bucket):
        await bwp.wait_all_async([exists(s3, bucket, delay_pace=lambda _: 10)])
        return virtual_time.now

    async def run():
        return await asyncio.gather(one("late"), one("first"))

    assert asyncio.run(run()) == [20, 0]


def test_same_waits_may_run_in_several_threads(exists, s3):
    waits = [exists(s3, "first"), exists(s3, "second")]
    with ThreadPoolExecutor(8) as pool:
        runs = pool.map(lambda _: wait_all(waits), range(8), timeout=PATIENCE)
        assert [outcome.attempts for outcomes in runs for outcome in outcomes] == [1] * 16


def test_wait_all_blocks_inside_a_running_loop(exists, s3):
    async def run():
        return wait_all([exists(s3, "first")])

    assert asyncio.run(run())[0].attempts == 1


def refuse_all(_thread):
    raise RuntimeError("can't start new thread")


def refuse_most(thread, start=threading.Thread.start):
    if thread.name.startswith("boto_waiters_plus call") and not thread.name.endswith(" 1"):
        refuse_all(thread)
    start(thread)


@pytest.mark.parametrize("refuse", [refuse_all, refuse_most])
@pytest.mark.filterwarnings("ignore:.*thread:RuntimeWarning")
def test_calls_are_made_where_no_thread_can_start(exists, s3, monkeypatch, refuse):
    seen = []
    waits = [exists(s3, "first", on_attempt=seen.append) for _ in range(20)]
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert len(wait_all(waits)) == 20
    assert {wait for wait, _ in as_completed(waits)} == set(waits)
    assert len(seen) == 40


# --- bad arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "options", "text"),
    [(["b"], {}, "parameters"), ({}, {"Bucket": "b"}, "third argument")],
)
def test_wait_is_checked_when_it_is_made(s3, parameters, options, text):
    with pytest.raises(TypeError, match=text):
        Wait(s3, "bucket_exists", parameters, max_wait=1, **options)


@pytest.mark.parametrize(("keywords", "kind", "text"), [
    ({}, TypeError, r"waits\[1\].*max_wait"),
    ({"thread": 2}, TypeError, "'threads'"),
    ({"min_delay": 2}, TypeError, "min_delay"),
    ({"delay": 2}, TypeError, "min_delay and max_delay"),
])  # fmt: skip
def test_bad_arguments_make_no_request(results_of, exists, s3, requests, keywords, kind, text):
    with pytest.raises(kind, match=text):
        results_of([exists(s3, "first"), exists(s3, "never", max_wait=None)], **keywords)
    assert requests == []


def test_the_first_of_no_waits_is_refused(any_of):
    with pytest.raises(ValueError, match="at least one wait"):
        any_of([])


@pytest.mark.parametrize("function", [wait_all, wait_any, as_completed, as_completed_async])
def test_other_objects_than_waits_are_refused_at_the_call(exists, s3, function):
    wait = exists(s3, "first")
    with pytest.raises(TypeError, match=r"waits\[1\].*dict"):
        function([wait, {}])
    for given in (wait, None):
        with pytest.raises(TypeError, match="iterable of Wait"):
            function(given)
    with pytest.raises(ValueError, match=r"waits\[2\] and waits\[0\]"):
        function([wait, exists(s3, "first"), wait])
