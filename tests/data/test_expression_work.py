"""No expression that is shipped comes near the bound on its work."""

import contextlib

from botocore.loaders import create_loader
from botocore.model import ListShape, MapShape, StructureShape
from data.shared import CATALOG, service_model

from boto_waiters_plus.engine.path_interpreter import MOST_STEPS, Path, SpecEvaluation
from boto_waiters_plus.service.service_waiters import ServiceWaiters

pytestmark = CATALOG

ITEMS = 20
"""Of each list in a response: 8,000 in a list of lists of lists."""


def steps_of(paths, document):
    evaluation = SpecEvaluation()
    for path in paths:
        with contextlib.suppress(TypeError, ValueError):
            Path(path).value(document, evaluation)
    return MOST_STEPS - evaluation.steps_left


def long_response(shape, seen=()):
    if shape is None or shape.name in seen:
        return None
    seen = (*seen, shape.name)
    match shape:
        case StructureShape():
            return {name: long_response(member, seen) for name, member in shape.members.items()}
        case ListShape():
            return [long_response(shape.member, seen)] * ITEMS
        case MapShape():
            return dict.fromkeys(map(str, range(ITEMS)), long_response(shape.value, seen))
    return "text" if shape.type_name == "string" else 1


def test_shipped_expressions_take_few_steps():
    most = {}
    for service in create_loader().list_available_services("service-2"):
        for waiter in ServiceWaiters(service_model(service), None).values():
            output = long_response(waiter.operation.output_shape)
            paths = [path for _, path in waiter.polling.matching.paths]
            both = {"input": {}, "output": output}
            steps = max(steps_of(paths, output), steps_of(paths, both))
            most[steps] = service, waiter.definition.name
    assert max(most) < MOST_STEPS / 50, most[max(most)]
