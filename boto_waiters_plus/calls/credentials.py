"""Refreshes of the credentials of a client, which take as long as they take.

Another client makes the calls of a refresh, which nothing can cut off. So it runs in a thread that
can be left behind, and the call itself, with the tracers that watch its thread, where it was made.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import select
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import botocore.exceptions
from botocore.credentials import Credentials, ReadOnlyCredentials

from ..common.process import is_of_handler
from .budget import CallBudget, CallExpired, awaited_budget, current_budget, run_within
from .clients import PerClient
from .private_names import prompters_of, refresh_of, signs_with_given_credentials
from .threads import NoCodeError, abandonable_call, current_caller

CREDENTIAL_ERRORS: Final = tuple(
    getattr(botocore.exceptions, name)
    for name in (
        *("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"),
        *("TokenRetrievalError", "NoAuthTokenError", "SSOError", "LoginError"),
        "RefreshWithMFAUnsupportedError",
    )
    # Some are newer than the oldest botocore.
    if hasattr(botocore.exceptions, name)
)
"""The errors of a process that lacks credentials for a call."""

# --- the terminal at which somebody may be asked for a code --------------------------------------

try:
    import termios
except ImportError:  # Windows, whose terminals are no files
    termios = None  # type: ignore[assignment]  # asked for where there are such files only


_prompts: Final[list[None]] = []
"""One for each open prompt that turns the echo on again by itself."""


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Mark a prompt as open that turns the echo on again by itself."""
    _prompts.append(None)
    try:
        yield
    finally:
        _prompts.pop()


@contextlib.contextmanager
def terminal_kept() -> Iterator[None]:
    """Turn the echo of the terminal on again if a prompt is left behind there.

    What runs in a thread may prompt by itself, and so may a process that it starts.
    """
    terminal = _opened()
    if terminal is None:
        yield
        return
    try:
        had_echo = _has_echo(_attributes_of(terminal))
        try:
            yield
        except BaseException as error:
            # Any other error has ended the prompt, too.
            is_left = isinstance(error, CallExpired) or not isinstance(error, Exception)
            if is_left and had_echo and not _prompts:
                _turn_echo_on(terminal)
            raise
    finally:
        os.close(terminal)


def _opened() -> int | None:
    """Open the terminal of the process; None: it has none."""
    try:
        return os.open(os.ctermid(), os.O_RDWR)
    except (AttributeError, OSError):
        return None


def _turn_echo_on(terminal: int) -> None:
    attributes = _attributes_of(terminal)
    # A process in the background would be stopped for it.
    if attributes is None or _has_echo(attributes) or not _is_in_foreground(terminal):
        return
    assert termios is not None, "a system with terminals that are files"
    attributes[3] |= termios.ECHO
    with contextlib.suppress(termios.error):
        termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def _has_echo(attributes: list[Any] | None) -> bool:
    assert termios is not None, "a system with terminals that are files"
    return attributes is not None and bool(attributes[3] & termios.ECHO)


def _attributes_of(terminal: int) -> list[Any] | None:
    assert termios is not None, "a system with terminals that are files"
    try:
        return termios.tcgetattr(terminal)
    except termios.error:  # It is gone.
        return None


def _is_in_foreground(terminal: int) -> bool:
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # It is not the one that controls the process.
        return True


def can_answer() -> bool:
    """Return whether there is a terminal, or else an answer or its end: no pipe is waited for."""
    if not hasattr(os, "ctermid"):
        return True
    if (terminal := _opened()) is not None:
        os.close(terminal)
        return True
    try:
        return sys.stdin.isatty() or bool(select.select([sys.stdin], [], [], 0)[0])
    # What stands in for it cannot be asked.
    except (AttributeError, OSError, TypeError, ValueError):
        return True


# --- refreshes -----------------------------------------------------------------------------------

ACCOUNT: Final = "AWS::Auth::AccountId"
"""The parameter of an endpoint that depends on the account."""


class ClientCredentials:
    """The credentials of one client, or its bearer token, which have to be refreshed at times.

    Args:
        client: the client.
    """

    __slots__ = ("_are_given", "_refresh")

    def __init__(self, client: Any) -> None:
        ask_for_codes(client)
        self._refresh = refresh_of(client)
        self._are_given = self._refresh is not None and signs_with_given_credentials()
        if self._are_given:
            service, events = client.meta.service_model.service_id.hyphenize(), client.meta.events
            for event, give in (
                ("before-sign", _give),
                ("before-endpoint-resolution", _give_account),
            ):
                unique_id = f"boto_waiters_plus-credentials-{event}"
                events.register(f"{event}.{service}", give, unique_id=unique_id)

    def are_due(self) -> bool:
        """Return whether a call would refresh them first."""
        return self._refresh is not None and bool(self._refresh.is_needed())

    def refresh(self, budget: CallBudget) -> bool:
        """Refresh them in a thread, within the budget, for the call that is made next.

        Returns:
            Whether the call will not refresh them again.
        """
        assert self._refresh is not None, "a refresh is due"
        with terminal_kept():
            fresh: Any = abandonable_call(self._refresh.make, budget, name="credentials")
        is_pair = isinstance(fresh, ReadOnlyCredentials)
        if self._are_given and is_pair:
            # Those that expire soon would be refreshed once more.
            budget.credentials = Credentials(*fresh[:3])  # pyright: ignore[reportArgumentType]  # has both keys
            budget.credentials.account_id = getattr(fresh, "account_id", None)
            return True
        return not self.are_due()


def _give(request: Any, **_: Any) -> None:
    """Sign a request with the credentials that its call has refreshed."""
    budget = current_budget()
    if budget is not None and budget.credentials is not None:
        signing = request.context.setdefault("signing", {})
        signing.setdefault("request_credentials", budget.credentials)


def _give_account(builtins: dict[str, Any], **_: Any) -> None:
    """Give the account of the credentials, for which they would be refreshed once more."""
    budget = current_budget()
    if budget is not None and budget.credentials is not None and ACCOUNT in builtins:
        builtins[ACCOUNT] = budget.credentials.account_id


def _wrap_prompters(client: Any) -> None:
    for fetcher, name in prompters_of(client):
        prompter = getattr(fetcher, name)
        if not isinstance(prompter, _Prompter):
            setattr(fetcher, name, _Prompter(prompter))


ask_for_codes = PerClient(_wrap_prompters).of
"""Let calls of a client that are made here ask for MFA codes in the thread of the caller."""


def asks_for_a_code(client: Any) -> bool:
    """Return whether the next call of a client would ask somebody for an MFA code."""
    refresh = refresh_of(client)
    return refresh is not None and any(prompters_of(client)) and bool(refresh.is_needed())


def refresh_what_asks(client: Any, seconds: float) -> None:
    """Refresh credentials that need an MFA code, if they have to be, before they cannot ask for it.

    Args:
        client: is called in the background from now on.
        seconds: the time that the refresh has; the time at the prompt counts.

    Raises:
        Exception: what the refresh raised.
    """
    refresh = refresh_of(client)
    if refresh is None or not asks_for_a_code(client):
        return
    ask_for_codes(client)
    budget = CallBudget(seconds)
    with contextlib.suppress(CallExpired):
        run_within(budget, partial(abandonable_call, refresh.make, budget, name="credentials"))


class _Prompter:
    """Asks for an MFA code in the thread of the caller, where a terminal gets its echo back.

    Args:
        prompter: what asks in any other call of the client.
    """

    def __init__(self, prompter: Callable[[str], str]) -> None:
        self._prompter = prompter

    def __call__(self, prompt: str) -> str:
        caller = current_caller()
        if caller is not None:
            return caller.ask(partial(self._code, prompt))
        is_ours = current_budget() is not None or awaited_budget.get() is not None
        return self._code(prompt) if is_ours else self._prompter(prompt)

    def _code(self, prompt: str) -> str:
        if self._prompter is getpass.getpass and not can_answer():
            raise _no_terminal()
        try:
            with asking():
                return self._prompter(prompt)
        except (AttributeError, EOFError, OSError, ValueError) as error:
            if is_of_handler(error) or not _tells_of_no_terminal(error):
                raise
            raise _no_terminal() from error


def _tells_of_no_terminal(error: Exception) -> bool:
    if isinstance(error, (AttributeError, ValueError)):
        return sys.stdin is None or sys.stdin.closed
    # What is more special is the prompter's own: a program that is not found, a time-out.
    return isinstance(error, EOFError) or type(error) is OSError


def _no_terminal() -> NoCodeError:
    return NoCodeError(reason="there is no terminal to ask for it")
