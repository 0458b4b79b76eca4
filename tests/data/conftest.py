"""What the tests of the shipped data share: botocore's models, and outputs made from them."""

import functools

import botocore.session
import pytest
from botocore.exceptions import UnknownServiceError
from botocore.model import ListShape, MapShape, ServiceModel, StructureShape


@functools.cache
def _service_model(service):
    loader = botocore.session.get_session().get_component("data_loader")
    try:
        return ServiceModel(loader.load_service_model(service, "service-2"), service_name=service)
    except UnknownServiceError:
        return None


def _full_sample(shape, text, seen=()):
    if isinstance(shape, StructureShape):
        if shape.name in seen:
            return {}
        inner = (*seen, shape.name)
        return {name: _full_sample(member, text, inner) for name, member in shape.members.items()}
    if isinstance(shape, ListShape):
        return [_full_sample(shape.member, text, seen)]
    if isinstance(shape, MapShape):
        return {"key": _full_sample(shape.value, text, seen)}
    return {"string": text, "boolean": False, "timestamp": 0}.get(shape.type_name, 1)


@pytest.fixture(scope="session")
def service_model():
    """`service_model(service)`: its model; None where botocore has no such service."""
    return _service_model


@pytest.fixture(scope="session")
def full_sample():
    """`full_sample(shape, text)`: all members, the text in every string, lists of one item."""
    return _full_sample
