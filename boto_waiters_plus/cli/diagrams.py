"""State diagrams of a definition, as mermaid or DOT text."""

from __future__ import annotations

from collections.abc import Iterator

from ..engine.model import WaiterDefinition
from .text import printable
from .wording import delays, verdicts

_NODES = {"success": "success", "failure": "failure", "timeout": "out of time"}
_TARGETS = {"success": "success", "failure": "failure", "retry": "pause"}


def mermaid(definition: WaiterDefinition) -> str:
    """The diagram as a `stateDiagram-v2`."""
    lines = ["stateDiagram-v2"]
    lines += [f"    {node}: {_for_mermaid(label)}" for node, label in _nodes(definition)]
    lines.append("    [*] --> look")
    for start, end, label in _edges(definition):
        text = f": {_for_mermaid(label)}" if label else ""
        lines.append(f"    {start} --> {end}{text}")
    lines += [f"    {node} --> [*]" for node in _NODES]
    return "\n".join(lines)


def dot(definition: WaiterDefinition) -> str:
    """The diagram as a digraph for Graphviz."""
    lines = [f"digraph {_for_dot(definition.name)} {{", "    node [shape=box, style=rounded];"]
    lines += ["    start [shape=point];"]
    for node, label in _nodes(definition):
        shape = ", peripheries=2" if node in _NODES else ""
        lines.append(f"    {node} [label={_for_dot(label)}{shape}];")
    lines.append("    start -> look;")
    for start, end, label in _edges(definition):
        text = f" [label={_for_dot(label)}]" if label else ""
        lines.append(f"    {start} -> {end}{text};")
    return "\n".join([*lines, "}"])


def _nodes(definition: WaiterDefinition) -> Iterator[tuple[str, str]]:
    yield "look", definition.operation
    yield "pause", f"pause of {delays(definition)}"
    yield from _NODES.items()


def _edges(definition: WaiterDefinition) -> Iterator[tuple[str, str, str]]:
    for number, state, condition in verdicts(definition):
        label = condition if number == "-" else f"{number}. {condition}"
        yield "look", _TARGETS[state], label
    yield "pause", "look", ""
    yield "pause", "timeout", "max_wait is over"


def _for_mermaid(text: str) -> str:
    # Expressions are full of what mermaid reads as its own: colons end a label, brackets and
    # quotes open things. Its entities are `#` and a number.
    return "".join(
        character if character.isalnum() or character in " ._,'-" else f"#{ord(character)};"
        for character in printable(text)
    )


def _for_dot(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
