"""What says that the resource of an operation is gone: errors, and lists that are empty.

Of the errors of an operation for what is not found, those that name its resource say it, or else
those that name none. An error that names something else is about a parent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from botocore.model import OperationModel

from ..common.wrong_arguments import WrongValueError
from ..definitions.state_words import means_gone
from ..definitions.words import listed, resource_of, verb_of, words_of
from ..engine import acceptors as engine
from ..engine.acceptors import Acceptor, AcceptorState, ErrorTypeMatcher, OutputMatcher
from ..engine.model import WaiterDefinition
from . import shapes
from .bound_waiter import BoundWaiter
from .errors import says_absent
from .new_states import shipped_waiters_of

Noun = tuple[str, ...]
"""What a name names, in words: `("vpc",)` for `InvalidVpcID.NotFound`."""

_NO_NOUN: Final = re.compile(
    r"\A(404|NoSuch|Invalid|.*Non[eE]xistent)|[._]|(Does)?Not(Found|Exists?|Attached|Associated)"
    r"|(Exception|Fault|Error|Exists)\Z"
)
_IDENTIFIER: Final = re.compile(r"(Identifier|I[dD]|Name|A[rR][nN]|Ur[il]|\A(id|name|arn))s?\Z")
_STATE: Final = re.compile(r"((State|Status)\.)*(State|Status)(\.(Name|Code))?\Z", re.IGNORECASE)
_PLACE: Final = re.compile(r"(For|From|In|To|With)(?=[A-Z]|\Z).*")
"""What follows in the name of an operation is another resource."""
_ASPECTS: Final = listed("attribute config configuration detail info information metadata setting")
_ANYTHING: Final = listed("entity item object resource")
"""What errors name that are about whatever does not exist."""
_RELATIONS: Final = {"Detach": "attachment", "Disassociate": "association"}
"""By verb: what is taken away, and is no resource of its own."""
_OF_SEVERAL: Final = re.compile(r"\A(Batch|List|Search)|s\Z")
_PREFIX: Final = re.compile(r"(Prefix|Pattern)\Z")
_OWNER: Final = re.compile(r"account|attribute|executable|include|owner|tag", re.IGNORECASE)
_EMPTY: Final = " == `[]`"
_SAID: Final = (
    r"{0}[^:;,]{{0,16}}?((not|n't) (be )?(found|exist)|no longer (exists|available)|is unknown)"
    r"|(not|n't|unable to) find (the |requested |specified )*{0}|\bno {0}.{{0,16}}? found"
    r"|\ARecordNotFound\Z"
)

# --- errors --------------------------------------------------------------------------------------


def errors_of_gone(operation: OperationModel, known: Iterable[str] = ()) -> frozenset[str]:
    """Return the errors that say that the resource of an operation is gone.

    Args:
        operation: that describes the resource, or takes it away.
        known: errors that waiters for the end of the resource know; some services model none.
    """
    names, parents = [*known], parents_of(operation)
    modelled = [each.name for each in operation.error_shapes]
    ranks = {each: rank(each, operation) for each in (*modelled, *names) if says_absent(each)}
    for name in names:
        if not says_absent(name) or _nearness(_noun_of(name), parents) < 2:
            ranks[name] = max(ranks.get(name, 0), 1)
    best = max(ranks.values(), default=0)
    return frozenset(name for name, each in ranks.items() if each == best > 0)


def errors_of_success(definition: WaiterDefinition) -> set[str]:
    """Return the errors that are a success of a waiter."""
    ends = [each for each in definition.acceptors if each.state is AcceptorState.SUCCESS]
    return {each.matcher.name for each in ends if isinstance(each.matcher, ErrorTypeMatcher)}


def known_errors(polled: OperationModel) -> set[str]:
    """Return the errors that are a success of the shipped waiters for the end of a resource."""
    ends = (each for each in shipped_waiters_of(polled) if means_gone(each.name))
    return set[str]().union(*map(errors_of_success, ends))


def rank(error: str, operation: OperationModel) -> int:
    """Return how well an error names a resource: 3, 2; 1: it names none; 0: another one."""
    return _nearness(_noun_of(error), nouns_of(operation))


# --- the end of a resource that is polled ---------------------------------------------------------


def ends_of_resource(operation: OperationModel, path: str) -> Iterator[Acceptor]:
    """Yield the acceptors that succeed once the resource that an operation describes is gone.

    Args:
        operation: the operation.
        path: the expression for its state, or for nothing.
    """
    answer, found = operation.output_shape, re.match(r"[\w.[\]*]*\[\*?\]", path)
    members, nouns = shapes.members_of(answer), nouns_of(operation)
    items = {name: item for name, each in members.items() if (item := shapes.element_of(each))}
    own = [f"{name}[]" for name in items if _nearness(_noun(name), nouns) > 1]
    lists = [found[0]] if found else [] if shapes.is_plain(path) else own
    failures = shapes.failure_lists(answer)
    lists = [each for each in lists if each.rstrip("[*]") not in failures]
    # What describes one thing has lists of its parts.
    if len(lists) == 1 and _OF_SEVERAL.search(operation.name):
        parts = [lists[0] + _EMPTY, *(f"!{name}" for name in shapes.page_tokens(answer))]
        for name in failures:
            # A list of names says by its own name that they were not found.
            of_failure = shapes.members_of(items[name])
            if "reason" in of_failure:
                # A filter would be taken for the state.
                is_missing = "not_null({1}(not_null({0}[].reason, `[]`)), 'MISSING') == 'MISSING'"
                parts += [is_missing.format(name, each) for each in ("min", "max")]
            elif of_failure:
                parts.append(f"!{name}")
        comparator = engine.PathComparator.BOOLEAN_EQUALS
        path = " && ".join(parts)
        empty = engine.PathMatcher(path=path, expected="true", comparator=comparator)
        yield Acceptor(state=AcceptorState.SUCCESS, matcher=OutputMatcher(empty))
    errors = {*errors_of_gone(operation, known_errors(operation))}
    if operation.http.get("method") == "HEAD":
        # The answer to it has no body that could name an error.
        errors.add("NotFound")
    if operation.service_model.metadata.get("protocol") == "ec2":
        # No error of EC2 is in its model.
        for noun in nouns:
            name = "".join(map(str.capitalize, noun))
            errors |= {f"Invalid{name}{end}.NotFound" for end in ("", "ID", "Id")}
    for name in sorted(errors):
        yield Acceptor(state=AcceptorState.SUCCESS, matcher=ErrorTypeMatcher(name))


def is_of_resource(path: str, operation: OperationModel) -> bool:
    """Return whether a path leads to the state of what an operation describes, not of a part."""
    *outer, name = re.sub(r"\[\*?\]", "", _STATE.sub("", path)).split(".")
    nouns = [*nouns_of(operation), ("life", "cycle"), ()]
    return all(_nearness(_noun(each), nouns) > 1 for each in (*outer[-1:], name))


def waiter_for_end(waiter: BoundWaiter, parameters: Mapping[str, Any]) -> BoundWaiter:
    """Return the waiter for the end of what a request names.

    Raises:
        ValueError: it names nothing, or several things whose end only an error would tell.
    """
    operation, acceptors = waiter.operation, waiter.definition.acceptors
    request, nouns = operation.input_shape, nouns_of(operation)
    names = [*shapes.item_names(request, operation.output_shape), *shapes.filters_of(request)]
    names += filter(_PREFIX.search, shapes.members_of(request))
    names = [n for n in names if not _OWNER.match(n) or _nearness(_noun(n), nouns) > 1]
    if any(_EMPTY in each.describe() for each in acceptors) and not any(map(parameters.get, names)):
        given = f"give {' or '.join(names)}" if names else "it has no parameter that names one"
        problem = f"{operation.name} lists all resources: {given}"
        raise WrongValueError(problem, argument="until_state")
    if not names_several(operation, parameters):
        return waiter
    # An error tells of one of them.
    left = tuple(each for each in acceptors if not isinstance(each.matcher, ErrorTypeMatcher))
    if AcceptorState.SUCCESS not in {each.state for each in left}:
        problem = (
            f"{operation.name} tells by an error that one resource is gone: name one at a time"
        )
        raise WrongValueError(problem, argument="until_state")
    return BoundWaiter(replace(waiter.definition, acceptors=left), operation)


# --- what a call, an error and a message name -----------------------------------------------------


def nouns_of(operation: OperationModel) -> list[Noun]:
    """Return what errors may call the resource of an operation."""
    noun = _noun(_PLACE.sub("", resource_of(operation.name)))
    nouns = [noun, (*noun, _RELATIONS.get(verb_of(operation.name), ""))]
    nouns += [noun[:-1]] if _ASPECTS & {*noun[-1:]} else []
    names = _identifiers(operation)
    if len(names) == 1:
        # What the only name in a call is of, unless that is a resource of its own.
        name = _IDENTIFIER.sub("", names[0])
        others = {f"{verb}{name[:1].upper()}{name[1:]}" for verb in ("Create", "Delete")}
        if others.isdisjoint(operation.service_model.operation_names):
            nouns.append(_noun(name))
    return [each for each in nouns if each and all(each)]


def parents_of(operation: OperationModel) -> list[Noun]:
    """Return the nouns of what else a call names."""
    nouns = nouns_of(operation)
    others = map(_noun, _identifiers(operation))
    return [each for each in others if each and not _nearness(each, nouns)]


def names_several(operation: OperationModel, parameters: Mapping[str, Any]) -> bool:
    """Return whether the parameters of a call name more than one thing."""
    lists = map(parameters.get, _identifiers(operation))
    return any(isinstance(each, (list, tuple, set)) and len(each) > 1 for each in lists)


def is_said(message: str, operation: OperationModel, parameters: Mapping[str, Any]) -> bool:
    """Return whether a message says in words that what a call names does not exist."""
    nouns, parents = nouns_of(operation), parents_of(operation)
    own = [name for name in _identifiers(operation) if _noun(name) not in parents]
    given = [each for each in map(parameters.get, own) if each and isinstance(each, str)]
    subjects = "|".join([*map(re.escape, given), *(r"[\W_]?".join(noun) + "s?" for noun in nouns)])
    said = _SAID.format(rf"(?<![\w-])({subjects or '$^'})(?![\w-])")
    return re.search(said, message, re.IGNORECASE) is not None


def names_parent(message: str, operation: OperationModel) -> bool:
    """Return whether a message names another thing of the call before the operation's own."""
    text = re.sub(r"[^a-z]", "", message.lower())

    def place(nouns: Iterable[Noun]) -> int:
        found = [text.find(part) for noun in nouns for part in ("".join(noun), noun[-1])]
        return min((at for at in found if at >= 0), default=len(text))

    return place(parents_of(operation)) < place(nouns_of(operation))


def _identifiers(operation: OperationModel) -> list[str]:
    required = shapes.required_of(operation.input_shape)
    return [
        name
        for name, shape in shapes.members_of(operation.input_shape).items()
        if (name in required or _IDENTIFIER.search(name))
        and not name.lower().endswith("token")
        and not (shapes.element_of(shape) or shape).metadata.get("enum")
    ]


def _noun(name: str) -> Noun:
    *first, last = words_of(_IDENTIFIER.sub("", name)) or [""]
    last = f"{last[:-3]}y" if last.endswith("ies") else last.removesuffix("s")
    return tuple(word.lower() for word in (*first, last) if word)


def _noun_of(error: str) -> Noun:
    return _noun(_NO_NOUN.sub("", _NO_NOUN.sub("", error)))


def _nearness(noun: Noun, nouns: list[Noun]) -> int:
    if noun in nouns:
        return 3
    ends = [{*each} for each in nouns if noun and each[-1:] == noun[-1:]]
    if any({*noun} <= each or each <= {*noun} for each in ends):
        return 2
    return int(not noun or noun[-1] in ("entity", "resource") or "".join(noun) in _ANYTHING)
