"""Fixtures of all tests: no real account, a hypothesis profile, clients without a network."""

import asyncio
import gc
import inspect
import os
import shlex
import time
from types import SimpleNamespace
from unittest import mock

import boto3
import botocore
import hypothesis
import pytest
from botocore.loaders import create_loader

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main
from boto_waiters_plus.definitions.shipped import WRITTEN_FOR

hypothesis.settings.register_profile(
    "quick", max_examples=50, deadline=None, derandomize=True, database=None
)
# With CI=true, hypothesis repeats its draws unless a profile says otherwise.
hypothesis.settings.register_profile("nightly", max_examples=50, deadline=None, derandomize=False)
hypothesis.settings.register_profile(
    "thorough", max_examples=1000, deadline=None, derandomize=False
)
hypothesis.settings.register_profile(
    "repeatable", max_examples=200, deadline=None, derandomize=True
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session", autouse=True)
def _no_real_account():
    """Nothing of the machine's own AWS configuration reaches a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_DATA_PATH", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        # moto's more than a thousand machine images take longer than all the rest.
        patch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
        yield


@pytest.fixture(scope="session", autouse=True)
def models_read_once():
    """Sessions share a loader, unless they have a search path of their own.

    Parsing the models anew for every test would be most of the time.
    """
    shared = create_loader()

    def share(session):
        def loader():
            path = session.get_config_variable("data_path")
            return shared if path is None else create_loader(path)

        session.lazy_register_component("data_loader", loader)

    botocore.register_initializer(share)
    yield shared
    botocore.unregister_initializer(share)


class Styled:
    """The functions of a module or an object in one of three styles, called as if they blocked.

    Attributes:
        style: "blocking", "task" or "awaited".
    """

    def __init__(self, target, style):
        self._target = target
        self.style = style

    def __getattr__(self, name):
        if self.style == "blocking":
            return getattr(self._target, name)
        function = getattr(self._target, f"{name}_async")
        return lambda call, *arguments, **options: asyncio.run(
            function(self._callables(call), *arguments, **options)
        )

    def _callables(self, call):
        async def awaited():
            await asyncio.sleep(0)
            return call()

        match call:
            case dict():
                return {key: self._callables(one) for key, one in call.items()}
            case list():
                return [self._callables(one) for one in call]
            case _:
                return awaited if self.style == "awaited" and callable(call) else call


@pytest.fixture(params=["blocking", "task", "awaited"])
def styled(request):
    """`styled(module)`: its functions, blocking, in a task, and with a callable to await."""
    return lambda target: Styled(target, request.param)


# --- clients that are answered without a network ------------------------------------------------


@pytest.fixture(autouse=True)
def stock_botocore(models_read_once):
    """Every test begins and ends with botocore as it is."""
    bwp.uninstall()
    yield
    # Below a wrapper of the test, the first `uninstall` can only pass through.
    bwp.install()
    bwp.uninstall()
    default = boto3.DEFAULT_SESSION
    if default and default._session.get_component("data_loader") is not models_read_once:
        # It was made under the AWS_DATA_PATH of this test.
        boto3.DEFAULT_SESSION = None


class Answers:
    """The answers of a client, and its requests.

    Answers are parsed responses, exceptions to raise, or functions that return one of them; the
    last is repeated. An answer with an `Error` becomes a ClientError, as from the service.
    """

    def __init__(self, client, *answers):
        self.requests = []
        self.operations = []
        self._answers = list(answers)
        client.meta.events.register("before-call", self._answer)

    def _answer(self, params, model, **_):
        self.requests.append(params)
        self.operations.append(model.name)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        answer = answer() if callable(answer) else answer
        if isinstance(answer, BaseException):
            raise answer
        status = 400 if "Error" in answer else 200
        metadata = {"HTTPStatusCode": status, "RequestId": "request-1", "RetryAttempts": 0}
        metadata |= answer.get("ResponseMetadata", {})
        http = SimpleNamespace(status_code=metadata["HTTPStatusCode"])
        return http, {**answer, "ResponseMetadata": metadata}


@pytest.fixture
def answers():
    """`answers(client, *answers)`."""
    return Answers


def _error(code, message="", status=400, **details):
    return {
        "Error": {"Code": code, "Message": message, **details},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }


@pytest.fixture
def error_answer():
    """`error_answer(code, message, status, **details)`."""
    return _error


@pytest.fixture
def missing():
    """The answer to a HEAD request for a resource that does not exist."""
    return _error("404", "Not Found", 404)


@pytest.fixture
def s3():
    """A client made after `install`."""
    bwp.install()
    return boto3.client("s3")


@pytest.fixture
def active():
    """The response on which `stream_exists` succeeds."""
    return {"StreamDescription": {"StreamStatus": "ACTIVE"}}


@pytest.fixture
def creating():
    """The response on which `stream_exists` retries."""
    return {"StreamDescription": {"StreamStatus": "CREATING"}}


@pytest.fixture
def collect_garbage():
    """`collect_garbage()`: frees the garbage of this test; that of all would take seconds."""
    gc.freeze()
    yield gc.collect
    gc.unfreeze()


@pytest.fixture
def sleeps():
    """The seconds of every sleep; none takes time."""
    seconds = []
    with mock.patch.object(time, "sleep", seconds.append):
        yield seconds


@pytest.fixture
def waitable():
    """`waitable(name, operation, *acceptors, namespace=, **members)`: a document of one waiter."""

    def make(name, operation, *acceptors, namespace="example", **members):
        waiters = {name: {"acceptors": list(acceptors), **members}}
        shape = {"type": "apply", "traits": {"smithy.waiters#waitable": waiters}}
        return {"smithy": "2.0", "shapes": {f"{namespace}#{operation}": shape}}

    return make


@pytest.fixture
def definition(waitable):
    """`definition(name, operation=, expected=, **members)`: one of a waiter of kinesis."""

    def make(name, *, operation="DescribeStream", expected="ACTIVE", **members):
        path = {"path": "StreamDescription.StreamStatus", "comparator": "stringEquals"}
        acceptor = {"state": "success", "matcher": {"output": {**path, "expected": expected}}}
        return waitable(name, operation, acceptor, namespace="com.amazonaws.kinesis", **members)

    return make


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is a coroutine function in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(pyfuncitem.function(**arguments))
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Skip what is marked `models` beside another botocore: each has states of its own."""
    other_models = pytest.mark.skipif(
        botocore.__version__ != WRITTEN_FOR,
        reason=f"the data were written from botocore {WRITTEN_FOR}",
    )
    for item in items:
        if item.get_closest_marker("models"):
            item.add_marker(other_models)


@pytest.fixture
def command(capsys, virtual_time):
    """`command(line, *words)`: exit code, stdout and stderr, without real sleeping."""

    def run(line, *words):
        try:
            code = main([*shlex.split(line), *map(str, words)])
        except SystemExit as ended:
            code = ended.code
        return (code, *capsys.readouterr())

    return run
