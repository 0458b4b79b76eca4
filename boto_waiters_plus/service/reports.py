"""What a waiter reports of the state seen: the paths that it names, read from responses."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import jmespath
from botocore.model import OperationModel

from ..definitions.shipped import shipped_traits
from ..definitions.smithy import REPORTS, reports_of
from ..engine.path_interpreter import EVALUATION_ERRORS, Path, SpecEvaluation
from ..engine.reports import Reported, reported_value
from .data_model import DataModel
from .shapes import shape_id_of

WordsWithPaths = tuple[tuple[str, str], ...]


def shipped_reports(operation: OperationModel, waiter: str) -> WordsWithPaths:
    """Return what `data/reports.json` has for a waiter or effect; empty if it has nothing."""
    return reports_of(shipped_traits(REPORTS).get(shape_id_of(operation), {}), waiter)


NOTHING: Final[Reported] = {}
"""What most waiters report, the same for all of them."""


class StateReports:
    """Reads what is reported of a state from responses. Threads may share it.

    Args:
        operation: that is polled; None: any callable.
        paths: by word; those that pass a sensitive member are left out.
    """

    def __init__(self, operation: OperationModel | None, paths: Iterable[tuple[str, str]]) -> None:
        self._paths = [
            (word, Path(path), _gives_part(path))
            for word, path in paths
            if operation is None or not DataModel(operation, [("output", path)]).sensitive
        ]
        self._last = NOTHING

    def read(self, response: Any) -> Reported:
        """Return what is reported of a response; empty if there is nothing."""
        if not self._paths:
            return NOTHING
        evaluation = SpecEvaluation()
        found: dict[str, Any] = {}
        for word, path, is_part in self._paths:
            # A function is given null where a member is missing.
            with suppress(*EVALUATION_ERRORS):
                found[word] = reported_value(path.value(response, evaluation), is_part=is_part)
        reported = {word: value for word, value in found.items() if value is not None}
        # One for the thousands of waits that see the same; a list is the caller's to change.
        if reported != (last := self._last) or any(isinstance(v, list) for v in last.values()):
            self._last = last = reported
        return last


def _gives_part(path: str) -> bool:
    """Return whether a path ends in `[part, whole]`."""
    node = jmespath.compile(path).parsed
    while node["type"] in ("subexpression", "and_expression", "pipe"):
        node = node["children"][-1]
    return bool(node["type"] == "multi_select_list")
