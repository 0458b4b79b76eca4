"""Which waits are worth a call of their own, by the pages of a list."""

from itertools import islice

import pytest

from boto_waiters_plus.engine.screen_plan import ScreenBalance, ScreenPlan

IDS = [f"job-{number}" for number in range(30)]


def is_open(state):
    return state in ("Running", "Stopping")


def plan(ids=IDS, lists=1):
    return ScreenPlan(ids, is_open, lists)


def page(*ids, state="Running"):
    return {each: {state} for each in ids}


def test_waits_in_progress_stay_open_with_their_state():
    one = plan(["a", "b", "c"])
    one.add_page({"a": {"Running"}, "b": {"Completed"}, "other": {"Running"}})
    assert one.open_states() == ["Running", None, None]


@pytest.mark.parametrize("listed", ["mydb", "MYDB", "arn:aws:rds:eu-west-1:1:db/mydb"])
def test_case_and_the_rest_of_an_arn_do_not_count(listed):
    one = plan(["MyDB", "other"])
    one.add_page(page(listed))
    assert one.open_states() == ["Running", None]


def test_waits_for_one_resource_have_one_state():
    one = plan(["a", "a"])
    one.add_page(page("a", state="Stopping"))
    assert one.open_states() == ["Stopping", "Stopping"]


@pytest.mark.parametrize(
    "pages",
    [
        [{"a": {"Running", "Completed"}}],
        [page("a"), page("a", state="Completed")],
        [page("a", state="Completed"), page("a")],
    ],
)
def test_one_that_has_ended_is_enough(pages):
    one = plan(["a"])
    for each in pages:
        one.add_page(each)
    assert one.open_states() == [None]


def test_a_state_that_changes_between_two_lists_stays_open():
    one = plan(["a"])
    one.add_page(page("a", state="Stopping"))
    one.add_page(page("a", state="Running"))
    assert one.open_states() == ["Running"]


def test_no_page_is_needed_when_all_are_seen():
    one = plan()
    assert one.needs_more
    one.add_page(page(*IDS[:29]))
    assert one.needs_more
    one.add_page(page(IDS[29], state="Completed"))
    assert not one.needs_more


def pages_read(one, saved_by_page):
    """Return how many pages are read, each of which saves the calls of some waits."""
    ids = iter(IDS)
    while one.needs_more:
        one.add_page(page(*islice(ids, saved_by_page)))
    return one.pages


@pytest.mark.parametrize(
    ("waits", "lists", "saved_by_page", "pages"),
    [
        *((30, 1, 0, 3), (30, 3, 0, 5), (30, 1, 1, 3), (30, 1, 2, 5), (30, 1, 4, 8)),
        *((2, 3, 0, 1), (10, 3, 0, 3)),
    ],
)
def test_pages_that_save_little_are_not_read_for_long(waits, lists, saved_by_page, pages):
    assert pages_read(plan(IDS[:waits], lists=lists), saved_by_page) == pages


def test_screens_are_given_up_when_they_cost_more_than_they_save():
    balance = ScreenBalance()
    assert [balance.add(20, 0, 3) for _ in range(3)] == [True, False, False]
    balance = ScreenBalance()
    assert balance.add(20, 15, 1)
    assert [balance.add(20, 0, 3) for _ in range(5)] == [True] * 5
    assert balance.add(2000, 0, 20)
