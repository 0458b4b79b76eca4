"""An effect that compares several members reports them: see `check.practice_rules`."""

from __future__ import annotations

from collections.abc import Iterator

from effect_of import EffectOf, Found

from boto_waiters_plus.check.practice_rules import check_reports
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.reports import shipped_reports


def unreported(effect: EffectOf) -> Iterator[Found]:
    """Find what an effect compares and does not report."""
    waiter = effect.trait.waiter
    name = waiter if isinstance(waiter, str) else effect.name
    reports = effect.trait.reports or shipped_reports(effect.polled, name)
    definition = WaiterDefinition(
        name=name, operation=effect.polled.name, acceptors=effect.acceptors
    )
    for finding in check_reports(definition, reports):
        yield Found(finding.rule.replace("Waiter", "Effect"), finding.message)


RULES = (unreported,)
