"""The page of `boto-wait operations serve` in a browser, while waits go on and end."""

import json
import re

import browser  # beside this file
import pytest
from stored_waits import NIGHTLY, ON_FILE  # beside this file

pytestmark = [NIGHTLY, ON_FILE]


@pytest.fixture
def window(tmp_path):
    browser.required()
    with browser.browser(tmp_path / "profile") as window:
        yield window


@pytest.fixture
def states():
    """The state of each stream."""
    return {"orders": "CREATING", "invoices": "CREATING"}


@pytest.fixture
def client(stream, states):
    """A client that answers with them."""

    def answer():
        name = json.loads(client.answers.requests[-1]["body"])["StreamName"]
        return {"StreamDescription": {"StreamStatus": states[name]}}

    client = stream(answer)
    return client


@pytest.fixture
def page(window, serve, store, store_url, client, states):
    """The page with two open waits that no worker drives yet."""
    for name, delay in zip(states, (0.1, 30), strict=True):
        options = {"min_delay": delay, "max_delay": delay, "StreamName": name}
        store.start(client, "stream_exists", max_wait=1800, **options)
    _, address = serve("--store", store_url)
    window.open(address)
    window.until(lambda: len(window.rows("#open")) == 2)
    return window


def seconds_left(row):
    minutes, seconds = re.fullmatch(r"(\d+) min (\d+) s", row[4]).groups()
    return 60 * int(minutes) + int(seconds)


def test_the_page_follows_waits_to_their_end(page, store, client, states, working):
    assert "2 open; no worker runs" in page.text()
    stop = working(store, client, worker_name="worker-1")
    page.run("window.wasLoadedOnce = true")
    page.until(lambda: [row[2] for row in page.rows("#open")] == ["CREATING"] * 2)
    invoices, orders = page.rows("#open")
    assert orders[:2] == ["kinesis StreamName=orders", "StreamExists"]
    assert int(orders[3]) > 0
    assert 1700 < seconds_left(orders) <= 1800
    assert re.fullmatch(r"in (2\d|30) s", invoices[5])
    assert invoices[6] == "worker-1"
    page.until(lambda: seconds_left(page.rows("#open")[0]) < seconds_left(invoices))
    assert page.rows("#ended") == []
    states["orders"] = "ACTIVE"
    (row,) = page.until(lambda: page.rows("#ended"))
    assert row[:3] == ["kinesis StreamName=orders", "StreamExists", "succeeded"]
    assert [row[0] for row in page.rows("#open")] == ["kinesis StreamName=invoices"]
    assert page.run("return [document.title, window.wasLoadedOnce]") == ["Open waits (1)", True]
    assert "1 open; 1 worker runs" in page.text()
    stop()
    page.until(lambda: "1 open; no worker runs" in page.text())
    assert page.rows("#open")[0][5:7] == ["none", "none"]


def test_a_row_links_to_its_operation(page, store):
    path = page.run("return document.querySelector('#open tbody tr').dataset.path")
    page.run("document.querySelector('#open tbody a').click()")
    page.until(lambda: page.run("return document.querySelector('dialog').open"))
    shown = page.run("return document.querySelector('dialog pre').textContent")
    assert json.loads(shown) == store.get_json(path)
    page.run("location.reload()")  # the address is that of the operation
    page.until(lambda: page.run("return document.querySelector('dialog[open]') !== null"))
    page.run("document.querySelector('dialog a').click()")
    page.until(lambda: page.run("return !document.querySelector('dialog').open"))
    assert page.run("return location.hash").startswith("#token=")


def test_a_row_is_cancelled_by_its_button(page, store):
    page.run("document.querySelectorAll('#open button')[1].focus()")
    path = page.run("return document.activeElement.closest('tr').dataset.path")
    page.run("setTimeout(() => document.activeElement.click())")
    assert "kinesis StreamName=orders" in page.until(page.question)
    page.accept()
    (row,) = page.until(lambda: page.rows("#ended"))
    assert row[0] == "kinesis StreamName=orders"
    assert [row[0] for row in page.rows("#open")] == ["kinesis StreamName=invoices"]
    assert store.get_json(path)["error"]["code"] == "cancelled"
    assert page.run("return document.activeElement.tagName") == "H1"


def test_a_new_wait_leaves_the_focus_where_it_is(page, store, client):
    page.run("document.querySelectorAll('#open button')[0].focus()")
    store.start(client, "stream_exists", max_wait=60, StreamName="new")
    page.until(lambda: len(page.rows("#open")) == 3)
    focused = page.run("return document.activeElement.ariaLabel")
    assert focused == "Cancel kinesis StreamName=invoices"


def test_the_page_asks_for_the_token(page, store):
    page.run("location.hash = 'token=wrong'; location.reload()")
    page.until(lambda: "token is wrong" in page.text())
    assert not page.rows("#open")
