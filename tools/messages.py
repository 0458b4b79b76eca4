"""The messages of the package, each with an example and the test that produces it.

python tools/messages.py PAGE       write the page of all messages, as the build of the site does
python tools/messages.py --missing  print the messages without a row, and rows without a message
python tools/messages.py --update FOLDER
    take examples and tests from what tests/message_recorder.py wrote into the folder:
    MESSAGES_TO=FOLDER python -m pytest -p message_recorder ... (tests/ in PYTHONPATH)

A message is a text of two or more words that the package makes, or any text of an error or a log
line. Docstrings, the help of the command and the pages that it draws do not count.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "boto_waiters_plus"
TABLE = ROOT / "tests" / "cases" / "messages.json"

TWO_WORDS = re.compile(r"[a-z}] [a-z{<`'\"]", re.IGNORECASE)
NOT_MESSAGES = re.compile(
    r"hooks/(stock_)?docstring|telemetry|common/process"
    r"|cli/(demo/|show|diagrams|svg_picture|text|schedule|listing|wait_options|exit_codes)"
    r"|definitions/(state_words|operation_names|waiter_names)"
)
"""Modules of pages and of lists of words. What they raise is a message all the same."""
NOT_CALLS = {"add_argument", "add_argument_group", "add_parser", "add_subparsers", "_action"}
NOT_CALLS |= {"Parser", "split", "compile", "exec_driver_sql"}
HELP_TABLES = {"COMMANDS", "FILE_HELP", "FLAG_HELP", "STORE_HELP", "SERVICE_HELP", "USAGE"}
HELP_WORDS = {"help", "description", "epilog", "usage", "title", "prog"}
NOT_TEXTS = re.compile(
    r"(select|insert|create (unique|table)|delete from|from times|pragma|set local|PRAGMA|BEGIN"
    r"|-c) "
    r"|boto_waiters_plus |Bearer |cancel listener$|[A-Z ]+$|any any"
    r"|retry refused$|Unverified HTTPS|BigDecimal |addedDefault |rate.throttl|expired.unknown"
    r"|already exist.already|: nothing new|default-src "
    r"|(array|expression|string|array.string) (any|array|expression|string)"
)
"""SQL, names of threads, lists of words, patterns, signatures of functions."""
TEMPORARY = re.compile(r"/[\w/-]*/pytest-of-[^'\",]*/")
LOG = {"debug", "info", "warning", "error", "exception"}

UNPRODUCED = {
    "calls/connections.py: no time left for this address": "caught by the call that it ends",
    "operations/sql/database.py: store {name}: all connections are in use": "takes 30 s",
    "operations/sql/database.py: store {name}: {name}": "a guard: an error of SQLAlchemy's own",
    "operations/wait_ends.py: its end cannot be stored: {name}": "a guard: an unknown response",
    "operations/wait_ends.py: its end cannot be told: {name}": "a guard: damaged while it passed",
    "batch/call_executor.py: the threads of this run are gone: did the process fork after the "
    "run began?": "in a forked process only: tests/faults",
    "wait/wording.py: an unknown error": "a guard: a failure without an attempt",
    "wait/wording.py: no answer": "a guard: a failure without an attempt",
    "wait/wording.py: unknown error": "a guard: an error without a name",
    "cli/service_lookup.py: from botocore": "a waiter that only the installed botocore has",
    "operations/begin.py: client is an aiobotocore client: use begin_async, in its loop": (
        "tests/aio"
    ),
    "operations/begin.py: in_store takes no client of aiobotocore: workers need a blocking one": (
        "tests/aio"
    ),
    "operations/begin.py: {path} is driven by this event loop: await it": "tests/aio",
    "operations/backend.py: store {name} is closed": "a guard: the store's own check comes first",
    "wait/wait_log.py: no state": "a guard: an answer whose state has no words",
    "wait/wording.py:  retry_transient=True retries such errors.": "tests/faults",
    "engine/redaction.py: no item": "a guard: an answer whose state has no words",
    "wait/wording.py: the response contains no item": "a guard: no words for the state",
    "wait/wording.py: {value} values": "a guard: an answer whose state has no words",
    "operations/operation.py: <Operation {path} {...}>": "a repr, which only a debugger shows",
    "operations/stored_operation.py: store {name} is closed; its open"
    " waits go on in other processes": "when a store is collected",
}
"""Messages that no test produces, with the reason."""

Text = ast.Constant | ast.JoinedStr


def messages(source: str, module: str) -> dict[Text, str]:
    """The messages of a module, each with its key: the module and the template."""
    tree = source if isinstance(source, ast.AST) else ast.parse(source)
    return {text: f"{module}: {template(text)}" for text in _texts(tree, module, told=False)}


def package_messages(package: Path = PACKAGE) -> list[str]:
    """The keys of all messages of the package, sorted."""
    found: set[str] = set()
    for path in package.rglob("*.py"):
        module = path.relative_to(package).as_posix()
        found.update(messages(path.read_text(encoding="utf-8"), module).values())
    return sorted(found)


def template(text: Text) -> str:
    """The text with the names of what is put in between braces."""
    if isinstance(text, ast.Constant):
        return str(text.value)
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else f"{{{_name(part.value)}}}"
        for part in text.values
    )


def pattern(key: str) -> re.Pattern[str]:
    """What the texts of a message look like."""
    pieces = re.split(r"\{[\w.]*\}|%(?:\.\d)?[sdf]", text_of(key))
    return re.compile(".*".join(map(re.escape, pieces)), re.DOTALL)


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr.strip("_")
        case ast.Call():
            return _name(node.args[0] if node.args else node.func)
        case ast.Subscript() | ast.Starred():
            return _name(node.value)
    return "..."


def _texts(node: ast.AST, module: str, *, told: bool) -> Iterator[Text]:
    """The messages below a node; `told` inside an error or a log line."""
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        if _is_message(template(node), module, told=told):
            yield node
        return
    for child in _children(node):
        # The parts of a message can be expressions: `unknown(name, names, "option")`.
        is_told = told and isinstance(child, Text | ast.BinOp | ast.IfExp)
        yield from _texts(child, module, told=is_told or _tells(node))


def _is_message(text: str, module: str, *, told: bool) -> bool:
    if told:
        return re.search("[a-z]{2}.*[ %{]|[ }][a-z]{2}", text) is not None
    is_text = TWO_WORDS.search(text) and not NOT_TEXTS.match(text)
    return bool(is_text) and not NOT_MESSAGES.match(module)


def _children(node: ast.AST) -> Iterable[ast.AST]:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.match_case(pattern=None):
            return ()
        case ast.match_case():
            return node.body
        case ast.Call() if _called(node) in NOT_CALLS:
            return ()
        case ast.Assign(targets=[ast.Name(id=name)]) if name in HELP_TABLES:
            return ()
        case ast.keyword(arg=word) if word in HELP_WORDS:
            return ()
    return ast.iter_child_nodes(node)


def _tells(node: ast.AST) -> bool:
    """Whether the arguments of a node are an error's or a log line's."""
    if not isinstance(node, ast.Call):
        return False
    called = _called(node)
    is_log = called in LOG and "logger" in ast.unparse(node.func)
    return is_log or called == "warn" or called.endswith(("Error", "refuse"))


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


# --- the table ----------------------------------------------------------------------------------


def read_table() -> list[dict[str, str]]:
    """The rows: `message` (module and template), `example`, `test` that produces it."""
    return json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else []


def update(folder: Path) -> None:
    """Take examples and tests of the messages from a record."""
    seen: dict[str, dict[str, str]] = {}
    times: dict[str, float] = {}
    for file in folder.glob("*.json"):
        record = json.loads(file.read_text(encoding="utf-8"))
        times |= record["times"]
        for key, tests in (record["of threads"] | record["messages"]).items():
            # A long one was cut.
            whole = {test: text for test, text in tests.items() if pattern(key).search(text)}
            seen.setdefault(key, {}).update(whole)
    old = {row["message"]: row for row in read_table()}
    chosen = _few_tests(seen, times, old)
    quoting = _quoting_tests()
    rows = []
    for key in package_messages():
        row = old.get(key, {"message": key, "example": "", "test": ""})
        if key in chosen and not _is_there(row["test"]):
            example = TEMPORARY.sub("/home/me/", seen[key][chosen[key]])
            row = {"message": key, "example": example, "test": chosen[key]}
        elif not row["test"] and (file := quoting(text_of(key))):
            row = {"message": key, "example": text_of(key), "test": file}
        if key in UNPRODUCED:
            row = {"message": key, "example": "", "test": ""}
        rows.append(row)
    text = json.dumps(rows, indent=1, ensure_ascii=False)
    TABLE.write_text(text + "\n", encoding="utf-8")


def _is_there(test: str) -> bool:
    """Whether a test of the table still exists: a record of a few files replaces no other row."""
    file, *names = test.partition("[")[0].split("::")
    path = ROOT / file
    # The tests of a class may be those of its base.
    place = f" {names[0]}(" if names else ""
    return path.is_file() and place in path.read_text(encoding="utf-8")


def _few_tests(
    seen: dict[str, dict[str, str]], times: dict[str, float], old: dict[str, dict[str, str]]
) -> dict[str, str]:
    """Choose few and quick tests that produce all messages, those of the table first."""
    open_keys = {key: tests for key, tests in seen.items() if tests}
    chosen: dict[str, str] = {}
    for key, row in old.items():
        if row["test"] in seen.get(key, {}):
            chosen[key] = row["test"]
            del open_keys[key]
    while open_keys:
        gain: dict[str, int] = {}
        for tests in open_keys.values():
            for test in tests:
                gain[test] = gain.get(test, 0) + 1
        best = max(gain, key=lambda test: (gain[test] / _price(test, times), test))
        for key in [key for key, tests in open_keys.items() if best in tests]:
            chosen[key] = best
            del open_keys[key]
    return chosen


def _quoting_tests() -> Callable[[str], str | None]:
    """Return a function that finds a test file that quotes a text, such as a module's constant."""
    texts = {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for file in (ROOT / "tests").rglob("test_*.py")
    }
    return lambda text: next((file for file in texts if f'"{text}"' in texts[file]), None)


def text_of(key: str) -> str:
    """The template of a message."""
    return key.partition(": ")[2]


def _price(test: str, times: dict[str, float]) -> float:
    # A server is not everywhere, nor is aiobotocore.
    is_special = "postgresql" in test or "/aio/" in test or "aiobotocore" in test
    return 0.05 + times.get(test, 1) + 1000 * is_special


def page(rows: Iterable[dict[str, str]]) -> str:
    """The page of all messages."""
    lines = [PAGE_HEAD]
    place = None
    for row in rows:
        module, _, text = row["message"].partition(": ")
        if module != place:
            lines.append(f"\n## `{module}`\n\n| message | as produced |\n|---|---|\n")
            place = module
        shown = _cell(row["example"]) or f"({UNPRODUCED[row['message']]})"
        lines.append(f"| {_cell(text)} | {shown} |\n")
    return "".join(lines)


PAGE_HEAD = """# Messages

Every text that the package can produce, by module: errors, warnings, log lines, the findings of
`boto-wait check`, and the parts of which longer texts are composed. [Errors](errors.md) shows whole
texts of waits. Braces stand for what is put in. A text that begins without a name follows the name
of a file, a waiter, an acceptor, a store or a resource.

The build of the site writes this page from `tests/cases/messages.json`, which names the test that
produces each message.
"""


def _cell(text: str) -> str:
    one_line = text.replace("\\", "\\\\") if "`" in text else text
    one_line = one_line.replace("\n", "⏎").replace("|", "\\|").strip()
    fence = "``" if "`" in one_line else "`"
    space = " " if "`" in one_line else ""
    return f"{fence}{space}{one_line}{space}{fence}" if one_line else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("page", nargs="?", type=Path, help="the file to write")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--update", type=Path, metavar="FOLDER")
    options = parser.parse_args(arguments)
    if options.update:
        update(options.update)
    rows = read_table()
    if options.missing:
        keys = set(package_messages())
        known = {row["message"] for row in rows if row["test"] or row["message"] in UNPRODUCED}
        for sign, some in (("+", keys - known), ("-", known - keys)):
            print(*(f"{sign} {key}" for key in sorted(some)), sep="\n")
        return int(keys != known)
    if options.page:
        options.page.write_text(page(rows), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
