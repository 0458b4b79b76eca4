"""Raise the pins and `data/` to the installed botocore, and say what a person has to read.

    python tools/raise_botocore.py                       raise
    python tools/raise_botocore.py --list                write nothing, print what there is to read
    python tools/raise_botocore.py --answers FILE        write what a person has answered
    python tools/raise_botocore.py --confirm [SERVICE]   what was written by rule has been read

`tox run -e raise -- ...` does it beside the newest botocore. What a rule of `tools/raise_rules.py`
decides is written; `data/unread.json` has it until a person confirms it. What no rule decides is a
line of the answers: the part behind the colon is the person's. The last screen is the list.

| line | answer |
|---|---|
| `state SERVICE WAITER VALUE:` | `success`, `failure` or `retry` |
| `waiter SERVICE OPERATION [READ]:` | a draft for `tools/draft_waiters.py`, or `- ` and why not |
| `read SERVICE OPERATION:` | `allow`, or `- ` and why not, as the end of a sentence |
| `effect SERVICE OPERATION:` | the name of a waiter, with `PARAMETER=PATH` where the names \
differ, or `- ` and why nothing follows |
| `token`, `quoted`, `gone`, `check` | none: they are mended by hand |
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import botocore
import effect_reasons
import effect_rules
import observed_states
import pollable
from data_digests import service_of
from data_rules import check
from draft_waiters import Decision, decisions, drafted
from draft_waiters import write as write_waiters
from generate_data import main as generate
from observed_states import enum_at, models
from page_counts import SENTENCES, set_counts
from raise_news import (
    DATA,
    ROOT,
    STATES,
    UNREAD,
    News,
    Unread,
    add_effect,
    changed_sentences,
    forget_shipped,
    judge,
    new_effects,
    new_reads,
    new_values,
    new_waiters,
    old_models,
    read_json,
    tell_of_models,
    tell_of_waiters,
    what_is_gone,
    write_json,
    write_shapes,
    write_table,
)
from raise_rules import trait_of

from boto_waiters_plus.check.events import Severity
from boto_waiters_plus.definitions import shipped
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.service.places import botocore_is_older

REFERENCE: Final = ROOT.parent / "shared/reference/observed-states.json"
"""What was seen of AWS, which is not part of the project."""

KINDS: Final = ("state", "waiter", "read", "effect")
"""The questions that have an answer here, in the order in which answers are written."""

VERDICTS: Final = ("success", "failure", "retry")

MOST_LINES: Final = 30
"""Of the list at the end: what a screen has, with what stands around it."""

# --- the answers --------------------------------------------------------------------------------


class Answered(NamedTuple):
    """A line of the answers."""

    kind: str
    service: str
    names: list[str]
    given: str

    @property
    def reason(self) -> str | None:
        """Why there is nothing; None if the answer is another one."""
        return self.given.removeprefix("- ") if self.given.startswith("- ") else None


def answers_in(file: Path) -> list[Answered]:
    """Return the answers of a file; one that cannot be right ends the command."""
    found = []
    for number, row in enumerate(file.read_text(encoding="utf-8-sig").splitlines(), 1):
        # A state may have a colon.
        asked, _, given = row.partition(": ")
        if row.startswith("#") or given.strip() in ("", "?"):
            continue
        words = asked.split(maxsplit=3 if asked.startswith("state ") else -1)
        kind, service, *names = words if len(words) > len(("kind", "service")) else ("", "", "")
        line = Answered(kind, service, names, given.strip())
        if problem := _problem_of(line):
            raise SystemExit(f"{file}:{number}: {problem}")
        found.append(line)
    return found


def open_states_in(file: Path) -> list[str]:
    """Return the questions about states in a file that have no answer yet."""
    rows = (row.partition(":") for row in file.read_text(encoding="utf-8").splitlines())
    asked = [line for line, _, given in rows if given.strip() == "?" and line.startswith("state ")]
    return [line for line in asked if not _is_judged(*line.split()[1:])]


def _is_judged(service: str, waiter: str, value: str) -> bool:
    row = read_json(STATES / f"{service}.json")["waiters"][waiter]
    return value in row.get("values", {})


def _problem_of(line: Answered) -> str | None:
    """Return why an answer cannot be right; None if it can."""
    if line.kind not in KINDS:
        return f"{line.kind or 'this'} is no question with an answer"
    if line.service not in models():
        return f"no service {line.service}"
    if line.kind == "state":
        return _problem_of_state(line)
    unknown = {*line.names} - {*models()[line.service].operation_names}
    if unknown:
        return f"{line.service} has no operation {', '.join(sorted(unknown))}"
    if line.kind == "waiter" and line.reason is None:
        return _problem_of_draft(line)
    fits = {
        "waiter": True,
        "read": line.given == "allow",
        "effect": all("=" in each for each in line.given.split()[1:]) and line.given[0] != "-",
    }
    return None if line.reason or fits[line.kind] else f"{line.given!r} is no answer for it"


def _problem_of_state(line: Answered) -> str | None:
    table = STATES / f"{line.service}.json"
    rows = read_json(table)["waiters"] if table.is_file() else {}
    row = rows.get(line.names[0], {})
    if len(line.names) == 1 or "values" not in row or line.given not in VERDICTS:
        return "a state needs a waiter with a row, and success, failure or retry"
    operation = models()[line.service].operation_model(row["operation"])
    values = enum_at(operation.output_shape, row["state"])
    return (
        f"the model has no state {line.names[1]}"
        if values and line.names[1] not in values
        else None
    )


def _problem_of_draft(line: Answered) -> str | None:
    if not line.given.startswith("| ") or line.given.count("|") == 1:
        return f"{line.given!r} is no draft: `| noun | members`"
    try:
        for _, decision in decisions(f"@{line.service}\n{line.names[-1]} {line.given}\n"):
            assert isinstance(decision, Decision)
            list(drafted(decision))
    except (SystemExit, LookupError) as error:
        return f"it cannot be drafted: {error}"
    return None


def answer(file: Path) -> None:
    """Write what a person has answered."""
    effects, pollables = read_json(effect_reasons.EFFECTS), read_json(pollable.FILE)
    no_effects = read_json(effect_reasons.FILE)
    unread: Unread = read_json(UNREAD)
    for line in sorted(answers_in(file), key=lambda each: KINDS.index(each.kind)):
        service, names, reason = line.service, line.names, line.reason
        if line.kind == "state":
            path = STATES / f"{service}.json"
            table = read_json(path)
            definition = next(e for e in shipped_definitions(service) if e.name == names[0])
            judge(service, definition, table["waiters"][names[0]], names[1], line.given)
            write_table(path, table)
            unread.get(service, {}).get("states", {}).pop(" ".join(names), None)
        elif line.kind == "waiter":
            # Of a deletion, the read is drafted, and the deletion has the reason.
            operation = names[-1] if reason is None else names[0]
            write_waiters(decisions(f"@{service}\n{operation} {line.given}\n"))
        elif line.kind == "read" and reason is None:
            pollables = pollable.rewritten(pollables, [f"{service}.{names[0]}"])
        elif line.kind == "read":
            pollables["refused"].setdefault(service, {})[names[0]] = reason
        elif reason is None:
            # The waiter may be one of a line before.
            forget_shipped()
            add_effect(effects, models()[service].operation_model(names[0]), *_trait_for(line))
        else:
            _add_reason(no_effects, reason, service, names[0])
    pollable.FILE.write_text(
        pollable.file_text(pollable.rewritten(pollables, [])), encoding="utf-8"
    )
    write_json(UNREAD, unread)
    write_json(effect_reasons.FILE, no_effects)
    write_shapes(effect_reasons.EFFECTS, effects)
    effect_reasons.main(["--write"])
    generate([str(DATA)])


def _add_reason(reasons: dict[str, Any], reason: str, service: str, name: str) -> None:
    """Give the reason for a mutation, in place of another."""
    reasons.setdefault(reason, {})
    for other, services in reasons.items():
        known = {*shipped.from_groups(services.get(service, ""))} - {name}
        known |= {name} if other == reason else set()
        services.pop(service, None)
        if known:
            services[service] = effect_reasons.as_verbs([*known])


def _trait_for(line: Answered) -> tuple[str, dict[str, Any]]:
    waiter, *sources = line.given.split()
    definition = next((e for e in shipped_definitions(line.service) if e.name == waiter), None)
    if definition is None:
        raise SystemExit(f"{line.service} has no waiter {waiter}")
    model = models()[line.service]
    mutation, read = map(model.operation_model, (line.names[0], definition.operation))
    trait = trait_of(mutation, read, waiter, dict(each.split("=", 1) for each in sources))
    if trait is None:
        raise SystemExit(f"{line.names[0]} does not name what {read.name} reads: PARAMETER=PATH")
    return waiter, trait


def confirm(services: Sequence[str]) -> None:
    """Note that a person has read what was written by rule; reads are allowed by it."""
    unread: Unread = read_json(UNREAD)
    read = {service: unread.pop(service) for service in services or [*unread] if service in unread}
    names = [
        f"{service}.{name}" for service, kinds in read.items() for name in kinds.get("reads", ())
    ]
    body = pollable.rewritten(read_json(pollable.FILE), names)
    pollable.FILE.write_text(pollable.file_text(body), encoding="utf-8")
    write_json(UNREAD, unread)
    print(f"confirmed: {', '.join(read) or 'nothing'}")


# --- files --------------------------------------------------------------------------------------


def set_version(old: str, new: str) -> None:
    """Write the version into the files that name it."""
    for name in ("boto_waiters_plus/definitions/shipped.py", "data/traits.json", "pyproject.toml"):
        text = (ROOT / name).read_text(encoding="utf-8")
        pattern = rf'(WRITTEN_FOR = "|"botocore": "|"boto(?:core|3)==){re.escape(old)}"'
        (ROOT / name).write_text(re.sub(pattern, rf'\g<1>{new}"', text), encoding="utf-8")


# --- the command --------------------------------------------------------------------------------


def collect(*, pins: bool) -> News:
    """Write what follows by rule from a new botocore; return all that is new.

    Args:
        pins: whether the pins are raised, too.
    """
    old, new = shipped.WRITTEN_FOR, botocore.__version__
    news = News(unread=read_json(UNREAD))
    before = old_models(old) if old != new else {}
    if before:
        tell_of_models(news, before)
        tell_of_waiters(news)
    changed_sentences(news)
    new_values(news, before)
    regenerate()
    new_waiters(news)
    forget_shipped()
    new_effects(news)
    new_reads(news)
    regenerate()
    what_is_gone(news)
    set_counts()
    # At the end: a raise that breaks off begins anew.
    set_version(old, new)
    if pins:
        subprocess.run([ROOT / "tools/pin.sh"], check=True)  # noqa: S603 - of the project
    write_json(UNREAD, dict(sorted(news.unread.items())))
    if REFERENCE.is_file():
        observed_states.main([str(REFERENCE), "--evidence", str(DATA / "evidence.json")])
    for event in check(DATA):
        if event.severity > Severity.NOTE:
            service = (event.shape or "").partition("#")[0].rpartition(".")[2]
            news.ask(f"check {service} {event.id}", event.message)
    for effect, found in effect_rules.unsuppressed():
        news.ask(f"check {service_of(effect.shape)} {found.rule}.{effect.name}", found.text)
    return news


def regenerate() -> None:
    """Write what is generated, and read `data/` anew from here on."""
    generate([str(DATA)])
    forget_shipped()


def list_only(options: argparse.Namespace) -> None:
    """Raise a copy of the project, which is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "docs").mkdir()
        for name in ("pyproject.toml", *SENTENCES):
            shutil.copy(ROOT / name, Path(folder) / name)
        for name in ("boto_waiters_plus", "data", "tests/cases", "tools"):
            shutil.copytree(ROOT / name, Path(folder) / name)
        command = [sys.executable, f"{folder}/tools/raise_botocore.py", "--no-pins"]
        for name in ("ask_in", "list_in"):
            file = getattr(options, name)
            command += [f"--{name.replace('_', '-')}", str(file.absolute())] if file else []
        path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path}
        subprocess.run(command, env=environment, check=True)  # noqa: S603 - of the project


def details(news: News) -> Iterator[str]:
    """Yield all that is new, by service."""
    for service, fates in sorted(news.lines.items()):
        yield service
        for fate, subjects in fates.items():
            mark = "\n" if fate.startswith("a person") else ", "
            for text in f"{fate}: {mark.join(subjects)}".splitlines():
                yield from textwrap.wrap(text, 110, initial_indent="  ", subsequent_indent="      ")


def summary(news: News) -> Iterator[str]:
    """Yield the list of what there is to read, at most a screen."""
    lines = [f"{line}: ?" if line.startswith(KINDS) else line for line, _ in news.questions]
    if len(lines) > MOST_LINES:
        counts = Counter(tuple(line.split()[:2]) for line in lines)
        lines = [f"{kind} {service}: {count}" for (kind, service), count in counts.items()]
    if len(lines) > MOST_LINES:
        kinds = Counter(line.split()[0] for line, _ in news.questions)
        lines = [f"{kind}: {count}" for kind, count in kinds.items()]
    yield f"{len(news.questions)} to answer, since no rule does:" if lines else "Nothing to answer."
    yield from _wrapped(lines)
    kinds = Counter(k for of in news.unread.values() for k, rows in of.items() for _ in rows)
    if kinds:
        written = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        services = ", ".join(sorted(news.unread))
        text = f"Written by rule and unread: {written}, of {services}."
        yield from textwrap.wrap(text, 110, max_lines=8, placeholder=" ...")


def _wrapped(lines: list[str]) -> Iterator[str]:
    if len(lines) <= MOST_LINES:
        yield from (f"  {line}" for line in lines)
        return
    yield from textwrap.wrap("; ".join(lines), 110, initial_indent="  ", subsequent_indent="  ")


def main(arguments: Sequence[str] | None = None) -> None:
    """Raise, list, answer or confirm."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help="write nothing")
    instead.add_argument("--answers", type=Path, metavar="FILE", help="write the answers of a file")
    instead.add_argument("--confirm", nargs="*", metavar="SERVICE", help="what is unread was read")
    parser.add_argument("--no-pins", dest="pins", action="store_false", help="leave the pins")
    parser.add_argument("--ask-in", type=Path, metavar="FILE", help="write the questions to a file")
    parser.add_argument("--list-in", type=Path, metavar="FILE", help="write the list to a file")
    options = parser.parse_args(arguments)
    if problem := _problem_with(options):
        parser.error(problem)
    if options.confirm is not None:
        confirm(options.confirm)
    elif options.list:
        list_only(options)
    else:
        _raise(options)


def _problem_with(options: argparse.Namespace) -> str | None:
    unknown = {*(options.confirm or ())} - read_json(UNREAD).keys()
    if unknown:
        return f"nothing is unread of {', '.join(sorted(unknown))}"
    if botocore_is_older():
        return f"data/ was written from {shipped.WRITTEN_FOR}, which is newer"
    if options.answers is None:
        return None
    if not options.answers.is_file():
        return f"no file {options.answers}"
    is_raised = botocore.__version__ == shipped.WRITTEN_FOR
    return None if is_raised else f"data/ is not that of botocore {botocore.__version__} yet"


def _raise(options: argparse.Namespace) -> None:
    """Raise, or write the answers; print all that is new and what there is to read."""
    # What the other tools print is no news.
    with contextlib.redirect_stdout(sys.stderr):
        if options.answers is not None:
            answer(options.answers)
        news = collect(pins=options.pins and options.answers is None)
    asked = {line for line, _ in news.questions}
    for line in open_states_in(options.answers) if options.answers is not None else ():
        # Only the raise itself sees which states are newly documented.
        if line not in asked:
            news.ask(line, "see the answers")
    print("\n".join(details(news)))
    listed = [f"botocore {shipped.WRITTEN_FOR} -> {botocore.__version__}", *summary(news)]
    print("", *listed, sep="\n")
    if options.list_in is not None:
        options.list_in.write_text("\n".join(listed) + "\n", encoding="utf-8")
    if options.ask_in is not None and options.answers is None:
        _write_questions(news, options.ask_in)
        print(f"Answer in {options.ask_in}, then --answers {options.ask_in}; --confirm the rest.")


def _write_questions(news: News, file: Path) -> None:
    if file.is_file():
        # It may have answers.
        file.replace(file.with_suffix(".old.txt"))
    # What has no answer here is mended by hand.
    questions = (
        f"# {sentence}\n{line}: ?\n" if line.startswith(KINDS) else f"# {line}: {sentence}\n"
        for line, sentence in news.questions
    )
    file.write_text("\n".join(questions), encoding="utf-8")


if __name__ == "__main__":
    main()
