"""The options of `boto-wait wait` that do not depend on the service."""

from __future__ import annotations

import argparse
import contextlib
import logging
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, UnknownServiceError
from botocore.model import ServiceModel
from botocore.session import Session
from botocore.utils import JSONFileCache

from ..common.arguments import count, nearest, seconds, seconds_or_zero
from ..common.arguments import flag as boolean
from ..common.wrong_arguments import Keyword
from ..engine.redaction import printable
from ..options import CHECKS, ENDING_OPTIONS, OTHER_NAMES, WaitOptions
from .exit_codes import NotConfiguredError, UsageError
from .output import RETRY_TRANSIENT, add_output_options, flag, refused
from .parser import Parser, complete_with
from .service_lookup import find_service

# --- what `--debug` prints -----------------------------------------------------------------------

_OF_BOTOCORE = ("credentials", "tokens", "retries", "retryhandler")
LOGGED = ("boto_waiters_plus", *(f"botocore.{name}" for name in _OF_BOTOCORE))
"""The loggers of `--debug`. Others of botocore's log parameters, headers and bodies."""


def _may_be_told(record: logging.LogRecord) -> bool:
    """Take out of a line what it may quote; return whether it may be printed then."""
    if record.name.startswith("botocore."):
        # The text of an error has the URL, and that has parameters.
        args = record.args if isinstance(record.args, tuple) else ()
        record.args = tuple(
            type(each).__name__ if isinstance(each, BaseException) else each for each in args
        )
        record.msg, record.args, record.exc_info = printable(record.getMessage()), (), None
    # Checksums are values of headers.
    return re.search("header|checksum|crc32", str(record.msg)) is None


@contextlib.contextmanager
def debug_log() -> Iterator[None]:
    """Write to stderr what is logged inside: by this package, and of credentials and retries."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    handler.addFilter(_may_be_told)
    levels = {logger: logger.level for logger in map(logging.getLogger, LOGGED)}
    for logger in levels:
        logger.setLevel(logging.DEBUG)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
            logger.removeHandler(handler)


# --- the options that say which client to use, as aws-cli has them, and durations ----------------

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}

_DURATION = re.compile(
    r"\d+(\.\d+)?|" + "".join(rf"((?P<{unit}>\d+(\.\d+)?){unit})?" for unit in _UNITS)
)


def duration(text: str) -> float:
    """Return the seconds of `90`, `45m`, `1h30m` or `1.5h`.

    Raises:
        ArgumentTypeError: the text is no duration.
    """
    match = _DURATION.fullmatch(text)
    if match is None or not match[0]:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration, such as 90, 45m or 1h30m")
    parts = match.groupdict()
    if not any(parts.values()):
        return float(text)
    return sum(float(parts[unit] or 0) * seconds for unit, seconds in _UNITS.items())


def add_client_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command with a client has."""
    group = parser.add_argument_group("connection")
    profile = group.add_argument("--profile", metavar="NAME", help="profile of the AWS files")
    region = group.add_argument("--region", metavar="REGION", help="AWS region")
    complete_with(profile, lambda _: Session().available_profiles)
    complete_with(region, lambda _: Session().get_available_regions("ec2"))
    group.add_argument("--endpoint-url", metavar="URL", help="where to send requests instead")
    group.add_argument(
        "--no-verify-ssl",
        dest="verify",
        action="store_false",
        default=None,
        help="do not verify certificates",
    )
    group.add_argument("--ca-bundle", metavar="FILE", help="certificates to verify with")
    group.add_argument(
        "--debug",
        dest="log",
        action="store_const",
        const=debug_log,
        help="log to stderr: each attempt, where credentials are from, what botocore retries",
    )


def session_of(arguments: argparse.Namespace) -> Session:
    """Return a new session of the profile that was given.

    Raises:
        NotConfiguredError: there is no such profile.
    """
    session = Session(profile=arguments.profile)
    with refused(BotoCoreError, instead=NotConfiguredError):
        session.get_scoped_config()
    use_cached_credentials(session)
    return session


class _CredentialCache(JSONFileCache):
    """The AWS CLI's; a file that cannot be used counts as none, and one not written as written."""

    def __contains__(self, cache_key: Any) -> bool:
        try:
            return not {"AccessKeyId", "Expiration"} - self[cache_key]["Credentials"].keys()
        except (AttributeError, KeyError, TypeError):
            return False

    def __setitem__(self, cache_key: Any, value: Any) -> None:
        with contextlib.suppress(OSError):
            super().__setitem__(cache_key, value)


def use_cached_credentials(session: Session) -> None:
    """Let a session share the credentials of assumed roles with the AWS CLI.

    Otherwise every command would ask for a code where the role needs one.
    """
    providers = session.get_component("credential_provider")
    cache = _CredentialCache(str(Path("~/.aws/cli/cache").expanduser()))
    for name in ("assume-role", "assume-role-with-web-identity"):
        providers.get_provider(name).cache = cache


def service_model(session: Session, name: str, what: str = "service") -> ServiceModel:
    """Return the model of a service.

    Args:
        session: has the loader.
        name: the name of the service in any form.
        what: what the name might have been, for the error.

    Raises:
        UsageError: botocore has no such service.
    """
    service = find_service(name, what)
    loader = session.get_component("data_loader")
    try:
        return ServiceModel(loader.load_service_model(service, "service-2"), service)
    except UnknownServiceError:
        raise UsageError(f"the installed botocore has no service {service!r}") from None


def client_of(session: Session, service: str, arguments: argparse.Namespace) -> Any:
    """Return a client of the service.

    Raises:
        UsageError: the endpoint's URL is malformed.
        NotConfiguredError: there is no region.
    """
    verify = arguments.ca_bundle if arguments.verify is None else arguments.verify
    # Some errors of botocore's, as that of a malformed URL, are ValueErrors too.
    with refused(BotoCoreError, instead=NotConfiguredError), refused(ValueError):
        return session.create_client(
            service,
            region_name=arguments.region,
            endpoint_url=arguments.endpoint_url,
            verify=verify,
        )


@contextlib.contextmanager
def one_line_warnings(arguments: argparse.Namespace) -> Iterator[None]:
    """Print the warnings inside as lines of a command, without that of `--no-verify-ssl`."""
    with warnings.catch_warnings():
        if arguments.verify is False:
            warnings.filterwarnings("ignore", "Unverified HTTPS request")
        warnings.showwarning = lambda message, *_, **__: print(
            f"boto-wait: warning: {message}", file=sys.stderr
        )
        yield


# --- the options of `boto-wait wait` that do not depend on the service ---------------------------

AD_HOC = ("failure", "success_on_error", "retry_on_error", "many")
"""The arguments of `WaiterDefinition.from_states` that a command line has."""


def _error_time(text: str) -> tuple[str, float]:
    """Return the code and the seconds of `CODE=TIME`."""
    code, _, time = text.rpartition("=")
    if not code:
        raise argparse.ArgumentTypeError(f"{text!r} is no CODE=TIME, such as AccessDenied=60")
    return code, duration(time)


_TIME = {"type": duration, "metavar": "TIME"}
_TIMES = {"nargs": "+", "action": "extend", "type": _error_time, "metavar": "CODE=TIME"}
_KINDS: dict[Any, dict[str, Any]] = {
    **dict.fromkeys((seconds, seconds_or_zero), _TIME),
    count: {"type": int, "metavar": "NUMBER"},
    boolean: {"action": argparse.BooleanOptionalAction},
    CHECKS["retry_errors_for"]: _TIMES,
    CHECKS["retry_transient"]: {"choices": RETRY_TRANSIENT},
}
"""How an option is written, by its check."""

_OPTIONS = {each.name: each.metadata for each in fields(WaitOptions) if each.metadata["command"]}
"""The options of `WaitOptions` that a command line has."""


def add_options_of_one(parser: argparse.ArgumentParser) -> None:
    """Add the options of one wait."""
    group = parser.add_argument_group("the wait; TIME is 90, 45m or 1h30m")
    group.add_argument("--max-wait", type=duration, metavar="TIME", help="required")
    for name, option in _OPTIONS.items():
        group.add_argument(flag(name), help=option["command"], **_KINDS[option["check"]])


def options_of_one(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of one wait that were given."""
    options = {name: getattr(arguments, name) for name in _OPTIONS}
    options["retry_errors_for"] = dict(arguments.retry_errors_for or ()) or None
    options["retry_transient"] = RETRY_TRANSIENT.get(arguments.retry_transient)
    return {name: value for name, value in options.items() if value is not None}


def add_wait_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that do not depend on the service, to any parser."""
    add_options_of_one(parser)
    group = parser.add_argument_group("several resources")
    group.add_argument(
        "--each",
        nargs="+",
        metavar=("PARAMETER", "VALUE"),
        help="one wait for each value: --each instance-ids i-1 i-2",
    )
    group.add_argument(
        "--stdin",
        "-",
        action="store_true",
        help="one wait for each line of stdin, a JSON object of parameters",
    )
    group = parser.add_argument_group("a waiter of your own")
    group.add_argument(
        "--definitions", action="append", metavar="FILE", help="file or folder of definitions"
    )
    until = group.add_argument(
        "--until",
        nargs="*",
        metavar="STATE",
        help="with an operation: states that are success; gone: the resource does not exist",
    )
    path = group.add_argument(
        "--state-path", metavar="EXPRESSION", help="JMESPath to the state, if there are several"
    )
    complete_with(until, lambda given: getattr(given, "known_states", ()))
    complete_with(path, lambda given: getattr(given, "known_paths", ()))
    for name, text in (
        ("failure", "states that are failure, instead of a guess by their names"),
        ("success_on_error", "errors that end it with success"),
        ("retry_on_error", "errors that are no failure"),
    ):
        group.add_argument(flag(name), nargs="+", metavar="NAME", help=text)
    group.add_argument(
        "--many", choices=("all", "any"), help="for a list, how many items must succeed"
    )
    group = parser.add_argument_group("background (see `boto-wait operations`)")
    group.add_argument(
        "--background",
        action="store_true",
        help="store the wait, print its path, and leave it to a worker",
    )
    group.add_argument("--store", metavar="URL", help="file or SQLAlchemy URL of the store")
    group = parser.add_argument_group("output")
    add_output_options(group)
    add_client_options(parser)


def peek(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the options among words, and the words that are none of these options.

    The last word may lack its value, which is being completed. If the words
    cannot be parsed for another reason, no option is returned: the real parser will say why.
    """
    parser = Parser(add_help=False, exit_on_error=False)
    add_wait_options(parser)
    parser.add_argument("-h", "--help", action="store_true")
    for known in (words, words[:-1]):
        with contextlib.suppress(argparse.ArgumentError):
            return parser.parse_known_args(known)
    return argparse.Namespace(until=None, profile=None, definitions=None), []


def right_option(option: str, known: Collection[str]) -> str | None:
    """Return the options that one under another name stands for, or else the nearest one."""
    name = option[2:].replace("-", "_")
    if name not in OTHER_NAMES or name in ENDING_OPTIONS:
        return nearest(option, known)
    names = [part.name for part in OTHER_NAMES[name] if isinstance(part, Keyword)]
    return " or ".join(each for each in map(flag, names) if each in known)
