"""Each rule of the checker, on small models: `tests/cases/check-rules.json`.

A case has `waiters` of the operation of `thing`, `shapes` that change its model (null takes a
member away) and `states` in place of its own; or waiters `on` another operation; or `documents`.
`expect` has the events of the group's rules: severity, id, and the shape if it is another one;
`says`, words of a message, behind its severity where several events could have them.
"""

import botocore
import pytest
from case_tables import cases
from check.models import applied, thing

from boto_waiters_plus.validation import check

TABLE = cases("check-rules")
CASES = [
    pytest.param(group, case, id=f"{name} {number}")
    for name, group in TABLE["groups"].items()
    for number, case in enumerate(group["cases"])
]
OPERATION = "smithy.example#GetThing"


@pytest.mark.parametrize(("group", "case"), CASES)
def test_a_rule_finds_what_it_is_for(group, case, monkeypatch):
    monkeypatch.setattr(botocore, "__version__", group.get("botocore", botocore.__version__))
    case, place = dict(case), None
    expect, says, service = case.pop("expect"), case.pop("says", []), case.pop("service", None)
    if "documents" in case:
        model = [thing(**each["thing"]) if "thing" in each else each for each in case["documents"]]
    elif "on" in case:
        model, place = applied(**case), case["on"]
    else:
        model, place = thing(**case), OPERATION
    events = [each for each in check(model, service) if each.id.startswith(tuple(group["rules"]))]
    found = [
        f"{each.severity} {each.id}"
        + ("" if service or place in (None, each.shape) else f" on {each.shape}")
        for each in events
    ]
    assert sorted(found) == expect
    for words in says:
        severity, _, text = words.rpartition("|")
        assert any(severity in ("", each.severity) and text in each.message for each in events)
