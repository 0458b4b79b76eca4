"""Labels and the ARNs in them, cut so that they can be told apart."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.measure import Measurement
    from rich.text import Text


CUT: Final = "…"

_ARN: Final = r"(?s)arn:([^:]*):([^:]*):([^:]*):([^:]*):(.+)"
"""`arn:partition:service:region:account:resource`"""


def short_arns(values: Sequence[str]) -> list[str]:
    """Return the values that a text names, each ARN cut to its resource: `task/c/1a2b`.

    Of ARNs with the same resource, the parts that differ are kept: `eu-west-1:task/c/1a2b`.
    """
    if "arn:" not in "\n".join(values):
        return list(values)
    arns = [re.fullmatch(_ARN, value) for value in values]
    heads: dict[str, set[tuple[str, ...]]] = {}
    for value, arn in zip(values, arns, strict=True):
        heads.setdefault(arn[5] if arn else value, set()).add(arn.groups()[:4] if arn else ())

    def cut(arn: re.Match[str]) -> str:
        same = heads[arn[5]]
        if () in same:
            return arn[0]
        parts = zip(arn.groups()[:4], *same, strict=True)
        return ":".join([*(own for own, *others in parts if len({*others}) > 1), arn[5]])

    return [value if arn is None else cut(arn) for value, arn in zip(values, arns, strict=True)]


class ShortLabels:
    """Cuts labels to a width, first where they do not differ.

    Args:
        labels: all that are shown together.
    """

    def __init__(self, labels: Iterable[str]) -> None:
        different = {*labels}
        self._start = self._end = 0
        if len(different) > 1:
            self._start = common_start(different)
            self._end = common_start({label[self._start :][::-1] for label in different})

    def fitted(self, label: str, width: int) -> str:
        """Return a label in at most `width` characters.

        What all labels begin with is cut first, then what all end with, then the middle: the ends
        of identifiers differ.
        """
        if len(label) <= width:
            return label
        if len(label) - self._start < width:
            return CUT + label[1 - width :]
        stop = len(label) - self._end
        if stop < width:
            return label[: width - 1] + CUT
        if stop - self._start < width - 1:
            return CUT + label[stop + 2 - width : stop] + CUT
        differs = label[self._start : stop]
        head = (width - 1) // 3
        return differs[:head] + CUT + differs[len(differs) - (width - 1 - head) :]


def common_start(texts: Collection[str]) -> int:
    """Return how many characters all texts begin with."""
    first, last = min(texts), max(texts)
    pairs = enumerate(zip(first, last, strict=False))
    return next((index for index, (one, other) in pairs if one != other), len(first))


class LabelCell:
    """A label as a cell of a table of rich's, cut to the width of its column.

    Args:
        label: the label.
        labels: those that are shown together.
        style: rich's style.
    """

    def __init__(self, label: str, labels: ShortLabels, style: str = "") -> None:
        self._label = label
        self._labels = labels
        self._style = style

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich import cells, measure  # noqa: PLC0415 - optional

        width = max(1, cells.cell_len(self._label))
        return measure.Measurement(1, width).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        yield one_line(self._labels.fitted(self._label, options.max_width), self._style)


def one_line(text: str, style: str = "") -> Text:
    """Return a line of rich's; a plain string from a service would be read as its markup."""
    from rich.text import Text  # noqa: PLC0415 - optional

    return Text(text, style, no_wrap=True, overflow="ellipsis")
