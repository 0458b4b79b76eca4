"""The table of wire faults: what the server does, and how a call or a wait may end in it.

`run_fault` sets one up and gives the client and the call, `FORMS` are the ways to make it. The
tests and `bench/faults.py` both go by this table, `tests/cases/faults.json`.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from faults import server as servers
from faults.server import BEFORE_HEADERS, BODY, HEADERS, FaultServer, answer, drip, hang, slow_names

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.budget import CallEnded

MODES = ("legacy", "standard", "adaptive")
ABANDONED, ANSWER = "abandoned", "answer"

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


def error(protocol, status, code):
    """An error answer in the words of a protocol."""
    text = f"<Error><Code>{code}</Code><Message>not today</Message></Error>"
    if protocol == "json":
        text = json.dumps({"__type": f"com.amazonaws#{code}", "message": "not today"})
    elif protocol == "query":
        text = f"<ErrorResponse>{text}</ErrorResponse>"
    return answer(status, text.encode())


# --- the table ---------------------------------------------------------------------------------

BEHAVIOURS = {
    "healthy": answer(body=TABLE),
    **{f"slow, {each}": answer(body=HEALTHY[each], after=0.3) for each in HEALTHY},
    "hang before headers": hang(BEFORE_HEADERS),
    "hang between headers": hang(HEADERS),
    "hang mid-body": hang(BODY),
    "headers drip": drip(HEADERS),
    "body drips": drip(BODY),
    "body drips, Connection: close": drip(BODY, close=True),
    "reset": servers.reset,
    "reset mid-body": servers.reset_in_body,
    "close": servers.close,
    "truncated JSON": servers.truncate(TABLE),
    "truncated XML": servers.truncate(CHANGE),
    "malformed JSON": answer(body=b"{]"),
    "malformed XML": answer(body=b"<a"),
    "members of other types": answer(body=b'{"Table": "text"}'),
    "deep JSON": answer(body=DEEP),
    "empty body": answer(body=b""),
    "redirect": answer(301),
    "not HTTP": servers.saying(b"220 mail ready\r\n", servers.close),
    "ServiceUnavailable": error("json", 503, "ServiceUnavailable"),
    "SlowDown": error("xml", 503, "SlowDown"),
    "ThrottlingException": error("json", 400, "ThrottlingException"),
    "Throttling": error("query", 400, "Throttling"),
    "ExpiredToken": error("query", 403, "ExpiredToken"),
    "silence": servers.silent_handshake,
    "dripping hello": servers.dripping_handshake,
    "plain answer": servers.plain_answer,
}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that can go wrong on the wire.

    Attributes:
        endings: how a call with half a second may end: an error's class or code, or one of
            `ABANDONED` and `ANSWER`. Whether a retry of the SDK still fits depends on its draw
            and on the mode; where a recursion is noticed is a matter of a frame or two.
        warm: the client has been used before, and holds an idle connection.
        place: server, black hole, many black holes, slow name, no name, refusing, refusing at
            first, untrusted, proxy, credentials or throttled.
        also: how it is tried besides.
    """

    name: str
    script: Sequence[Any]
    endings: frozenset[str]
    handshake: Any = None
    protocol: str = "json"
    tls: bool = False
    warm: bool = False
    place: str = "server"
    modes: Sequence[str] = MODES
    note: str = ""
    also: Sequence[str] = ()

    def __str__(self):
        return self.name


def _fault(*, script=("healthy",), endings, handshake=None, **members):
    return Fault(
        script=[BEHAVIOURS[name] for name in script],
        endings=frozenset(endings),
        handshake=handshake and BEHAVIOURS[handshake],
        **members,
    )


_CASES = Path(__file__).parents[1] / "cases" / "faults.json"
FAULTS = [_fault(**row) for row in json.loads(_CASES.read_text("utf-8"))]


@dataclass(frozen=True)
class Running:
    """A fault that is set up; `call()` calls the operation once, and returns the response."""

    client: Any
    call: Callable[[], Any]
    server: FaultServer | None


class Certificate:
    """A self-signed certificate of 127.0.0.1 and localhost, for one run.

    Args:
        folder: where its files go.
    """

    def __init__(self, folder):
        from cryptography import x509  # noqa: PLC0415 - only TLS needs it
        from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
        from cryptography.x509.oid import NameOID  # noqa: PLC0415

        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fault server of a test")])
        now, day = dt.datetime.now(dt.timezone.utc), dt.timedelta(days=1)
        hosts = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
        number, times = x509.random_serial_number(), (now - day, now + day)
        builder = x509.CertificateBuilder(name, name, key.public_key(), number, *times)
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        authority = x509.BasicConstraints(ca=True, path_length=None)
        certificate = builder.add_extension(authority, critical=True).sign(key, hashes.SHA256())
        pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
        self.path, key_path = folder / "certificate.pem", folder / "key.pem"
        self.path.write_bytes(certificate.public_bytes(pem))
        key_path.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.path, key_path)


@contextlib.contextmanager
def run_fault(fault, mode, certificate=None, *, host=None, **config):
    """Set a fault up; gives what is `Running`.

    Args:
        fault: of `FAULTS`.
        mode: the retry mode of the client.
        certificate: for those over TLS.
        host: the name that the client calls the server by, instead of its address.
        config: more for the client's `Config`.
    """
    with contextlib.ExitStack() as stack:
        url, server, of_place = _place_of(fault, stack, certificate)
        if fault.place == "throttled":
            config = {"retries": {"mode": mode, "total_max_attempts": 1}, **config}
        # The bundle of all authorities takes a while to load, and longer on a busy machine.
        is_tls = fault.tls or fault.handshake is not None
        is_trusted = is_tls and fault.place != "untrusted"
        with_certificate = certificate.path if is_trusted and certificate else None
        url = url if host is None else url.replace("127.0.0.1", host)
        client = make_client(fault.protocol, url, mode, with_certificate, **config, **of_place)
        stack.callback(client.close)
        call = operation(client)
        if fault.place == "refusing at first":
            client.meta.events.register("needs-retry.*.*", lambda **_: server.up())
        for _ in range(2 if fault.place == "throttled" else fault.warm):
            with contextlib.suppress(ClientError):
                call()
        yield Running(client, call, server)


def _place_of(fault, stack, certificate):
    """The URL that is called, the server that may be asked, and more for the client."""
    enter = stack.enter_context
    match fault.place:
        case "black hole":
            return enter(servers.BlackHole()).url, None, {}
        case "many black holes":
            enter(slow_names(0, addresses=["127.0.0.1"] * 8))
            return _by_slow_name(enter(servers.BlackHole())), None, {}
        case "slow name":
            enter(slow_names(1.5))
            return _by_slow_name(enter(FaultServer(fault.script))), None, {}
        case "no name":
            enter(slow_names(0, addresses=[]))
            return "http://slow.test:9", None, {}
        case "refusing" | "refusing at first":
            server = enter(servers.Refusing(fault.script))
            return server.url, server, {}
        case "proxy":
            server = enter(FaultServer(fault.script))
            return "https://behind.test", server, {"proxies": {"https": server.url}}
        case "credentials":
            source = enter(FaultServer([answer(body=_container_keys()), hang(BEFORE_HEADERS)]))
            environment = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{source.url}/credentials"}
            names = ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")
            enter(mock.patch.dict(os.environ, environment | dict.fromkeys(names, os.devnull)))
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
                os.environ.pop(name, None)
    tls = certificate.context if fault.tls and certificate else None
    server = enter(FaultServer(fault.script, tls=tls, handshake=fault.handshake))
    return server.url, server, {"keys": {}} if fault.place == "credentials" else {}


def _by_slow_name(server):
    return server.url.replace("127.0.0.1", "slow.test")


def _container_keys():
    """Return credentials of a container that run out in a minute."""
    expiry = dt.datetime.now(dt.timezone.utc) + dt.timedelta(minutes=1)
    names = ("AccessKeyId", "SecretAccessKey", "Token")
    keys = {**dict.fromkeys(names, "testing"), "Expiration": f"{expiry:%Y-%m-%dT%H:%M:%SZ}"}
    return json.dumps(keys).encode()


# --- clients -----------------------------------------------------------------------------------

KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
SERVICES = {"json": "dynamodb", "xml": "route53", "query": "cloudformation", "head": "s3"}
READS = {
    "dynamodb": ("describe_table", "table_exists", {"TableName": "table"}),
    "route53": ("get_change", "resource_record_sets_changed", {"Id": "C1"}),
    "cloudformation": ("describe_stacks", "stack_create_complete", {"StackName": "stack"}),
    "s3": ("head_bucket", "bucket_exists", {"Bucket": "bucket"}),
}
"""Of each service a method that reads, a waiter on it, and their parameters."""


def make_client(protocol, url, mode=None, certificate=None, *, keys=KEYS, **config):
    """A client of a service that speaks the protocol.

    Of one session for all that are given keys: the models are read once.
    """
    config = Config(**{**({"retries": {"mode": mode}} if mode else {}), **config})
    verify = None if certificate is None else str(certificate)
    given = {"region_name": "us-east-1", "endpoint_url": url, "verify": verify, "config": config}
    return (_session() if keys else boto3.Session()).client(SERVICES[protocol], **given, **keys)


@functools.cache
def _session():
    return boto3.Session()


def operation(client):
    """A read operation of the client."""
    name, _, parameters = READS[client.meta.service_model.service_name]
    return lambda: getattr(client, name)(**parameters)


def waiter_of(client):
    """A waiter on that operation, by the names of `wait_until_*` and `get_waiter`."""
    return READS[client.meta.service_model.service_name][1:]


# --- the forms ---------------------------------------------------------------------------------


def wait_until(client, **options):
    """Wait on the read operation of a client, in one of five forms."""
    name, parameters = waiter_of(client)
    return bwp.wait_until(client, name, **options, **parameters)


def get_waiter(client, **options):
    name, parameters = waiter_of(client)
    return bwp.enable(client).get_waiter(name).wait(**options, **parameters)


def in_a_task(client, **options):
    name, parameters = waiter_of(client)
    return asyncio.run(bwp.wait_until_async(client, name, **options, **parameters))


def in_a_batch(client, **options):
    wait = bwp.Wait(client, *waiter_of(client), **options)
    return _result(bwp.wait_all([wait], on_failure="collect"))


def in_a_batch_of_tasks(client, **options):
    waits = [bwp.Wait(client, *waiter_of(client), **options)]
    return _result(asyncio.run(bwp.wait_all_async(waits, on_failure="collect")))


def _result(outcomes):
    (outcome,) = outcomes
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


WAITS = (wait_until, get_waiter, in_a_task, in_a_batch, in_a_batch_of_tasks)


def by_call(running, seconds, **options):
    return bounded_call(running.call, client=running.client, seconds=seconds, **options)


def by_wait(wait, running, seconds):
    return wait(running.client, max_wait=seconds, max_attempts=1)


Form = Callable[[Running, float], Any]
FORMS: dict[str, Form] = {
    "call": by_call,
    "thread": functools.partial(by_call, in_thread=True),
    **{wait.__name__: functools.partial(by_wait, wait) for wait in WAITS},
}
"""One attempt each."""


def ending_of(raised):
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


def retry_quota(client):
    """What is left of the retry quota of a client in standard or adaptive mode; None: no quota."""
    service = client.meta.service_model.service_id.hyphenize()
    handlers = getattr(client.meta.events, "_emitter", client.meta.events)._handlers
    for handler in handlers.prefix_search(f"needs-retry.{service}.X"):
        quota = getattr(getattr(handler, "__self__", None), "_retry_quota", None)
        if quota is not None:
            return int(quota._quota.available_capacity)
    return None
