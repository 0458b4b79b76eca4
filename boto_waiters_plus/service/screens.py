"""Which sibling operation tells the states that a waiter reads, of many resources at once."""

from __future__ import annotations

from botocore.model import OperationModel

from ..definitions.screen_trait import Screen, shipped_screens
from ..definitions.smithy import aws_namespace
from ..engine.acceptors import OutputMatcher, SuccessMatcher
from ..engine.model import WaiterDefinition
from .data_model import member_names


def screen_by(definition: WaiterDefinition, operation: OperationModel) -> Screen | None:
    """Return what tells the states that a waiter reads; None if nothing does."""
    model = operation.service_model
    screen = shipped_screens().get(f"{aws_namespace(str(model.service_id))}#{operation.name}")
    if screen is None or screen.operation not in model.operation_names:
        return None
    return screen if reads_only(definition, screen) else None


def reads_only(definition: WaiterDefinition, screen: Screen) -> bool:
    """Return whether the acceptors of a waiter read no member of a response but the state."""
    # The answer about one resource has no second page, hence no token.
    names = {*screen.path.replace("[]", "").split("."), screen.token_output}
    for acceptor in definition.acceptors:
        match acceptor.matcher:
            case OutputMatcher(matcher=matcher):
                if not member_names(matcher.path) <= names:
                    return False
            case SuccessMatcher(success=True):
                return False
            case each if hasattr(each, "matcher"):  # The input is not the same for all.
                return False
    return True
