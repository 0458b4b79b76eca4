"""A wait as a store keeps it, and the same wait made again in another process.

Credentials are never stored: the process that drives the wait uses its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
import botocore
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from botocore.model import Shape, StructureShape

from ..aws.data_model import converted
from ..aws.json_parameters import as_json, from_json, inner_shape
from ..aws.private_names import verification_of
from ..definitions.files import load_definitions
from ..engine.machine import Machine, Phase
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError
from ..hooks.clients import hook_of
from ..many.wait import Wait
from ..options import WaitOptions
from .error_codes import OperationError
from .operation import json_text

Cipher = Callable[[bytes], bytes]
"""Encrypts or decrypts the parameters of a wait, such as `Fernet(key).encrypt`."""

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

_OPTIONS: Final = (
    "min_delay",
    "max_delay",
    "max_attempts",
    "delay_pace",
    "last_attempt",
    "initial_delay",
    "success_count",
    "missing_ok_for",
    "retry_transient",
    "call_in_thread",
)
"""The options that are stored; the others are functions and events of this process."""


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
        """Return the description of a client.

        Args:
            client: a botocore client.
            profile: its profile; by default that of its session, if it was made after `install`.
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
        meta = client.meta
        service, endpoint = meta.service_model.service_name, _without_user_info(meta.endpoint_url)
        return cls(service, meta.region_name, profile, endpoint, json_text(settings))

    def make(self) -> Any:
        """Return a client like the described one, with the credentials of this process.

        Raises:
            OperationError: there is no such service, profile or CA bundle here.
        """
        settings = json.loads(self.settings)
        verify = settings.pop("verify", None)
        if verify and not Path(verify).exists():
            raise OperationError("unsupported", f"there is no CA bundle {verify} here")
        signature = settings.pop("signature_version", None)
        if settings.pop("unsigned", False):
            settings["signature_version"] = botocore.UNSIGNED
        try:
            session = boto3.session.Session(profile_name=self.profile, region_name=self.region)
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
            raise OperationError("unsupported", problem) from error
        return client


def _without_user_info(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


# --- parameters -------------------------------------------------------------------------------


def parameters_json(wait: Wait) -> str:
    """Return the parameters of a wait as JSON.

    Raises:
        ValueError: a parameter is sensitive in the model.
        TypeError: a parameter cannot be stored, such as a file.
    """
    shape = wait.bound.operation.input_shape
    return json_text(as_json(shape, wait.parameters))


def response_without_sensitive(shape: Shape | None, response: Any) -> Any:
    """Return a response as JSON, in the data model of JMESPath, without its sensitive members."""
    if isinstance(response, Mapping):
        response = {name: item for name, item in response.items() if name != "ResponseMetadata"}
    return converted(shape, _without_sensitive(shape, response))


def _without_sensitive(shape: Shape | None, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _without_sensitive(inner_shape(shape, key), item)
            for key, item in value.items()
            if _is_known(shape, key) and not _is_sensitive(inner_shape(shape, key))
        }
    if isinstance(value, (list, tuple)):
        inner = inner_shape(shape)
        return [] if _is_sensitive(inner) else [_without_sensitive(inner, item) for item in value]
    # A stream cannot be stored.
    return None if hasattr(value, "read") else value


def _is_known(shape: Shape | None, name: str) -> bool:
    return not isinstance(shape, StructureShape) or name in shape.members


def _is_sensitive(shape: Shape | None) -> bool:
    return shape is not None and bool(shape.metadata.get("sensitive"))


def sealed(text: str, encrypt: Cipher | None) -> tuple[str, bool]:
    """Return parameters as they are stored, and whether they are encrypted."""
    if encrypt is None:
        return text, False
    return base64.b64encode(encrypt(text.encode())).decode("ascii"), True


def unsealed(text: str, decrypt: Cipher | None, *, is_encrypted: bool) -> dict[str, Any]:
    """Return the parameters that `sealed` stored.

    Raises:
        OperationError: they cannot be decrypted.
    """
    if is_encrypted:
        if decrypt is None:
            problem = "the parameters are encrypted, and this store was opened without decrypt="
            raise OperationError("unreadable", problem)
        try:
            text = decrypt(base64.b64decode(text)).decode()
        # Whatever the caller's function raises for a wrong key.
        except Exception as error:
            problem = f"the parameters cannot be decrypted: {type(error).__name__}"
            raise OperationError("unreadable", problem) from None
    parameters: dict[str, Any] = from_json(json.loads(text))
    return parameters


# --- definition, options, state ---------------------------------------------------------------


def definition_json(definition: WaiterDefinition) -> tuple[str, str]:
    """Return the digest of a definition and its JSON."""
    members = {
        "name": definition.name,
        "operation": definition.operation,
        "service": definition.service,
        "waiter": definition.to_json(),
    }
    text = json.dumps(members, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest(), text


def definition_from_json(text: str) -> WaiterDefinition:
    """Return the definition that `definition_json` described.

    Raises:
        OperationError: it is malformed.
    """
    try:
        members = json.loads(text)
        waitable = {"smithy.waiters#waitable": {members["name"]: members["waiter"]}}
        shapes = {f"stored#{members['operation']}": {"type": "apply", "traits": waitable}}
        (definition,) = load_definitions({"smithy": "2.0", "shapes": shapes})
    except KeyError as error:
        problem = f"its definition is malformed: {error} is missing"
        raise OperationError("unreadable", problem) from error
    except (WaiterDefinitionError, ValueError) as error:
        raise OperationError("unreadable", f"its definition is malformed: {error}") from error
    return replace(definition, service=members["service"], source="store")


def options_json(wait: Wait) -> str:
    """Return the options of a wait as JSON.

    Raises:
        TypeError: an option of the call is a function or an event, which cannot be stored.
    """
    merged: WaitOptions = wait.merged_options
    for name in ("on_attempt", "wake_signal", "cancel_event"):
        if getattr(wait.options, name) is not None:
            raise TypeError(f"{name} cannot be stored: it is of this process")
    if callable(merged.delay_pace):
        raise TypeError("delay_pace cannot be stored: it is a function")
    options = {name: getattr(merged, name) for name in _OPTIONS}
    return json_text({name: value for name, value in options.items() if value is not None})


def first_state(wait: Wait) -> str:
    """Return the state of a wait that has not begun."""
    return Machine(wait.definition.states, wait.policy).to_json()


def reopened_state(text: str) -> str:
    """Return the state of a wait that has ended, so that it goes on with an attempt at once."""
    state = json.loads(text)
    fresh = {"phase": Phase.NEW.value, "pause": 0, "last": False, "brought_forward": False}
    return json_text({**state, **fresh, "successes": 0})


def rebuilt(client: Any, row: Mapping[str, Any], parameters: Mapping[str, Any]) -> Wait:
    """Return a stored wait on a client.

    Args:
        client: the client that the row describes.
        row: the row, with its `definition`.
        parameters: the parameters, decrypted.

    Raises:
        OperationError: this botocore lacks the operation, or what is stored is malformed.
    """
    try:
        waiter = definition_from_json(row["definition"])
        # The label of the store: another might quote parameters that are encrypted there.
        facts = {"max_wait": row["max_wait"], "label": row["label"] or None}
        return Wait(client, waiter, parameters, **facts, **json.loads(row["options"]))
    except WaiterDefinitionError as error:
        raise OperationError("unsupported", str(error)) from error
    except (TypeError, ValueError) as error:
        raise OperationError("unreadable", str(error)) from error
