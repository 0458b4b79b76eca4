"""Find operations that are refused as their neighbours are while something new is not visible.

    python tools/propagation.py

`data/propagating.json` has code and words of such refusals, by operation. A neighbour takes over
both. It is an operation of the same service whose model has the error, and that takes what the
words are about (`KINDS`); or, where the other does not take it itself, that updates what the other
creates. Where the model of the operation with the words lacks the error, those of its service do
not tell. What deletes names what was there before. The tool prints what neighbours lack; so does
the test of data.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from boto_waiters_plus.check.model import service_by_namespace
from boto_waiters_plus.definitions.changes import PROPAGATING
from boto_waiters_plus.definitions.shipped import shipped_json
from boto_waiters_plus.definitions.state_words import ENDINGS
from boto_waiters_plus.definitions.words import resource_of, verb_of
from boto_waiters_plus.service.on_the_spot import only_reads

FILE: Final = "propagating.json"
KINDS: Final[Mapping[str, str]] = {
    "enable a service-linked role|specify a service-linked role": "vpcoptions",
    "iamfleetrole|podexecutionrole": "iamfleetrole|podexecutionrolearn",
    "instance ?profile": "iaminstanceprofile",
    "security group": "(add|source)?(security)?groups?(ids?)?",
    "assum|role": r"\w*role(arn|override)?",
    "principal|policy": "policy|principal|attributes",
}
"""By words, the first that fit: the names of the members that they are about, in lower case."""
_SAYS: Final = {"groups?(ids?)?": "(?i)security group", "attributes": "<code>Policy</code>"}
"""What the documentation of a member says whose name says too little."""

_SETTING: Final = ("Create", "Modify", "Put", "Register", "Set", "Update")
_ENDING: Final = (*ENDINGS, "REVOK")


class Lacking(NamedTuple):
    """An operation that lacks a refusal of its neighbour."""

    shape: str
    code: str
    words: str


def lacking(shapes: Mapping[str, Any] | None = None) -> Iterator[Lacking]:
    """Yield what the neighbours of operations lack: of `FILE`, or of shapes of the same form."""
    known: dict[str, dict[str, set[tuple[str, str]]]] = defaultdict(dict)
    for shape, applied in (shipped_json(FILE)["shapes"] if shapes is None else shapes).items():
        namespace, _, name = shape.partition("#")
        refusals = applied["traits"][PROPAGATING]
        known[namespace][name] = {(e["code"], words) for e in refusals for words in e["words"]}
    for namespace, of_name in known.items():
        service = service_by_namespace(namespace)
        if service is None:
            continue  # in an older botocore
        model = service.model
        operations = [model.operation_model(name) for name in model.operation_names]
        changing = [each for each in operations if not only_reads(each) and not _ends(each)]
        for name, refusals in of_name.items():
            if name not in model.operation_names:
                continue
            first = model.operation_model(name)
            for other in changing:
                for code, words in sorted(refusals - of_name.get(other.name, set())):
                    is_told = code in _codes(other) or code not in _codes(first)
                    by_name = _are_twins(first, other) and not takes(first, words)
                    if is_told and (by_name or takes(other, words)):
                        yield Lacking(f"{namespace}#{other.name}", code, words)


def takes(operation: OperationModel, words: str) -> bool:
    """Whether an operation has a parameter for what the words of a refusal are about."""
    names = next((names for known, names in KINDS.items() if re.search(known, words)), "")
    return any(
        re.fullmatch(names, name.lower())
        and all(
            re.search(text, shape.documentation)
            for known, text in _SAYS.items()
            if re.fullmatch(known, name.lower())
        )
        for name, shape in _members(operation.input_shape)
    )


def _members(shape: Shape | None, *above: str) -> Iterator[tuple[str, Shape]]:
    if isinstance(shape, ListShape | MapShape):
        yield from _members(shape.member if isinstance(shape, ListShape) else shape.value, *above)
    elif isinstance(shape, StructureShape) and shape.name not in above:
        for name, member in shape.members.items():
            yield name, member
            yield from _members(member, *above, shape.name)


def _codes(operation: OperationModel) -> set[str]:
    errors = ((each.name, each.metadata.get("error", {})) for each in operation.error_shapes)
    return {code for name, error in errors for code in (name, error.get("code", name))}


def _ends(operation: OperationModel) -> bool:
    return verb_of(operation.name).upper().startswith(_ENDING)


def _are_twins(first: OperationModel, other: OperationModel) -> bool:
    verbs = {verb_of(first.name), verb_of(other.name)}
    return verbs <= {*_SETTING} and resource_of(first.name) == resource_of(other.name)


def main() -> None:
    """Print what neighbours lack."""
    for each in dict.fromkeys(lacking()):
        print(f"{each.shape} {each.code}: {each.words}")


if __name__ == "__main__":
    main()
