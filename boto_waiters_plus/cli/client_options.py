"""The options that say which client to use, as aws-cli has them, and durations."""

from __future__ import annotations

import argparse
import contextlib
import re
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, UnknownServiceError
from botocore.model import ServiceModel
from botocore.session import Session
from botocore.utils import JSONFileCache

from .completion import complete_with
from .exit_codes import NotConfiguredError, UsageError
from .service_lookup import find_service
from .text import refused

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
