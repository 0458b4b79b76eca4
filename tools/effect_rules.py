"""Rules of effects (`data/effects.json`): a success of the change, of all of it, and of no other.

| rule | module |
|---|---|
| `EffectMadeAgain` | `rules_again` |
| `EffectOwnFailure`, `EffectKnownFailure`, `EffectFailureFromBefore` | `rules_failures` |
| `EffectParameterDropped`, `EffectPartialEnd`, and more | `rules_fresh` |
| `EffectListByItsEnds`, `EffectOneOfSeveral`, `EffectSomeOfSeveral` | `rules_items` |
| `EffectOwnState` | `rules_moves` |
| `EffectOnePage` | `rules_pages` |
| `EffectWithoutReports`, `EffectReportsLack` | `rules_reports` |
| `EffectRefusalsUnread`, `EffectRefusalInAcceptor`, `EffectAwaitsRefused` | `rules_refused` |
| `EffectTwinLacks`, `EffectTwinDiffers` | `twins` |
| `EffectText` | `rules_texts` |

`python tools/effect_rules.py` prints what they find and nothing suppresses; so does the test of
data. A suppression in `data/traits.json` names one effect: `Rule.Effect`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import rules_again
import rules_failures
import rules_fresh
import rules_items
import rules_moves
import rules_pages
import rules_refused
import rules_reports
import rules_texts
import twins
from effect_of import EffectOf, Found, effects

from boto_waiters_plus.check.events import Suppression, of_metadata
from boto_waiters_plus.definitions.shipped import shipped_json

Rule = Callable[[EffectOf], Iterable[Found]]

RULES: Final[tuple[Rule, ...]] = (
    *rules_again.RULES,
    *rules_failures.RULES,
    *rules_fresh.RULES,
    *rules_items.RULES,
    *rules_moves.RULES,
    *rules_pages.RULES,
    *rules_refused.RULES,
    *rules_reports.RULES,
    *twins.RULES,
    *rules_texts.RULES,
)


def found(shapes: Mapping[str, Any] | None = None) -> Iterator[tuple[EffectOf, Found]]:
    """Yield what the rules find in effects."""
    for effect in effects(shapes):
        for rule in RULES:
            for each in rule(effect):
                yield effect, each


def suppressions() -> list[Suppression]:
    """Return what `data/traits.json` suppresses."""
    traits = shipped_json("traits.json")
    return list(of_metadata(traits["metadata"]))


def unsuppressed(shapes: Mapping[str, Any] | None = None) -> Iterator[tuple[EffectOf, Found]]:
    """Yield what the rules find in shipped effects, without what is suppressed by effect."""
    known = {(each.namespace, each.id) for each in suppressions()}
    for effect, each in found(shapes):
        namespace = effect.shape.partition("#")[0]
        if (namespace, f"{each.rule}.{effect.name}") not in known:
            yield effect, each


def main() -> None:
    """Print what the rules find and nothing suppresses."""
    for effect, each in unsuppressed():
        print(f"{each.rule}.{effect.name} {effect.shape}: {each.text}")


if __name__ == "__main__":
    main()
