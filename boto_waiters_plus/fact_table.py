"""Outcomes and errors as small tables, in Jupyter and where rich prints them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from .engine.redaction import shown

Rows = Sequence[tuple[str, str]]


class FactTable:
    """The base class of what Jupyter and rich show as a table."""

    def _rows(self) -> Rows:
        """Return the names and the texts of the facts, which are safe to show."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
            for name, text in self._rows()
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"

    def __rich__(self) -> Any:
        # rich calls this, so that it is there.
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table(title=type(self).__name__, show_header=False, title_justify="left")
        for name, text in self._rows():
            # Text, because a plain string from a service would be read as rich's markup.
            table.add_row(Text(name), Text(text))
        return table


def wait_rows(wait: Any) -> Rows:
    """Return what the tables of outcomes and errors have in common; empty facts are left out."""
    rows = [
        ("waiter", wait.waiter),
        ("label", wait.label),
        ("state", shown(wait.observed) or ""),
        ("attempts", str(wait.attempts)),
        ("elapsed", f"{wait.elapsed:.1f} s"),
    ]
    return [(name, text) for name, text in rows if text]
