"""`boto-wait demo`: botocore's waiters and this package's side by side, on moto's server."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ..exit_codes import FAILED, SUCCEEDED, CannotRunError
from .comparison import Comparison
from .highlights import show_highlights
from .server import MotoServer


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        description=(
            "Start moto's server on 127.0.0.1 and show there what botocore's own waiters cannot "
            "do, in 15 seconds. With --all, wait for changes of resources in three ways at the "
            "same time, for half a minute: with botocore alone, with get_waiter after "
            "enable(client), and with wait_until_*. No AWS account or configuration is used."
        ),
    )
    add_flag = partial(parser.add_argument, action="store_true")
    add_flag("--all", help="compare every kind of wait in three ways")
    add_flag("--plain", help="with --all, print plain lines even on a terminal with rich")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; return 0 if every wait ended as expected, else 255.

    Raises:
        CannotRunError: moto is not installed, or fails.
    """
    print("Starting moto's server and creating resources ...", file=sys.stderr, flush=True)
    try:
        with MotoServer() as server:
            if not arguments.all:
                return SUCCEEDED if show_highlights(server) else FAILED
            comparison = Comparison(server)
            comparison.show(sys.stderr, plain=arguments.plain)
            return SUCCEEDED if comparison.report(sys.stdout) else FAILED
    except (BotoCoreError, ClientError) as error:
        raise CannotRunError(str(error)) from error
