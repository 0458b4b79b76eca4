"""Note which definitions and effects have been through all of the laws.

    tox run -e catalog && python tools/data_digests.py

writes one digest a service to `tests/cases/data-digests.json`, over its waiters, its effects and
what these report.
The gate tests the services whose digest is another one by the laws that `catalog` tests all by.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from json_rows import rows_text

from boto_waiters_plus.definitions.changes import EFFECTS_FILE
from boto_waiters_plus.definitions.shipped import FILE_OF, OTHER_FILES
from boto_waiters_plus.definitions.smithy import AWS_NAMESPACE, REPORTS

ROOT = Path(__file__).resolve().parents[1]
_OF_ALL = (EFFECTS_FILE, FILE_OF[REPORTS])
"""The files with shapes of all services, for which there are laws."""

DIGESTS_FILE = ROOT / "tests/cases/data-digests.json"


def digests() -> dict[str, str]:
    """Return the digest of each service, by the last part of its namespace."""
    shapes: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for path in sorted((ROOT / "data").glob("*.json")):
        if path.name in _OF_ALL or path.name not in OTHER_FILES:
            document = json.loads(path.read_text(encoding="utf-8"))
            for shape_id, shape in document["shapes"].items():
                service = service_of(shape_id)
                shapes[service][f"{path.name in _OF_ALL and path.name} {shape_id}"] = shape
    return {service: _digest(each) for service, each in sorted(shapes.items())}


def service_of(shape_id: str) -> str:
    """Return the last part of a namespace: `ecs` of `com.amazonaws.ecs#RunTask`."""
    return shape_id.partition("#")[0].removeprefix(AWS_NAMESPACE)


@functools.cache
def changed_services() -> frozenset[str]:
    """Return the services that differ from the last run of all laws."""
    known = json.loads(DIGESTS_FILE.read_text(encoding="utf-8"))
    return frozenset(name for name, digest in digests().items() if known.get(name) != digest)


def _digest(shapes: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(shapes, sort_keys=True).encode()).hexdigest()[:12]


def main() -> None:
    """Write the digests."""
    DIGESTS_FILE.write_text(rows_text(digests()), encoding="utf-8")


if __name__ == "__main__":
    main()
