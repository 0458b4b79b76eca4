"""State diagrams of waiter definitions, as mermaid or DOT text."""

from __future__ import annotations

from collections.abc import Iterator

from ..engine.model import WaiterDefinition
from ..engine.redaction import printable
from .text import acceptor_rows, delays_text

_ENDS = {"success": "success", "failure": "failure", "timeout": "timed out"}
_TARGETS = {"success": "success", "failure": "failure", "retry": "delay"}


def mermaid(definition: WaiterDefinition) -> str:
    """Return the diagram as a `stateDiagram-v2`."""
    lines = ["stateDiagram-v2"]
    lines += [f"    {node}: {_for_mermaid(label)}" for node, label in _nodes(definition)]
    lines.append("    [*] --> attempt")
    for start, end, label in _edges(definition):
        text = f": {_for_mermaid(label)}" if label else ""
        lines.append(f"    {start} --> {end}{text}")
    lines += [f"    {node} --> [*]" for node in _ENDS]
    return "\n".join(lines)


def dot(definition: WaiterDefinition) -> str:
    """Return the diagram as a digraph for Graphviz."""
    lines = [f"digraph {_for_dot(definition.name)} {{", "    node [shape=box, style=rounded];"]
    lines += ["    start [shape=point];"]
    for node, label in _nodes(definition):
        border = ", peripheries=2" if node in _ENDS else ""
        lines.append(f"    {node} [label={_for_dot(label)}{border}];")
    lines.append("    start -> attempt;")
    for start, end, label in _edges(definition):
        text = f" [label={_for_dot(label)}]" if label else ""
        lines.append(f"    {start} -> {end}{text};")
    return "\n".join([*lines, "}"])


def _nodes(definition: WaiterDefinition) -> Iterator[tuple[str, str]]:
    yield "attempt", definition.operation
    yield "delay", f"delay of {delays_text(definition)}"
    yield from _ENDS.items()


def _edges(definition: WaiterDefinition) -> Iterator[tuple[str, str, str]]:
    for number, state, condition in acceptor_rows(definition):
        label = condition if number == "-" else f"{number}. {condition}"
        yield "attempt", _TARGETS[state], label
    yield "delay", "attempt", ""
    yield "delay", "timeout", "max_wait has passed"


def _for_mermaid(text: str) -> str:
    # A label may hold no mermaid syntax, such as the colons, quotes and brackets of JMESPath.
    # Mermaid's entities are `#`, a number and a semicolon.
    return "".join(
        character if character.isalnum() or character in " ._,'-" else f"#{ord(character)};"
        for character in printable(text)
    )


def _for_dot(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
