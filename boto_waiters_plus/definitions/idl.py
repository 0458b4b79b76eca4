"""Smithy IDL (`.smithy` files) to JSON AST.

All statements of version 2.0 are supported except members without a target (`$name`), which are
refused. Each file is read on its own: a name that is neither imported by `use`, nor defined in the
file, nor part of the prelude belongs to the namespace of the file.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Any

from .parsing import Place

NEEDS_LARK = "Smithy IDL requires lark; install it with: pip install 'boto-waiters-plus[idl]'"


def parse_idl(
    text: str, *, source: str
) -> tuple[dict[str, Any], Mapping[tuple[str | int, ...], int]]:
    """Return the model of a `.smithy` file as JSON AST, as `parse_document` accepts it.

    Args:
        text: the content of the file.
        source: the file that error messages name.

    Returns:
        The model, and the offset in the text of each part of it, by path.

    Raises:
        WaiterDefinitionError: the text is not Smithy IDL, or lark is not installed.
    """
    place = Place(source)
    try:
        from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - an optional dependency

        from .idl_lark import IdlError, IdlModel  # noqa: PLC0415 - needs lark
    except ImportError as error:
        raise place.error(NEEDS_LARK) from error
    try:
        model = IdlModel(_parser().parse(text))
        return model.to_json(), model.offsets
    except UnexpectedInput as error:
        problem = _unexpected(error, text)
        raise place.error(f"not Smithy IDL: {problem} (line {error.line})") from error
    except IdlError as error:
        where = f" (line {error.line})" if error.line is not None else ""
        raise place.error(f"not Smithy IDL: {error}{where}") from error
    except RecursionError as error:
        raise place.error("nested too deeply") from error


def _unexpected(error: Any, text: str) -> str:
    if getattr(getattr(error, "token", None), "type", None) == "$END":
        return "the text ends too early"
    return f"unexpected {text[error.pos_in_stream :][:20].split(maxsplit=1)[0]!r}"


@functools.cache
def _parser() -> Any:
    from lark import Lark  # noqa: PLC0415 - an optional dependency

    from .idl_lark import Reader  # noqa: PLC0415 - needs lark

    grammar = (resources.files("boto_waiters_plus.definitions") / "smithy.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=Reader())
