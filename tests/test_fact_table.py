"""Outcomes and errors as tables in Jupyter and rich."""

import io
import pickle

import pytest

from boto_waiters_plus import ResponseOutcome, WaiterFailedError
from boto_waiters_plus.engine.acceptors import MatchedAcceptor

FACTS = {"label": "s3 Bucket=<b>", "attempts": 3, "elapsed": 4.21, "observed": "[red]up[/red]"}
ACCEPTOR = MatchedAcceptor(0, "success when state is 'up'")
OUTCOME = ResponseOutcome(waiter="ThingUp", acceptor=ACCEPTOR, response={"x": "secret"}, **FACTS)
ERROR = WaiterFailedError("ThingUp", "it broke", {"x": "secret"}, **FACTS)


@pytest.mark.parametrize("end", [OUTCOME, ERROR, pickle.loads(pickle.dumps(ERROR))])
def test_jupyter_shows_a_small_table(end):
    text = end._repr_html_()
    assert f"<caption>{type(end).__name__}</caption>" in text
    for name, shown in (
        ("waiter", "ThingUp"),
        ("label", "s3 Bucket=&lt;b&gt;"),
        ("state", "[red]up[/red]"),
        ("attempts", "3"),
        ("elapsed", "4.2 s"),
    ):
        assert f"<tr><th>{name}</th><td>{shown}</td></tr>" in text
    assert "secret" not in text


@pytest.mark.parametrize("end", [OUTCOME, ERROR])
def test_rich_prints_a_small_table(end):
    rich = pytest.importorskip("rich.console")
    file = io.StringIO()
    rich.Console(file=file, width=80).print(end)
    lines = [line.split() for line in file.getvalue().splitlines()]
    assert lines[0] == [type(end).__name__]
    assert ["\u2502", "label", "\u2502", "s3", "Bucket=<b>", "\u2502"] in lines
    assert ["\u2502", "state", "\u2502", "[red]up[/red]", "\u2502"] in lines
    assert "secret" not in file.getvalue()
