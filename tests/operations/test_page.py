"""The page of `boto-wait operations serve` in a browser, while waits go on and end."""

import json
import os
import re

import browser  # beside this file
import pytest

pytestmark = pytest.mark.nightly(subject="stores")


@pytest.fixture
def window(tmp_path):
    absence = browser.absence()
    if absence is not None:
        assert not os.environ.get("CHROMIUM_REQUIRED"), absence
        pytest.skip(absence)
    with browser.browser(tmp_path / "profile") as window:
        yield window


@pytest.fixture
def store_url(tmp_path):
    return str(tmp_path / "waits.db")


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
    assert "2 open; no worker drives them" in page.text()
    working(store, client, worker_name="worker-1")
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


def test_the_page_asks_for_the_token(page, store):
    page.run("location.hash = 'token=wrong'; location.reload()")
    page.until(lambda: "token is wrong" in page.text())
    assert not page.rows("#open")
