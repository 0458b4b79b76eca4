"""A service that keeps tokens, in front of it a wire that loses requests and replies.

Both are in the process: they answer botocore's event `before-send`, so that requests are
serialized, signed and parsed as ever. Time is virtual.
"""

import contextlib
import copy
import random
from urllib.parse import parse_qs

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError

NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"


class CrashError(Exception):
    """The service broke down within a transaction."""


class TokenService:
    """RunInstances, TerminateInstances and DescribeInstances for one caller.

    Args:
        clock: has `now`.
        keep_tokens_for: the seconds for which a token outlives its instance.
    """

    def __init__(self, clock, keep_tokens_for=3600):
        self.instances = {}
        self.crash = False
        self._tokens = {}
        self._clock = clock
        self._keep_tokens_for = keep_tokens_for

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
        if action == "TerminateInstances":
            self.terminate(value)
            return 200, "<TerminateInstancesResponse/>"
        if action == "DescribeInstances":
            items = "".join(self._item(each) for each in [value] if each in self.instances)
            return 200, _xml("DescribeInstances", "reservationSet", _in_reservation(items))
        try:
            return self._run(request)
        except CrashError:
            self.crash = False
            return _error(500, "InternalError")

    def _run(self, request):
        token = request.pop("ClientToken")
        known = self._tokens.get(token)
        if known is not None and not self._is_forgotten(known["id"]):
            if known["request"] != request:
                return _error(400, "IdempotentParameterMismatch")
            return 200, _xml("RunInstances", "instancesSet", self._item(known["id"]))
        with self._transaction():
            name = f"i-{len(self.instances) + 1}"
            self._tokens[token] = {"id": name, "request": request}
            if self.crash:
                raise CrashError
            self.instances[name] = {"token": token, "state": "pending", "gone": None}
        return 200, _xml("RunInstances", "instancesSet", self._item(name))

    def terminate(self, name):
        """Another actor deletes an instance."""
        self.instances[name] |= {"state": "terminated", "gone": self._clock.now}

    def boot(self):
        """Let every instance that was not deleted run."""
        for instance in self.instances.values():
            if instance["state"] == "pending":
                instance["state"] = "running"

    def _is_forgotten(self, name):
        gone = self.instances[name]["gone"]
        return gone is not None and self._clock.now - gone > self._keep_tokens_for

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
