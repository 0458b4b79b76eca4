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
import json
import re
from dataclasses import dataclass
from pathlib import Path

import botocore
import pytest
from botocore.model import StructureShape
from laws import is_changed

from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.engine.matching import Matching
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.bound_waiter import BoundWaiter

ROOT = Path(__file__).resolve().parents[2]
TABLES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "tests/cases/states").glob("*.json"))
}
WRITTEN_FROM = json.loads((ROOT / "data/traits.json").read_text(encoding="utf-8"))["metadata"][
    "boto.waiters"
]["botocore"]
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

    def verdict_on(self, output, input=None):
        """What the machine makes of a response: no match is a retry."""
        return self._state(self.matching.match_response(output, input).index, "retry")

    def verdict_on_error(self, name):
        """What the machine makes of an error: no match is a failure."""
        return self._state(self.matching.match_error([name]).index, "failure")

    def input_for(self, count):
        return {self.table["count"]: ["id"] * count} if "count" in self.table else {}

    def _state(self, index, otherwise):
        return otherwise if index is None else self.definition.states[index].value


SAMPLE = ("ec2", "kinesis", "s3")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(SAMPLE + tuple(filter(is_changed, TABLES)), id="sample and changed"),
        pytest.param(sorted(TABLES), id="all", marks=pytest.mark.nightly(subject="catalog")),
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
    wrong, problems = {}, {}
    for line in lines("values"):
        for value, verdict in line.table["values"].items():
            output = output_with(line, [value])
            actual = line.verdict_on(output, line.input_for(1))
            if actual != worst_of([verdict]):
                wrong[str(line), value] = (actual, verdict)
            if found := line.matching.match_response(output, line.input_for(1)).problems:
                problems[str(line), value] = found
    assert (wrong, problems) == ({}, {})


def test_of_several_resources_the_worst_decides(lines):
    wrong = {}
    for line in lines("values", "empty"):
        for pair in itertools.product(line.table["values"].items(), repeat=2):
            expected = worst_of([verdict for _, verdict in pair])
            actual = line.verdict_on(output_with(line, dict(pair)), line.input_for(len(dict(pair))))
            if actual != expected:
                wrong[str(line), pair] = (actual, expected)
    assert wrong == {}


def test_an_empty_list_is_what_the_table_says(lines):
    wrong = {}
    for line in lines("values", "empty"):
        actual = line.verdict_on(output_with(line, []), line.input_for(1))
        if actual != line.table["empty"]:
            wrong[str(line)] = (actual, line.table["empty"])
    assert wrong == {}


def test_fewer_resources_than_asked_for_are_not_enough(lines):
    for line in lines("count"):
        good = [value for value, verdict in line.table["values"].items() if verdict == "success"]
        assert line.verdict_on(output_with(line, good[:1]), line.input_for(1)) == "success"
        assert line.verdict_on(output_with(line, good[:1]), line.input_for(2)) == "retry"


def test_every_named_error_has_its_verdict(lines):
    for line in lines():
        errors = line.table.get("errors", {})
        assert {error: line.verdict_on_error(error) for error in errors} == errors, str(line)
        assert line.verdict_on_error("AccessDeniedException") == "failure", str(line)


def test_every_case_has_its_verdict(lines):
    wrong = []
    for line in lines("cases"):
        for case in line.table["cases"]:
            output, input = case["output"], case.get("input", {})
            message = line.matching.match_response(output, input).message
            actual = {"verdict": line.verdict_on(output, input), "message": message}
            if actual | case != case | actual:
                wrong.append((str(line), case, actual))
    assert wrong == []


def test_no_shipped_expression_is_warned_of(lines):
    """A function that is given null is silent; any other failure would be a warning to users."""
    faults = {}
    for line in lines():
        for case in ({"output": {}}, *line.table.get("cases", ())):
            match = line.matching.match_response(case["output"], case.get("input", {}))
            faults |= {each: str(line) for each in match.problems if each.is_fault}
    assert faults == {}


def test_every_curated_waiter_has_a_line():
    curated = {
        (service_id, definition.name, definition.operation)
        for service_id in shipped_services()
        for definition in shipped_definitions(service_id)
        if "curated" in definition.tags
    }
    judged = {
        (service_id, name, line["operation"])
        for service_id, table in TABLES.items()
        for name, line in table["waiters"].items()
    }
    assert judged >= curated


# --- what botocore's model says ---


@pytest.mark.models
def test_every_value_of_the_enumeration_is_in_the_table(lines, service_model):
    """Fails by name when a newer botocore knows a state that nobody has judged yet."""
    missing = {}
    for line, _, shape in modelled_states(lines, service_model):
        new = [value for value in shape.enum if value not in line.table["values"]]
        missing.update({str(line): new} if new else {})
    assert missing == {}


@pytest.mark.models
def test_the_table_has_no_value_that_the_model_lacks(lines, service_model):
    unknown = {}
    for line, _, shape in modelled_states(lines, service_model):
        extra = set(line.table["values"]) - set(shape.enum) - set(line.table.get("unmodelled", []))
        unknown.update({str(line): sorted(extra)} if shape.enum and extra else {})
    assert unknown == {}


def test_every_operation_and_named_error_is_modelled(lines, service_model):
    unknown = {}
    for line in lines():
        operation = operation_of(service_model, line)
        # EC2 answers with errors, but its model has none at all.
        if operation is not None and any_error_modelled(operation.service_model):
            modelled = {shape.name for shape in operation.error_shapes}
            unmodelled = set(line.table.get("unmodelled", []))
            extra = set(line.table.get("errors", {})) - modelled - unmodelled
            unknown.update({str(line): extra} if extra else {})
    assert unknown == {}


def test_message_is_the_reason_of_the_resource_that_failed(lines, service_model, full_sample):
    wrong = {}
    for line, operation, _ in modelled_states(lines, service_model):
        shape = operation.output_shape
        for value, verdict in line.table["values"].items():
            if verdict == "failure" and message_of(line, value) is not None:
                output = failed_output(line, shape, value, full_sample)
                match = line.matching.match_response(output, line.input_for(2))
                if match.message is None and botocore.__version__ != WRITTEN_FROM:
                    continue  # the member is newer than this botocore
                if match.message not in (REASON, [REASON]):
                    wrong[str(line), value] = match.message
    assert wrong == {}


def test_no_message_keeps_the_state_from_being_shown(lines, service_model):
    """Where an expression passes a sensitive member, nothing of the response is shown."""
    for line, operation, shape in modelled_states(lines, service_model):
        assert not shape.metadata.get("sensitive")
        waiter = BoundWaiter(line.definition, operation)
        assert not waiter.polling.data_model.sensitive, str(line)


def worst_of(verdicts):
    counted = [verdict for verdict in verdicts if verdict != LEFT_OUT]
    return min(counted, key=WORST_FIRST.index, default="retry")


def message_of(line, value):
    match = line.matching.match_response(output_with(line, [value]), line.input_for(1))
    return line.definition.acceptors[match.index].message


@functools.cache
def any_error_modelled(model):
    return any(model.operation_model(name).error_shapes for name in model.operation_names)


def operation_of(service_model, line):
    """The operation in the installed botocore; None if that is too old for it."""
    model = service_model(TABLES[line.service_id]["service"])
    if model is None or line.table["operation"] not in model.operation_names:
        assert botocore.__version__ != WRITTEN_FROM, str(line)
        return None
    return model.operation_model(line.table["operation"])


def modelled_states(lines, service_model):
    """The lines whose state is a string of the installed botocore's model: operation and shape."""
    for line in lines("state"):
        operation = operation_of(service_model, line)
        shape = operation and shape_at(operation.output_shape, steps_to(line))
        # A document has no members in the model.
        assert shape or botocore.__version__ != WRITTEN_FROM or "RestApi" in line.table["state"]
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


def failed_output(line, shape, value, full_sample):
    """All members the model has: first, in a list, a resource that fares well, then the one.

    Every text of the failed one is the reason, every text of the other is not.
    """
    good = [v for v, verdict in line.table["values"].items() if verdict != "failure"]
    steps = steps_to(line)
    if "empty" not in line.table:
        return with_state(full_sample(shape, REASON), steps, value)
    first = with_state(full_sample(shape, "another text"), steps, good[0])
    failed = with_state(full_sample(shape, REASON), steps, value)
    outer = steps[: steps.index(list)]
    items = [*at(first, outer), *at(failed, outer)]
    at(failed, outer[:-1])[outer[-1]] = items
    return failed


def at(document, steps):
    for step in steps:
        document = document[step]
    return document


def with_state(document, steps, value):
    *outer, last = steps
    owner = document
    for step in outer:
        owner = owner[0] if step is list else owner[step]
    owner[last] = value
    return document
