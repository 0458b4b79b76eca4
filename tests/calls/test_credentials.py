"""Credentials that a call refreshes first, and MFA codes that a person is asked for."""

import asyncio
import contextvars
import datetime as dt
import os
import signal
import threading
from unittest import mock

import boto3
import botocore.session
import pytest
from botocore.config import Config
from botocore.credentials import Credentials, RefreshableCredentials
from botocore.tokens import DeferredRefreshableToken, FrozenAuthToken
from case_tables import experiments
from service.roles import EXISTS, GONE, KEYS, profiles_in, sending, session_of
from service.ways import by_batch, by_method, by_plain_waiter, by_task, by_waiter, in_background

import boto_waiters_plus as bwp
from boto_waiters_plus import operations
from boto_waiters_plus.calls import credentials
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.signals import SqsSignal

from .support import alarm, answered_client, ended, handled, make_client, respond

STACK = {"StackName": "web", "max_wait": 60}
HERE = threading.get_ident
termios = credentials.termios
GIVEN = [12, 5] if credentials.signs_with_given_credentials() else []
"""Minutes that credentials last which botocore would refresh again."""

VARIABLE = contextvars.ContextVar("variable", default="unset")


@pytest.fixture(autouse=True)
def _profiles(tmp_path, monkeypatch):
    profiles_in(tmp_path / "config", monkeypatch)
    bwp.install()


class Refreshes:
    """The refreshes of a client's credentials.

    Args:
        client: gets credentials that are due.
        minutes: those that each refresh lasts.
        first: is called at each refresh.
    """

    def __init__(self, client, *, minutes=60, first=lambda: None):
        self.threads, self.variables = [], []
        self._minutes, self._first = minutes, first
        client._request_signer._credentials = RefreshableCredentials(
            "a", "b", "c", self._expiry(1), self._refresh, "test"
        )

    def _refresh(self):
        self.threads.append(HERE())
        self.variables.append(VARIABLE.get())
        self._first()
        expiry = self._expiry(self._minutes).isoformat()
        return {"access_key": "fresh", "secret_key": "b", "token": "c", "expiry_time": expiry}

    def _expiry(self, minutes):
        return dt.datetime.now(dt.timezone.utc) + dt.timedelta(minutes=minutes)


# --- the refresh in a thread, the call in the caller's ----------------------------------------


@pytest.mark.parametrize("way", [by_method, by_waiter])
@pytest.mark.parametrize("minutes", [60, *GIVEN])
def test_call_after_a_refresh_is_made_in_the_thread_of_the_caller(way, minutes, virtual_time):
    client, sent = boto3.client("cloudformation"), []
    refreshes = Refreshes(client, minutes=minutes)
    requests = sending(client, (200, EXISTS), (400, GONE))
    client.meta.events.register("before-send", lambda **_: sent.append(HERE()))
    client.meta.events.register("before-call", lambda **_: sent.append(HERE()))
    token = VARIABLE.set("set")
    assert way(client, "stack_delete_complete", **STACK).attempts == 2
    VARIABLE.reset(token)
    assert set(sent) == {HERE()}
    assert HERE() not in refreshes.threads
    assert set(refreshes.variables) == {"set"}
    # Those that expire soon are refreshed for each call, and once.
    assert len(refreshes.threads) == (1 if minutes == 60 else 2)
    assert all("Credential=fresh/" in str(each.headers["Authorization"]) for each in requests)


@pytest.mark.skipif(not GIVEN, reason="its signer takes none")
def test_an_endpoint_of_the_account_needs_no_second_refresh():
    refreshes, session = Refreshes(first := make_client(), minutes=5), botocore.session.Session()
    session._credentials = first._request_signer._credentials
    client = boto3.Session(botocore_session=session).client("dynamodb")
    respond(client, (200, b"{}"))
    bounded_call(client.list_tables, client=client, seconds=60)
    assert len(refreshes.threads) == 1


def test_without_given_credentials_it_is_made_in_a_thread(monkeypatch):
    monkeypatch.setattr(credentials, "signs_with_given_credentials", lambda: False)
    for minutes, is_here in ((60, True), (5, False)):
        client, sent = boto3.client("cloudformation"), []
        Refreshes(client, minutes=minutes)
        sending(client, (400, GONE))
        client.meta.events.register("before-call", lambda sent=sent, **_: sent.append(HERE()))
        assert client.wait_until_stack_delete_complete(**STACK).attempts == 1
        assert (sent == [HERE()]) == is_here


@experiments("refreshes", "service", "method")
def test_refresh_that_hangs_ends_in_time(hang, service, method):
    client, sent = answered_client((200, b"{}"), service=service)
    Refreshes(client, first=hang)
    if service == "codecatalyst":
        client._request_signer._auth_token = DeferredRefreshableToken("test", hang)
    with ended("deadline"):
        bounded_call(getattr(client, method), client=client, seconds=5)
    assert sent == []


def quiet(terminal, *, echo=False):
    """Turn the echo of a terminal off, as a prompt does, or on."""
    attributes = termios.tcgetattr(terminal)
    attributes[3] = attributes[3] | termios.ECHO if echo else attributes[3] & ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


@pytest.fixture
def terminal(monkeypatch):
    pytest.importorskip("termios", reason="no terminals like POSIX's here")
    ours, theirs = os.openpty()
    monkeypatch.setattr("os.ctermid", lambda: os.ttyname(theirs))
    yield theirs
    os.close(ours)
    os.close(theirs)


def has_echo(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def by_refresh(prompt):
    Refreshes(client := make_client(), first=prompt)
    return bounded_call(client.list_tables, client=client, seconds=5)


def by_call_in_thread(prompt):
    return bounded_call(prompt, client=None, seconds=5, in_thread=True)


@pytest.mark.parametrize("way", [by_refresh, by_call_in_thread])
@pytest.mark.parametrize("had_echo", [True, False])
def test_terminal_gets_its_echo_back_from_a_prompt_left_behind(hang, terminal, way, had_echo):
    """It is left alone if it had none: another prompt was open, and turned it on meanwhile."""
    quiet(terminal, echo=had_echo)

    def ask():
        quiet(terminal, echo=not had_echo)
        hang()

    with ended("deadline"):
        way(ask)
    assert has_echo(terminal)


def test_a_refresh_that_failed_leaves_no_prompt(terminal):
    # The one that is open now is another's.
    with pytest.raises(LookupError):
        by_refresh(lambda: quiet(terminal) or {}["failed"])
    assert not has_echo(terminal)


def test_refresh_ends_when_the_call_is_cancelled():
    client, go_on, event = make_client(), threading.Event(), threading.Event()
    Refreshes(client, first=lambda: event.set() or go_on.wait(60))
    with ended("cancelled"):
        bounded_call(client.list_tables, client=client, seconds=60, cancel_event=event)
    go_on.set()


def test_a_bearer_token_is_refreshed_in_a_thread():
    client, threads = make_client("codecatalyst", url="https://127.0.0.1:9"), []

    def refresh():
        threads.append(HERE())
        return FrozenAuthToken("token", dt.datetime(2100, 1, 1, tzinfo=dt.timezone.utc))

    client._request_signer._auth_token = DeferredRefreshableToken("test", refresh)
    sent = respond(client, (200, b"{}"))
    client.meta.events.register("before-send", lambda **_: threads.append(HERE()))
    bounded_call(client.list_spaces, client=client, seconds=60)
    assert threads[1] == HERE() != threads[0]
    assert sent[0].headers["Authorization"] == b"Bearer token"


@pytest.mark.skipif(not GIVEN, reason="its signer takes none")
def test_credentials_of_a_request_are_kept():
    client = make_client()
    Refreshes(client, minutes=5)

    def give(request, **_):
        request.context.setdefault("signing", {})["request_credentials"] = Credentials("own", "b")

    client.meta.events.register_first("before-sign.dynamodb", give)
    sent = respond(client, (200, b"{}"))
    bounded_call(client.list_tables, client=client, seconds=60)
    assert "Credential=own/" in str(sent[0].headers["Authorization"])


# --- MFA codes --------------------------------------------------------------------------------


class Person:
    """Whoever is asked for a code.

    Attributes:
        asked: the thread of each prompt.
    """

    def __init__(self, *, first=lambda: None):
        self.asked, self._first = [], first

    def __call__(self, prompt):
        assert prompt == "Enter MFA code for arn:aws:iam::123456789012:mfa/me: "
        self.asked.append(HERE())
        self._first()
        return "123456"


def session_with(person):
    """A session of a role that needs a code, and the calls that assume it."""
    session, called = session_of("person", KEYS)
    providers = session._session.get_component("credential_provider")
    providers.get_provider("assume-role")._prompter = person
    return session, called


def stacks_of(person, *, mode="legacy"):
    """A client of such a session, and these calls."""
    session, called = session_with(person)
    config = Config(retries={"mode": mode, "total_max_attempts": 1})
    client = session.client("cloudformation", config=config)
    sending(client, (400, GONE))
    return client, called


def batch_of(client, waiter, max_wait, parameters, **options):
    return [bwp.Wait(client, waiter, parameters, max_wait=max_wait, **options)]


def by_all_in_task(client, waiter, *, max_wait, **parameters):
    return asyncio.run(bwp.wait_all_async(batch_of(client, waiter, max_wait, parameters)))[0]


def as_completed(client, waiter, *, max_wait, **parameters):
    [(_, result)] = bwp.as_completed(batch_of(client, waiter, max_wait, parameters))
    if isinstance(result, Exception):
        raise result
    return result


def with_callbacks(client, waiter, *, max_wait, **parameters):
    return bwp.wait_all(batch_of(client, waiter, max_wait, parameters, on_attempt=print))[0]


def in_thread(client, waiter, **keywords):
    return by_method(client, waiter, call_in_thread=True, **keywords)


FORMS = [
    *(by_method, by_waiter, by_task, by_batch, by_all_in_task, as_completed, with_callbacks),
    *(in_thread, in_background),
]


@pytest.mark.parametrize("way", FORMS)
@pytest.mark.parametrize("mode", ["legacy", "adaptive"])
def test_code_is_asked_for_in_the_thread_of_the_caller(way, mode):
    person = Person()
    client, called = stacks_of(person, mode=mode)
    assert way(client, "stack_delete_complete", **STACK).attempts == 1
    assert person.asked == [HERE()]
    assert called == ["AssumeRole"]


@pytest.mark.parametrize("way", FORMS)
def test_code_after_the_deadline_is_late_and_hidden(terminal, way):
    echo = []

    def ask():
        quiet(terminal)
        threading.Event().wait(0.4)
        echo.append(has_echo(terminal))
        quiet(terminal, echo=True)

    client, _ = stacks_of(Person(first=ask))
    with pytest.raises((bwp.WaiterTimeoutError, bwp.WaitersError)):
        way(client, "stack_delete_complete", StackName="web", max_wait=0.3)
    assert echo == [False]


NOBODY = [EOFError(), OSError("reading from stdin while output is captured")]


@pytest.mark.parametrize("error", NOBODY, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("way", [by_method, by_waiter, by_plain_waiter, by_task, by_batch])
def test_without_a_terminal_the_error_says_so_in_one_line(way, error):
    client, called = stacks_of(Person(first=mock.Mock(side_effect=error)))
    with pytest.raises(Exception, match="terminal") as caught:
        way(client, "stack_delete_complete", **STACK)
    assert "\n" not in str(caught.value)
    assert called == []


@pytest.mark.skipif(not hasattr(os, "ctermid"), reason="no terminals like POSIX's here")
@pytest.mark.parametrize(("piped", "is_asked"), [(None, False), ("123456\n", True), ("", True)])
def test_a_pipe_is_not_waited_for(monkeypatch, piped, is_asked):
    reader, writer = map(os.fdopen, os.pipe(), "rw")
    monkeypatch.setattr("os.ctermid", lambda: "/nowhere")
    monkeypatch.setattr("sys.stdin", reader)
    monkeypatch.setattr("getpass.getpass", person := Person(first=reader.readline))
    client, called = stacks_of(person)
    with reader, writer:
        if piped is not None:
            writer.write(piped)
            writer.close()
        if is_asked:
            assert client.wait_until_stack_delete_complete(**STACK).attempts == 1
        else:
            with pytest.raises(bwp.WaiterFailedError, match="terminal"):
                client.wait_until_stack_delete_complete(**STACK)
    assert len(person.asked) == len(called) == is_asked


def test_other_calls_of_the_client_are_left_alone():
    client, _ = stacks_of(Person(first=mock.Mock(side_effect=EOFError)))
    credentials.ask_for_codes(client)
    with pytest.raises(EOFError):
        client.describe_stacks()


INTERRUPTED = [by_method, by_waiter, by_batch, as_completed, with_callbacks]
OF_PROMPTERS = [LookupError, FileNotFoundError, TimeoutError, ConnectionError, ValueError]
AT_THE_PROMPT = [
    *((way, KeyboardInterrupt(), False) for way in INTERRUPTED),
    *((by_method, kind("no code"), False) for kind in OF_PROMPTERS),
    *((by_method, kind("rang"), True) for kind in (TimeoutError, OSError)),
]


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no SIGUSR1 here")
@pytest.mark.parametrize(("way", "error", "by_signal"), AT_THE_PROMPT)
def test_what_is_raised_at_the_prompt_is_the_callers(way, error, by_signal):
    def ring(*_):
        raise error

    first = alarm if by_signal else mock.Mock(side_effect=error)
    client, called = stacks_of(Person(first=first))
    with handled(ring), pytest.raises(type(error)) as caught:
        way(client, "stack_delete_complete", **STACK)
    assert caught.value is error
    assert called == []


def test_signal_asks_when_it_is_made():
    session, called = session_with(person := Person())
    with SqsSignal("https://queue", client=session.client("sqs")):
        assert person.asked == [HERE()]
        assert called == ["AssumeRole"]


def test_code_that_is_needed_later_cannot_be_asked_for_in_the_background():
    person = Person()
    client, called = stacks_of(person)
    with mock.patch("boto_waiters_plus.operations.in_memory.refresh_what_asks"):
        operation = operations.start(client, "stack_delete_complete", **STACK)
    with pytest.raises(bwp.WaiterFailedError, match="background"):
        operation.result()
    assert (person.asked, called) == ([], [])
