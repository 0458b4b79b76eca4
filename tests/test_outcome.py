"""What a successful wait returns, and how that and an error look in Jupyter and rich."""

import dataclasses
import io

import pytest

from boto_waiters_plus import (
    ExceptionOutcome,
    ResponseOutcome,
    WaiterDefinition,
    WaiterFailedError,
    WaiterOutcome,
)

THING_UP = WaiterDefinition.from_states("ThingUp", "GetThing", path="state", success=["up"])
SECRET = "hunter2-very-secret"
FACTS = {
    "waiter": "ThingUp",
    "attempts": 3,
    "elapsed": 4.5678,
    "acceptor": THING_UP.matched(0),
    "observed": "up",
}


def responded(**facts):
    return ResponseOutcome(response={"state": "up", "Secret": SECRET}, **{**FACTS, **facts})


def raised(**facts):
    return ExceptionOutcome(exception=KeyError(SECRET), **{**FACTS, **facts})


@pytest.mark.parametrize("outcome", [responded(), raised()], ids=["response", "exception"])
def test_both_carry_the_facts_and_cannot_be_changed(outcome):
    assert isinstance(outcome, WaiterOutcome)
    assert {name: getattr(outcome, name) for name in FACTS} == FACTS
    match outcome:
        case ResponseOutcome(response=response, exception=None):
            assert response["state"] == "up"
        case ExceptionOutcome(exception=exception, response=None):
            assert type(exception) is KeyError
        case _:
            pytest.fail("told apart by nothing")
    for name in (*FACTS, "response", "exception", "new"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(outcome, name, 1)


def test_repr_tells_the_facts_and_never_the_response():
    for shown in (repr(responded()), repr(raised())):
        assert "waiter='ThingUp', attempts=3, elapsed=4.568, acceptor=" in shown
        assert "observed='up'" in shown
        assert SECRET not in shown
    assert repr(raised()).endswith(", exception=KeyError)")


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        *[(value, True) for value in ("3", "a\nb", "\x1b[1m'", 3, 2.5, True, ["up", "3", 3], [])],
        *[(value, False) for value in ({"k": SECRET}, [SECRET] * 6, [{"k": SECRET}], b"raw")],
    ],
)
def test_repr_shows_what_may_be_shown(value, is_shown):
    outcome = responded(observed=value)
    assert repr(outcome).endswith(f", observed={value!r})") is is_shown
    assert SECRET not in str(outcome)
    assert outcome.observed == value
    assert len(repr(responded(observed="x" * 5000))) < 400


def test_outcomes_compare_by_their_facts():
    assert responded() == responded()
    assert responded() != responded(attempts=4)
    assert raised() == raised()  # two exceptions are never equal, what they say may be
    assert responded() != raised()


TOLD = {**FACTS, "label": "s3 Bucket=<b>", "observed": "[red]up[/red]"}
ERROR = WaiterFailedError(TOLD.pop("waiter"), "it broke", {"Secret": SECRET}, **TOLD)


@pytest.mark.parametrize("end", [responded(**TOLD), ERROR])
def test_notebooks_and_rich_show_a_small_table(end):
    shown = {"waiter": "ThingUp", "label": "s3 Bucket=<b>", "state": "[red]up[/red]"}
    shown |= {"attempts": "3", "elapsed": "4.6 s"}
    html, file = end._repr_html_(), io.StringIO()
    pytest.importorskip("rich.console").Console(file=file, width=80).print(end)
    lines = [line.split() for line in file.getvalue().splitlines()]
    for name, value in shown.items():
        escaped = value.replace("<b>", "&lt;b&gt;")
        assert f"<tr><th>{name}</th><td>{escaped}</td></tr>" in html
        assert ["\u2502", name, "\u2502", *value.split(), "\u2502"] in lines
    assert f"<caption>{type(end).__name__}</caption>" in html
    assert lines[0] == [type(end).__name__]
    assert SECRET not in f"{html}{file.getvalue()}"
