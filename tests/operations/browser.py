"""A headless Chromium, driven over the WebDriver protocol by its own chromedriver."""

import contextlib
import os
import re
import shutil
import subprocess
import time

import httpx2 as httpx
import pytest

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --remote-debugging-port=0"
)


def absence():
    """Why there is no browser; None if there can be one."""
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"{', '.join(missing)} not installed" if missing else None


def required():
    """Skip the test if there can be no browser, or fail where CHROMIUM_REQUIRED is set."""
    missing = absence()
    assert not (missing and os.environ.get("CHROMIUM_REQUIRED")), missing
    if missing:
        pytest.skip(missing)


class Browser:
    """One window.

    Args:
        url: the address of its session.
    """

    def __init__(self, url):
        self._url = url

    def open(self, address):
        self._post("url", url=address)

    def run(self, script):
        """Return what a script returns."""
        return self._post("execute/sync", script=script, args=[])

    def question(self):
        """The question that the page asks; None if it asks none."""
        response = httpx.get(f"{self._url}/alert/text", timeout=60)
        return response.json()["value"] if response.is_success else None

    def accept(self):
        """Answer the question of the page with yes."""
        self._post("alert/accept")

    def picture(self):
        """The page as WebP, in Base64."""
        options = {"format": "webp", "quality": 80}
        return self._post("goog/cdp/execute", cmd="Page.captureScreenshot", params=options)["data"]

    def text(self):
        """The text of the page that is seen."""
        return self.run("return document.body.innerText")

    def rows(self, table):
        """The texts of a table of the page that are seen, row by row."""
        script = "return [...document.querySelectorAll('%s tbody tr')].map("
        cells = "row => row.checkVisibility() ? [...row.cells].map(cell => cell.innerText) : [])"
        return self.run(script % table + cells)

    def until(self, condition, seconds=20):
        """Wait for a condition; return its value."""
        end = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < end, self.text()
            time.sleep(0.1)
        return value

    def _post(self, path, **body):
        response = httpx.post(f"{self._url}/{path}", json=body, timeout=60)
        assert response.is_success, response.text
        return response.json()["value"]


@contextlib.contextmanager
def browser(folder, *more_flags):
    """Start a browser with a new profile in a folder."""
    pipe = {"stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(["chromedriver", "--port=0"], **pipe) as driver:
        try:
            line = ""
            while "started successfully on port" not in line:
                line = driver.stdout.readline()
                assert line, "chromedriver has ended"
            (port,) = re.findall(r"port (\d+)", line)
            sessions = f"http://127.0.0.1:{port}/session"
            flags = [*FLAGS.split(), *more_flags, f"--user-data-dir={folder}"]
            options = {"binary": shutil.which("chromium"), "args": flags}
            wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
            answer = httpx.post(sessions, json=wanted, timeout=60).json()["value"]
            session = f"{sessions}/{answer['sessionId']}"
            yield Browser(session)
            httpx.delete(session, timeout=60)
        finally:
            driver.terminate()
