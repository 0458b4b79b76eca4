"""The rules of the traits that only the project's own data has."""

import copy
import json

import check_traits
import pytest
from case_tables import tabled

pytestmark = pytest.mark.models

DOCUMENT = json.loads(check_traits.FILE.read_text(encoding="utf-8"))
EXPLAINED = json.loads(check_traits.EXPLAINS_FILE.read_text(encoding="utf-8"))["shapes"]
DOCUMENT["shapes"] |= EXPLAINED


def test_shipped_data_have_no_problem(capsys):
    assert check_traits.main([]) == 0
    assert capsys.readouterr().out == ""


@tabled("place", "value", "problem", ids=str)
def test_fault_is_found_with_its_place(place, value, problem, tmp_path, capsys):
    shapes = {name: each for name, each in DOCUMENT["shapes"].items() if name in place}
    document = copy.deepcopy({**DOCUMENT, "shapes": shapes})
    *outer, last = place
    part = document
    for name in outer:
        part = part[name]
    if value is None:
        del part[last]
    else:
        part[last] = value
    path = tmp_path / "idempotency.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert check_traits.main([str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("idempotency.json: ") and problem in line for line in lines), lines
