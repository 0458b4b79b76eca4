"""A resource that exists already: whether the call made it, and what describes it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jmespath
from botocore import xform_name
from botocore.model import OperationModel

from ..calls.flow import Flow
from ..definitions.changes import DESCRIBED_BY, shipped_effects, shipped_existence
from ..definitions.shipped import shipped_traits
from ..definitions.smithy import aws_namespace
from ..engine.redaction import shown
from ..service.shapes import members_of, shape_id_of
from ..service.waits import find_waiter
from .effects import evaluated_paths, is_empty
from .repetition import AlreadyExistsError
from .target import CallTarget


class Maker(enum.Enum):
    """Who made a resource."""

    OURS = "ours"
    """A request under the token of this call."""
    ANOTHER = "another"
    OPEN = "open"
    """Nothing tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The call that describes a resource, and the paths at which its answer says what is needed."""

    operation: OperationModel
    parameters: Mapping[str, Any]
    resources: str = "@"
    token: str | None = None
    """The member of a resource that tells the token under which it was made."""
    response: str | None = None

    def read(self, description: Any, token: str | None) -> tuple[Any, Maker]:
        """Return the resource, None if the description has none, and who made it."""
        found = jmespath.search(self.resources, description)
        resources = [each for each in (found if isinstance(found, list) else [found]) if each]
        if self.token is None:
            return next(iter(resources), None), Maker.OPEN
        tokens = [jmespath.search(self.token, each) for each in resources]
        if token in tokens:
            return resources[tokens.index(token)], Maker.OURS
        # A list may have other resources, and may be cut off.
        is_told = not isinstance(found, list) and any(tokens)
        return None, Maker.ANOTHER if is_told else Maker.OPEN

    def response_of(self, resource: Any, description: Any) -> Any:
        """Return what stands for the response of the call."""
        return description if self.response is None else jmespath.search(self.response, resource)

    def __str__(self) -> str:
        members = members_of(self.operation.input_shape)
        texts = [
            f"{name}={'...' if members[name].metadata.get('sensitive') else repr(shown(value))}"
            for name, value in self.parameters.items()
        ]
        return f"{xform_name(self.operation.name)}({', '.join(texts)})"


Describe = Callable[[Check], Flow[Any]]
"""Makes the call that describes a resource; gives None if it fails."""


@dataclass(frozen=True, slots=True)
class ExistingResource:
    """A resource that the service reports as existing."""

    target: CallTarget
    parameters: Mapping[str, Any]
    token: str | None
    error: AlreadyExistsError
    """What the service says."""
    names: Collection[str]
    """Of the service's error."""
    is_callers: bool
    """Whether the caller gave the token: an earlier call may have sent it with other parameters."""
    adopt: bool
    """Whether to accept a resource that is as the parameters ask for."""

    def claimed(self, describe: Describe) -> Flow[Any]:
        """Return what stands for the response if the call made the resource, or adopts it.

        Raises:
            AlreadyExistsError: neither is the case, or nothing tells who made the resource.
        """
        maker, check = self._by_error(), self._check()
        is_asked = self.adopt or maker is Maker.OURS
        if check is None or not self._may_be_ours(maker) or not (is_asked or check.token):
            raise self._raised(maker, check)
        description = yield from describe(check)
        resource, told = check.read(description, self.token)
        if maker is Maker.OPEN:
            maker = told
        if resource is None or not (self.adopt or maker is Maker.OURS):
            raise self._raised(maker, check)
        # All attempts of one call send the same; an earlier call may have sent something else.
        found: tuple[str, ...] | None = () if maker is Maker.OURS else None
        if maker is Maker.OPEN or self.is_callers:
            described = description if check.token is None else resource
            found = differences(self.parameters, described)
        if found or (found is None and maker is Maker.OPEN):
            raise self._raised(maker, check, found)
        return check.response_of(resource, description)

    def _by_error(self) -> Maker:
        """Return who made it, as far as the error itself says so."""
        service = self.target.operation.service_model.service_id
        response = self.error.last_response
        trait = shipped_existence(aws_namespace(str(service)), self.names, response) or {}
        if "madeUnder" in trait:
            return Maker.OURS if trait["madeUnder"] == "thisToken" else Maker.ANOTHER
        found = response.get(trait.get("token", ""))
        member = self.target.member
        if found is None or member is None:
            return Maker.OPEN
        if found == self.token:
            return Maker.OURS
        # AWS Backup has one such error, and operations whose tokens have other names.
        return Maker.ANOTHER if member.path[-1] == trait["token"] else Maker.OPEN

    def _check(self) -> Check | None:
        """Return the call that describes the resource; None if none is known."""
        operation = self.target.operation
        model = operation.service_model
        trait = shipped_traits(DESCRIBED_BY).get(shape_id_of(operation))
        # An older botocore may lack the operation.
        if trait is not None and trait["operation"] in model.operation_names:
            response = self.error.last_response
            parameters = evaluated_paths(trait["parameters"], input=self.parameters, error=response)
            if not any(map(is_empty, parameters.values())):
                places = ("resources", "token", "response")
                more = {name: trait[name] for name in places if name in trait}
                describing = model.operation_model(trait["operation"])
                return Check(operation=describing, parameters=parameters, **more)
        calls = _describing_calls(self.target.client, operation, self.parameters)
        return next((Check(operation=each, parameters=found) for each, found in calls), None)

    def _may_be_ours(self, maker: Maker) -> bool:
        maybe_ours = self.error.outcome_unknown or self.is_callers
        return maker is Maker.OURS or (maker is Maker.OPEN and maybe_ours)

    def _raised(
        self, maker: Maker, check: Check | None, found: tuple[str, ...] | None = ()
    ) -> AlreadyExistsError:
        """Return the error with what is known of the resource."""
        maybe_ours = self._may_be_ours(maker)
        text = "Another call made it"
        if maker is Maker.OURS:
            text = "A request under this token made it"
        elif self.error.outcome_unknown and maybe_ours:
            text = "This call may have made it"
        elif maybe_ours:
            text = "An earlier call under this token may have made it"
        elif maker is Maker.OPEN:
            text = "It existed before this call"
        if check is not None and maybe_ours:
            text += f": {check} tells"
        difference = ""
        if found:
            difference = f"It differs in {', '.join(found)}."
        elif found is None:
            difference = "None of the parameters can be compared with it."
        raised = self.error.extended(f"{text}. {difference}".rstrip(), AlreadyExistsError)
        raised.token, raised.maybe_ours, raised.differences = self.token, maybe_ours, found or ()
        raised.made_under_token = maker is Maker.OURS
        if check is not None and maybe_ours:
            raised.check_operation, raised.check_parameters = check.operation.name, check.parameters
        return raised


def _describing_calls(
    client: Any, operation: OperationModel, input: Mapping[str, Any]
) -> Iterator[tuple[OperationModel, dict[str, Any]]]:
    """Yield the calls that describe the resource of a call by that call's own parameters."""
    for trait in shipped_effects(shape_id_of(operation)):
        if not any("call.output" in path for path in trait.parameters.values()):
            parameters = evaluated_paths(trait.parameters, call={"input": input})
            if not any(map(is_empty, parameters.values())):
                yield find_waiter(client, trait.waiter)[0].operation, parameters


def differences(parameters: Mapping[str, Any], description: Any) -> tuple[str, ...] | None:
    """Return the parameters in which a resource differs from what a call asked for.

    Compared are the parameters that the description has under the same name, a token included.
    What the service added is no difference.

    Args:
        parameters: of the call.
        description: the response of the operation that describes the resource.

    Returns:
        The names; None if the description has none of the parameters.
    """
    resource = max(
        _structures(description), key=lambda each: len(parameters.keys() & each.keys()), default={}
    )
    common = parameters.keys() & resource.keys()
    if not common:
        return None
    return tuple(sorted(name for name in common if not _is_met(parameters[name], resource[name])))


def _structures(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        value = [each for name, each in value.items() if name != "ResponseMetadata"]
    if isinstance(value, list):
        for each in value:
            yield from _structures(each)


def _is_met(wanted: Any, found: Any) -> bool:
    """Whether a value is as wanted; a structure may have more members, a list another order."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            name in found and _is_met(value, found[name]) for name, value in wanted.items()
        )
    if isinstance(wanted, (list, tuple)):
        if not isinstance(found, list) or len(wanted) != len(found):
            return False
        return all(any(_is_met(value, each) for each in found) for value in wanted)
    return bool(wanted == found)
