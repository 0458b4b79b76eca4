"""The calls and errors of `data/idempotency.json` that tell whose an existing resource is."""

import html
import json
import re
from pathlib import Path

import jmespath
import pytest
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from changes.test_every_token import LOADER, plain_text, traits_of

from boto_waiters_plus.definitions.idempotency_traits import ALREADY_EXISTS, DESCRIBED_BY
from boto_waiters_plus.definitions.services import aws_namespace
from boto_waiters_plus.service.tokens import shape_id_of, token_member

UNTOLD = json.loads(
    (Path(__file__).resolve().parents[1] / "cases/existing.json").read_text(encoding="utf-8")
)
EXISTS_CODE = re.compile(r"Already(Exist|Created|Owned)|Duplicate")
CONFLICT_CODE = re.compile(r"Conflict|InUse|IdempotencyException")
EXISTS_TEXT = re.compile(r"already exist|already in use|same name", re.IGNORECASE)

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def models():
    """The models of the services by namespace."""
    found = [
        ServiceModel(LOADER.load_service_model(each, "service-2"), each)
        for each in LOADER.list_available_services("service-2")
    ]
    return {aws_namespace(str(model.service_id)): model for model in found}


def example(shape, depth=0):
    """Return a value of a shape with all members."""
    if shape is None:
        return {}
    if shape.type_name == "structure":
        members = {} if depth > 5 else shape.members
        return {name: example(each, depth + 1) for name, each in members.items()}
    if shape.type_name == "list":
        return [example(shape.member, depth + 1)]
    if shape.type_name == "map":
        return {example(shape.key): example(shape.value, depth + 1)}
    values = {"integer": 50, "long": 50, "float": 50.0, "double": 50.0, "boolean": True}
    return values.get(shape.type_name, "x" * min(64, shape.metadata.get("max", 64)))


def problems(value, shape):
    """Return what botocore's Stubber says against a request."""
    if shape is None:
        return list(value)
    report = ParamValidator().validate(value, shape)
    return report.generate_report().splitlines()


@pytest.mark.parametrize(("shape_id", "row"), traits_of(DESCRIBED_BY).items())
def test_listed_call_fits_the_models(models, shape_id, row):
    namespace, _, name = shape_id.partition("#")
    model = models[namespace]
    operation = model.operation_model(name)
    describing = model.operation_model(row["operation"])
    error = {}
    for each in operation.error_shapes:
        error.update(example(each))
    document = {"input": example(operation.input_shape), "error": error}
    parameters = {key: jmespath.search(path, document) for key, path in row["parameters"].items()}
    assert problems(parameters, describing.input_shape) == []

    description = example(describing.output_shape)
    found = jmespath.search(row.get("resources", "@"), description)
    resource = found[0] if isinstance(found, list) else found
    assert resource
    if "token" in row:
        assert isinstance(jmespath.search(row["token"], resource), str)
    if "response" in row and operation.output_shape is not None:
        response = jmespath.search(row["response"], resource)
        assert None not in response.values()
        shapes = operation.output_shape.members
        for member, value in response.items():
            if not isinstance(value, dict):
                assert type(value) is type(example(shapes[member])), member
            elif shapes[member].type_name == "structure":
                assert None not in value.values()
                assert value.keys() <= shapes[member].members.keys(), member


def test_listed_errors_say_whose_it_is(models):
    for shape_id, row in traits_of(ALREADY_EXISTS).items():
        namespace, _, name = shape_id.partition("#")
        service = models[namespace]
        shape = service.shape_for(name)
        # Of an error that stands for several, a parameter of the operation tells.
        operations = map(service.operation_model, service.operation_names)
        raising = [each for each in operations if name in {e.name for e in each.error_shapes}]
        told_by = [shape]
        if "members" in row:
            told_by += [m for each in raising for m in each.input_shape.members.values()]
        texts = [html.unescape(plain_text(each.documentation)) for each in told_by]
        assert any(row["evidence"] in text for text in texts), shape_id
        assert row.get("members", {}).keys() <= shape.members.keys(), shape_id
        assert row.get("token", "message") in {*shape.members, "message"}, shape_id
        assert row.get("madeUnder") in (None, "thisToken", "otherToken", "otherParameters")
        assert ("madeUnder" in row) != ("token" in row), shape_id


def test_every_operation_that_can_exist_already_is_judged(models):
    described = traits_of(DESCRIBED_BY)
    told, untold = set(), set()
    for model in models.values():
        for name in model.operation_names:
            operation = model.operation_model(name)
            if token_member(operation) is None or not any(map(_exists, operation.error_shapes)):
                continue
            if shape_id_of(operation) in described:
                told.add(shape_id_of(operation))
            else:
                untold.add(f"{model.service_name}.{name}")
    listed = [each for operations in UNTOLD.values() for each in operations]
    assert untold == set(listed)
    assert len(listed) == len(set(listed))
    # CloudFormation's other operations have such an error without a word in the model.
    assert {each.partition("#")[0] for each in described.keys() - told} <= {
        "com.amazonaws.cloudformation"
    }


def _exists(shape):
    text = EXISTS_TEXT.search(plain_text(shape.documentation))
    return EXISTS_CODE.search(shape.name) or (CONFLICT_CODE.search(shape.name) and text)
