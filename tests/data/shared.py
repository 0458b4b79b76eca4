"""What the tests of the shipped data share: files, botocore's models, answers made from them."""

import functools
import json
import re
from pathlib import Path

import botocore.session
import effect_of
import pytest
from botocore.exceptions import UnknownServiceError
from botocore.model import ListShape, MapShape, ServiceModel, StructureShape
from laws import is_changed

from boto_waiters_plus.changes.effects import EffectWaiter
from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions.changes import EFFECT
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.service.bound_waiter import BoundWaiter

ROOT = Path(__file__).resolve().parents[2]
CATALOG = pytest.mark.nightly(subject="catalog")
CHANGED_OR_ALL = [
    pytest.param(is_changed, id="changed"),
    pytest.param(bool, id="all", marks=CATALOG),
]
"""Whether a test is about a service, by its id."""


def json_of(path):
    """The content of a file of the project."""
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


@functools.cache
def service_model(service):
    """The model of a service; None where botocore has no such service."""
    try:
        loader = botocore.session.get_session().get_component("data_loader")
        return ServiceModel(loader.load_service_model(service, "service-2"), service_name=service)
    except UnknownServiceError:
        return None


def operation_of(shape_id):
    """The operation with this id."""
    namespace, _, name = shape_id.partition("#")
    return service_by_namespace(namespace).model.operation_model(name)


def full_sample(shape, text, items=1, seen=()):
    """All members, the text in every string, lists and maps of so many; of no shape, nothing."""
    if shape is None or shape.name in seen:
        return {}
    inner = (*seen, shape.name) if isinstance(shape, StructureShape) else seen
    match shape:
        case StructureShape():
            members = shape.members.items()
            return {name: full_sample(member, text, items, inner) for name, member in members}
        case ListShape():
            return [full_sample(shape.member, text, items, inner)] * items
        case MapShape():
            value = full_sample(shape.value, text, items, inner)
            return {f"key-{number}": value for number in range(items)}
    return {"string": text, "boolean": False, "timestamp": 0}.get(shape.type_name, 1)


def sample_call(operation, text):
    """The parameters and the answer of a call, as the paths of an effect see them."""
    shapes = {"input": operation.input_shape, "output": operation.output_shape}
    return {side: full_sample(shape, text) for side, shape in shapes.items()}


def put(document, path, value):
    """Set a member, in the first item of each list on the way; False if it is not there."""
    *outer, last = re.findall(r"[a-zA-Z_]\w*", path)
    for name in outer:
        document = document.get(name, {})
        while isinstance(document, list):
            document = document[0]
    if last in document:
        document[last] = value
    return last in document


def effect_rows():
    """The shape id, the name and the content of each shipped effect."""
    for shape, applied in effect_of.shipped_document()["shapes"].items():
        for name, body in applied["traits"].get(EFFECT, {}).items():
            yield shape, name, body


def effect_waiter(effect):
    """The waiter of an effect, as a wait takes it."""
    definition = effect.trait.waiter
    if isinstance(definition, str):
        shipped = shipped_definitions(effect.polled.service_model.service_id.hyphenize())
        [definition] = [each for each in shipped if each.name == definition]
    return EffectWaiter(BoundWaiter(definition, effect.polled), effect.trait)
