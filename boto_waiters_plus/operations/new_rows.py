"""The rows of operations that begin."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from ..engine.model import WaiterDefinition
from ..many.wait import Wait
from .database import wall_time
from .error_codes import OperationError
from .stored_wait import (
    Cipher,
    ClientDescription,
    definition_json,
    first_state,
    options_json,
    parameters_json,
    sealed,
)
from .tables import DEFINITIONS, OPEN, OPERATIONS


class NewRows:
    """Rows of operations that begin in one transaction, with the definitions that they need.

    Args:
        encrypt: encrypts the parameters; None: they are not encrypted.
        include_response: whether the responses that end the waits are stored.
        profile_name: the profile that a worker uses; None: that of the client's session.

    Attributes:
        rows: by the names of the columns; the times are set by `insert`.
    """

    def __init__(
        self, encrypt: Cipher | None, *, include_response: bool, profile_name: str | None
    ) -> None:
        self.rows: list[dict[str, Any]] = []
        self._encrypt = encrypt
        self._include_response = include_response
        self._profile = profile_name
        # By identity, each with its object, so that no other can get the identity.
        self._clients: dict[int, tuple[Any, ClientDescription]] = {}
        self._digests: dict[int, tuple[WaiterDefinition, str]] = {}
        self._definitions: dict[str, str] = {}

    def add(self, wait: Wait, exclusive_key: str | None = None) -> dict[str, Any]:
        """Add the row of a wait, and return it.

        Raises:
            ValueError: a parameter is sensitive.
            TypeError: an option or a parameter cannot be stored.
        """
        client = self._description(wait.client)
        parameters, is_encrypted = sealed(parameters_json(wait), self._encrypt)
        row = {
            **dict.fromkeys(OPERATIONS.c.keys()),
            "id": uuid.uuid4().hex,
            "state": OPEN,
            "label": _label(wait, is_encrypted=is_encrypted),
            "service": wait.bound.service_name,
            "waiter": wait.waiter,
            "digest": self._digest(wait.definition),
            "region": client.region,
            "profile": client.profile,
            "endpoint": client.endpoint,
            "client_settings": client.settings,
            "parameters": parameters,
            "is_encrypted": is_encrypted,
            "options": options_json(wait),
            "max_wait": wait.max_wait,
            "include_response": self._include_response,
            "exclusive_key": exclusive_key,
            "machine": first_state(wait),
            "attempts": 0,
            "elapsed": 0.0,
        }
        self.rows.append(row)
        return row

    def insert(self, connection: Connection) -> None:
        """Insert the rows; their time begins now.

        Raises:
            OperationError: an operation with the same `exclusive_key` is open (`conflict`).
        """
        now = wall_time(connection)
        for row in self.rows:
            row |= {"created": now, "machine_at": now, "deadline": now + row["max_wait"]}
        for digest, definition in self._definitions.items():
            known = select(DEFINITIONS.c.digest).where(DEFINITIONS.c.digest == digest)
            if connection.execute(known).first() is None:
                _insert_definition(connection, digest, definition)
        try:
            connection.execute(OPERATIONS.insert(), self.rows)
        except IntegrityError:
            raise conflict() from None

    def _description(self, client: Any) -> ClientDescription:
        if id(client) not in self._clients:
            self._clients[id(client)] = client, ClientDescription.of(client, self._profile)
        return self._clients[id(client)][1]

    def _digest(self, definition: WaiterDefinition) -> str:
        if id(definition) not in self._digests:
            digest, text = definition_json(definition)
            self._digests[id(definition)] = definition, digest
            self._definitions[digest] = text
        return self._digests[id(definition)][1]


def conflict() -> OperationError:
    """Return the error of an exclusive key that is in use."""
    return OperationError("conflict", "an operation with this exclusive_key is open")


def _label(wait: Wait, *, is_encrypted: bool) -> str:
    label = wait.label
    if is_encrypted:
        # The other label quotes parameters.
        label = wait.given_label or f"{wait.bound.service_name} {wait.waiter}"
    # PostgreSQL stores no NUL.
    return "".join(each if each.isprintable() else " " for each in label)


def _insert_definition(connection: Connection, digest: str, definition: str) -> None:
    # Another process may have stored it a moment ago.
    values = {"digest": digest, "definition": definition}
    try:
        with connection.begin_nested():
            connection.execute(DEFINITIONS.insert().values(**values))
    except IntegrityError:
        pass
