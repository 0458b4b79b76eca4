"""`boto-wait demo`: botocore's waiters and this package's side by side, on moto's server."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from .comparison import Comparison
from .highlights import highlights
from .screen import progress, report, report_highlight
from .server import MissingServerError, MotoServer, ServerError


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        description=(
            "Start moto's server on 127.0.0.1 and show there what botocore's own waiters cannot "
            "do; takes about 15 seconds. With --all, create, change and delete resources, and wait "
            "for each change in three ways at the same time: with botocore alone, with get_waiter "
            "after enable(client), and with wait_until_*; takes about half a minute. No AWS "
            "account, configuration or network is used."
        ),
    )
    parser.add_argument(
        "--all", action="store_true", help="compare every kind of wait in three ways"
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help="with --all, print plain lines even on a terminal with rich",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo.

    Returns:
        0 if every wait ended as expected, 1 if one did not or moto failed, 2 if moto's server is
        not installed.
    """
    print("Starting moto's server and creating resources ...", file=sys.stderr, flush=True)
    try:
        with MotoServer() as server:
            return _compare(server, plain=arguments.plain) if arguments.all else _show(server)
    except (ServerError, BotoCoreError, ClientError) as error:
        print(f"boto-wait demo: {error}", file=sys.stderr)
        return 2 if isinstance(error, MissingServerError) else 1


def _show(server: MotoServer) -> int:
    code = 0
    for highlight in highlights(server):
        report_highlight(highlight, sys.stdout)
        code = code if highlight.as_expected else 1
    print("\nboto-wait demo --all compares every kind of wait in three ways.")
    return code


def _compare(server: MotoServer, *, plain: bool) -> int:
    comparison = Comparison(server)
    try:
        with progress(sys.stderr, plain=plain) as update:
            comparison.run(lambda: update(comparison))
    finally:
        comparison.stop()
    report(comparison, sys.stdout)
    return 0 if comparison.as_expected else 1
