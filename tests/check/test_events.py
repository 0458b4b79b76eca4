"""Severities, and how a place without a line reads."""

from boto_waiters_plus.validation import Location, Severity


def test_severities_have_smithy_s_order():
    names = ["SUPPRESSED", "NOTE", "WARNING", "DANGER", "ERROR"]
    assert [severity.value for severity in sorted(Severity)] == names
    assert Severity.DANGER > Severity.WARNING >= "WARNING"
    assert Severity.NOTE < "DANGER"
    assert Severity.NOTE <= Severity.NOTE
    assert max(Severity) == "ERROR"
    assert str(Location("a.json")) == "a.json"
