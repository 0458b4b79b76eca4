"""Count the functions of the package that one warm wait with one attempt enters.

    python tools/wait_path.py            the counts
    python tools/wait_path.py --list     also which functions, in order

The call itself is answered by botocore's Stubber, so that nothing leaves the process.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import boto3
from botocore.stub import Stubber

import boto_waiters_plus as bwp

MAX_WAIT = 30
WARM_UPS = 3
OK = {"ResponseMetadata": {"HTTPStatusCode": 200}}


def entered(wait: Callable[[], object]) -> list[str]:
    """The functions of the package that are entered while `wait` runs, in order."""
    names: list[str] = []

    def profile(frame: Any, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("boto_waiters_plus"):
            names.append(f"{module.removeprefix('boto_waiters_plus.')}:{frame.f_code.co_name}")

    sys.setprofile(profile)
    try:
        wait()
    finally:
        sys.setprofile(None)
    return names


def paths() -> dict[str, list[str]]:
    """The functions of each kind of wait, by its name."""
    bwp.install()
    session = boto3.session.Session("test", "test", region_name="us-east-1")
    client = session.client("s3")
    stubber = Stubber(client)
    waits = {
        "wait_until": lambda: client.wait_until_bucket_exists(Bucket="b", max_wait=MAX_WAIT),
        "get_waiter": lambda: client.get_waiter("bucket_exists").wait(Bucket="b"),
        "wait_all": lambda: bwp.wait_all(
            [bwp.Wait(client, "bucket_exists", {"Bucket": "b"}, max_wait=MAX_WAIT)]
        ),
    }
    found = {}
    for name, wait in waits.items():
        for _ in range(WARM_UPS + 1):
            stubber.add_response("head_bucket", OK, {"Bucket": "b"})
        stubber.activate()
        for _ in range(WARM_UPS):
            wait()
        found[name] = entered(wait)
    bwp.uninstall()
    return found


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the functions too")
    arguments = parser.parse_args()
    for name, functions in paths().items():
        print(f"{name:<12} {len(functions):>4}")
        if arguments.list:
            for function in functions:
                print(f"    {function}")


if __name__ == "__main__":
    main()
