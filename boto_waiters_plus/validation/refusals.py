"""How Smithy words what is wrong with an expression that jmespath.py refuses.

What parses and what does not is jmespath.py's to say; the reference validator's texts are part of
the events that its test suite expects, so that they are made up here from the tokens.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from jmespath.exceptions import JMESPathError, LexerError

# Token types of jmespath.py and what Smithy calls them; the brace is Smithy's own slip.
_NAMES = {
    "current": "@",
    "unquoted_identifier": "A-Z|a-z|_",
    "literal": "`",
    "star": "*",
    "lbrace": "{",
    "lbracket": "[",
    "flatten": "[]",
    "expref": "&",
    "not": "!",
    "filter": "[?",
    "lparen": "(",
    "dot": ".",
    "or": "||",
    "and": "&&",
    "pipe": "|",
    "eq": "==",
    "ne": "!=",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "number": "-|0-9",
    "colon": ":",
    "rbracket": "]",
    "rparen": ")",
    "rbrace": "]",
    "comma": ",",
    "eof": "",
}
_STARTS = tuple(list(_NAMES)[:11])
_CONTINUES = ("dot", "lbracket", "or", "and", "pipe", "flatten", "filter")
_COMPARES = ("eq", "ne", "gt", "gte", "lt", "lte")
_ENDS = (
    *("unquoted_identifier", "literal", "current", "star", "flatten"),
    *("rbracket", "rparen", "rbrace"),
)
_AFTER_DOT = ("lbracket", "lbrace", "star", "unquoted_identifier")
_CLOSES = {"group": "rparen", "call": "rparen", "list": "rbracket", "filter": "rbracket"}

_JSON_STARTS = '"{[tfn0123456789-'
_JSON_WORDS = {"t": "true", "f": "false", "n": "null"}
_ESCAPES = '"\\/bfnrtu'


class Refusal(Exception):  # noqa: N818 - not an error of ours, and never seen outside
    """Why, and at which offset, an expression is refused."""

    def __init__(self, offset: int, text: str) -> None:
        super().__init__(text)
        self.offset = offset
        self.text = text


def shown(token: Mapping[str, Any]) -> str:
    """A token as Smithy's messages quote it."""
    kind = token["type"]
    if kind == "eof":
        return "EOF"
    if kind in ("unquoted_identifier", "quoted_identifier", "number", "literal"):
        return "'" + _java_text(token["value"]).replace("'", "\\'") + "'"
    return f"'{_NAMES[kind]}'"


def lexer_refusal(text: str, error: LexerError) -> Refusal:
    """The wording for what jmespath.py's lexer refused."""
    start, reason = int(error.lexer_position), str(error.message)
    if reason == "Unknown token '='":
        found = text[start + 1 : start + 2] or "[EOF]"
        return Refusal(start + 1, f"Expected: '=', but found '{found}'")
    if reason == "Unknown token '-'":
        return Refusal(start + 1, "Invalid number '-': '-' must be followed by a digit")
    if reason.startswith("Unknown token"):
        return Refusal(start, f"Unexpected syntax: {text[start]}")
    if text[start] == "'":
        return Refusal(len(text), f"Unclosed raw string: {text[start + 1 :]}")
    if text[start] == "`":
        refusal = bad_literal(text, start)
        return refusal or Refusal(len(text), "Expected: '`', but found '[EOF]'")
    return _bad_identifier(text, start)


def bad_literal(text: str, start: int) -> Refusal | None:
    """Why the literal that starts there is none: jmespath.py takes what is no JSON as text."""
    end = _closing(text, start, "`")
    inner = text[start + 1 : end]
    value = inner.lstrip(" \t\r\n")
    begin = start + 1 + len(inner) - len(value)
    first = value[:1]
    if not first or first not in _JSON_STARTS:
        found = first or text[begin : begin + 1] or "[EOF]"
        wanted = " ".join(f"'{character}'" for character in _JSON_STARTS)
        return Refusal(
            begin, f"Found '{found}', but expected one of the following tokens: {wanted}"
        )
    try:
        json.loads(inner.replace("\\`", "`"), parse_constant=_no_constant)
    except ValueError as error:
        if value in "".join(_JSON_WORDS.values()) or first in _JSON_WORDS:
            return _bad_word(text, begin, _JSON_WORDS[first])
        if "Unterminated string" in str(error):
            return Refusal(min(end + 1, len(text)), "Unclosed quotes")
        position = getattr(error, "pos", 0)
        found = text[start + 1 + position : start + 2 + position] or "[EOF]"
        return Refusal(start + 1 + position, f"Expected: '`', but found '{found}'")
    return None


def parser_refusal(tokens: Sequence[Mapping[str, Any]], error: JMESPathError) -> Refusal:
    """The wording for what jmespath.py's parser refused: by the tokens around the refused one."""
    offset, words = int(getattr(error, "lex_position", 0)), str(error).partition(":")[0]
    index = next((i for i, token in enumerate(tokens) if token["start"] >= offset), len(tokens) - 1)
    if words.startswith("Invalid function name"):
        index += 1  # jmespath.py names the token before the parenthesis
    elif words.startswith("Quoted identifier"):
        return Refusal(_quoted_function(tokens), words)
    return _Surroundings(tokens, index).refusal(words)


def _quoted_function(tokens: Sequence[Mapping[str, Any]]) -> int:
    pairs = itertools.pairwise(tokens)
    quoted_call = ("quoted_identifier", "lparen")
    return next((int(a["start"]) for a, b in pairs if (a["type"], b["type"]) == quoted_call), 0)


def _closing(text: str, start: int, delimiter: str) -> int:
    position = start + 1
    while position < len(text) and text[position] != delimiter:
        position += 2 if text[position] == "\\" else 1
    return min(position, len(text))


def _bad_word(text: str, begin: int, word: str) -> Refusal:
    offset = next((i for i, c in enumerate(word) if text[begin + i : begin + i + 1] != c), None)
    wanted = "`" if offset is None else word[offset]
    offset = len(word) if offset is None else offset
    found = text[begin + offset : begin + offset + 1] or "[EOF]"
    return Refusal(begin + offset, f"Expected: '{wanted}', but found '{found}'")


def _bad_identifier(text: str, start: int) -> Refusal:
    end = _closing(text, start, '"')
    position = start + 1
    while position < end:
        if text[position] == "\\":
            position += 1
            if text[position : position + 1] not in (*_ESCAPES,):
                return Refusal(position, f"Invalid escape: {text[position : position + 1]}")
        position += 1
    return Refusal(end, "Unclosed quotes")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _java_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}={_java_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_java_text, value)) + "]"
    return "null" if value is None else str(value)


class _Surroundings:
    """What precedes a refused token, and what Smithy would have taken there."""

    def __init__(self, tokens: Sequence[Mapping[str, Any]], index: int) -> None:
        self._tokens = tokens
        self._index = index
        self._opener = self._innermost(index)

    def refusal(self, otherwise: str) -> Refusal:
        """The refusal, worded as Smithy does; `otherwise` where Smithy has no objection."""
        kind, before = self._kind(self._index), self._kind(self._index - 1)
        opener = "" if self._opener is None else self._bracket(self._opener)
        if opener == "index":
            return self._in_index(kind, before)
        if opener == "hash" and before in ("lbrace", "comma"):
            return self._expected("unquoted_identifier")
        if opener == "hash" and self._kind(self._index - 2) in ("lbrace", "comma"):
            return self._expected("colon")
        if before == "dot":
            return self._expected(*_AFTER_DOT)
        if before not in _ENDS:
            return self._without_operand(kind, before, otherwise)
        return self._after_operand(kind, opener)

    def _in_index(self, kind: str, before: str) -> Refusal:
        if before == "lbracket":
            return self._expected("number", "colon", "star")
        if before == "star":
            return self._expected("rbracket")
        if kind == "colon":
            self._index += 1
            return self._refuse("Too many colons in slice expression")
        if before == "number":
            return self._expected("colon", "rbracket")
        return self._expected("number", "rbracket", "colon")

    def _without_operand(self, kind: str, before: str, otherwise: str) -> Refusal:
        if kind in _STARTS:
            return self._refuse(otherwise)
        if before == "comma" and kind in ("rbracket", "rparen"):
            return self._refuse("Invalid token after ',': {}")
        return self._expected(*_STARTS)

    def _after_operand(self, kind: str, opener: str) -> Refusal:
        if kind in ("star", "lbrace", "not", "lparen"):
            if self._is_projection(self._index - 1):
                return self._refuse("Invalid projection")
            if kind == "lparen":
                self._index += 1
                return self._refuse("Invalid led token: '('")
            return self._expected(*_CONTINUES, *_COMPARES, "lparen")
        if opener == "hash":
            return self._expected("rbrace", "comma")
        if opener in ("group", "filter"):
            return self._expected(_CLOSES[opener])
        return self._expected("eof") if not opener else self._expected(*_STARTS)

    def _innermost(self, end: int) -> int | None:
        """The index of the last bracket before this token that is still open."""
        opened: list[int] = []
        for index in range(end):
            if self._kind(index) in ("lbrace", "lbracket", "filter", "lparen"):
                opened.append(index)
            elif self._kind(index) in ("rbrace", "rbracket", "rparen") and opened:
                opened.pop()
        return opened[-1] if opened else None

    def _bracket(self, index: int) -> str:
        """What a bracket opens."""
        kind, before, after = (self._kind(index + step) for step in (0, -1, 1))
        if kind == "lbracket":
            if before == "dot":
                return "list"
            of_something = before in _ENDS and not self._is_projection(index - 1)
            return "index" if of_something or after in ("number", "colon") else "list"
        if kind == "lparen":
            return "call" if before == "unquoted_identifier" else "group"
        return "hash" if kind == "lbrace" else kind

    def _is_projection(self, index: int) -> bool:
        """Whether a projection ends with this token."""
        if self._kind(index) in ("star", "flatten"):
            return True
        if self._kind(index) != "rbracket":
            return False
        left = self._innermost(index)
        inside = [self._kind(i) for i in range((left or 0) + 1, index)]
        if left is not None and self._kind(left) == "filter":
            return True
        return inside == ["star"] or (set(inside) <= {"number", "colon"} and "colon" in inside)

    def _kind(self, index: int) -> str:
        if not 0 <= index < len(self._tokens):
            return ""
        kind = str(self._tokens[index]["type"])
        return "unquoted_identifier" if kind == "quoted_identifier" else kind

    def _expected(self, *types: str) -> Refusal:
        names = [f"'{_NAMES[name]}'" if name != "eof" else "EOF" for name in types]
        wanted = names[0] if len(names) == 1 else "[" + ", ".join(names) + "]"
        return self._refuse(f"Expected {wanted.replace('{', '{{')}, but found {{}}")

    def _refuse(self, text: str) -> Refusal:
        token = self._tokens[min(self._index, len(self._tokens) - 1)]
        return Refusal(token["start"], text.format(shown(token)))
