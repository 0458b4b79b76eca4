"""What a call refused of several things, whatever comes of the wait for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..common.labels import short_arns
from ..engine.redaction import MAX_ITEMS, cut
from ..exceptions import ErrorT, WaiterError


@dataclass(frozen=True, slots=True)
class RefusedPart:
    """The items that the answer of a call refuses; not empty."""

    items: Sequence[Mapping[str, Any]]
    """Each with `id`, `code` and `message`, None where the answer has none."""

    @classmethod
    def of(cls, call: Mapping[str, Any] | None) -> RefusedPart | None:
        """Return what a call refuses; None if that is nothing."""
        items = (call or {}).get("refused")
        return cls(items) if items else None

    @property
    def ids(self) -> list[str]:
        """What names the items."""
        return [each["id"] for each in self.items if isinstance(each["id"], str)]

    @property
    def service_message(self) -> str | None:
        """The reason for the first that has one."""
        return next((each["message"] for each in self.items if each["message"]), None)

    def text(self, *, with_ids: bool) -> str:
        """Return the items with their codes and messages, in words."""
        short = dict(zip(self.ids, short_arns(self.ids), strict=True))
        texts = []
        for each in self.items[:MAX_ITEMS]:
            name = short.get(each["id"], "an item") if with_ids else "an item"
            reason = ": ".join(cut(str(said)) for said in (each["code"], each["message"]) if said)
            texts.append(f"{name} ({reason})" if reason else name)
        more = len(self.items) - len(texts)
        return "; ".join(texts) + (f" and {more} more" if more > 0 else "")

    def added_to(self, error: WaiterError, kind: type[ErrorT], *, with_ids: bool) -> ErrorT:
        """Return an error that names the refused items, too."""
        text = self.text(with_ids=with_ids).rstrip(". ")
        found = error.extended(f"The call refused {text}.", kind)
        found.failed_ids = list(dict.fromkeys([*self.ids, *error.failed_ids]))
        found.service_message = error.service_message or self.service_message
        return found
