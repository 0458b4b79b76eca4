"""What `data/` knows of errors of calls and their causes: its form, and botocore's models."""

import jmespath
import jsonschema
import propagation
import pytest
from data.shared import json_of

from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions import changes
from boto_waiters_plus.service.causes import EXPLAINS, Explanation, with_values
from boto_waiters_plus.service.data_model import DataModel
from boto_waiters_plus.service.on_the_spot import only_reads

SCHEMA = json_of("tests/cases/idempotency-schema.json")
FILES = {name: json_of(f"data/{name}.json") for name in ("idempotency", "explains", "propagating")}


def traits(name):
    """The shapes with a trait: service model, name of the operation or error, and value."""
    for document in FILES.values():
        for shape_id, shape in document["shapes"].items():
            if name in shape["traits"]:
                namespace, _, of = shape_id.partition("#")
                yield service_by_namespace(namespace).model, of, shape["traits"][name]


@pytest.mark.parametrize("name", FILES)
def test_file_has_its_form(name):
    jsonschema.validate(FILES[name], SCHEMA)


@pytest.mark.models
def test_a_token_is_a_string_that_the_model_does_not_mark():
    for model, name, trait in traits(changes.TOKEN):
        shape = model.operation_model(name).input_shape
        marked = [each for each in shape.members.values() if each.metadata.get("idempotencyToken")]
        assert marked == [], name
        for member in trait["path"]:
            shape = shape.members[member]
        assert shape.type_name == "string", name
    for model, name, _ in traits(changes.TOKEN_LIFETIME):
        assert name in model.operation_names


def errors_named(model, name):
    errors = ((each, each.metadata.get("error", {})) for each in model.error_shapes)
    return [each for each, error in errors if name in (each.name, error.get("code"))]


@pytest.mark.models
def test_an_error_has_the_members_that_are_read():
    for model, name, trait in (*traits(changes.IN_PROGRESS), *traits(changes.NO_CHANGE)):
        # Models do not have every error.
        assert "said" in trait or errors_named(model, name), name
    for model, name, trait in traits(changes.ALREADY_EXISTS):
        members = {member for each in errors_named(model, name) for member in each.members}
        assert members >= {*trait.get("members", ())}, name
        assert members >= {trait["token"]} if "token" in trait else errors_named(model, name), name


@pytest.mark.models
def test_a_cause_is_read_by_known_parameters_and_is_not_sensitive():
    for model, name, trait in traits(EXPLAINS):
        explanation = Explanation.of(trait)
        operations = [model.operation_model(name)]
        texts = [*explanation.values.values(), explanation.otherwise]
        for read in explanation.reads:
            operation = model.operation_model(read.operation)
            assert only_reads(operation), name
            given = {*read.parameters, *read.options}
            assert given <= {*operation.input_shape.members}, name
            assert given >= {*operation.input_shape.required_members}, name
            operations.append(operation)
            texts += [*read.values.values(), read.text]
        for text in filter(None, texts):
            path = with_values(text, {})
            jmespath.compile(path)
            assert not any(DataModel(each, [("output", path)]).sensitive for each in operations)


# --- what says that something new is not visible yet ---------------------------------------------


@pytest.mark.models
@pytest.mark.parametrize(("known", "code", "words", "neighbour", "expected"), [
    ("glue#CreateCrawler", "InvalidInputException", "unable to assume", "UpdateJob", True),
    ("glue#CreateCrawler", "InvalidInputException", "unable to assume", "CreateDatabase", False),
    ("glue#CreateCrawler", "AlreadyExistsException", "unable to assume", "UpdateJob", False),
    # No model of the service has the error.
    ("sagemaker#CreateModel", "ValidationException", "assume role", "CreateProcessingJob", True),
    # The role is that of the function or of the job, which the call names.
    ("lambda#CreateEventSourceMapping", "InvalidParameterValueException", "cannot be assumed",
     "UpdateEventSourceMapping", True),
    ("glue#CreateTrigger", "InvalidInputException", "unable to assume", "UpdateTrigger", True),
    ("glue#CreateTrigger", "InvalidInputException", "unable to assume", "StartTrigger", False),
    ("eks#CreateFargateProfile", "InvalidParameterException", "podexecutionrole", "CreateAddon",
     False),
    ("ec2#RunInstances", "InvalidParameterValue", "invalid iam instance profile",
     "ReplaceIamInstanceProfileAssociation", True),
    ("ec2#RunInstances", "InvalidGroup.NotFound", "the security group 'sg-", "CreateVpcEndpoint",
     True),
    ("ec2#RunInstances", "InvalidGroup.NotFound", "the security group 'sg-", "CreatePlacementGroup",
     False),
    ("ec2#RunInstances", "InvalidGroup.NotFound", "the security group 'sg-", "DeleteSecurityGroup",
     False),
    ("sns#SetTopicAttributes", "InvalidParameter", "invalid principal", "CreateTopic", True),
    ("sns#SetTopicAttributes", "InvalidParameter", "invalid principal", "CreatePlatformEndpoint",
     False),
])  # fmt: skip
def test_a_neighbour_takes_over_code_and_words(known, code, words, neighbour, expected):
    refusals = [{"code": code, "words": [words]}]
    traits = {changes.PROPAGATING: refusals}
    found = propagation.lacking({f"com.amazonaws.{known}": {"traits": traits}})
    shape = f"com.amazonaws.{known.partition('#')[0]}#{neighbour}"
    assert ((shape, code, words) in found) is expected


@pytest.mark.models
def test_no_neighbour_lacks_a_refusal():
    assert [*propagation.lacking()] == []
