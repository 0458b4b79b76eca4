"""Draw the live page of `boto-wait operations serve`: `docs/pictures/page.svg`.

    python tools/page_picture.py

A store is served on this machine, with waits on clients with scripted answers; Chromium takes a
picture of the page on a light and on a dark screen.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import uvicorn

from boto_waiters_plus import operations

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests/operations")]

import browser  # noqa: E402 - found by the line above

FILE = "docs/pictures/page.svg"
PORT, TOKEN = 8753, "word"
WIDTH, HEIGHT = 1180, 430
"""Of the window, whose frame takes some of the height."""
ATTEMPTS = 2
"""Of each wait, before the picture is taken."""
STREAM = {"StreamDescription": {"StreamStatus": "CREATING"}}
TABLE = {"Table": {"TableStatus": "UPDATING"}}
STACK = {"Stacks": [{"StackStatus": "UPDATE_IN_PROGRESS"}]}
WAITS = (
    ("kinesis", "stream_exists", 1800, {"StreamName": "clicks"}, STREAM),
    ("cloudformation", "stack_update_complete", 3600, {"StackName": "network"}, STACK),
    ("dynamodb", "table_exists", 5400, {"TableName": "orders"}, TABLE),
)
SCHEMES = {"light": 1, "dark": 0}
"""As the flag of Chromium has them."""

STYLE = """\
.dark { display: none }
@media (prefers-color-scheme: dark) { .light { display: none } .dark { display: inline } }"""


def client(service: str) -> Any:
    """Return a client whose calls have the answer of its service."""
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    made = boto3.client(service, region_name="us-east-1", **keys)
    (answer,) = (each[-1] for each in WAITS if each[0] == service)

    def reply(**_: Any) -> Any:
        return SimpleNamespace(status_code=200), {**answer, "ResponseMetadata": {}}

    made.meta.events.register(f"before-call.{service}", reply)
    return made


def photograph(scheme: str, folder: str) -> tuple[str, list[int]]:
    """Return the page as WebP in Base64, as soon as it shows the waits, and its size."""
    flags = [
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
        f"--window-size={WIDTH},{HEIGHT}",
        "--hide-scrollbars",
    ]
    with browser.browser(f"{folder}/{scheme}", *flags) as window:
        window.open(f"http://127.0.0.1:{PORT}/#token={TOKEN}")
        window.until(lambda: window.rows("#open"))
        return window.picture(), window.run("return [innerWidth, innerHeight]")


def picture() -> str:
    """Return the picture, which shows what suits the screen."""
    store, stop = operations.Store(":memory:"), threading.Event()
    for service, waiter, max_wait, parameters, _ in WAITS:
        store.start(client(service), waiter, max_wait=max_wait, **parameters)
    server = uvicorn.Server(
        uvicorn.Config(operations.asgi(store, token=TOKEN), port=PORT, log_level="warning")
    )
    options: Any = {"make_client": lambda description: client(description.service)}
    worker = threading.Thread(
        target=store.work, kwargs={**options, "worker_name": "worker", "stop_event": stop}
    )
    threads = worker, threading.Thread(target=server.run)
    for thread in threads:
        thread.start()
    # Beside a worker and a browser time is real.
    while any(each["metadata"]["attempts"] < ATTEMPTS for each in store.list().operations):
        time.sleep(0.1)
    with tempfile.TemporaryDirectory() as folder:
        images = {scheme: photograph(scheme, folder) for scheme in SCHEMES}
    stop.set()
    server.should_exit = True
    for thread in threads:
        thread.join()
    width, height = images["light"][1]
    parts = [
        f'<image class="{scheme}" width="{width}" height="{height}" '
        f'href="data:image/webp;base64,{image}"/>'
        for scheme, (image, _) in images.items()
    ]
    box = f'viewBox="0 0 {width} {height}" role="img"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>\n<title>Open waits</title>'
    return "\n".join([head, f"<style>\n{STYLE}\n</style>", *parts, "</svg>\n"])


if __name__ == "__main__":
    Path(FILE).write_text(picture(), encoding="utf-8")
