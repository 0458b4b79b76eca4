"""What a call takes away, and the refusals that say that it is gone already."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from botocore import xform_name
from botocore.exceptions import ClientError
from botocore.model import OperationModel

from ..common.wrong_arguments import Keyword, WrongValueError
from ..definitions.changes import shipped_refused_items
from ..definitions.state_words import ENDINGS, means_gone
from ..definitions.words import listed, verb_of
from ..service import absence
from ..service.errors import ErrorFacts, says_absent
from ..service.shapes import shape_id_of
from .answers import refused_and_accepted
from .effects import definitions_after

_ABSENT: Final = re.compile(r"404\Z|.*\.Not(Attached|Associated)\Z")
_VAGUE: Final = listed(
    "BadRequestException ClientException DirectConnectClientException InvalidInput "
    "InvalidParameterException InvalidParameterValue InvalidRequestException ValidationError "
    "ValidationException"
)
"""What services without an error for it answer, too."""


class GoneResource:
    """What a call takes away, and may be gone already.

    Args:
        client: that makes the call.
        operation: of the call.
        parameters: of the call.

    Raises:
        ValueError: it takes nothing away.
    """

    def __init__(
        self, client: Any, operation: OperationModel, parameters: Mapping[str, Any]
    ) -> None:
        self._operation, self._parameters = operation, parameters
        is_end = verb_of(operation.name).upper().startswith(tuple(ENDINGS))
        known: set[str] = set()
        for definition in definitions_after(client, operation):
            ends = absence.errors_of_success(definition)
            if means_gone(definition.name):
                is_end = True
                polled = operation.service_model.operation_model(definition.operation)
                ends |= absence.known_errors(polled)
            is_end |= bool(ends)
            known |= ends
        if not is_end:
            problem = f": {xform_name(operation.name)} takes nothing away"
            raise WrongValueError(Keyword("missing_ok"), problem, value=True)
        self._errors = absence.errors_of_gone(operation, known)

    def is_told_by(self, error: ErrorFacts) -> bool:
        """Return whether a refusal says that it is gone."""
        operation, parameters, message = self._operation, self._parameters, error.message or ""
        is_dry = parameters.get("DryRun") or parameters.get("dryRun")
        # Of several things, an error tells of one.
        if error.on_the_way or is_dry or absence.names_several(operation, parameters):
            return False
        absent = {each for each in error.names if says_absent(each) or _ABSENT.match(each)}
        found = error.names & (self._errors | _VAGUE)
        if error.names.isdisjoint(each.name for each in operation.error_shapes):
            # Services answer with more errors than their models have.
            ranks = [absence.rank(each, operation) for each in self._errors]
            least = min(max(ranks, default=1), 2) or 1
            found |= {each for each in absent if absence.rank(each, operation) >= least}
        if any(absence.rank(each, operation) > 1 for each in found & absent):
            return True
        # What may mean something else, too, counts by its message.
        is_said = found & absent or (found and absence.is_said(message, operation, parameters))
        return bool(is_said) and not absence.names_parent(message, operation)

    def refusal_in(self, response: Mapping[str, Any]) -> ClientError | None:
        """Return the refusal in a response of all that was asked for, which is one thing."""
        trait = shipped_refused_items(shape_id_of(self._operation))
        call = {"input": self._parameters, "output": response}
        items = [] if trait is None else refused_and_accepted(trait, call)["refused"]
        if len(items) != 1 or [items[0]["id"]] not in self._parameters.values():
            return None
        error: Any = {"Code": str(items[0]["code"]), "Message": items[0]["message"] or ""}
        facts: Any = {"Error": error, "ResponseMetadata": response.get("ResponseMetadata", {})}
        return ClientError(facts, self._operation.name)
