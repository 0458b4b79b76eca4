"""A service that keeps tokens, in front of it a wire that loses requests and replies.

`Wire` answers botocore's event `before-send` in the process, so that requests are serialized,
signed and parsed as ever. `serving` answers on a loopback port.
"""

import contextlib
import http.server
import random
import threading
from urllib.parse import parse_qs

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError

NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"


class TokenService:
    """RunInstances, TerminateInstances and DescribeInstances for one caller."""

    def __init__(self):
        self.forget()

    def forget(self):
        """Forget all instances and tokens."""
        self.instances, self._requests = {}, {}

    def answer(self, request):
        """Return status and body of the response to a request."""
        action = request.pop("Action")
        for name in ("Version", "InstanceId.1"):
            value = request.pop(name, None)
        match action:
            case "DescribeInstances":
                items = "".join(self._item(each) for each in [value] if each in self.instances)
                items = f"<item><instancesSet>{items}</instancesSet></item>"
                return 200, _xml(action, "reservationSet", items)
            case "TerminateInstances":
                self.instances[value]["state"] = "terminated"
                return 200, _xml(action, "instancesSet", "")
        token = request.pop("ClientToken")
        if token not in self._requests:
            self.instances[f"i-{len(self.instances) + 1}"] = {"token": token, "state": "pending"}
            self._requests[token] = request
        if self._requests[token] != request:
            return _error(400, "IdempotentParameterMismatch")
        (name,) = (key for key, each in self.instances.items() if each["token"] == token)
        return 200, _xml(action, "instancesSet", self._item(name))

    def _item(self, name):
        instance = self.instances[name]
        return (
            f"<item><instanceId>{name}</instanceId><clientToken>{instance['token']}</clientToken>"
            f"<instanceState><name>{instance['state']}</name></instanceState></item>"
        )


def _xml(operation, member, items):
    name = f"{operation}Response"
    return f'<{name} xmlns="{NAMESPACE}"><{member}>{items}</{member}></{name}>'


def _error(status, code):
    error = f"<Error><Code>{code}</Code><Message>no</Message></Error>"
    return status, f"<Response><Errors>{error}</Errors><RequestID>r</RequestID></Response>"


# Each fault by what the client gets: an error of the transport, a response of another status, or
# None: the response, cut off.
EXECUTED = {
    "reply lost": ReadTimeoutError,
    "reply cut": None,
    "error after": _error(500, "InternalError"),
    "connection closed after": ConnectionClosedError,
    # The request arrives when the client has given up, before whatever is sent next.
    "delayed": ReadTimeoutError,
}
NOT_EXECUTED = {
    "refused": EndpointConnectionError,
    "request lost": ConnectionClosedError,
    "crash": _error(500, "InternalError"),
    "unavailable": _error(503, "Unavailable"),
    "throttled": _error(503, "RequestLimitExceeded"),
}
FAULTS = {**EXECUTED, **NOT_EXECUTED}


class Wire:
    """What lies between a client and the service.

    Args:
        service: the service.
        faults: of the first RunInstances requests, one each; the others arrive.
    """

    def __init__(self, service, faults=()):
        self.tokens = []
        self._service, self._faults, self._delayed = service, list(faults), []

    def connect(self, client):
        """Answer the requests of a client."""
        disconnect(client)
        client.meta.events.register("before-send.ec2", self._answer, unique_id="wire")

    def _answer(self, request, **_):
        body = {name: value for name, [value] in parse_qs(request.body).items()}
        for late in self._delayed:
            self._service.answer(late)
        self._delayed, fault = [], None
        if body["Action"] == "RunInstances":
            self.tokens.append(body["ClientToken"])
            fault = self._faults.pop(0) if self._faults else None
        if fault == "delayed":
            self._delayed.append(body)
        elif fault not in NOT_EXECUTED:
            status, text = self._service.answer(body)
        match FAULTS.get(fault):
            case type() as kind:
                raise kind(endpoint_url=request.url)
            case (status, text):
                pass
            case None if fault:
                text = text[: len(text) // 2]
        return AWSResponse(request.url, status, {}, _Raw(text.encode()))


def disconnect(client):
    """Let requests of a client go where they went before."""
    client.meta.events.unregister("before-send.ec2", unique_id="wire")


def schedule(seed):
    """Return the faults of a seed; at least one request is executed without an answer."""
    chance = random.Random(seed)
    faults = [chance.choice([*FAULTS]) for _ in range(chance.randrange(4))]
    faults.insert(chance.randrange(len(faults) + 1), chance.choice([*EXECUTED]))
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
    `("late", 0)` lets it arrive after the client gave up, and `("reply", part)` returns this part
    of the reply.
    """
    kept, late = TokenService(), []
    kept.actions, kept.cuts, kept.may_answer = [], [], threading.Event()
    kept.may_answer.set()

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
            if kind == "reply":
                status, text = kept.answer(request)
                length = f"Connection: close\r\nContent-Length: {len(text)}"
                reply = f"HTTP/1.1 {status} .\r\n{length}\r\n\r\n{text}".encode()
                self.wfile.write(reply[: int(part * len(reply))])

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        kept.url = f"http://127.0.0.1:{server.server_port}"
        yield kept
        server.shutdown()
        thread.join()
