"""`boto-wait demo`: botocore's waiters and this package's side by side, on moto's server."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from .comparison import Comparison
from .screen import progress, report
from .server import MissingServerError, MotoServer, ServerError


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        description=(
            "Start moto's server on 127.0.0.1, create, change and delete resources there, and wait "
            "for each change in three ways at the same time: with botocore alone, with get_waiter "
            "after enable(client), and with wait_until_*. Takes about half a minute. No AWS "
            "account, configuration or network is used."
        ),
    )
    parser.add_argument(
        "--plain", action="store_true", help="print plain lines even on a terminal with rich"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo.

    Returns:
        0 if every wait ended as expected, 1 if one did not or moto failed, 2 if moto's server is
        not installed.
    """
    plain: bool = arguments.plain
    print("Starting moto's server and creating resources ...", file=sys.stderr, flush=True)
    try:
        with MotoServer() as server:
            comparison = Comparison(server)
            try:
                with progress(sys.stderr, plain=plain) as update:
                    comparison.run(lambda: update(comparison))
            finally:
                comparison.stop()
    except (ServerError, BotoCoreError, ClientError) as error:
        print(f"boto-wait demo: {error}", file=sys.stderr)
        return 2 if isinstance(error, MissingServerError) else 1
    report(comparison, sys.stdout)
    return 0 if comparison.as_expected else 1
