"""Events and severities."""

import pytest

from boto_waiters_plus.validation import Location, Severity, ValidationEvent


def test_severities_have_smithy_s_order():
    names = ["SUPPRESSED", "NOTE", "WARNING", "DANGER", "ERROR"]
    assert [severity.value for severity in sorted(Severity)] == names
    assert Severity.DANGER > Severity.WARNING >= "WARNING"
    assert Severity.NOTE < "DANGER"
    assert Severity.NOTE <= Severity.NOTE
    assert max(Severity) == "ERROR"


def test_event_reads_like_smithy_s():
    event = ValidationEvent(Severity.DANGER, "Rule.W", "a.b#C", "It is so.")
    assert str(event) == "[DANGER] a.b#C: It is so. | Rule.W"
    assert (event.source, event.line, event.column) == (None, None, None)
    assert str(ValidationEvent(Severity.ERROR, "Model", None, "x")) == "[ERROR] -: x | Model"


@pytest.mark.parametrize(
    ("location", "text"), [(Location("a.json", 3, 7), "a.json:3:7"), (Location("a.json"), "a.json")]
)
def test_location_reads_like_a_compiler_s(location, text):
    assert str(location) == text
    event = ValidationEvent(Severity.NOTE, "X", None, "x", location)
    assert (event.source, event.line, event.column) == tuple(location)
