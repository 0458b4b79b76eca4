"""What a new botocore has that `data/` does not know; writes what rules decide of it.

A part of `tools/raise_botocore.py`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import effect_reasons
import model_states
from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel
from data_rules import check
from draft_waiters import Decision
from draft_waiters import write as write_waiters
from generate_data import CORRECTIONS_FILE, corrections, file_text
from json_rows import rows_text
from model_documentation import as_plain, lost_evidence, plain_text
from observed_states import enum_at, models
from pollable import unread_reads
from raise_rules import (
    deletion_for,
    effect_for,
    lifetime_instead,
    lifetime_told,
    may_be_polled,
    nearest_sentence,
    noun_of,
    stop_of,
    verdict_on,
    waiter_for,
)

from boto_waiters_plus.check.events import Severity
from boto_waiters_plus.check.installed import botocores_definitions
from boto_waiters_plus.definitions import changes, shipped
from boto_waiters_plus.definitions.changes import TOKEN_LIFETIME
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.definitions.smithy import WAITABLE, aws_namespace
from boto_waiters_plus.definitions.state_words import documented_states
from boto_waiters_plus.engine.acceptors import OutputMatcher, PathComparator
from boto_waiters_plus.engine.model import GENERATED, WaiterDefinition
from boto_waiters_plus.engine.state_acceptors import state_acceptors
from boto_waiters_plus.service.causes import EXPLAINS
from boto_waiters_plus.service.new_states import comparisons_of, mentions, new_states
from boto_waiters_plus.service.reasons import EXPECTED, reason_beside
from boto_waiters_plus.service.shapes import is_plain, shape_id_of
from boto_waiters_plus.service.tokens import token_member

ROOT: Final = Path(__file__).resolve().parents[1]
DATA: Final = ROOT / "data"
STATES: Final = ROOT / "tests/cases/states"
UNREAD: Final = DATA / "unread.json"

_TOKEN: Final = re.compile(r"(?i)(client|creator|idempotency|request)*(token|requestid|reference)")

MOST_OF_A_SENTENCE: Final = 220
"""Characters."""

Unread = dict[str, dict[str, dict[str, str]]]
"""What was written by rule: by service and kind, what it is about and what was written."""


@dataclass
class News:
    """What is new, in the order of its services."""

    lines: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """By service and by what becomes of it: what is new."""
    questions: list[tuple[str, str]] = field(default_factory=list)
    """What a person has to read: the line to answer, and the model's sentence."""
    unread: Unread = field(default_factory=dict)

    def tell(self, service: str, fate: str, subject: str) -> None:
        """Note something new of a service."""
        self.lines.setdefault(service, {}).setdefault(fate, []).append(subject)

    def ask(self, line: str, sentence: str) -> None:
        """Add a question; the line to answer begins with its kind and the service."""
        kind, service, *subject = line.split()
        text = textwrap.shorten(sentence, MOST_OF_A_SENTENCE, placeholder=" ...")
        self.tell(service, f"a person has to read this {kind}", f"{' '.join(subject)}: {text}")
        self.questions.append((line, textwrap.shorten(sentence, 3 * MOST_OF_A_SENTENCE)))

    def write(self, service: str, kind: str, what: str, text: str, rule: str) -> None:
        """Note what is written by rule."""
        subject = what if kind == "reads" else f"{what}: {text}"
        self.tell(service, f"{kind}, by rule ({rule})", subject)
        self.unread.setdefault(service, {}).setdefault(kind, {})[what] = text


# --- what is new --------------------------------------------------------------------------------


def tell_of_models(news: News, old: dict[str, ServiceModel]) -> None:
    """Note services, operations, tokens and waiters that the models of an older botocore lack."""
    for service, model in sorted(models().items()):
        before = old.get(service)
        earlier = {*before.operation_names} if before is not None else set[str]()
        if before is None:
            news.tell(service, "new", f"a service of {len(model.operation_names)} operations")
        for name in sorted({*model.operation_names} - earlier):
            token = token_member(model.operation_model(name))
            if before is not None:
                text = f"{name} (token {token.name})" if token else name
                news.tell(service, "new operations", text)
            _judge_token(news, service, model.operation_model(name))
        if before is None:
            continue
        for name in sorted({*model.operation_names} & {*before.operation_names}):
            marked = {*model.operation_model(name).idempotent_members}
            for member in sorted(marked - {*before.operation_model(name).idempotent_members}):
                news.tell(service, "new tokens, which botocore marks", f"{member} of {name}")
                _judge_token(news, service, model.operation_model(name))
        for name in sorted({*before.operation_names} - {*model.operation_names}):
            news.tell(service, "operations that are gone", name)
    for service in sorted(old.keys() - models().keys()):
        news.tell(service, "gone", "the service")


def _judge_token(news: News, service: str, operation: OperationModel) -> None:
    """Write the documented lifetime of a new token; ask about one that botocore does not mark."""
    known = token_member(operation)
    for name, member in getattr(operation.input_shape, "members", {}).items():
        text = plain_text(member)
        is_new = known is not None and known.path == (name,) and known.lifetime is None
        if known is None and _TOKEN.fullmatch(name) and "idempot" in text.lower():
            news.ask(f"token {service} {operation.name} {name}", text)
        elif is_new and (found := lifetime_told(text)):
            sentence, seconds = found
            rule = f"its documentation: {sentence}"
            news.write(service, "lifetimes", operation.name, f"{seconds} s", rule)
            _write_lifetime(operation, sentence, seconds)


def _write_lifetime(operation: OperationModel, sentence: str, seconds: int) -> None:
    file = DATA / changes.IDEMPOTENCY_FILE
    document = read_json(file)
    shape = document["shapes"].setdefault(shape_id_of(operation), {"type": "apply", "traits": {}})
    shape["traits"][TOKEN_LIFETIME] = {"seconds": seconds, "evidence": sentence}
    write_shapes(file, document)


def tell_of_waiters(news: News) -> None:
    """Note the waiters of botocore that differ from the generated ones of `data/`."""
    changed = {(each.replace(" ", "-").lower(), name) for each, name in corrections()}
    for service, model in sorted(models().items()):
        known = {each.name: each for each in shipped_definitions(service)}
        for own in botocores_definitions(model):
            before = known.get(own.name)
            if before is None:
                news.tell(service, "new waiters of botocore", f"{own.name} polls {own.operation}")
            elif new := [a.describe() for a in own.acceptors if a not in before.acceptors]:
                kind = "corrected" if (service, own.name) in changed else "generated"
                fate = f"new acceptors in botocore for a {kind} waiter: {'; '.join(new)}"
                news.tell(service, fate, own.name)


def new_values(news: News, old: dict[str, ServiceModel]) -> None:
    """Judge the new values of the states that waiters read.

    Args:
        news: takes what is new.
        old: the models of the older botocore, whose documentation lists the states of what has no
            enumeration; empty: none is compared.
    """
    for service in sorted(shipped_services()):
        model = models().get(service)
        path = STATES / f"{service}.json"
        rows = read_json(path)["waiters"] if path.is_file() else {}
        if model is None:
            continue
        for definition in shipped_definitions(service):
            if definition.operation not in model.operation_names:
                news.tell(service, "waiters whose operation is gone", definition.name)
            elif GENERATED in definition.tags:
                _new_values_of_generated(news, service, model, definition, rows)
            elif "state" not in rows.get(definition.name, {}):
                operation = model.operation_model(definition.operation)
                _tell_of_others(news, service, definition, operation, ())
            else:
                operation = model.operation_model(definition.operation)
                before = old.get(service)
                values = _values_at(news, operation, before, rows[definition.name], definition.name)
                _judge_values(news, service, definition, rows[definition.name], values)
                _tell_of_others(news, service, definition, operation, values)
        if rows != (read_json(path)["waiters"] if rows else rows):
            write_table(path, {**read_json(path), "waiters": rows})


def _new_values_of_generated(
    news: News,
    service: str,
    model: ServiceModel,
    definition: WaiterDefinition,
    rows: dict[str, Any],
) -> None:
    operation, name = model.operation_model(definition.operation), definition.name
    definitions = botocores_definitions(model)
    own = next((each for each in definitions if each.name == name), None)
    if own is None:
        news.tell(service, "waiters that botocore no longer has", name)
        return
    outputs = [each for each in own.acceptors if isinstance(each.matcher, OutputMatcher)]
    known = {each.matcher.matcher.expected: each.state.value for each in outputs}
    # A correction compares what the first acceptor does.
    matchers = [each.matcher.matcher for each in outputs]
    paths = {each.path for each in matchers}
    path = paths.pop() if len(paths) == 1 else ""
    is_text = all(each.comparator is not PathComparator.BOOLEAN_EQUALS for each in matchers)
    compared = enum_at(operation.output_shape, path) if is_plain(path) and is_text else ()
    for values in new_states(comparisons_of(definition), operation).values():
        for value in values:
            answer = verdict_on(name, value, known)
            if value in known or mentions(comparisons_of(own), value):
                verdict = known.get(value, "decided")
                news.tell(service, f"state {value}: {verdict}, by botocore's acceptor", name)
            elif value in compared and answer is not None and answer.text == "failure":
                verdict = answer.text
                _correct(str(model.service_id), name, value)
                news.write(service, "states", f"{name} {value}", verdict, answer.rule)
            else:
                verdict = "retry"
                news.tell(
                    service, f"state {value}: retry, as botocore has no acceptor for it", name
                )
            if name in rows and verdict != "decided":
                rows[name].get("values", {}).setdefault(value, verdict)


def _values_at(
    news: News,
    operation: OperationModel,
    before: ServiceModel | None,
    row: dict[str, Any],
    name: str,
) -> tuple[str, ...]:
    """Return the values of a state: of its enumeration, or those that are newly documented."""
    values = enum_at(operation.output_shape, row["state"])
    if values or before is None or operation.name not in before.operation_names:
        return values
    earlier = before.operation_model(operation.name)
    texts = [
        _documentation_at(each.output_shape, row["state"])[-1:] for each in (earlier, operation)
    ]
    if texts[0] == texts[1]:
        return ()
    told, tells = ({v for text in each for v in documented_states(text)} for each in texts)
    service = str(operation.service_model.service_id.hyphenize())
    news.tell(service, "waiters about whose state the documentation has changed", name)
    return tuple(sorted(tells - told))


def _tell_of_others(
    news: News,
    service: str,
    definition: WaiterDefinition,
    operation: OperationModel,
    values: tuple[str, ...],
) -> None:
    """Note the new values of other states that a waiter reads; the checker warns of failures."""
    comparisons = comparisons_of(definition)
    for enum, new in new_states(comparisons, operation).items():
        for value in new:
            if value not in values and not mentions(comparisons, value):
                fate = f"new values of another state that a waiter reads, a retry: {enum}"
                news.tell(service, fate, f"{definition.name} {value}")


def _judge_values(
    news: News,
    service: str,
    definition: WaiterDefinition,
    row: dict[str, Any],
    values: tuple[str, ...],
) -> None:
    name = definition.name
    operation = models()[service].operation_model(definition.operation)
    for value in values:
        if value in row["values"]:
            continue
        answer = verdict_on(name, value, row["values"])
        if answer is None:
            known = ", ".join(f"{k} {v}" for k, v in row["values"].items())
            sentence = f"{sentence_about(operation, row['state'], value)} ({known})"
            news.ask(f"state {service} {name} {value}", sentence)
            continue
        news.write(service, "states", f"{name} {value}", answer.text, answer.rule)
        judge(service, definition, row, value, answer.text)


def judge(
    service: str, definition: WaiterDefinition, row: dict[str, Any], value: str, verdict: str
) -> None:
    """Write the verdict on a state of a curated waiter: into its row, and as an acceptor."""
    row["values"][value] = verdict
    path, model = row["state"], models()[service]
    operation = model.operation_model(definition.operation)
    file = DATA / f"{service}.json"
    document = read_json(file)
    shape = document["shapes"][f"{aws_namespace(str(model.service_id))}#{operation.name}"]
    acceptors = shape["traits"][WAITABLE][definition.name]["acceptors"]
    by_verdict = {
        name: next(state_acceptors(path, *of, every=True, is_list="[]" in path)).to_json()
        for name, of in (("success", ((value,), ())), ("failure", ((), (value,))))
    }
    # An answer takes the place of a rule's.
    matchers = [each["matcher"] for each in by_verdict.values()]
    acceptors[:] = [each for each in acceptors if each["matcher"] not in matchers]
    others = [each for each in definition.acceptors if each.to_json()["matcher"] not in matchers]
    left = replace(definition, acceptors=tuple(others))
    is_mentioned = mentions(comparisons_of(left), value)
    if verdict != "retry" and not is_mentioned:
        body = by_verdict[verdict]
        reason = reason_beside(operation.output_shape, path)
        if reason is not None and verdict == "failure":
            body["message"] = reason.replace(EXPECTED, value)
        # Before those for errors.
        errors = (i for i, each in enumerate(acceptors) if "errorType" in each["matcher"])
        acceptors.insert(next(errors, len(acceptors)), body)
    file.write_text(file_text(document), encoding="utf-8")


def _correct(service_id: str, name: str, value: str) -> None:
    """Add a state to the failures of one of botocore's waiters."""
    rows = read_json(CORRECTIONS_FILE)
    reason = f"No other state follows {value}: the wait would poll to the end."
    row = rows.setdefault(service_id, {}).setdefault(name, {"reason": reason})
    row["failures"] = [*row.get("failures", ()), value]
    rows = {service: dict(sorted(rows[service].items())) for service in sorted(rows)}
    write_json(CORRECTIONS_FILE, rows)


def what_is_gone(news: News) -> None:
    """Ask about what `data/` has and the models lack."""
    names = {s: {each.name for each in shipped_definitions(s)} for s in shipped_services()}
    by_namespace = {aws_namespace(str(m.service_id)): s for s, m in models().items()}
    for shape_id, shape in read_json(effect_reasons.EFFECTS)["shapes"].items():
        namespace, _, operation = shape_id.partition("#")
        service = by_namespace.get(namespace, namespace)
        known = models()[service].operation_names if service in models() else ()
        for effect, trait in shape["traits"][changes.EFFECT].items():
            waiter = None if "operation" in trait else trait.get("waiter", effect)
            if operation not in known or (waiter and waiter not in names.get(service, ())):
                news.ask(f"gone {service} {operation}", f"data/effects.json has {effect} after it")
    for service, definitions in names.items():
        own = (
            {e.name for e in botocores_definitions(models()[service])}
            if service in models()
            else ()
        )
        for each in shipped_definitions(service):
            if service not in models() or each.operation not in models()[service].operation_names:
                news.ask(f"gone {service} {each.operation}", f"{each.name} polls it")
            elif GENERATED in each.tags and each.name not in own:
                news.ask(f"gone {service} {each.name}", "botocore no longer has the waiter")
        path = STATES / f"{service}.json"
        for name, row in (read_json(path)["waiters"] if path.is_file() else {}).items():
            if service in models() and name in definitions and "state" in row:
                _ask_of_gone_values(news, service, name, row)


def _ask_of_gone_values(news: News, service: str, name: str, row: dict[str, Any]) -> None:
    if row["operation"] in models()[service].operation_names:
        output = models()[service].operation_model(row["operation"]).output_shape
        values = enum_at(output, row["state"])
        for value in {*row["values"]} - {*values, *row.get("unmodelled", ())} if values else ():
            news.ask(f"gone {service} {name} {value}", "the model no longer has the state")


def new_reads(news: News) -> None:
    """Judge the read operations that are in no list yet."""
    for service, model in sorted(models().items()):
        for operation in unread_reads(model, botocores_definitions(model)):
            name, text = operation.name, plain_text(operation)
            if name in news.unread.get(service, {}).get("reads", {}):
                continue
            if may_be_polled(operation, text):
                news.write(service, "reads", name, "allow", "its documentation says that it reads")
            else:
                news.ask(f"read {service} {name}", text)


def new_waiters(news: News) -> None:
    """Draft waiters for operations with a state that passes, and for deletions."""
    for each in model_states.judged().open:
        found = waiter_for(each.operation)
        if not found or not _drafted(news, each.service_id, *found):
            described = " ".join(" ".join(model_states.described(each)).split())
            line = f"waiter {each.service_id} {each.operation.name}"
            noun = noun_of(each.operation) or ""
            meant = sentence_about(each.operation, each.states[0][0], "")
            news.ask(line, f"{described}; a draft begins with `| {noun} |`; {meant}")
    forget_shipped()
    reasons = read_json(model_states.REASONS)
    deletions = list(model_states.unawaited_deletions())
    needed = {(each.service_id, each.operation.name) for each in model_states.judged().reasoned}
    needed |= {(service, deletion) for service, deletion, _ in deletions}
    for service, name in [(s, name) for s, rows in reasons.items() for name in rows]:
        if (service, name) not in needed:
            reason = reasons[service].pop(name)
            news.tell(service, "reasons for no waiter that no longer hold", f"{name}: {reason}")
    write_json(model_states.REASONS, {s: rows for s, rows in reasons.items() if rows}, indent=2)
    for service, deletion, read in deletions:
        if deletion in reasons.get(service, {}):
            continue
        operation = models()[service].operation_model(read)
        found = deletion_for(operation, shipped_definitions(service))
        if not found or not _drafted(news, service, *found):
            sentence = plain_text(models()[service].operation_model(deletion))
            news.ask(f"waiter {service} {deletion} {read}", sentence)


def _drafted(news: News, service: str, decision: Decision, rule: str) -> bool:
    """Write a drafted waiter; return False, with nothing written, if a check warns of it."""
    files = (DATA / f"{service}.json", STATES / f"{service}.json")
    before = {file: file.read_bytes() if file.is_file() else None for file in files}
    names = {each.name for each in shipped_definitions(service)}
    drafts = [each.name for _, each in write_waiters([(service, decision)])]
    bad = [
        event
        for event in check([files[0], DATA / "traits.json"])
        if event.severity > Severity.NOTE and any(name in event.id for name in drafts)
    ]
    if bad or names & {*drafts}:
        for file, content in before.items():
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(content)
        return False
    for name in drafts:
        news.write(service, "waiters", name, f"polls {decision.operation.name}", rule)
    return True


def new_effects(news: News) -> None:
    """Judge the mutations of the services whose mutations are judged one by one."""
    document = read_json(effect_reasons.EFFECTS)
    _, _, rest = effect_reasons.judged()
    stops: set[tuple[str, str]] = set()
    left = []
    for service, mutation in rest:
        model, names = models()[service], _waiters_by_operation(service)
        polled = {name: model.operation_model(name) for name in names}
        found = effect_for(mutation, polled, names)
        if found is None:
            left.append((service, mutation))
            continue
        waiter, trait, rule = found
        if stop := stop_of(mutation, model):
            trait["stop"] = stop
            stops.add((service, stop["operation"]))
        news.write(service, "effects", mutation.name, waiter, rule)
        add_effect(document, mutation, waiter, trait)
    for service, mutation in left:
        # The rules of `effect_reasons` know why nothing follows a stop.
        if (service, mutation.name) not in stops:
            members = ", ".join(getattr(mutation.output_shape, "members", ()))
            text = f"its answer has {members or 'nothing'}; {plain_text(mutation)}"
            news.ask(f"effect {service} {mutation.name}", text)
    write_shapes(effect_reasons.EFFECTS, document)
    effect_reasons.main(["--write"])


def _waiters_by_operation(service: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for definition in shipped_definitions(service):
        found.setdefault(definition.operation, []).append(definition.name)
    return found


def add_effect(
    document: dict[str, Any], mutation: OperationModel, waiter: str, trait: dict[str, Any]
) -> None:
    """Add the effect of a mutation."""
    shape_id = f"{aws_namespace(mutation.service_model.service_id)}#{mutation.name}"
    traits = {changes.EFFECT: {waiter: trait}}
    document["shapes"][shape_id] = {"type": "apply", "traits": traits}


def changed_sentences(news: News) -> None:
    """Find what `data/` quotes and the documentation no longer says."""
    for service, model in sorted(models().items()):
        for shape_id, trait, quoted, text in lost_evidence(model):
            name = shape_id.partition("#")[2]
            found = lifetime_instead(quoted, text) if trait == TOKEN_LIFETIME else None
            if found is None:
                near = nearest_sentence(quoted, text) or "nothing is like it"
                is_cause = trait == EXPLAINS
                kind = "explains.json" if is_cause else changes.IDEMPOTENCY_FILE
                news.ask(f"quoted {service} {kind} {name}", f"{quoted!r}; now {near!r}")
                continue
            sentence, seconds = found
            rule = f"now: {sentence!r}; before: {quoted!r}"
            news.write(service, "lifetimes", name, f"{seconds} s", rule)
            _write_lifetime(model.operation_model(name), sentence, seconds)


def sentence_about(operation: OperationModel, path: str, value: str) -> str:
    """Return what the model says of a state: the sentences that name it, else the whole text."""
    texts = [as_plain(each) for each in _documentation_at(operation.output_shape, path)]
    sentences = re.split(r"(?<=[.!?]) +", " ".join(texts))
    about = [each for each in sentences if value and re.search(rf"\b{re.escape(value)}\b", each)]
    return " ".join(about) or " ".join(texts) or "the model says nothing"


def _documentation_at(shape: Any, path: str) -> list[str]:
    """Return the documentation of the members on a path, as HTML."""
    texts = []
    for step in re.findall(r"\w+", path):
        while shape is not None and shape.type_name == "list":
            shape = shape.member
        shape = getattr(shape, "members", {}).get(step)
        texts += [shape.documentation] if shape is not None else []
    return texts


# --- files --------------------------------------------------------------------------------------


def forget_shipped() -> None:
    """Drop what has been read of `data/`."""
    for module in (shipped, changes):
        for each in vars(module).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


def old_models(version: str) -> dict[str, ServiceModel]:
    """Return the services of another botocore, whose wheel is downloaded, by service id."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*command, "--dest", folder, f"botocore=={version}"], check=True)  # noqa: S603 - pip, and a version of data/
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            for name in wheel.namelist():
                if "/service-2" in name:
                    wheel.extract(name, folder)
        data = [str(Path(folder) / "botocore/data")]
        loader = Loader(extra_search_paths=data, include_default_search_paths=False)
        loader.search_paths[:] = data
        found = [
            ServiceModel(loader.load_service_model(name, "service-2"), service_name=name)
            for name in loader.list_available_services("service-2")
        ]
    return {str(each.service_id.hyphenize()): each for each in found}


def read_json(path: Path) -> Any:
    """Return the content of a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, body: Any, indent: int = 1) -> None:
    """Write a file in the form of the lists of `data/`."""
    path.write_text(json.dumps(body, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")


def write_table(path: Path, body: Any) -> None:
    """Write a file in the form of the tables of the tests."""
    path.write_text(rows_text(body), encoding="utf-8")


def write_shapes(path: Path, document: dict[str, Any]) -> None:
    """Write a file of traits."""
    document = {**document, "shapes": dict(sorted(document["shapes"].items()))}
    path.write_text(file_text(document), encoding="utf-8")
