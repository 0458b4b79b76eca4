"""The rows of `account_areas.json`: what `tools/account_run.py` makes, changes and deletes.

A row has a service, the most that it costs in US dollars at the prices of us-east-1, for what, and
its steps, which are taken in turn:

    expect, refuse     a waiter has to succeed; it must not succeed yet (`with`: its parameters)
    call               call a method of the row's service, or of another `service`
    begin              the same by `begin`: its effect has to be seen, or that of `then`, a waiter
                       and its parameters
    read               call a method; `path` has to give what `is` says, for which the step before
                       has waited
    end                delete the newest resource of a kind that no effect follows

A call keeps values of its response (`save`: names and paths). One that makes a resource names its
kind in `make` and its `id`, one that deletes it `ends`. `$name` stands for what was kept, `${name}`
for the same inside of a text, `$$` for `$`; `{"$json": ...}` for the value as a text. Kept from the
start are the names in `take`.

`"moto": false` is a step that moto does not know.
"""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jmespath
from account_resources import TAG

Step = dict[str, Any]


@dataclass(frozen=True)
class Area:
    """What is run of one service."""

    service: str
    dollars: float
    """What the steps cost at most, in US dollars at the prices of us-east-1."""
    price: str
    """What is paid for."""
    steps: list[Step]

    @property
    def names(self) -> tuple[str, ...]:
        """The waiters and the calls by `begin`, in order."""
        return tuple(dict.fromkeys(filter(None, map(result_name, self.steps))))


def result_name(step: Step) -> str:
    """Return the name of a step in the table of results; empty if it has none."""
    return (
        f"begin {step['begin']}" if "begin" in step else step.get("expect", step.get("refuse", ""))
    )


def take(run: Any, area: Area) -> None:
    """Take the steps of an area."""
    kept = {
        "name": run.name(),
        "run": run.id,
        "region": run.region,
        "account": run.account,
        "now": int(time.time()),
        "in_an_hour": int(time.time()) + 3600,
        # That of us-east-1 is not said.
        "place": None if run.region == "us-east-1" else {"LocationConstraint": run.region},
        "tag": TAG,
        "tags": run.tags(),
        "lower_tags": run.tags("lower"),
        "tag_map": run.tags("map"),
        "zip": _code(),
    }
    if '"$role"' in json.dumps(area.steps):
        kept["role"] = run.role()
    for step in area.steps:
        _take(run, area, step, kept)


def _take(run: Any, area: Area, step: Step, kept: dict[str, Any]) -> None:
    parameters = filled(step.get("with", {}), kept)
    if "expect" in step:
        run.expect(step["expect"], parameters)
    elif "refuse" in step:
        run.refuse(step["refuse"], parameters)
    elif "end" in step:
        run.end(step["end"])
    elif "read" in step:
        response = getattr(run.client(area.service), step["read"])(**parameters)
        run.compare(step["path"], jmespath.search(step["path"], response), filled(step["is"], kept))
    else:
        _call(run, area, step, kept, parameters)


def _call(
    run: Any, area: Area, step: Step, kept: dict[str, Any], parameters: dict[str, Any]
) -> None:
    client = run.client(step.get("service", area.service))

    def keep(response: Any) -> dict[str, Any]:
        for name, path in step.get("save", {}).items():
            value = jmespath.search(path, response)
            if value is None:
                raise LookupError(f"{step.get('call', step.get('begin'))} gave no {path}")
            # Route 53 gives paths, which end in the id.
            kept[name] = re.sub(r"^/\w+/", "", value)
        return kept

    made: dict[str, Any] = {}
    if "make" in step:
        names = re.findall(r"\$\{?(\w+)", step["id"])
        is_known = kept.keys() >= set(names)
        made["kind"] = step["make"]
        made["identity"] = (
            filled(step["id"], kept) if is_known else lambda given: filled(step["id"], keep(given))
        )
        made["again_on"] = step.get("again_on")
    if "begin" in step:
        then = step.get("then")
        effect = then and (then[0], lambda response: filled(then[1], keep(response)))
        run.begin(client, step["begin"], effect, keep, made, parameters)
    elif made:
        keep(run.make(method=getattr(client, step["call"]), **made, **parameters))
    else:
        keep(getattr(client, step["call"])(**parameters))
    if "ends" in step:
        run.forget(step["ends"])


def filled(value: Any, kept: dict[str, Any]) -> Any:
    """Return a value of a row with what was kept in it."""
    if isinstance(value, dict):
        if value.keys() == {"$json"}:
            return json.dumps(filled(value["$json"], kept))
        items = {name: filled(item, kept) for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not None}
    if isinstance(value, list):
        return [filled(item, kept) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith("$$"):
        return value[1:]
    if re.fullmatch(r"\$\w+", value):
        return kept[value[1:]]
    return re.sub(r"\$\{(\w+)\}", lambda match: str(kept[match[1]]), value)


def _code() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("m.py", f"def f(event, context):\n    return {TAG!r}\n")
    return archive.getvalue()


AREAS = [
    Area(**row)
    for row in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
]
