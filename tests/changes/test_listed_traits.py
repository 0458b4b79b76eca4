"""The tokens of botocore's operations, and what `data/idempotency.json` lists of operations."""

import functools
import json
from types import SimpleNamespace

import botocore.session
import jmespath
import pytest
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from data.shared import full_sample
from model_documentation import lost_evidence

from boto_waiters_plus.definitions.changes import (
    ALREADY_EXISTS,
    DESCRIBED_BY,
    IDEMPOTENCY_FILE,
    IN_PROGRESS,
    NO_CHANGE,
    TOKEN,
    TOKEN_LIFETIME,
)
from boto_waiters_plus.definitions.shipped import data_root
from boto_waiters_plus.definitions.smithy import aws_namespace
from boto_waiters_plus.idempotency import token_for
from boto_waiters_plus.service.tokens import token_member

pytestmark = pytest.mark.nightly(subject="catalog")
TEXT = "x" * 64


@functools.cache
def models():
    """Return the models of the installed botocore by namespace."""
    loader = botocore.session.Session().get_component("data_loader")
    found = [
        ServiceModel(loader.load_service_model(each, "service-2"), each)
        for each in loader.list_available_services("service-2")
    ]
    return {aws_namespace(str(model.service_id)): model for model in found}


def traits_of(name):
    """Return the values of one trait of the file, by shape."""
    shapes = json.loads((data_root() / IDEMPOTENCY_FILE).read_text())["shapes"]
    return {shape: each["traits"][name] for shape, each in shapes.items() if name in each["traits"]}


def test_a_derived_token_fits_every_marked_operation():
    for model in models().values():
        client = SimpleNamespace(meta=SimpleNamespace(service_model=model))
        for name in model.operation_names:
            operation = model.operation_model(name)
            for member in operation.idempotent_members:
                facts = operation.input_shape.members[member].metadata
                token = token_for(client, name, "job-1")
                assert facts.get("min", 0) <= len(token) <= facts.get("max", 99), name


@pytest.mark.models
@pytest.mark.parametrize("trait", [TOKEN, TOKEN_LIFETIME, IN_PROGRESS, NO_CHANGE, ALREADY_EXISTS])
def test_what_is_listed_is_what_the_documentation_says(trait):
    for shape_id, row in traits_of(trait).items():
        namespace, _, name = shape_id.partition("#")
        model = models()[namespace]
        if "said" in row:
            # Models do not have every error, nor every message.
            assert any(words in row["said"].lower() for words in row["words"]), shape_id
        elif trait in (TOKEN, TOKEN_LIFETIME):
            member = token_member(model.operation_model(name))
            assert row.get("seconds", member.lifetime) == member.lifetime
            assert tuple(row.get("path", member.path)) == member.path


@pytest.mark.models
def test_the_documentation_still_says_what_is_quoted():
    assert [lost for model in models().values() for lost in lost_evidence(model)] == []


@pytest.mark.models
@pytest.mark.parametrize(("shape_id", "row"), traits_of(DESCRIBED_BY).items())
def test_listed_call_fits_the_models(shape_id, row):
    namespace, _, name = shape_id.partition("#")
    operation, describing = map(models()[namespace].operation_model, (name, row["operation"]))
    call = {"input": full_sample(operation.input_shape, TEXT), "error": {}}
    for each in operation.error_shapes:
        call["error"] |= full_sample(each, TEXT)
    parameters = {key: jmespath.search(path, call) for key, path in row["parameters"].items()}
    if parameters or describing.input_shape is not None:
        report = ParamValidator().validate(parameters, describing.input_shape)
        assert not report.has_errors(), report.generate_report()

    found = jmespath.search(row.get("resources", "@"), full_sample(describing.output_shape, TEXT))
    resource = found[0] if isinstance(found, list) else found
    if "token" in row:
        assert isinstance(jmespath.search(row["token"], resource), str)
    if "response" in row and operation.output_shape is not None:
        shapes = operation.output_shape.members
        for member, value in jmespath.search(row["response"], resource).items():
            if not isinstance(value, dict):
                assert type(value) is type(full_sample(shapes[member], TEXT)), member
            elif shapes[member].type_name == "structure":
                assert None not in value.values()
                assert value.keys() <= shapes[member].members.keys(), member
