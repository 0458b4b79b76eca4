"""Files and folders, and the severities and locations of events in them."""

import json
import re

import pytest
from case_tables import cases
from check.models import thing

from boto_waiters_plus.validation import Severity, check

CASES = cases("check-expressions")


@pytest.mark.parametrize(("text", "problem", "line", "column"), CASES["refused files"])
def test_unreadable_file_is_an_error_with_its_location(tmp_path, text, problem, line, column):
    file = tmp_path / "broken.json"
    file.write_text(text)
    [event] = check(file)
    assert (event.severity, event.id, event.source) == (Severity.ERROR, "Model", str(file))
    assert problem in event.message
    assert (event.line, event.column) == (line, column)


def test_severities_have_smithy_s_order():
    names = ["SUPPRESSED", "NOTE", "WARNING", "DANGER", "ERROR"]
    assert [severity.value for severity in sorted(Severity)] == names
    assert Severity.DANGER > Severity.WARNING >= "WARNING"
    assert Severity.NOTE < "DANGER"


ACTIVE = ["success", "output", "status", "stringEquals", "active"]
FAILED = ["failure", "output", "status", "stringEquals", "failed"]


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_event_has_the_location_of_the_waiter_or_acceptor(tmp_path, indent):
    """In any layout, behind brackets and quotes in strings."""
    file = tmp_path / "model.json"
    waiter = {"acceptors": [ACTIVE, FAILED, ["retry", "errorType", "Nope"]]}
    metadata = {'b"}': [[], {}, ["x,]\\", 1.5, {"c": {}}], None, True]}
    model = thing({"ThingActive": {**waiter, "minDelay": 9, "maxDelay": 3}}, metadata=metadata)
    model = {"smithy": "2.0", "metadata": metadata, **model}
    file.write_text(json.dumps(model, indent=indent))
    lines = file.read_text().split("\n")

    def text_at(event):
        line, *others = lines[event.line - 1 :]
        return re.sub(r"\s", "", line[event.column - 1 :] + "".join(others))

    delay, error = [event for event in check(file) if event.severity > "NOTE"]
    assert text_at(delay).startswith('"ThingActive":{')
    assert text_at(error).startswith('{"state":"retry","matcher":{"errorType":"Nope"}')
    assert {event.line for event in check(model)} == {None}


def test_folder_is_searched_for_files_with_waiters(tmp_path):
    (tmp_path / "deep").mkdir()
    model = thing({"ThingActive": {"acceptors": [FAILED]}})
    (tmp_path / "deep" / "a.json").write_text(json.dumps(model))
    (tmp_path / "other.json").write_text('{"no": "waiters"}')
    (tmp_path / "broken.json").write_text("{")
    events = [event for event in check(tmp_path) if event.severity == "ERROR"]
    files = [tmp_path / "broken.json", tmp_path / "deep" / "a.json"]
    assert [event.source for event in events] == [str(file) for file in files]
