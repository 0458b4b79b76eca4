"""Waits as the rows of a store, and made again from them in another process, with their clients.

A row has the resolved policy: no settings are merged where it is driven. Credentials are never
stored: the process that drives a wait uses its own.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
import botocore
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.model import OperationNotFoundError

from ..batch.wait import Wait
from ..calls.private_names import botocore_session_of, verification_of
from ..common.arguments import flag, text
from ..common.wrong_arguments import Keyword, WrongTypeError, WrongValueError
from ..definitions.files import load_definitions
from ..definitions.smithy import REPORTS
from ..engine.machine import LastAttempt, Machine, Phase, Policy
from ..engine.model import WaiterDefinition
from ..exceptions import WaiterDefinitionError, WaiterError
from ..options import WaitOptions
from ..service.bound_waiter import BoundWaiter
from ..service.clients import hook_of
from ..service.parameters import as_json, from_json, refuse_wrong_parameters
from .begun import BegunRow, stored_label
from .operation import OperationError, UnableError, unreadable
from .operation_pages import check_text
from .representation import error_code
from .stored_row import OPEN, REQUEST_KEY, Row, Seal, json_text, loaded

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


# --- a wait and its row --------------------------------------------------------------------------

MakeClient = Callable[[ClientDescription], Any]

CLIENTS_KEPT: Final = 100
"""Clients that are kept for further waits; the waits that are open keep theirs."""

DEFINITIONS_KEPT: Final = 1000

# The others are of waits that are driven where they are started.
_UNSTORED: Final = ("count_requests", "spread", "covers_end", "patience", "deadline", "learned")

_OPTIONS: Final = ("call_in_thread", "show_parameters")
"""The options that are not part of the policy; the rest are functions and events of a process."""

_NUMBERS: Final = ("deadline", "created", "machine_at", "attempts", "elapsed")
_TEXTS: Final = ("definition", "parameters", "policy", "machine", "label", "waiter")
_READ: Final = {**dict.fromkeys(_NUMBERS, (int, float)), **dict.fromkeys(_TEXTS, (str,))}
"""The columns that a worker reads, and what they hold."""

EMPTY: Final = (
    *("state_seen", "reported", "next_attempt", "lease", "worker", "last_error", "ended"),
    *("response", "error", "owes"),
)
"""Columns that are null in the row of a new wait."""


class NewRows:
    """Rows of waits that begin in one transaction, with the definitions that they need.

    Their ids are made here, so that they can be added again when no answer came.

    Args:
        seal: encrypts the parameters.
        include_response, profile: as `include_response` and `profile_name` of `Store.start`.
        begun: the call of `begin`, of whose effect the wait is; None: none.

    Attributes:
        rows: by the names of the columns.
        definitions: by digest.
    """

    def __init__(
        self, seal: Seal, include_response: Any, profile: str | None, begun: BegunRow | None = None
    ) -> None:
        self.rows: list[dict[str, Any]] = []
        self.definitions: dict[str, str] = {}
        self._seal, self._begun = seal, begun
        if profile is not None:
            text("profile_name", profile)
        is_given = include_response is not None
        self._include_response = is_given and flag("include_response", include_response)
        # Thousands of waits share a client and a definition.
        self._columns_of = cache(partial(_columns_of, profile=profile))
        self._digests: dict[BoundWaiter, str] = {}

    def add(
        self, wait: Wait, exclusive_key: str | None = None, request_id: str | None = None
    ) -> None:
        """Add the row of a wait.

        Raises:
            ValueError: a parameter is sensitive, or a name is too long.
            TypeError: an option or a parameter cannot be stored.
            ParamValidationError: botocore would refuse the parameters.
        """
        _refuse_functions(wait)
        parameters = as_json(wait.operation.input_shape, wait.parameters)
        begun = self._begun
        # After a call they are the effect's, and the polls tell.
        if begun is None:
            refuse_wrong_parameters(wait.client, wait.operation, wait.parameters)
        digest = self._digest(wait.bound_waiter)
        row: dict[str, Any] = {
            "id": uuid.uuid4().hex,
            "state": OPEN,
            "label": stored_label(wait),
            "waiter": wait.waiter,
            "digest": digest,
            **self._columns_of(wait.client),
            "policy": policy_json(wait.policy, wait.merged_options),
            "include_response": self._include_response,
            "exclusive_key": exclusive_key,
            "machine": Machine(wait.definition.states, wait.policy, digest=digest).to_json(),
        }
        for name in ("service", "waiter", "region", "profile", "exclusive_key"):
            check_text(name, row[name], 100 if name in ("service", "region") else 200)
        request = None
        check_text("request_id", request_id)
        if request_id is not None:
            # What was asked for: a deadline may have left another `max_wait`.
            limits = wait.policy.limits._replace(max_wait=None, asked_wait=None, ended_by=None)
            asked_for = wait.policy._replace(limits=limits)
            policy = policy_json(asked_for, wait.merged_options)
            content = {**row, "policy": policy, **dict.fromkeys(("id", "label", "machine"))}
            asked = [parameters, wait.max_wait] if begun is None else begun.asked_for
            # As numbers are compared.
            asked = [float(each) if type(each) is int else each for each in asked]
            request = _digest(request_id) + _digest(json_text([content, asked]))
        row |= dict.fromkeys(EMPTY) | {"attempts": 0, "elapsed": 0.0}
        row |= {"created": 0.0, "machine_at": 0.0, "deadline": wait.max_wait, "request": request}
        row |= {"kind": kind_of(row)}
        row["parameters"] = self._seal.closed(parameters) if begun is None else begun.closed()
        self.rows.append(row)

    def _digest(self, waiter: BoundWaiter) -> str:
        if waiter not in self._digests:
            text = _definition_json(waiter)
            digest = self._digests[waiter] = hashlib.sha256(text.encode()).hexdigest()
            self.definitions[digest] = text
        return self._digests[waiter]


def _columns_of(client: Any, profile: str | None) -> dict[str, Any]:
    """Return the columns of a row that describe its client."""
    description = ClientDescription.of(client, profile)
    return dict(zip(CLIENT_COLUMNS, astuple(description), strict=True))


def kind_of(row: Mapping[str, Any]) -> str:
    """Return what waits with the same client and the same definition have in common."""
    return _kind(tuple(row[name] for name in (*CLIENT_COLUMNS, "digest")))


# Ten thousand waits of one kind share theirs.
@lru_cache(DEFINITIONS_KEPT)
def _kind(values: tuple[Any, ...]) -> str:
    return _digest(json_text(values))


def check_row(row: Row) -> None:
    """Raise OperationError if a row cannot be one that was stored.

    Only this row is damaged then: that its worker could not make the client of another kind would
    end good waits, whose client is the one that was stored.
    """
    for name, kinds in _READ.items():
        if isinstance(row[name], bool) or not isinstance(row[name], kinds):
            raise unreadable(f"its {name} cannot be read: it is {type(row[name]).__name__}")
    if kind_of(row) != row["kind"]:
        raise unreadable("its client cannot be read: it is not the one that was stored")


def policy_json(policy: Policy, options: WaitOptions) -> str:
    """Return a resolved policy, and the options of the wait that are no part of it, as JSON."""
    groups: tuple[Any, ...] = policy
    members = {n: getattr(each, n) for each in groups for n in each._fields if n not in _UNSTORED}
    # Where nothing can be connected to, the wait goes on: here later, or on another worker.
    members["retry_transient"] = bool(policy.endings.retry_transient)
    members |= {name: getattr(options, name) for name in _OPTIONS}
    if options.delay_history:
        members |= {"delay_history": True, "delay_kind": options.delay_kind}
        members["max_delay_given"] = options.max_delay is not None or None
    return json_text({name: value for name, value in members.items() if value is not None})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:REQUEST_KEY]


def _refuse_functions(wait: Wait) -> None:
    for name in ("on_attempt", "wake_signal", "cancel_event"):
        if getattr(wait.options, name) is not None:
            raise _not_stored(name, getattr(wait.options, name), "it exists only in this process")
    history, pace = wait.options.delay_history, wait.policy.delays.pace
    if not isinstance(history, (bool, type(None))):
        raise _not_stored("delay_history", history, "give True for the times of the store")
    if callable(pace):
        raise _not_stored("delay_pace", pace, "it is a function")


def _not_stored(name: str, value: Any, reason: str) -> WrongTypeError:
    return WrongTypeError.of(name, value, f" cannot be stored: {reason}")


def _definition_json(waiter: BoundWaiter) -> str:
    definition = waiter.definition
    members = {name: getattr(definition, name) for name in ("name", "operation", "service")}
    members["waiter"] = definition.to_json()
    if reports := waiter.polling.reported_paths:
        # In order, which an object would not keep here.
        members["reports"] = reports
    return json.dumps(members, sort_keys=True, separators=(",", ":"))


class WaitMaker:
    """Makes waits from rows; waits with the same client or definition share it."""

    def __init__(self, make_client: MakeClient, seal: Seal) -> None:
        self._client = lru_cache(CLIENTS_KEPT)(make_client)
        self._definition = lru_cache(DEFINITIONS_KEPT)(definition_from_json)
        self._seal = seal

    def wait_of(self, row: Row) -> tuple[Wait, BegunRow | None]:
        """Return the wait of a row, whatever the settings are here.

        Raises:
            UnableError: this process cannot drive it; another may.
            OperationError: what is stored of it is damaged.
        """
        try:
            definition = self._definition(row["definition"])
            parameters, begun = BegunRow.read(row, self._seal)
            options, policy = _options_and_policy(row["policy"])
            client = self.client_of(row)
            # The label that was stored: that of the settings there, not of those here.
            own: dict[str, Any] = {"label": row["label"] or None, "policy": policy}
            if begun is not None:
                return begun.wait(client, definition, options, **own), begun
            parameters = from_json({**parameters})
            return Wait.with_options(client, definition, parameters, options, **own), None
        except OperationError:
            raise
        except WaiterDefinitionError as error:
            raise UnableError("unsupported", str(error)) from error
        except OperationNotFoundError as error:
            raise UnableError("unsupported", f"botocore lacks the operation {error}") from error
        except (TypeError, ValueError, AttributeError, WaiterError) as error:
            raise unreadable(str(error)) from error
        # A damaged row may make any function fail; only the wait of that row ends.
        except Exception as error:
            raise unreadable(f"it cannot be read: {type(error).__name__}") from error

    def client_of(self, row: Row) -> Any:
        """Return the client of a row; raises as `wait_of`."""
        description = ClientDescription.of_row(row)
        try:
            return self._client(description)
        except OperationError as error:
            # A worker's own function may refuse a kind in these words.
            is_damage = error.code == "unreadable" and not isinstance(error, UnableError)
            raise error if is_damage else UnableError(error.code, error.args[1]) from error
        # Whatever the caller's function raises: it is this worker that has no client.
        except Exception as error:
            problem = f"a client of {row['service']} cannot be made: {type(error).__name__}"
            is_of_service = isinstance(error, (BotoCoreError, ClientError))
            code = "credentials" if is_of_service else error_code(error)
            raise UnableError(code, problem) from error


def definition_from_json(text: str) -> WaiterDefinition:
    """Return the definition that a row refers to; raise OperationError if it is malformed."""
    members = loaded(text, "definition")
    try:
        traits = {"smithy.waiters#waitable": {members["name"]: members["waiter"]}}
        traits[REPORTS] = {"*": dict(members.get("reports", ()))}
        shapes = {f"stored#{members['operation']}": {"type": "apply", "traits": traits}}
        (definition,) = load_definitions({"smithy": "2.0", "shapes": shapes})
    except KeyError as error:
        raise unreadable(f"its definition is malformed: {error} is missing") from error
    except (WaiterDefinitionError, ValueError, TypeError) as error:
        raise unreadable(f"its definition is malformed: {error}") from error
    return replace(definition, service=members["service"], source="store")


def reopened(row: Row, max_wait: float | None, max_attempts: int | None) -> dict[str, Any]:
    """Return what changes in the row of a wait that is reopened; it is polled again at once.

    Args:
        row: of a wait that ended in an error.
        max_wait, max_attempts: seconds and attempts from now on; None: what was left.

    Raises:
        ValueError: no time or no attempts are left.
        OperationError: the row cannot be read.
    """
    state, policy = (loaded(row[name], name) for name in ("machine", "policy"))
    try:
        left = policy["max_wait"] - row["elapsed"]
        if max_wait is not None:
            left = policy["asked_wait"] = max_wait
            policy |= {"max_wait": row["elapsed"] + left, "ended_by": None}
        if left <= 0:
            raise WrongValueError("there is no time left: give ", Keyword("max_wait"))
        if max_attempts is not None:
            policy["max_attempts"] = row["attempts"] + max_attempts
        elif row["attempts"] >= policy.get("max_attempts", math.inf):
            raise WrongValueError("there are no attempts left: give ", Keyword("max_attempts"))
        fresh = {"phase": Phase.NEW.value, "pause": 0, "last": False, "brought_forward": False}
        state |= {**fresh, "successes": 0, "holding": False}
    except (TypeError, KeyError, AttributeError) as error:
        raise unreadable(f"its state cannot be read: {type(error).__name__}") from None
    texts = {"machine": json_text(state), "policy": json_text(policy)}
    ended = dict.fromkeys(("ended", "response", "error", "last_error", "next_attempt", "owes"))
    return {**ended, **texts, "state": OPEN, "machine_at": 0.0, "deadline": left}


# Ten thousand waits of one kind share theirs.
@lru_cache(DEFINITIONS_KEPT)
def _options_and_policy(text: str) -> tuple[WaitOptions, Policy]:
    members = loaded(text, "policy")
    options = WaitOptions(**{name: members.pop(name, None) for name in _OPTIONS})
    for name in ("delay_history", "delay_kind", "max_delay_given"):
        members.pop(name, None)
    return options, Policy.of(**{**members, "last_attempt": LastAttempt(members["last_attempt"])})
