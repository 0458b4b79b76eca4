"""Write what the pages say of the numbers of services, waiters and operations.

    python tools/page_counts.py

`tools/raise_botocore.py` does it, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import botocore
import botocore.session

from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.engine.model import GENERATED

ROOT: Final = Path(__file__).resolve().parents[1]

SENTENCES: Final = {
    "README.md": (
        "that have waiters | {botocores services} of {all services} | {services} of {all services}",
        "| waiters | {waiters} for {services} services;",
        "; botocore {version} has {botocores waiters} for {botocores services} |",
        "The {added waiters} waiters that botocore does not have",
    ),
    "docs/errors.md": ("for {explains} operations of {services of explains} services",),
    "docs/howto.md": (
        "boto3 has no waiter for Athena and {others without} other services.",
        "This package defines waiters for {added services} of these services",
    ),
    "docs/idempotency.md": (
        "- {token} operations whose documentation says that a member is one",
        "where the documentation states one ({tokenLifetime} operations;",
        "`call.adopted` is True ({describedBy} operations)",
    ),
    "docs/many.md": ("the operations, {coalescing} of {services of coalescing} services",),
}
"""By page, each sentence that has numbers, with their names; a blank may be the end of a line."""

TRAITS: Final = {
    "coalescing": "coalescing",
    "describedBy": "idempotency",
    "explains": "explains",
    "token": "idempotency",
    "tokenLifetime": "idempotency",
}
"""The traits whose operations are counted, with their files."""


def counts() -> dict[str, str]:
    """Return the numbers by their names."""
    loader = botocore.session.Session().get_component("data_loader")
    found = {"all services": len(loader.list_available_services("service-2"))}
    groups = [shipped_definitions(service) for service in shipped_services()]
    botocores = [[each for each in group if GENERATED in each.tags] for group in groups]
    for name, of in (("", groups), ("botocores ", botocores)):
        found |= {f"{name}services": sum(map(bool, of)), f"{name}waiters": sum(map(len, of))}
    for kind in ("services", "waiters"):
        found[f"added {kind}"] = found[kind] - found[f"botocores {kind}"]
    found["others without"] = found["all services"] - found["botocores services"] - len(["Athena"])
    for trait, file in TRAITS.items():
        shapes = json.loads((ROOT / f"data/{file}.json").read_text(encoding="utf-8"))["shapes"]
        ids = [id_ for id_, shape in shapes.items() if f"boto.waiters#{trait}" in shape["traits"]]
        found[trait] = len(ids)
        found[f"services of {trait}"] = len({id_.partition("#")[0] for id_ in ids})
    texts = {name: f"{number:,}" for name, number in found.items()}
    return texts | {"version": botocore.__version__}


def with_counts(page: str, sentences: Iterable[str], numbers: Mapping[str, str]) -> str:
    """Return a page with these numbers in its sentences.

    Raises:
        ValueError: a sentence is not there exactly once.
    """
    for sentence in sentences:
        texts, names = (re.split(r"\{([^}]*)\}", sentence)[start::2] for start in (0, 1))
        words = (r"\s+".join(map(re.escape, text.split(" "))) for text in texts)
        found = [*re.finditer(r"([\d.,]*\d)".join(words), page)]
        if len(found) != 1:
            raise ValueError(f"the page has {sentence!r} {len(found)} times")
        for index, name in reversed([*enumerate(names, 1)]):
            page = page[: found[0].start(index)] + numbers[name] + page[found[0].end(index) :]
    return page


def set_counts() -> None:
    """Write the numbers into the pages."""
    numbers = counts()
    for name, sentences in SENTENCES.items():
        page = (ROOT / name).read_text(encoding="utf-8")
        (ROOT / name).write_text(with_counts(page, sentences, numbers), encoding="utf-8")


if __name__ == "__main__":
    set_counts()
