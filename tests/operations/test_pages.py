"""An effect that looks for one item among those of a parent, on any page of the answer."""

import pytest
from paged_service import CREATED, DELETED, MINE, OTHERS, PAUSED, PagedService
from stored_waits import begin_in_store
from test_begin import begin, begin_in_task

import boto_waiters_plus as bwp


@pytest.mark.parametrize("begins", [bwp.begin, begin_in_task, begin_in_store])
@pytest.mark.parametrize("row", [CREATED, PAUSED], ids=["paginator", "tokens"])
def test_an_item_on_the_third_page_is_found_at_once(virtual_time, row, begins):
    service = PagedService(row, virtual_time, [[OTHERS], [], [OTHERS, MINE]])
    outcome = begin(service, begins=begins).result(60)
    assert outcome.attempts == 1
    assert len(service.requests) == 4


def test_what_is_on_the_second_page_is_not_gone(virtual_time):
    service = PagedService(DELETED, virtual_time, [[OTHERS], [MINE]])
    virtual_time.call_at(virtual_time.now + 60, service.pages[1].clear)
    assert 60 <= begin(service).result(60).elapsed < 100


def test_past_the_tenth_page_the_error_says_so(virtual_time):
    service = PagedService(CREATED, virtual_time, [*[[OTHERS]] * 11, [MINE]])
    error = begin(service, max_wait=1).exception(60)
    assert isinstance(error, bwp.WaiterTimeoutError)
    assert len(error.last_response["Users"]) == 10
    assert "more pages" in str(error)
    assert begin(PagedService(DELETED, virtual_time, service.pages), max_wait=1).exception(60)
