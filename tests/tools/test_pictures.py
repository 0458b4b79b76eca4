"""The pictures of the documentation."""

from pathlib import Path

import pictures
import pytest

from boto_waiters_plus.engine import machine

FOLDER = Path(__file__).resolve().parents[2] / "docs/pictures"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the documentation is not in a wheel")
def test_pictures_are_what_the_code_draws(tmp_path):
    pictures.main([str(tmp_path)])
    for drawn in tmp_path.iterdir():
        assert (FOLDER / drawn.name).read_text(encoding="utf-8") == drawn.read_text("utf-8")


def test_transitions_lead_to_every_ending():
    found = pictures.transitions()
    phases = {phase.value for phase in machine.Phase} - {"ended"}
    endings = {kind.__name__ for kind in machine.Ending.__args__}
    assert {start for start, _ in found} == phases
    assert {end for _, end in found} == phases - {"new"} | endings
    assert found["polling", "Succeeded"] == ["Responded", "Raised"]
    assert "CallTimedOut" in found["polling", "TimedOut"]


def test_transition_without_a_place_is_refused(monkeypatch):
    # Not `delitem`, which puts it back as the last one, and draws it last.
    others = {name: place for name, place in pictures.PHASES.items() if name != "new"}
    monkeypatch.setattr(pictures, "PHASES", others)
    with pytest.raises(ValueError, match=r"no place for: .*'new', 'TimedOut'"):
        pictures.states()
