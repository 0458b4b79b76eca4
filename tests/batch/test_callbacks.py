"""Callbacks of a batch: none of them changes how or when a wait ends."""

import logging
import threading
import time
import warnings

import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.many import Wait, as_completed, wait_all

SLOW = 0.6
SHORT = 0.2


def exists(s3, bucket, max_wait, **options):
    return Wait(s3, "bucket_exists", {"Bucket": bucket}, max_wait=max_wait, **options)


@pytest.fixture
def beside_slow_callback(s3):
    """A wait with a slow callback, and one that times out meanwhile."""
    return [
        exists(s3, "first", 30, on_attempt=lambda _: time.sleep(SLOW)),
        exists(s3, "missing", SHORT, min_delay=0.1, max_delay=0.1),
    ]


def test_slow_callback_holds_no_other_wait(beside_slow_callback):
    results = wait_all(beside_slow_callback, on_failure="collect")
    assert isinstance(results[0], bwp.ResponseOutcome)
    assert isinstance(results[1], bwp.WaiterTimeoutError)
    assert results[1].elapsed < SLOW


def test_slow_progress_holds_no_wait(s3):
    missing = [exists(s3, "missing", SHORT, min_delay=0.1, max_delay=0.1)]
    (error,) = wait_all(missing, on_failure="collect", progress=lambda _: time.sleep(SLOW))
    assert error.elapsed < SLOW


def test_callbacks_of_wait_all_run_in_the_callers_thread(s3):
    threads = set()
    bwp.install(on_event=lambda _: threads.add(threading.get_ident()))

    def note(_):
        threads.add(threading.get_ident())

    wait_all([exists(s3, "first", 30, on_attempt=note)], progress=note)
    assert threads == {threading.get_ident()}


def test_callbacks_come_in_order_before_the_end(s3):
    news = []
    outcomes = wait_all(
        [exists(s3, "first", 30, on_attempt=news.append), exists(s3, "second", 30)],
        progress=news.append,
    )
    assert [type(each).__name__ for each in news].count("WaitEvent") == 1
    assert news[-1].ended == len(outcomes)
    counts = [each.ended for each in news if hasattr(each, "ended")]
    assert counts == sorted(counts)


def test_warning_as_error_leaves_the_outcomes(s3, caplog):
    def broken(_):
        raise ZeroDivisionError

    with warnings.catch_warnings(), caplog.at_level(logging.ERROR, "boto_waiters_plus"):
        warnings.simplefilter("error")
        outcomes = wait_all([exists(s3, "first", 30, on_attempt=broken)])
        completed = list(as_completed([exists(s3, "first", 30, on_attempt=broken)]))
    assert isinstance(outcomes[0], bwp.ResponseOutcome)
    assert isinstance(completed[0][1], bwp.ResponseOutcome)
    assert [record.exc_info[0] for record in caplog.records] == [ZeroDivisionError] * 2


@pytest.mark.parametrize("run", [wait_all, lambda waits: list(as_completed(waits))])
def test_system_exit_in_a_callback_is_raised(s3, run):
    def leave(_):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        run([exists(s3, "first", 30, on_attempt=leave)])
