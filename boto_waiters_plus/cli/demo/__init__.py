"""`boto-wait demo`: botocore's waiters and ours side by side, on moto's server."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

NO_MOTO = """\
boto-wait demo needs moto's server, which is not installed here ({error}).
Install it with:

    pip install 'boto-waiters-plus[demo]'
"""


def add_parser(subparsers: Any) -> None:
    """Describe the subcommand."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        help="compare botocore's waiters with ours on a local server",
        description=(
            "Starts moto's server on 127.0.0.1, lets resources come, go and fail there, and waits "
            "for each of them three ways at the same time: by botocore alone, by get_waiter on "
            "our engine, and by wait_until_*. Takes about half a minute. No AWS account, "
            "configuration or network is used."
        ),
    )
    parser.add_argument(
        "--plain", action="store_true", help="plain lines, on a terminal and with rich too"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo.

    Returns:
        0: every wait ended as expected. 1: one did not, or moto failed. 2: moto's server is not
        installed.
    """
    # Only what this subcommand needs, and only when it runs.
    from .performance import Performance  # noqa: PLC0415
    from .screen import progress, report  # noqa: PLC0415
    from .stage import MissingServerError, Stage, StageError  # noqa: PLC0415

    plain: bool = arguments.plain
    print("Starting moto's server and making resources ...", file=sys.stderr, flush=True)
    try:
        with Stage() as stage:
            performance = Performance(stage)
            try:
                with progress(sys.stderr, plain=plain) as show:
                    performance.play(lambda: show(performance))
            finally:
                performance.stop()
    except MissingServerError as error:
        print(NO_MOTO.format(error=error), end="", file=sys.stderr)
        return 2
    except (StageError, BotoCoreError, ClientError) as error:
        print(f"boto-wait demo: {error}", file=sys.stderr)
        return 1
    report(performance, sys.stdout, plain=plain)
    return 0 if performance.as_expected else 1
