"""List the waiters with failure states whose errors quote no reason, each with why.

    python tools/missing_reasons.py [SERVICE ...]

A reason is quoted if an acceptor has a `message`, if the model has a member for it beside the
state, or if `data/reasons.json` names its parts. The last line has the totals.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator

from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape

from boto_waiters_plus.engine.acceptors import AcceptorState, ErrorTypeMatcher, SuccessMatcher
from boto_waiters_plus.service.bound_waiter import BoundWaiter
from boto_waiters_plus.service.places import default_loader
from boto_waiters_plus.service.reasons import quoted_reasons
from boto_waiters_plus.service.service_waiters import ServiceWaiters

TOLD = re.compile(
    r"(?i)reason|message|error|cause|issue(?!r)|fail(?!over)|(?<!de)fault|problem|warning|exception"
)
"""The names of members whose texts may be a reason."""

DEEPEST = 5


def main(arguments: list[str] | None = None) -> None:
    """Print a line for each such waiter, then how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, prog="missing_reasons")
    parser.add_argument("services", nargs="*", metavar="SERVICE", help="all by default")
    loader = default_loader()
    services = parser.parse_args(arguments).services
    counts = Counter[str]()
    for service in services or loader.list_available_services("service-2"):
        model = ServiceModel(loader.load_service_model(service, "service-2"), service)
        for waiter in ServiceWaiters(model, None).values():
            if has_failure_state(waiter):
                kind, why = missing_reason(waiter)
                counts[kind] += 1
                if why:
                    print(f"{service} {waiter.definition.name}: {why}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))


def has_failure_state(waiter: BoundWaiter) -> bool:
    """Whether a response can end a wait as a failure."""
    return any(
        each.state is AcceptorState.FAILURE
        and not isinstance(each.matcher, (ErrorTypeMatcher, SuccessMatcher))
        for each in waiter.definition.acceptors
    )


def missing_reason(waiter: BoundWaiter) -> tuple[str, str]:
    """Return what an error says of the reason, and why that is not the reason itself."""
    quoted = quoted_reasons(waiter.definition, waiter.operation)
    hidden = [path for path, is_hidden in quoted.items() if is_hidden]
    if len(hidden) < len(quoted):
        return "quoted", ""
    if hidden:
        return (
            "sensitive",
            f"the model marks {', '.join(hidden)} as sensitive: the error says where it is",
        )
    others = list(dict.fromkeys(texts(waiter.operation.output_shape)))
    if not others:
        return "without any", "the response has no text that could be the reason"
    return "without one", f"the response has no text beside the state, only {', '.join(others)}"


def texts(shape: Shape | None, path: str = "", seen: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the paths of texts that are named like a reason."""
    if shape is None or len(seen) > DEEPEST or shape.name in seen:
        return
    inner = (*seen, shape.name)
    if isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            yield from texts(member, f"{path}.{name}" if path else name, inner)
    elif isinstance(shape, (ListShape, MapShape)):
        brackets, item = (
            ("[]", shape.member) if isinstance(shape, ListShape) else (".*", shape.value)
        )
        yield from texts(item, path + brackets, inner)
    elif shape.type_name == "string" and not shape.metadata.get("enum"):
        yield from [path] if TOLD.search(".".join(path.split(".")[-2:])) else ()


if __name__ == "__main__":
    main()
