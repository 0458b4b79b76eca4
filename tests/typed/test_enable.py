"""`typed.<service>.enable` and the files that the build writes, as they run."""

import ast
import importlib
import re
from pathlib import Path

import boto3
import pytest
import wrapt
from botocore import xform_name
from botocore.loaders import Loader

from boto_waiters_plus import typed
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.options import OPTION_NAMES
from boto_waiters_plus.service.catalog import client_name


@pytest.fixture(scope="module")
def stubs():
    """The text of each stub by the name of its module."""
    folder = Path(typed.__file__).parent
    if not (folder / "s3.pyi").is_file():
        files = importlib.import_module("generate_types").files()
        return {name[:-4]: text for name, text in files.items() if name.endswith(".pyi")}
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.pyi")}


@pytest.mark.parametrize(("service", "name", "waiter"), [
    ("s3", "s3", "bucket_exists"), ("elbv2", "elbv2", "load_balancer_available"),
    ("acm-pca", "acm_pca", "audit_report_created"), ("lambda", "lambda_", "function_active"),
])  # fmt: skip
def test_enable_adds_the_methods_and_returns_the_client(service, name, waiter):
    client = boto3.client(service)
    assert getattr(typed, name).enable(client, defaults={"max_delay": 60}) is client
    assert hasattr(client, f"wait_until_{waiter}")


@pytest.mark.nightly(subject="types")
def test_enable_takes_clients_of_every_service(stubs):
    session = boto3.Session()
    for name, text in stubs.items():
        if not name.startswith("_"):
            client = session.client(re.search("`(.*?)`", text)[1])
            assert getattr(typed, name).enable(client) is client


def test_modules_can_be_imported_from_the_package():
    from boto_waiters_plus.typed import lambda_  # noqa: PLC0415 - what is tested

    def wait_for_function(client: lambda_.Client) -> "lambda_.AsyncClient | None":
        """Evaluate the annotations."""

    assert wait_for_function.__annotations__
    with pytest.raises(AttributeError, match="s4"):
        typed.s4  # noqa: B018 - what is tested


def test_a_proxy_is_enabled_as_the_client_behind_it():
    client = boto3.client("s3")
    proxy = wrapt.ObjectProxy(client)
    assert typed.s3.enable(proxy) is proxy
    assert client.wait_until_bucket_exists
    with pytest.raises(TypeError, match="client of sqs"):
        typed.sqs.enable(proxy)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: typed.s3.enable(boto3.client("sns")), TypeError, "client .*s3"),
        (lambda: typed.s3.enable("s3"), TypeError, "client .*s3.* str"),
        (lambda: typed.s3.enable_async(boto3.client("s3")), TypeError, "a boto3 client"),
        (lambda: typed.s3.enable_resource("s3"), TypeError, "resource"),
        (lambda: typed.s3.enable_resource(boto3.resource("sns")), TypeError, "not of sns"),
        (lambda: typed.s3.enable_resource(boto3.resource("s3")), ValueError, "after them"),
        (lambda: typed.s3.enable(boto3.client("s3"), default=1), TypeError, "default"),
    ],
)
def test_wrong_targets_are_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.nightly(subject="types")
def test_stubs_parse_and_name_every_waiter(stubs):
    loader = Loader(include_default_search_paths=False)
    loader.search_paths.append(loader.BUILTIN_DATA_PATH)
    known = set(loader.list_available_services("service-2"))
    missing = []
    for service_id in shipped_services():
        service = client_name(service_id)
        text = stubs.get(typed.module_name(service), "")
        names = {node.name for node in ast.walk(ast.parse(text)) if hasattr(node, "name")}
        for waiter in shipped_definitions(service_id) if service in known else ():
            is_listed = f'"{xform_name(waiter.name)}"' in text
            if f"wait_until_{xform_name(waiter.name)}" not in names or not is_listed:
                missing.append(f"{service}.{waiter.name}")
    assert missing == []
    options = ast.parse(stubs["_shared"]).body
    [declared] = [node for node in options if getattr(node, "name", "") == "_Options"]
    assert tuple(each.target.id for each in declared.body) == OPTION_NAMES
