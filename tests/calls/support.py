"""What the tests of calls share."""

import contextlib
import signal
import threading

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from faults import support
from faults.support import own_threads

from boto_waiters_plus.calls.awaited_call import await_within
from boto_waiters_plus.calls.budget import AwaitedBudget, CallEnded, current_budget

NOWHERE = "http://127.0.0.1:9"


def make_client(
    service="dynamodb", *, url=NOWHERE, mode="standard", attempts=2, session=None, **config
):
    """A client of an endpoint that never answers; `attempts` may be None."""
    retries = {"mode": mode} if attempts is None else {"mode": mode, "total_max_attempts": attempts}
    config = Config(retries=retries, **config)
    session = boto3.session.Session(botocore_session=session)
    return session.client(service, endpoint_url=url, verify=False, config=config)


def answered(request, status, body, headers=None):
    """The response to a request."""
    response = AWSResponse(request.url, status, headers or {}, None)
    response._content = body
    return response


def respond(client, *answers):
    """Answer the requests of a client, which are sent nowhere; return them.

    Args:
        answers: the status, the body and the headers of each, or what is raised; the last stays.
    """
    sent = []

    def answer(request, **_):
        one = answers[min(len(sent), len(answers) - 1)]
        sent.append(request)
        if isinstance(one, Exception):
            raise one
        return answered(request, *one)

    client.meta.events.register("before-send", answer)
    return sent


def answered_client(*answers, **options):
    """A client whose requests are answered so, and these requests."""
    client = make_client(**options)
    return client, respond(client, *answers)


async def awaited_call(call, *, client, seconds, cancel_event=None):
    """Await a call in so many seconds."""
    return await await_within(AwaitedBudget(seconds), call, client=client, cancel=cancel_event)


@contextlib.contextmanager
def ended(reason):
    """Expect that a call is ended for this reason."""
    with pytest.raises(CallEnded) as caught:
        yield caught
    assert caught.value.reason == reason


def handled(handler):
    """Let SIGUSR1 be handled so."""
    return support.handled(handler, signal.SIGUSR1)


def alarm():
    signal.raise_signal(signal.SIGUSR1)


def until_cut():
    """Return once the call of this thread is cut off, which takes real time."""
    while current_budget().reason is None:
        threading.Event().wait(0.002)


def join_own_threads(*but):
    """Wait until the package's threads have ended, each when it is idle, but those of this name."""
    for thread in own_threads(*but):
        thread.join(60)
    assert own_threads(*but) == []


def join_call_threads():
    """Wait until the calls that were abandoned have ended."""
    join_own_threads("watchdog")
