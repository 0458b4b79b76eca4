"""With `install()` active, botocore and boto3 do what their own tests hold.

The distribution of boto3 carries no tests; those of botocore are run by `tools/peer_suites.py`.
"""

import copy
import inspect
import pickle
import pydoc
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore.session
import pytest
from boto3.docs.service import ServiceDocumenter
from botocore.awsrequest import AWSResponse
from botocore.client import BaseClient
from botocore.waiter import Waiter

import boto_waiters_plus as bwp


def s3():
    return boto3.session.Session().client("s3")


def waiter():
    return s3().get_waiter("bucket_exists")


def resource():
    return boto3.session.Session().resource("s3").Bucket("b")


def documentation_from_a_client_in_use():
    """The page of a service, and every file beside it; its waiters were looked up before."""
    session = boto3.session.Session()
    client = session.client("sqs")
    session.client = lambda *_, **__: client
    getattr(client, "wait_until_no_such_thing", None)
    dir(client)
    client.waiter_names  # noqa: B018 - a lookup that is cached
    with tempfile.TemporaryDirectory() as folder:
        page = ServiceDocumenter("sqs", session, folder).document_service()
        files = sorted(Path(folder).rglob("*.rst"))
        return [page, *((str(path.relative_to(folder)), path.read_bytes()) for path in files)]


def botocores_part(text):
    """Return the documentation of a waiter's `wait` without what it takes and returns with ours."""
    return "Polls " + text.partition("Polls ")[2].partition(":returns:")[0].rstrip()


def described(function):
    """What editors read of a function."""
    return [
        str(inspect.signature(function)),
        str(inspect.get_annotations(function)),
        *(function.__name__, function.__qualname__, function.__module__),
    ]


def functions():
    of_class = botocore.session.Session.create_client, Waiter.wait
    return s3().get_waiter, waiter().wait, resource().wait_until_exists, *of_class


def help_on(thing):
    return pydoc.plain(pydoc.render_doc(thing))


def wait_for_bucket(client):
    client.get_waiter("bucket_exists").wait(Bucket="b")


def events_of(call):
    """The names of the events that a call emits, in order; the service answers 200."""
    client, names = s3(), []

    def answer(request, **_):
        return AWSResponse(request.url, 200, {}, mock.Mock(stream=lambda: iter([b""])))

    for prefix in ("provide", "before", "choose", "request", "needs", "response", "after"):
        client.meta.events.register_last(prefix, lambda event_name, **_: names.append(event_name))
    client.meta.events.register("before-send", answer)
    call(client)
    return names


def error_of(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error).partition(" (service: ")[0]
    return None


def errors_of_bad_arguments():
    found = [error_of(partial(waiter().wait, **each)) for each in ({}, {"Bukket": "b"})]
    by_hand = Waiter("built", None, None)
    return found + [error_of(partial(each.wait, "positional")) for each in (waiter(), by_hand)]


def answered(client):
    """The names of the calls that a client makes; they succeed."""
    calls = []

    def before_call(model, **_):
        calls.append(model.name)
        return SimpleNamespace(status_code=200), {"ResponseMetadata": {"HTTPStatusCode": 200}}

    client.meta.events.register("before-call", before_call)
    return calls


def wait_inside_a_call():
    """A waiter that an event handler starts, inside another call of the same client."""
    client = s3()
    calls, wait = answered(client), partial(client.get_waiter("bucket_exists").wait, Bucket="b")
    ended = []
    client.meta.events.register(
        "after-call.s3.ListBuckets", lambda **_: ended.append(error_of(wait))
    )
    client.list_buckets()
    return [calls, ended]


def facts_of_a_waiter():
    one = waiter()
    members = "state", "matcher", "argument", "expected", "explanation"
    acceptors = [[getattr(a, member) for member in members] for a in one.config.acceptors]
    names = "delay", "max_attempts", "operation", "description"
    facts = [getattr(one.config, name) for name in names]
    return [type(one).__name__, type(one).__module__, one.name, *facts, acceptors]


def facts_of_a_client():
    client = s3()
    of_class = type(client).__name__, type(client).__module__, type(client).__doc__
    attributes = sorted(name for name in vars(client) if name != "waiter_names")
    names = [name for name in public(client) if not name.startswith("wait_until_")]
    return [of_class, attributes, names]


def copies_and_pickles():
    client = s3()
    things = client, client.get_waiter("bucket_exists")
    actions = copy.copy, copy.deepcopy, pickle.dumps
    errors = [error_of(lambda a=act, t=thing: a(t)) for act in actions for thing in things]
    return [error and error[0] for error in errors]


def public(thing):
    return [name for name in dir(thing) if not name.startswith("_")]


def attributes_of_all_resources():
    session = boto3.session.Session()
    return {name: public(session.resource(name)) for name in session.get_available_resources()}


def calls_of_a_mocked_wait(**options):
    with mock.patch("botocore.waiter.Waiter.wait", **options) as wait:
        waiter().wait(Bucket="b")
        resource().wait_until_exists()
    return [call.kwargs for call in wait.call_args_list]


def calls_of_a_mocked_get_waiter():
    client, calls = s3(), []
    for target in (client, BaseClient):
        with mock.patch.object(target, "get_waiter") as get_waiter:
            client.get_waiter("bucket_exists").wait(Bucket="b")
        calls.append(str(get_waiter.mock_calls))
    return calls


def errors_of_a_mocked_get_waiter():
    errors = [ValueError("boom"), ValueError("Waiter does not exist: bucket_exists")]
    with mock.patch.object(BaseClient, "get_waiter", side_effect=errors):
        return [error_of(waiter) for _ in errors]


def calls_of_an_autospecced_client():
    client = mock.create_autospec(s3())
    client.get_waiter("bucket_exists").wait(Bucket="b")
    client.head_bucket(Bucket="b")
    wrong = [lambda: client.no_such_operation, client.get_waiter, lambda: client.get_waiter(1, 2)]
    return [*map(error_of, wrong), str(client.mock_calls)]


def calls_of_an_autospecced_waiter():
    one = mock.create_autospec(waiter())
    one.wait(Bucket="b")
    return [error_of(lambda: one.wait("b")), str(one.mock_calls)]


UNKNOWN = ["no_such_attribute", "wait", "_private", "__wrapped__", "waituntil_x"]
NO_WAITERS = ["completely_different", "", None]
BEHAVIOURS = [
    documentation_from_a_client_in_use, facts_of_a_waiter, facts_of_a_client,
    errors_of_bad_arguments, wait_inside_a_call, copies_and_pickles, attributes_of_all_resources,
    calls_of_a_mocked_wait, calls_of_a_mocked_get_waiter, errors_of_a_mocked_get_waiter,
    calls_of_an_autospecced_client, calls_of_an_autospecced_waiter,
]  # fmt: skip
SHORT = {
    "help on get_waiter": lambda: help_on(s3().get_waiter),
    "help on a waiter": lambda: botocores_part(help_on(waiter().wait)),
    "help on a waiter of a resource": lambda: help_on(resource().wait_until_exists),
    "signatures": lambda: [described(each) for each in functions()],
    "unknown attributes": lambda: [error_of(partial(getattr, s3(), name)) for name in UNKNOWN],
    "unknown waiters": lambda: [error_of(partial(s3().get_waiter, name)) for name in NO_WAITERS],
    "events of an attempt": lambda: events_of(wait_for_bucket),
    "events of a call": lambda: events_of(lambda client: client.head_bucket(Bucket="b")),
    "autospecced wait": lambda: calls_of_a_mocked_wait(autospec=True),
}
BEHAVIOURS += [pytest.param(each, id=name) for name, each in SHORT.items()]


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_install_changes_no_behaviour(behaviour):
    stock = behaviour()
    bwp.install()
    assert behaviour() == stock
