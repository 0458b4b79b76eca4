"""Every operation of the installed botocore that has a token."""

import functools
import json
import re

import botocore
import botocore.session
import pytest
from botocore.model import ServiceModel

from boto_waiters_plus.calls.private_names import is_marked_readonly
from boto_waiters_plus.changes.call_target import CallTarget
from boto_waiters_plus.definitions.idempotency_traits import (
    IDEMPOTENCY_FILE,
    IN_PROGRESS,
    TOKEN,
    TOKEN_LIFETIME,
    shipped_token_path,
)
from boto_waiters_plus.definitions.services import aws_namespace
from boto_waiters_plus.definitions.shipped import data_root
from boto_waiters_plus.idempotency import token_for
from boto_waiters_plus.service.tokens import shape_id_of, token_member

LOADER = botocore.session.Session().get_component("data_loader")
VERSION = tuple(int(part) for part in botocore.__version__.split(".")[:2])


class Client(botocore.client.BaseClient):
    """A client that makes no request: a real one of each service would take a minute."""

    def __init__(self, model):
        self.meta = type("Meta", (), {"service_model": model, "method_to_api_mapping": {}})()

    def method_of(self, name):
        def method(self):
            raise AssertionError("a request was made")

        method.__name__ = name
        self.meta.method_to_api_mapping[name] = name
        return method.__get__(self)


@functools.cache
def operations():
    """Yield the operations with a marked token, by service."""
    found = {}
    for service in LOADER.list_available_services("service-2"):
        model = ServiceModel(LOADER.load_service_model(service, "service-2"), service)
        marked = [model.operation_model(name) for name in model.operation_names]
        found[service] = (model, [each for each in marked if each.idempotent_members])
    return found


def test_every_marked_operation_is_accepted_with_a_frozen_token():
    accepted = 0
    for model, marked in operations().values():
        client = Client(model)
        for operation in marked:
            target = CallTarget.of(
                client.method_of(operation.name), "call_once", allow_repeat=False
            )
            given = {"Members": ["a"]}
            parameters, token, is_callers = target.frozen(given)
            given["Members"].append("b")
            assert parameters == {"Members": ["a"], operation.idempotent_members[0]: token}
            assert not is_callers
            again, same, is_callers = target.frozen(parameters)
            assert (again, same, is_callers) == (parameters, token, True)
            stable = token_for(client, operation.name, "job-1")
            assert target.member.problem_of(stable) is None
            assert stable == token_for(client, operation.name, "job-1")
            accepted += 1
    assert accepted >= (1000 if VERSION >= (1, 44) else 800)


def test_operations_that_are_marked_as_reading_have_no_token():
    reading = [
        operation
        for _, marked in operations().values()
        for operation in marked
        if is_marked_readonly(operation)
    ]
    assert reading == []


def traits_of(name):
    """Return the values of one trait of `data/idempotency.json`, by shape."""
    shapes = json.loads((data_root() / IDEMPOTENCY_FILE).read_text())["shapes"]
    return {shape: each["traits"][name] for shape, each in shapes.items() if name in each["traits"]}


def operations_with(traits):
    """Yield the operations of the installed botocore that have a trait, with its value."""
    for model, _ in operations().values():
        namespace = f"com.amazonaws.{re.sub('[^a-z0-9]', '', str(model.service_id).lower())}"
        for name in model.operation_names:
            if f"{namespace}#{name}" in traits:
                yield model.operation_model(name), traits[f"{namespace}#{name}"]


def plain_text(documentation):
    text = re.sub(r"<[^>]+>", "", documentation)
    return " ".join(text.replace("&quot;", '"').split())


@pytest.mark.models
def test_listed_lifetimes_are_what_the_documentation_says():
    listed = traits_of(TOKEN_LIFETIME)
    checked = 0
    for operation, trait in operations_with(listed):
        member = token_member(operation)
        assert member.lifetime == trait["seconds"]
        text = plain_text(f"{member.shape.documentation} {operation.documentation}")
        assert trait["evidence"] in text, operation.name
        checked += 1
    assert checked == len(listed) == 82


@pytest.mark.models
def test_listed_errors_say_that_a_change_is_in_progress():
    listed = traits_of(IN_PROGRESS)
    checked = set()
    for model, _ in operations().values():
        namespace = aws_namespace(str(model.service_id))
        for shape_id, trait in listed.items():
            if shape_id.startswith(f"{namespace}#"):
                shape = model.shape_for(shape_id.partition("#")[2])
                assert trait["evidence"] in plain_text(shape.documentation), shape_id
                checked.add(shape_id)
    assert checked == set(listed)


@pytest.mark.models
def test_listed_tokens_are_what_the_documentation_says():
    listed = traits_of(TOKEN)
    checked = 0
    for operation, trait in operations_with(listed):
        assert shipped_token_path(shape_id_of(operation)) == tuple(trait["path"])
        member = token_member(operation)
        assert member.path == tuple(trait["path"])
        assert trait["evidence"] in plain_text(member.shape.documentation)
        checked += 1
    assert checked == len(listed)
