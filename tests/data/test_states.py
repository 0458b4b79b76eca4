"""Curated waiters against tables written from the documentation of the services.

`tests/cases/states/<service-id>.json` says of every curated waiter, and of some that are
corrected, which member holds the state of the resource and what each of its values is for the
waiter: success, failure or retry. Errors are named beside it. Where the state is not one member,
cases have whole outputs.

| member of a line | meaning |
|---|---|
| `state`, `values` | path of the member, value -> verdict |
| `unmodelled` | those of the values and errors that the service sends and the model does not have |
| `empty` | the verdict on an empty list, where the path goes through one |
| `count` | the list in the input that as many items have to be returned for |
| `errors` | name of an error -> verdict |
| `cases` | output, input, verdict and message |

A resource on its way to an end (stopping, cancelling, rolling back) is a retry: its end says
more. One that is being deleted fails a waiter for anything but its deletion: what comes after
could not be told from a resource that never was. In a list that keeps what was removed, such an
item is `left out`: the others decide, and alone it is a retry.
"""

import functools
import itertools
import operator
import re
from dataclasses import dataclass

import pytest
from botocore.model import StructureShape
from data.shared import CATALOG, ROOT, full_sample, json_of, put, service_model
from laws import is_changed

from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.bound_waiter import BoundWaiter

TABLES = {path.stem: json_of(path) for path in sorted((ROOT / "tests/cases/states").glob("*.json"))}
WORST_FIRST = ("failure", "retry", "success")
LEFT_OUT = "left out"
REASON = "the reason"


@dataclass(frozen=True)
class Line:
    service_id: str
    name: str
    table: dict
    definition: WaiterDefinition
    matching: Matching

    def __str__(self):
        return f"{self.service_id} {self.name}"

    def match(self, output, count=1):
        """The match of an output, where so many resources were asked for."""
        input = {self.table["count"]: ["id"] * count} if "count" in self.table else {}
        return self.matching.match_response(output, input)

    def verdict_on(self, output, count=1):
        """What the machine makes of a response: no match is a retry."""
        return self.verdict_of(self.match(output, count))

    def verdict_of(self, match):
        return self._state(match.index, "retry")

    def verdict_on_error(self, name):
        """What the machine makes of an error: no match is a failure."""
        return self._state(self.matching.match_error([name]).index, "failure")

    def _state(self, index, otherwise):
        return otherwise if index is None else self.definition.states[index].value


SAMPLE = ("ec2", "kinesis", "s3")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(SAMPLE + tuple(filter(is_changed, TABLES)), id="sample and changed"),
        pytest.param(sorted(TABLES), id="all", marks=CATALOG),
    ],
)
def lines(request):
    """`lines(*members)`: the lines of a sample, or all, that have all of these members."""

    def found(*members):
        for service_id in request.param:
            definitions = {each.name: each for each in shipped_definitions(service_id)}
            for name, table in TABLES[service_id]["waiters"].items():
                if all(member in table for member in members):
                    definition = definitions[name]
                    yield Line(service_id, name, table, definition, Matching(definition.acceptors))

    return found


# --- what the definitions say ---


def test_every_value_of_the_state_has_its_verdict(lines):
    """An expression that cannot be evaluated never matches: the wait would never end."""
    for line in lines("values"):
        for value, verdict in line.table["values"].items():
            output = output_with(line, [value])
            assert line.verdict_on(output) == worst_of([verdict]), (str(line), value)
            assert line.match(output).problems == (), (str(line), value)


def test_of_several_resources_the_worst_decides(lines):
    for line in lines("values", "empty"):
        assert line.verdict_on(output_with(line, [])) == line.table["empty"], str(line)
        for pair in itertools.product(line.table["values"].items(), repeat=2):
            output, count = output_with(line, dict(pair)), len(dict(pair))
            expected = worst_of([verdict for _, verdict in pair])
            assert line.verdict_on(output, count) == expected, (str(line), pair)


def test_fewer_resources_than_asked_for_are_not_enough(lines):
    for line in lines("count"):
        good = [value for value, verdict in line.table["values"].items() if verdict == "success"]
        assert line.verdict_on(output_with(line, good[:1]), 1) == "success"
        assert line.verdict_on(output_with(line, good[:1]), 2) == "retry"


def test_every_named_error_has_its_verdict(lines):
    for line in lines():
        errors = line.table.get("errors", {})
        assert {error: line.verdict_on_error(error) for error in errors} == errors, str(line)
        assert line.verdict_on_error("AccessDeniedException") == "failure", str(line)


def test_every_case_has_its_verdict(lines):
    """A function that is given null is silent; any other failure would be a warning to users."""
    for line in lines():
        for case in ({"output": {}}, *line.table.get("cases", ())):
            match = line.matching.match_response(case["output"], case.get("input", {}))
            actual = {"verdict": line.verdict_of(match), "message": match.message}
            assert actual | case == case | actual, str(line)
            assert not any(each.is_fault for each in match.problems), str(line)


def test_every_curated_waiter_has_a_line():
    curated = {
        (service_id, definition.name, definition.operation)
        for service_id in shipped_services()
        for definition in shipped_definitions(service_id)
        if "curated" in definition.tags
    }
    tables = ((service_id, table["waiters"].items()) for service_id, table in TABLES.items())
    judged = {(of, name, line["operation"]) for of, lines in tables for name, line in lines}
    assert judged >= curated


# --- what botocore's model says ---


@pytest.mark.models
def test_the_table_has_the_values_of_the_enumeration(lines):
    """Fails by name when a newer botocore knows a state that nobody has judged yet."""
    missing, unknown = {}, {}
    for line, _, shape in modelled_states(lines):
        values, unmodelled = line.table["values"].keys(), line.table.get("unmodelled", ())
        if new := [value for value in shape.enum if value not in values]:
            missing[str(line)] = new
        if shape.enum and (extra := values - {*shape.enum, *unmodelled}):
            unknown[str(line)] = extra
    assert (missing, unknown) == ({}, {})


def test_every_operation_and_named_error_is_modelled(lines):
    unknown = {}
    for line in lines():
        operation = operation_of(line)
        # EC2 answers with errors, but its model has none at all.
        if any_error_modelled(operation.service_model):
            modelled = {shape.name for shape in operation.error_shapes}
            errors = line.table.get("errors", {}).keys()
            if extra := errors - modelled - {*line.table.get("unmodelled", ())}:
                unknown[str(line)] = extra
    assert unknown == {}


def test_message_is_the_reason_of_the_resource_that_failed(lines):
    for line, operation, _ in modelled_states(lines):
        for value, verdict in line.table["values"].items():
            if verdict != "failure" or message_of(line, value) is None:
                continue
            match = line.match(failed_output(line, operation.output_shape, value), 2)
            assert match.message in (REASON, [REASON]), (str(line), value)


def test_no_message_keeps_the_state_from_being_shown(lines):
    """Where an expression passes a sensitive member, nothing of the response is shown."""
    for line, operation, shape in modelled_states(lines):
        assert not shape.metadata.get("sensitive")
        waiter = BoundWaiter(line.definition, operation)
        assert not waiter.polling.data_model.sensitive, str(line)


def worst_of(verdicts):
    counted = [verdict for verdict in verdicts if verdict != LEFT_OUT]
    return min(counted, key=WORST_FIRST.index, default="retry")


def message_of(line, value):
    index = line.match(output_with(line, [value])).index
    return line.definition.acceptors[index].message


@functools.cache
def any_error_modelled(model):
    return any(model.operation_model(name).error_shapes for name in model.operation_names)


def operation_of(line):
    model = service_model(TABLES[line.service_id]["service"])
    return model.operation_model(line.table["operation"])


def modelled_states(lines):
    """The lines whose state is a string of botocore's model: operation and shape."""
    for line in lines("state"):
        operation = operation_of(line)
        shape = shape_at(operation.output_shape, steps_to(line))
        # A document has no members in the model.
        assert shape or "RestApi" in line.table["state"], str(line)
        if shape is not None:
            yield line, operation, shape


# --- outputs to match on ---


def steps_to(line):
    """`jobs[].status` as ("jobs", list, "status"); an index is a list too."""
    return [
        list if step.startswith("[") else step
        for step in re.findall(r"\w+(?![\w\]])|\[\d*\]", line.table["state"])
    ]


def output_with(line, values):
    """The least output that has these values at the path of the state."""
    return nested(steps_to(line), list(values))


def nested(steps, values):
    """A document with the values at the path; the outermost list has one item for each."""
    if not steps:
        [value] = values
        return value
    step, *rest = steps
    if step is list:
        return [nested(rest, [value]) for value in values]
    return {step: nested(rest, values)}


def shape_at(shape, steps):
    for step in steps:
        if step is list:
            shape = shape.member
        elif isinstance(shape, StructureShape) and step in shape.members:
            shape = shape.members[step]
        else:
            return None
    return shape


def failed_output(line, shape, value):
    """All members the model has: first, in a list, a resource that fares well, then the one.

    Every text of the failed one is the reason, every text of the other is not.
    """
    failed, first = full_sample(shape, REASON), full_sample(shape, "another text")
    good = next((v for v, verdict in line.table["values"].items() if verdict != "failure"), None)
    assert put(failed, line.table["state"], value)
    assert put(first, line.table["state"], good)
    if "empty" in line.table:
        *outer, last = itertools.takewhile(lambda step: step is not list, steps_to(line))
        items = [*at(first, outer)[last], *at(failed, outer)[last]]
        at(failed, outer)[last] = items
    return failed


def at(document, steps):
    return functools.reduce(operator.getitem, steps, document)
