"""The table of wire faults: what the server does, and how a call or a wait may end in it.

`run_fault` sets one up and gives the client and the call, `FORMS` are the ways to make it. The
tests and `bench/faults.py` both go by this table.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import functools
import ipaddress
import json
import os
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from faults.server import (
    BEFORE_HEADERS,
    BODY,
    HEADERS,
    Behaviour,
    BlackHole,
    FaultServer,
    Refusing,
    answer,
    close,
    drip,
    dripping_handshake,
    hang,
    plain_answer,
    raw,
    reset,
    reset_in_body,
    silent_handshake,
    slow_names,
    truncate,
)

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.budget import CallEnded

SERVICES = {"json": "dynamodb", "xml": "route53", "query": "cloudformation", "head": "s3"}
MODES = ("legacy", "standard", "adaptive")

ABANDONED = "abandoned"
ANSWER = "answer"

TABLE = json.dumps({"Table": {"TableName": "table", "TableStatus": "ACTIVE"}}).encode()
STACKS = (
    b"<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>s</StackName>"
    b"<StackStatus>CREATE_COMPLETE</StackStatus></member></Stacks></DescribeStacksResult>"
    b"</DescribeStacksResponse>"
)
CHANGE = (
    b"<GetChangeResponse><ChangeInfo><Id>C1</Id><Status>INSYNC</Status>"
    b"<SubmittedAt>2026-01-01T00:00:00Z</SubmittedAt></ChangeInfo></GetChangeResponse>"
)
HEALTHY = {"json": TABLE, "query": STACKS, "xml": CHANGE, "head": b""}
DEEP = b'{"Table": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def error(protocol: str, status: int, code: str) -> Behaviour:
    """An error answer in the words of a protocol."""
    if protocol == "json":
        body = json.dumps({"__type": f"com.amazonaws#{code}", "message": "not today"}).encode()
    elif protocol == "query":
        body = (
            f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code>"
            f"<Message>not today</Message></Error></ErrorResponse>"
        ).encode()
    else:
        body = f"<Error><Code>{code}</Code><Message>not today</Message></Error>".encode()
    return answer(status, body)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that can go wrong on the wire."""

    name: str
    script: Sequence[Behaviour] = (answer(),)
    endings: frozenset[str] = frozenset({ABANDONED})
    """How a call with half a second may end: an error's class or code, or one of the two above."""
    protocol: str = "json"
    tls: bool = False
    handshake: Behaviour | None = None
    warm: bool = False
    """The client has been used before, and holds an idle connection."""
    place: str = "server"
    """server, black hole, many black holes, slow name, no name, refusing, refusing at first,
    untrusted, proxy, credentials or throttled"""
    modes: Sequence[str] = MODES
    note: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name


def _healthy(protocol: str = "json", *, after: float = 0) -> Behaviour:
    return answer(body=HEALTHY[protocol], after=after)


def _ends(*names: str) -> frozenset[str]:
    return frozenset(names)


# Whether a retry of the SDK still fits into half a second depends on its draw and on the mode.
_CLOSED = _ends(ABANDONED, "ConnectionClosedError")
_ANSWERED = _ends(ANSWER)
_UNREACHABLE = _ends(ABANDONED, "EndpointConnectionError")
_UNTRUSTED = _ends(ABANDONED, "SSLError")
_UNAVAILABLE = error("json", 503, "ServiceUnavailable")
_SILENT, _DRIPPING = [hang(BEFORE_HEADERS)], [drip(BODY)]
# fmt: off
_ERRORS = (
    (503, "ServiceUnavailable", "json"), (503, "SlowDown", "xml"),
    (400, "ThrottlingException", "json"), (400, "Throttling", "query"),
)
FAULTS: Sequence[Fault] = (
    Fault(name="hang before headers", script=_SILENT),
    Fault(name="hang between headers", script=[hang(HEADERS)]),
    Fault(name="hang mid-body", script=[hang(BODY)]),
    Fault(name="hang on a warm connection", script=[_healthy(), *_SILENT], warm=True),
    Fault(name="headers drip", script=[drip(HEADERS)]),
    Fault(name="body drips", script=_DRIPPING),
    Fault(name="body drips, Connection: close", script=[drip(BODY, close=True)]),
    Fault(name="XML body drips", script=_DRIPPING, protocol="xml"),
    Fault(name="TLS hello unanswered", handshake=silent_handshake),
    Fault(name="TLS handshake drips", handshake=dripping_handshake),
    Fault(name="TLS, hang before headers", script=_SILENT, tls=True),
    Fault(name="TLS, hang on a warm connection", script=[_healthy(), hang(BODY)], tls=True,
          warm=True),
    Fault(name="TLS, body drips", script=_DRIPPING, tls=True),
    Fault(name="TLS, body drips, Connection: close", script=[drip(BODY, close=True)], tls=True),
    Fault(name="connect is black-holed", place="black hole"),
    Fault(name="8 addresses are black-holed", place="many black holes"),
    Fault(name="name lookup takes 1.5 s", place="slow name"),
    Fault(name="proxy hangs on CONNECT", script=_SILENT, place="proxy"),
    Fault(name="waiting for the adaptive mode's turn", place="throttled", modes=["adaptive"]),
    Fault(name="refresh of credentials hangs", place="credentials"),
    Fault(name="reset, then hang", script=[reset, *_SILENT], endings=_CLOSED),
    Fault(name="503, then hang", script=[_UNAVAILABLE, *_SILENT],
          endings=_ends(ABANDONED, "ServiceUnavailable")),
    Fault(name="TLS to a plain server", handshake=plain_answer, endings=_UNTRUSTED),
    Fault(name="reset, then healthy", script=[reset, _healthy()],
          endings=_ends(ANSWER, "ConnectionClosedError")),
    Fault(name="reset mid-body, then healthy", script=[reset_in_body, _healthy()],
          endings=_ends(ANSWER, "ConnectionClosedError", "HTTPClientError")),
    Fault(name="reset for ever", script=[reset], endings=_CLOSED),
    Fault(name="reset before TLS", handshake=reset, place="untrusted",
          endings=_CLOSED | _UNREACHABLE),
    Fault(name="closed for ever", script=[close], endings=_CLOSED),
    Fault(name="certificate is not trusted", tls=True, place="untrusted", endings=_UNTRUSTED),
    Fault(name="no such host", place="no name", endings=_UNREACHABLE),
    Fault(name="refused", place="refusing", endings=_UNREACHABLE),
    Fault(name="refused, then up", place="refusing at first", endings=_UNREACHABLE | _ANSWERED),
    Fault(name="JSON body truncated", script=[truncate(TABLE)],
          endings=_ends(ANSWER, "ConnectionClosedError"),
          note="botocore 1.44 gives {} for it, with any deadline or none; 1.34 raises"),
    Fault(name="XML body truncated", script=[truncate(CHANGE)], protocol="xml",
          endings=_ends("ResponseParserError", "ConnectionClosedError")),
    Fault(name="JSON body malformed", script=[answer(body=b"{]")], endings=_ANSWERED,
          note="botocore gives {} for it, with any deadline or none"),
    Fault(name="XML body malformed", script=[answer(body=b"<a")], protocol="xml",
          endings=_ends("ResponseParserError")),
    Fault(name="query body malformed", script=[answer(body=b"<a")], protocol="query",
          endings=_ends("ResponseParserError")),
    Fault(name="JSON body with members of other types", script=[answer(body=b'{"Table": "text"}')],
          endings=_ends(ANSWER, "AttributeError"), note="botocore stumbles over it"),
    Fault(name="JSON body 100,000 deep", script=[answer(body=DEEP)],
          endings=_ends(ANSWER, "RecursionError")),
    Fault(name="empty body", script=[answer(body=b"")], endings=_ANSWERED),
    # Where the recursion is noticed is a matter of a frame or two.
    Fault(name="S3 redirects for ever", script=[answer(301)], protocol="head",
          endings=_ends(ABANDONED, "RecursionError", "HTTPClientError", "301")),
    Fault(name="not HTTP", script=[raw(b"220 mail ready\r\n")], endings=_CLOSED),
    *(Fault(name=f"{code} {status} for ever, {protocol}", script=[error(protocol, status, code)],
            protocol=protocol, endings=_ends(ABANDONED, code))
      for status, code, protocol in _ERRORS),
    Fault(name="503 once, then healthy", script=[_UNAVAILABLE, _healthy()],
          endings=_ends(ANSWER, ABANDONED, "ServiceUnavailable")),
    Fault(name="expired token", script=[error("query", 403, "ExpiredToken")], protocol="query",
          endings=_ends("ExpiredToken")),
    *(Fault(name=f"slow but in time, {protocol}", script=[_healthy(protocol, after=0.3)],
            protocol=protocol, endings=_ANSWERED)
      for protocol in ("json", "xml", "query")),
    Fault(name="healthy", script=[_healthy()], endings=_ANSWERED),
    Fault(name="TLS, healthy", script=[_healthy()], tls=True, endings=_ANSWERED),
)
# fmt: on


@dataclass(frozen=True, kw_only=True)
class Running:
    """A fault that is set up."""

    client: Any
    call: Callable[[], Any]
    """One call of the operation; returns the response."""
    server: FaultServer | None


class Certificate:
    """A self-signed certificate of 127.0.0.1 and localhost, for one run.

    Args:
        folder: where its files go.
    """

    def __init__(self, folder: Path) -> None:
        from cryptography import x509  # noqa: PLC0415 - only TLS needs it
        from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
        from cryptography.x509.oid import NameOID  # noqa: PLC0415

        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fault server of a test")])
        now, day = dt.datetime.now(dt.timezone.utc), dt.timedelta(days=1)
        hosts = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
        builder = x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now - day, now + day
        )
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        pem = serialization.Encoding.PEM
        self.path, key_path = folder / "certificate.pem", folder / "key.pem"
        self.path.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(pem))
        form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        key_path.write_bytes(key.private_bytes(pem, form, plain))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.path, key_path)


@contextlib.contextmanager
def run_fault(
    fault: Fault,
    mode: str,
    certificate: Certificate | None = None,
    *,
    host: str | None = None,
    **config: Any,
) -> Iterator[Running]:
    """Set a fault up.

    Args:
        fault: of `FAULTS`.
        mode: the retry mode of the client.
        certificate: for those over TLS.
        host: the name that the client calls the server by, instead of its address.
        config: more for the client's `Config`.
    """
    with contextlib.ExitStack() as stack:
        place = _place_of(fault, stack, certificate)
        if fault.place == "throttled":
            config = {"retries": {"mode": mode, "total_max_attempts": 1}, **config}
        # The bundle of all authorities takes a while to load, and longer on a busy machine.
        is_tls = fault.tls or fault.handshake is not None
        is_trusted = is_tls and fault.place != "untrusted"
        with_certificate = certificate.path if is_trusted and certificate else None
        url = place.url if host is None else place.url.replace("127.0.0.1", host)
        client = make_client(fault.protocol, url, mode, with_certificate, **config, **place.config)
        stack.callback(client.close)
        call = operation(client)
        if place.before_retry is not None:
            client.meta.events.register("needs-retry.*.*", place.before_retry)
        if fault.place == "throttled":
            for _ in range(2):
                with contextlib.suppress(ClientError):
                    call()
        if fault.warm:
            call()
        yield Running(client=client, call=call, server=place.server)


@dataclass(frozen=True, kw_only=True)
class _Place:
    url: str
    server: FaultServer | None = None
    config: dict[str, Any] = field(default_factory=dict)
    before_retry: Callable[..., None] | None = None


def _place_of(  # noqa: C901 - one arm for each place
    fault: Fault, stack: contextlib.ExitStack, certificate: Certificate | None
) -> _Place:
    def served(script: Sequence[Behaviour], **options: Any) -> FaultServer:
        return stack.enter_context(FaultServer(script, **options))

    match fault.place:
        case "black hole":
            return _Place(url=stack.enter_context(BlackHole()).url)
        case "many black holes":
            hole = stack.enter_context(BlackHole())
            stack.enter_context(slow_names(0, addresses=["127.0.0.1"] * 8))
            return _Place(url=f"http://slow.test:{hole.port}")
        case "slow name":
            stack.enter_context(slow_names(1.5))
            return _Place(url=f"http://slow.test:{served([_healthy()]).port}")
        case "no name":
            stack.enter_context(slow_names(0, addresses=[]))
            return _Place(url="http://slow.test:9")
        case "refusing":
            return _Place(url=stack.enter_context(Refusing([_healthy()])).url)
        case "refusing at first":
            refusing = stack.enter_context(Refusing([_healthy()]))
            return _Place(url=refusing.url, before_retry=lambda **_: refusing.up())
        case "proxy":
            server = served(fault.script)
            config = {"proxies": {"https": server.url}}
            return _Place(url="https://behind.test", server=server, config=config)
        case "throttled":
            throttle = error("json", 400, "ThrottlingException")
            server = served([throttle, throttle, _healthy()])
        case "credentials":
            source = served([answer(body=_container_keys()), hang(BEFORE_HEADERS)])
            environment = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{source.url}/credentials"}
            environment |= dict.fromkeys(_CONFIGURATION, os.devnull)
            stack.enter_context(mock.patch.dict(os.environ, environment))
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
                os.environ.pop(name, None)
            server = served([_healthy()])
            return _Place(url=server.url, server=server, config={"keys": {}})
        case _:
            tls = certificate.context if fault.tls and certificate else None
            server = served(fault.script, tls=tls, handshake=fault.handshake)
    return _Place(url=server.url, server=server)


_CONFIGURATION = ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")


def _container_keys() -> bytes:
    """Return credentials of a container that run out in a minute."""
    expiry = dt.datetime.now(dt.timezone.utc) + dt.timedelta(minutes=1)
    names = ("AccessKeyId", "SecretAccessKey", "Token")
    keys = {**dict.fromkeys(names, "testing"), "Expiration": f"{expiry:%Y-%m-%dT%H:%M:%SZ}"}
    return json.dumps(keys).encode()


KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}


def make_client(
    protocol: str,
    url: str,
    mode: str | None = None,
    certificate: Path | None = None,
    *,
    keys: dict[str, str] = KEYS,
    **config: Any,
) -> Any:
    """A client of a service that speaks the protocol.

    Of one session for all that are given keys: the models are read once.
    """
    service = SERVICES[protocol]
    retries: dict[str, Any] = {"retries": {"mode": mode}} if mode else {}
    session = _session() if keys else boto3.Session()
    return session.client(
        service,
        region_name="us-east-1",
        endpoint_url=url,
        **keys,
        verify=None if certificate is None else str(certificate),
        config=Config(**{**retries, **config}),
    )


@functools.cache
def _session() -> boto3.Session:
    return boto3.Session()


def operation(client: Any) -> Callable[[], Any]:
    """A read operation of the client."""
    name, parameters = {
        "dynamodb": ("describe_table", {"TableName": "table"}),
        "route53": ("get_change", {"Id": "C1"}),
        "cloudformation": ("describe_stacks", {"StackName": "stack"}),
        "s3": ("head_bucket", {"Bucket": "bucket"}),
    }[client.meta.service_model.service_name]
    return lambda: getattr(client, name)(**parameters)


def waiter_of(client: Any) -> tuple[str, dict[str, str]]:
    """A waiter on that operation, by the names of `wait_until_*` and `get_waiter`."""
    return {
        "dynamodb": ("table_exists", {"TableName": "table"}),
        "route53": ("resource_record_sets_changed", {"Id": "C1"}),
        "cloudformation": ("stack_create_complete", {"StackName": "stack"}),
        "s3": ("bucket_exists", {"Bucket": "bucket"}),
    }[client.meta.service_model.service_name]


# --- the forms ---------------------------------------------------------------------------------


def wait_until(client: Any, **options: Any) -> Any:
    """Wait on the read operation of a client, in one of five forms."""
    name, parameters = waiter_of(client)
    return bwp.wait_until(client, name, **options, **parameters)


def get_waiter(client: Any, **options: Any) -> Any:
    name, parameters = waiter_of(client)
    return bwp.enable(client).get_waiter(name).wait(**options, **parameters)


def in_a_task(client: Any, **options: Any) -> Any:
    name, parameters = waiter_of(client)
    return asyncio.run(bwp.wait_until_async(client, name, **options, **parameters))


def in_a_batch(client: Any, **options: Any) -> Any:
    return _result(bwp.wait_all([_wait(client, options)], on_failure="collect"))


def in_a_batch_of_tasks(client: Any, **options: Any) -> Any:
    waits = [_wait(client, options)]
    return _result(asyncio.run(bwp.wait_all_async(waits, on_failure="collect")))


def _wait(client: Any, options: dict[str, Any]) -> Any:
    return bwp.Wait(client, *waiter_of(client), **options)


def _result(outcomes: list[Any]) -> Any:
    (outcome,) = outcomes
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


WAITS = (wait_until, get_waiter, in_a_task, in_a_batch, in_a_batch_of_tasks)


def by_call(running: Running, seconds: float, **options: Any) -> Any:
    return bounded_call(running.call, client=running.client, seconds=seconds, **options)


def by_wait(wait: Callable[..., Any], running: Running, seconds: float) -> Any:
    return wait(running.client, max_wait=seconds, max_attempts=1)


Form = Callable[[Running, float], Any]
FORMS: dict[str, Form] = {
    "call": by_call,
    "thread": functools.partial(by_call, in_thread=True),
    **{wait.__name__: functools.partial(by_wait, wait) for wait in WAITS},
}
"""One attempt each."""


def ending_of(raised: BaseException | None) -> str:
    """How a call or a wait ended, by what it raised, in the words of the table."""
    match raised:
        case None:
            return ANSWER
        case ClientError(response={"Error": {"Code": code}}):
            return str(code)
        case CallEnded(reason="retry refused"):
            return ending_of(raised.__cause__)
        case CallEnded() | bwp.WaiterTimeoutError():
            return ABANDONED
        case bwp.WaiterError(last_exception=BaseException() as error):
            return ending_of(error)
        case bwp.WaiterError(last_response={"Error": {"Code": code}}):
            return str(code)
        case bwp.WaiterError():
            # The one attempt decided nothing: no acceptor matched, or a retry was refused.
            return ANSWER if raised.last_response else ABANDONED
    return type(raised).__name__


def retry_quota(client: Any) -> int | None:
    """What is left of the retry quota of a client in standard or adaptive mode; None: no quota."""
    service = client.meta.service_model.service_id.hyphenize()
    emitter = client.meta.events
    handlers = getattr(emitter, "_emitter", emitter)._handlers
    for handler in handlers.prefix_search(f"needs-retry.{service}.X"):
        quota = getattr(getattr(handler, "__self__", None), "_retry_quota", None)
        if quota is not None:
            return int(quota._quota.available_capacity)
    return None
