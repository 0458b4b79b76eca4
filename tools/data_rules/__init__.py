"""Checks `data/`: the rules of `boto_waiters_plus.validation`, and those of traits of our own.

`Coalescing.*` are listed in `coalescing_rules`, `Screen.*` in `screen_rules`, those of tokens and
of `boto.waiters#effect` in `idempotency_rules`, those that read documentation in
`documentation_rules`.
"""

from __future__ import annotations

from collections.abc import Iterable

from boto_waiters_plus.check.checker import check_with
from boto_waiters_plus.check.loading import Checkable
from boto_waiters_plus.definitions.coalescing_trait import COALESCING
from boto_waiters_plus.definitions.effect_trait import EFFECT
from boto_waiters_plus.definitions.idempotency_traits import TOKEN, TOKEN_LIFETIME
from boto_waiters_plus.definitions.screen_trait import SCREEN
from boto_waiters_plus.definitions.smithy import WAITABLE
from boto_waiters_plus.validation import ValidationEvent

from .coalescing_rules import check_coalescing
from .documentation_rules import check_documentation
from .idempotency_rules import check_effect, check_lifetime, check_token
from .screen_rules import check_screen

RULES = {
    COALESCING: check_coalescing,
    SCREEN: check_screen,
    TOKEN: check_token,
    TOKEN_LIFETIME: check_lifetime,
    EFFECT: check_effect,
    WAITABLE: check_documentation,
}


def check(model: Checkable | Iterable[Checkable]) -> list[ValidationEvent]:
    """Check definitions and traits; see `boto_waiters_plus.validation.check`."""
    return check_with(RULES, model)
