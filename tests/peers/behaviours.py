"""What botocore and boto3 do that their own tests hold, printed as JSON.

    python behaviours.py            as they are
    python behaviours.py install    with `install()` active

The distribution of boto3 carries no tests; those of botocore are run by `tools/peer_suites.py`.
"""

import copy
import functools
import hashlib
import inspect
import json
import pickle
import pydoc
import sys
import tempfile
from pathlib import Path
from unittest import mock

import boto3
import botocore.client
import botocore.session
import botocore.waiter
from boto3.docs.service import ServiceDocumenter as Boto3Documenter
from boto3.resources.action import WaiterAction
from botocore.awsrequest import AWSResponse
from botocore.docs.service import ServiceDocumenter
from botocore.exceptions import WaiterError
from botocore.stub import Stubber
from botocore.waiter import SingleWaiterConfig, Waiter, WaiterModel, create_waiter_with_client

OK = {"ResponseMetadata": {"HTTPStatusCode": 200}}
TABLE = {"Table": {"TableName": "table", "TableStatus": "ACTIVE"}}


BEHAVIOURS = {
    **{f"botocore pages of {s}": (lambda s=s: botocore_pages(s)) for s in ("acm", "sqs")},
    **{f"boto3 pages of {s}": (lambda s=s: boto3_pages(s)) for s in ("glacier", "acm")},
}


def behaviour(function):
    """Add a function to the behaviours, by its name."""
    BEHAVIOURS[function.__name__.replace("_", " ")] = function
    return function


def digest(text):
    return hashlib.sha256(text).hexdigest()


def written(documenter, *arguments):
    """A documenter's page, and every file it writes beside it."""
    with tempfile.TemporaryDirectory() as folder:
        page = documenter(*arguments, folder).document_service()
        files = {str(p.relative_to(folder)): p for p in sorted(Path(folder).rglob("*.rst"))}
        return {"": digest(page)} | {name: digest(p.read_bytes()) for name, p in files.items()}


def botocores_part(text):
    """Return the documentation of a waiter's `wait` without what it takes and returns with ours."""
    return "Polls " + text.partition("Polls ")[2].partition(":returns:")[0].rstrip()


def described(function):
    """What `help()` and editors read of a function."""
    return {
        "signature": str(inspect.signature(function)),
        "annotations": str(inspect.get_annotations(function)),
        "doc": str(inspect.getdoc(function)),
        "name": function.__name__,
        "qualified name": function.__qualname__,
        "module": function.__module__,
    }


def events_of(client, call):
    """The names of the events that a call emits, in order; the service answers 200."""
    names = []

    def note(event_name, **_):
        names.append(event_name)

    def answer(request, **_):
        return AWSResponse(request.url, 200, {}, mock.Mock(stream=lambda: iter([b""])))

    for prefix in ("provide", "before", "choose", "request", "needs", "response", "after"):
        client.meta.events.register_last(prefix, note)
    client.meta.events.register("before-send", answer)
    call()
    return names


def error_of(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


# --- documentation ----------------------------------------------------------------------------


def botocore_pages(service):
    return written(ServiceDocumenter, service, botocore.session.get_session())


def boto3_pages(service):
    return written(Boto3Documenter, service, boto3.session.Session())


@behaviour
def pages_from_a_client_in_use():
    """A client whose waiters were looked up before it is documented."""
    session = boto3.session.Session()
    client = session.client("sqs")
    session.client = lambda *_, **__: client
    getattr(client, "wait_until_no_such_thing", None)
    dir(client)
    client.waiter_names  # noqa: B018 - a lookup that is cached
    return written(Boto3Documenter, "sqs", session)


@behaviour
def help_of_get_waiter():
    return pydoc.plain(pydoc.render_doc(boto3.client("s3").get_waiter))


@behaviour
def help_of_a_waiter():
    waiter = boto3.client("s3").get_waiter("bucket_exists")
    return botocores_part(pydoc.plain(pydoc.render_doc(waiter.wait)))


@behaviour
def help_of_a_resource_waiter():
    return pydoc.plain(pydoc.render_doc(boto3.resource("s3").Bucket("b").wait_until_exists))


# --- signatures -------------------------------------------------------------------------------


@behaviour
def get_waiter_as_tools_read_it():
    return described(boto3.client("s3").get_waiter)


@behaviour
def wait_as_tools_read_it():
    facts = described(boto3.client("s3").get_waiter("bucket_exists").wait)
    return {**facts, "doc": botocores_part(facts["doc"])}


@behaviour
def wait_of_the_class_as_tools_read_it():
    return described(Waiter.wait)


@behaviour
def create_client_as_tools_read_it():
    return described(botocore.session.Session.create_client)


@behaviour
def wait_of_a_resource_as_tools_read_it():
    return described(boto3.resource("s3").Bucket("b").wait_until_exists)


@behaviour
def waiter_object():
    waiter = boto3.client("s3").get_waiter("bucket_exists")
    config = waiter.config
    acceptors = [
        (a.state, a.matcher, a.argument, a.expected, a.explanation) for a in config.acceptors
    ]
    return [
        *(type(waiter).__name__, type(waiter).__module__, waiter.name, isinstance(waiter, Waiter)),
        *(config.delay, config.max_attempts, config.operation, config.description, acceptors),
    ]


# --- clients ----------------------------------------------------------------------------------


@behaviour
def botocores_waiter_names():
    """Those that a service's own model has: they come first."""
    session = botocore.session.get_session()
    count = len(session.get_waiter_model("ec2").waiter_names)
    return boto3.client("ec2").waiter_names[:count]


@behaviour
def public_attributes_other_than_our_methods():
    names = dir(boto3.client("s3"))
    return [name for name in names if not name.startswith(("_", "wait_until_"))]


@behaviour
def unknown_attribute():
    client = boto3.client("s3")
    return [error_of(lambda: client.no_such_attribute), hasattr(client, "_no_such_attribute")]


@behaviour
def unknown_waiter():
    kind, message = error_of(lambda: boto3.client("s3").get_waiter("completely_different"))
    return [kind, message.partition(" (service: ")[0]]


@behaviour
def attribute_given_by_a_handler():
    client = boto3.client("s3")
    client.meta.events.register("getattr.s3.late", lambda **_: "late")
    return client.late


@behaviour
def class_of_a_client():
    client = boto3.client("s3")
    client_class = type(client)
    return [
        *(client_class.__name__, client_class.__module__, client_class.__doc__),
        *(isinstance(client, botocore.client.BaseClient), client_class is type(boto3.client("s3"))),
        sorted(name for name in vars(client) if name != "waiter_names"),
    ]


@behaviour
def copies_and_pickles():
    client = boto3.client("s3")
    waiter = client.get_waiter("bucket_exists")
    calls = [
        functools.partial(action, value)
        for action in (copy.copy, copy.deepcopy, pickle.dumps)
        for value in (client, waiter)
    ]
    return [error[0] if error else "no error" for error in map(error_of, calls)]


@behaviour
def handlers_of_client_classes():
    seen = []
    session = boto3.session.Session()

    def extend(class_attributes, base_classes, **_):
        seen.append((sorted(class_attributes)[:3], base_classes[-1].__name__))
        class_attributes["extra"] = lambda self: type(self).__name__

    session.events.register("creating-client-class.s3", extend)
    return [session.client("s3").extra(), [base for _, base in seen]]


@behaviour
def session_of_a_caller():
    session = mock.Mock(**{"get_config_variable.return_value": None})
    wrapped = boto3.session.Session(botocore_session=session)
    wrapped.client("sqs", region_name="us-west-2")
    return session.create_client.call_args.args, sorted(session.create_client.call_args.kwargs)


@behaviour
def all_resources():
    session = boto3.session.Session()
    return {
        name: sorted(a for a in dir(session.resource(name)) if not a.startswith("_"))
        for name in session.get_available_resources()
    }


# --- waiting ----------------------------------------------------------------------------------


@behaviour
def wait_against_a_stubber():
    client = boto3.client("dynamodb")
    with Stubber(client) as stubber:
        stubber.add_client_error("describe_table", "ResourceNotFoundException")
        stubber.add_response("describe_table", TABLE, {"TableName": "table"})
        with mock.patch("time.sleep"):
            client.get_waiter("table_exists").wait(TableName="table")
        stubber.assert_no_pending_responses()


@behaviour
def failed_wait_against_a_stubber():
    client = boto3.client("dynamodb")
    waiter = client.get_waiter("table_exists")
    with Stubber(client) as stubber:
        stubber.add_client_error("describe_table", "AccessDeniedException", "no", 400)
        try:
            waiter.wait(TableName="table", WaiterConfig={"Delay": 0, "MaxAttempts": 2})
        except WaiterError as error:
            return error.last_response["Error"], error.kwargs["name"]
    return None


@behaviour
def used_up_wait_against_a_stubber():
    client = boto3.client("dynamodb")
    with Stubber(client) as stubber:
        for _ in range(2):
            stubber.add_client_error("describe_table", "ResourceNotFoundException")
        try:
            client.get_waiter("table_exists").wait(
                TableName="table", WaiterConfig={"Delay": 0, "MaxAttempts": 2}
            )
        except WaiterError as error:
            return error.last_response["Error"]["Code"], "Max attempts exceeded" in str(error)
    return None


@behaviour
def wrong_parameters():
    waiter = boto3.client("s3").get_waiter("bucket_exists")
    return error_of(lambda: waiter.wait(Bukket="b"))


@behaviour
def response_that_the_stubber_lacks():
    client = boto3.client("s3")
    with Stubber(client):
        return error_of(lambda: client.get_waiter("bucket_exists").wait(Bucket="b"))


@behaviour
def hand_built_waiter():
    answers = [{"State": "no"}, {"State": "yes"}]
    acceptor = {"state": "success", "matcher": "path", "argument": "State", "expected": "yes"}
    config = SingleWaiterConfig(
        {"operation": "Poll", "delay": 5, "maxAttempts": 3, "acceptors": [acceptor]}
    )
    with mock.patch("botocore.waiter.time.sleep") as sleep:
        Waiter("Mine", config, mock.Mock(side_effect=answers)).wait()
    return [call.args for call in sleep.call_args_list]


@behaviour
def schedule_of_a_hand_built_model():
    acceptors = [
        {"state": "success", "matcher": "status", "expected": 200},
        {"state": "retry", "matcher": "error", "expected": "404"},
    ]
    waiter = {"operation": "HeadBucket", "delay": 7, "maxAttempts": 3, "acceptors": acceptors}
    model = WaiterModel({"version": 2, "waiters": {"Mine": waiter}})
    client = boto3.client("s3")
    with Stubber(client) as stubber, mock.patch("botocore.waiter.time.sleep") as sleep:
        stubber.add_client_error("head_bucket", "404", http_status_code=404)
        stubber.add_response("head_bucket", OK)
        create_waiter_with_client("Mine", model, client).wait(Bucket="b")
    return [call.args for call in sleep.call_args_list]


@behaviour
def events_of_an_attempt():
    client = boto3.client("s3")
    return events_of(client, lambda: client.get_waiter("bucket_exists").wait(Bucket="b"))


@behaviour
def events_of_a_plain_call():
    client = boto3.client("s3")
    return events_of(client, lambda: client.head_bucket(Bucket="b"))


# --- mocks ------------------------------------------------------------------------------------


@behaviour
def mock_of_wait():
    with mock.patch("botocore.waiter.Waiter.wait") as wait:
        boto3.client("s3").get_waiter("bucket_exists").wait(Bucket="b")
        boto3.resource("s3").Bucket("c").wait_until_exists()
    return [str(call.kwargs) for call in wait.call_args_list]


@behaviour
def autospecced_mock_of_wait():
    with mock.patch("botocore.waiter.Waiter.wait", autospec=True) as wait:
        waiter = boto3.client("s3").get_waiter("bucket_exists")
        waiter.wait(Bucket="b")
    return [call.args[0] is waiter for call in wait.call_args_list]


@behaviour
def mock_of_get_waiter():
    client = boto3.client("s3")
    with mock.patch.object(client, "get_waiter") as get_waiter:
        client.get_waiter("bucket_exists").wait(Bucket="b")
    return str(get_waiter.mock_calls)


@behaviour
def autospec_of_a_client():
    client = mock.create_autospec(boto3.client("s3"))
    client.get_waiter("bucket_exists").wait(Bucket="b")
    client.head_bucket(Bucket="b")
    return [
        *(error_of(lambda: client.no_such_operation), error_of(client.get_waiter)),
        *(error_of(lambda: client.get_waiter("a", "b")), str(client.mock_calls)),
    ]


@behaviour
def autospec_of_a_waiter():
    waiter = mock.create_autospec(boto3.client("s3").get_waiter("bucket_exists"))
    waiter.wait(Bucket="b")
    return [error_of(lambda: waiter.wait("b")), str(waiter.mock_calls)]


@behaviour
def action_of_a_resource():
    resource = mock.Mock()
    resource.meta.client.get_waiter.return_value.wait.return_value = "answer"
    model = mock.Mock(waiter_name="BucketExists", params=[])
    model.name = "wait_until_exists"
    WaiterAction(model, "wait_until_exists")(resource, Bucket="b")
    return str(resource.mock_calls)


def observed(function):
    """The result of a behaviour, or its error."""
    try:
        return function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:500]


if __name__ == "__main__":
    if "install" in sys.argv:
        import boto_waiters_plus

        boto_waiters_plus.install()
    json.dump({name: observed(function) for name, function in BEHAVIOURS.items()}, sys.stdout)
