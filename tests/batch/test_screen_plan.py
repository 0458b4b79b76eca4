"""Which waits are worth a call of their own, by the pages of a list."""

from itertools import islice

import pytest

from boto_waiters_plus.batch.screen_call import ScreenBalance, ScreenPlan

IDS = [f"job-{number}" for number in range(30)]


def is_open(state):
    return state in ("Running", "Stopping")


def plan(ids=IDS, lists=1):
    return ScreenPlan(ids, is_open, lists)


def page(*ids, state="Running"):
    return {each: {state} for each in ids}


@pytest.mark.parametrize(("ids", "pages", "states"), [
    (["a", "b"], [{"a": {"Running"}, "x": {"Running"}}], ["Running", None]),
    (["a", "b"], [{"b": {"Completed"}}], [None, None]),
    # Neither case nor the rest of an ARN counts.
    (["MyDB", "other"], [{"MYDB": {"Running"}}], ["Running", None]),
    (["MyDB", "other"], [{"arn:aws:rds:eu-west-1:1:db/mydb": {"Running"}}], ["Running", None]),
    (["a", "a"], [{"a": {"Stopping"}}], ["Stopping", "Stopping"]),
    (["a/b"], [{"A/B": {"Running"}}], ["Running"]),
    (["c"], [{"a/b/C": {"Running"}}], ["Running"]),
    # One that has ended is enough.
    (["a"], [{"a": {"Completed", "Running"}}], [None]),
    (["a"], [{"a": {"Running"}}, {"a": {"Completed"}}], [None]),
    (["a"], [{"a": {"Completed"}}, {"a": {"Running"}}], [None]),
    # A state that changes between two lists stays open.
    (["a"], [{"a": {"Stopping"}}, {"a": {"Running"}}], ["Running"]),
])  # fmt: skip
def test_waits_in_progress_stay_open_with_their_state(ids, pages, states):
    one = plan(ids)
    for each in pages:
        one.add_page(each)
    assert one.open_states() == states


def pages_read(one, saved_by_page):
    """Return how many pages are read, each of which saves the calls of some waits."""
    ids = iter(IDS)
    while one.needs_more:
        one.add_page(page(*islice(ids, saved_by_page)))
    return one.pages


@pytest.mark.parametrize(("waits", "lists", "saved_by_page", "pages"), [
    (30, 1, 0, 3), (30, 3, 0, 5), (30, 1, 1, 3), (30, 1, 2, 5), (30, 1, 4, 8),
    (2, 3, 0, 1), (10, 3, 0, 3),
])  # fmt: skip
def test_pages_that_save_little_are_not_read_for_long(waits, lists, saved_by_page, pages):
    assert pages_read(plan(IDS[:waits], lists=lists), saved_by_page) == pages


def test_a_page_that_tells_of_a_wait_lets_more_be_read():
    """Waits may be anywhere in a list: pages since the last one that told of any count."""
    one = plan()
    for seen in (IDS[:24], IDS[24:25]):
        one.add_page(page(*seen))
        one.add_page(page("other"))
        one.add_page(page("other"))
        assert one.needs_more
    one.add_page(page("other"))
    assert not one.needs_more


def test_pages_that_tell_of_the_same_waits_save_their_calls_once():
    one, same = plan(), page(*IDS[:4])
    while one.needs_more:
        one.add_page(same)
    assert one.pages == 4


def test_screens_are_given_up_when_they_cost_more_than_they_save():
    balance = ScreenBalance()
    assert [balance.add(20, 0, 3) for _ in range(3)] == [True, False, False]
    balance = ScreenBalance()
    assert balance.add(20, 15, 1)
    assert [balance.add(20, 0, 3) for _ in range(5)] == [True] * 5
    assert balance.add(2000, 0, 20)
