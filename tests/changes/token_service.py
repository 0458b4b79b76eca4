"""A service that keeps tokens, in front of it a wire that loses requests and replies.

`Wire` answers botocore's event `before-send` in the process, so that requests are serialized,
signed and parsed as ever. `serving` answers on a loopback port.
"""

import contextlib
import copy
import http.server
import random
import threading
from urllib.parse import parse_qs

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError

NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"


class CrashError(Exception):
    """The service broke down within a transaction."""


class TokenService:
    """RunInstances, TerminateInstances and DescribeInstances for one caller."""

    def __init__(self):
        self.crash = False
        self.forget()

    def forget(self):
        """Forget all instances and tokens."""
        self.instances = {}
        self._tokens = {}

    @contextlib.contextmanager
    def _transaction(self):
        """All of it happens, or nothing."""
        before = copy.deepcopy((self.instances, self._tokens))
        try:
            yield
        except CrashError:
            self.instances, self._tokens = before
            raise

    def answer(self, request):
        """Return status and body of the response to a request."""
        action = request.pop("Action")
        for name in ("Version", "InstanceId.1"):
            value = request.pop(name, None)
        if action == "DescribeInstances":
            items = "".join(self._item(each) for each in [value] if each in self.instances)
            return 200, _xml("DescribeInstances", "reservationSet", _in_reservation(items))
        if action == "TerminateInstances":
            self.instances[value]["state"] = "terminated"
            return 200, _xml(action, "instancesSet", "")
        try:
            return self._run(request)
        except CrashError:
            self.crash = False
            return _error(500, "InternalError")

    def _run(self, request):
        token = request.pop("ClientToken")
        known = self._tokens.get(token)
        if known is not None:
            if known["request"] != request:
                return _error(400, "IdempotentParameterMismatch")
            return 200, _xml("RunInstances", "instancesSet", self._item(known["id"]))
        with self._transaction():
            name = f"i-{len(self.instances) + 1}"
            self._tokens[token] = {"id": name, "request": request}
            if self.crash:
                raise CrashError
            self.instances[name] = {"token": token, "state": "pending"}
        return 200, _xml("RunInstances", "instancesSet", self._item(name))

    def set_state(self, state):
        """Another actor changes all instances."""
        for instance in self.instances.values():
            instance["state"] = state

    def _item(self, name):
        instance = self.instances[name]
        return (
            f"<item><instanceId>{name}</instanceId><clientToken>{instance['token']}</clientToken>"
            f"<instanceState><name>{instance['state']}</name></instanceState></item>"
        )


def _in_reservation(items):
    return f"<item><instancesSet>{items}</instancesSet></item>"


def _xml(operation, member, items):
    name = f"{operation}Response"
    return f'<{name} xmlns="{NAMESPACE}"><{member}>{items}</{member}></{name}>'


def _error(status, code):
    error = f"<Error><Code>{code}</Code><Message>no</Message></Error>"
    return status, f"<Response><Errors>{error}</Errors><RequestID>r</RequestID></Response>"


EXECUTED = ("reply lost", "reply cut", "error after", "connection closed after", "delayed")
"""Faults after which the request was executed, though the client has no answer."""
NOT_EXECUTED = ("refused", "request lost", "crash", "unavailable", "throttled")
FAULTS = EXECUTED + NOT_EXECUTED


class Wire:
    """What lies between a client and the service.

    Args:
        service: the service.
        faults: of the first RunInstances requests, one each; the others arrive.
    """

    def __init__(self, service, faults=()):
        self.tokens = []
        self._service = service
        self._faults = list(faults)
        self._delayed = []

    def connect(self, client):
        """Answer the requests of a client."""
        disconnect(client)
        client.meta.events.register("before-send.ec2", self._answer, unique_id="wire")

    def _answer(self, request, **_):
        body = {name: value for name, [value] in parse_qs(request.body).items()}
        fault = None
        if body["Action"] == "RunInstances":
            self.tokens.append(body["ClientToken"])
            fault = self._faults.pop(0) if self._faults else None
        status, text = self._send(request.url, body, fault)
        return AWSResponse(request.url, status, {}, _Raw(text.encode()))

    def _send(self, url, body, fault):
        for late in self._delayed:
            self._service.answer(late)
        self._delayed = []
        if fault == "delayed":
            # It arrives when the client has given up, before whatever is sent next.
            self._delayed.append(dict(body))
        self._service.crash = fault == "crash"
        is_sent = fault not in ("delayed", *NOT_EXECUTED) or fault == "crash"
        answer = self._service.answer(body) if is_sent else None
        if fault == "reply cut":
            return 200, answer[1][: len(answer[1]) // 2]
        if fault in _LOST:
            raise _LOST[fault](endpoint_url=url)
        return _ERRORS.get(fault, answer)


_LOST = {
    "refused": EndpointConnectionError,
    "request lost": ConnectionClosedError,
    "delayed": ReadTimeoutError,
    "reply lost": ReadTimeoutError,
    "connection closed after": ConnectionClosedError,
}
_ERRORS = {
    "error after": _error(500, "InternalError"),
    "unavailable": _error(503, "Unavailable"),
    "throttled": _error(503, "RequestLimitExceeded"),
}


def disconnect(client):
    """Let requests of a client go where they went before."""
    client.meta.events.unregister("before-send.ec2", unique_id="wire")


def schedule(seed):
    """Return the faults of a seed; at least one request is executed without an answer."""
    chance = random.Random(seed)
    faults = [chance.choice(FAULTS) for _ in range(chance.randrange(4))]
    faults.insert(chance.randrange(len(faults) + 1), chance.choice(EXECUTED))
    return faults


class _Raw:
    def __init__(self, content):
        self._content = content

    def stream(self, **_):
        yield self._content


# --- on a loopback port -------------------------------------------------------------------------

ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""The environment of a process that calls the service."""


@contextlib.contextmanager
def serving():
    """A service on a loopback port, which outlives its callers and answers while it may.

    Its `cuts` are of the next RunInstances requests, one each: `("lost", 0)` drops the request,
    `("late", 0)` lets it arrive after the client gave up, `("crash", 0)` ends the service within
    its transaction, and `("reply", part)` returns this part of the reply.
    """
    kept = TokenService()
    kept.actions, kept.cuts, kept.may_answer = [], [], threading.Event()
    kept.may_answer.set()
    late = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            request = {name: value for name, [value] in parse_qs(body).items()}
            kept.actions.append(request["Action"])
            kept.may_answer.wait()
            is_cut = kept.cuts and request["Action"] == "RunInstances"
            kind, part = kept.cuts.pop(0) if is_cut else ("reply", 1)
            while late:
                kept.answer(late.pop())
            if kind == "late":
                late.append(request)
            kept.crash = kind == "crash"
            if kind not in ("reply", "crash"):
                return
            status, text = kept.answer(request)
            head = (
                f"HTTP/1.1 {status} .\r\nConnection: close\r\nContent-Length: {len(text)}\r\n\r\n"
            )
            reply = (head + text).encode()
            self.wfile.write(b"" if kind == "crash" else reply[: int(part * len(reply))])

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        kept.url = f"http://127.0.0.1:{server.server_port}"
        yield kept
        server.shutdown()
        thread.join()
