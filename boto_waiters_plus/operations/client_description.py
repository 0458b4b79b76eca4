"""What is needed to make a client again in another process.

Credentials are never stored: the process that drives a wait uses its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
import botocore
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from ..calls.private_names import botocore_session_of, verification_of
from ..service.clients import hook_of
from .operation import UnableError, unreadable
from .stored_row import json_text, loaded

_SETTINGS: Final = (
    "connect_timeout",
    "read_timeout",
    "retries",
    "max_pool_connections",
    "tcp_keepalive",
    "inject_host_prefix",
    "use_fips_endpoint",
    "use_dualstack_endpoint",
    "s3",
    "user_agent_extra",
    "user_agent_appid",
)
"""The members of `Config` that are stored as they are; `proxies` may have a password."""


CLIENT_COLUMNS: Final = ("service", "region", "profile", "endpoint", "client_settings")
"""The columns of a `ClientDescription`, in the order of its fields."""


@dataclass(frozen=True, slots=True)
class ClientDescription:
    """What is needed to make a client again."""

    service: str
    region: str | None
    profile: str | None
    endpoint: str | None
    settings: str
    """Members of `botocore.config.Config`, and `verify`, as JSON."""

    @classmethod
    def of(cls, client: Any, profile: str | None = None) -> ClientDescription:
        """Return the description of a botocore client.

        By default the profile is that of its session, if it was made after `install`.
        """
        hook = hook_of(client)
        if profile is None and hook is not None and hook.session is not None:
            profile = hook.session.profile
        config = client.meta.config
        settings = {name: getattr(config, name, None) for name in _SETTINGS}
        settings = {name: value for name, value in settings.items() if value is not None}
        if config.signature_version is botocore.UNSIGNED:
            settings["unsigned"] = True
        elif config.signature_version is not None:
            settings["signature_version"] = config.signature_version
        verify = verification_of(client)
        # A worker has an environment of its own.
        of_environment = map(os.environ.get, ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"))
        if isinstance(verify, str) and verify not in of_environment:
            settings["verify"] = str(Path(verify).absolute())
        elif verify is False:
            settings["verify"] = False
        meta, parts = client.meta, urlsplit(client.meta.endpoint_url)
        # Without the name of a user.
        endpoint = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        service = meta.service_model.service_name
        return cls(service, meta.region_name, profile, endpoint, json_text(settings))

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> ClientDescription:
        """Return the description that a row of a store has."""
        return cls(*(row[name] for name in CLIENT_COLUMNS))

    def make(self, prepare: Callable[[Any], object] | None = None) -> Any:
        """Return a client like the described one, with the credentials of this process.

        Args:
            prepare: called with the session of the client before that is made.

        Raises:
            UnableError: there is no such service, profile or CA bundle here.
            OperationError: what is stored of its settings is damaged.
        """
        settings = loaded(self.settings, "client")
        if not isinstance(settings, dict):
            raise unreadable("the stored client description is not a JSON object")
        verify = settings.pop("verify", None)
        if verify and not Path(verify).exists():
            raise UnableError("unsupported", f"there is no CA bundle {verify} here")
        signature = settings.pop("signature_version", None)
        if settings.pop("unsigned", False):
            settings["signature_version"] = botocore.UNSIGNED
        try:
            session = boto3.session.Session(profile_name=self.profile, region_name=self.region)
            if prepare is not None:
                prepare(botocore_session_of(session))
            make: Any = session.client
            arguments = {"config": Config(**settings), "verify": verify}
            client = make(self.service, **arguments)
            # What is the default here is better left to botocore's rules.
            others: dict[str, Any] = {}
            if client.meta.endpoint_url != self.endpoint:
                others["endpoint_url"] = self.endpoint
            if signature not in (None, client.meta.config.signature_version):
                others["config"] = Config(**settings, signature_version=signature)
            if others:
                client = make(self.service, **{**arguments, **others})
        except (BotoCoreError, TypeError, ValueError) as error:
            problem = f"a client of {self.service} cannot be made: {type(error).__name__}"
            raise UnableError("unsupported", problem) from error
        return client
