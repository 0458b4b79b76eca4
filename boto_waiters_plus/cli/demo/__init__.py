"""`boto-wait demo`: botocore's waiters and this package's side by side, on moto's server."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ..exit_codes import FAILED, SUCCEEDED, CannotRunError
from .highlights import show_highlights
from .server import MotoServer


def add_parser(subparsers: Any) -> None:
    """Describe the arguments."""
    subparsers.add_parser(
        "demo",
        description=(
            "Start moto's server on 127.0.0.1 and show there how waits differ from botocore's, in "
            "half a minute. No AWS account or configuration is used."
        ),
    )


def run(_: argparse.Namespace) -> int:
    """Run the demo; return 0 if every wait ended as expected, else 255.

    Raises:
        CannotRunError: moto is not installed, or fails.
    """
    print("Starting moto's server and creating resources ...", file=sys.stderr, flush=True)
    try:
        with MotoServer() as server:
            return SUCCEEDED if show_highlights(server) else FAILED
    except (BotoCoreError, ClientError) as error:
        raise CannotRunError(str(error)) from error
