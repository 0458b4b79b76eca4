"""What `boto-wait begin` does: the call, the wait for its effect, and the report of both."""

from __future__ import annotations

import argparse
import contextlib
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from botocore import xform_name
from botocore.exceptions import BotoCoreError, ClientError
from botocore.model import OperationModel

from ..calls.credentials import asks_for_a_code
from ..changes.call import resumed_call
from ..changes.effects import EffectOfCall
from ..changes.prepared_call import CallOptions, CallOutcome, PreparedCall
from ..changes.stops import Stop, StopsAfter, stop_in_time, told
from ..engine.model import WaitDescription
from ..engine.redaction import printable
from ..engine.wait_event import WaitEvent
from ..exceptions import WaiterCancelledError, WaiterError, WaiterFailedError, WaiterTimeoutError
from ..operations.begin import Beginning
from ..operations.operation import StoreError
from ..outcome import WaiterOutcome
from ..progress import WaitProgress
from ..service.labels import ResourceLabel
from ..service.tokens import new_token, token_member
from ..settings import Observer
from .exit_codes import CannotRunError, UsageError, exit_code
from .live_progress import progress_on_stderr
from .operation_parameters import check_parameters, given_parameters
from .operations import store_of
from .options import client_of, one_line_warnings, options_of_one, session_of
from .outcome_report import OutcomeReport, error_json, redacted, safe_response
from .output import counted, flag, json_text, refused, span


def run_change(arguments: argparse.Namespace) -> int:
    """Make the call and wait; return the exit code."""

    def attempted(event: WaitEvent) -> None:
        # Until the call is answered, it is not known what is polled.
        progress.waits[0] = replace(progress.waits[0], label=event.label)
        progress.attempted(0, event)

    is_kept = arguments.resume or arguments.store or arguments.no_wait
    if is_kept and (given := options_of_one(arguments)):
        option = flag(min(given))
        raise UsageError(f"{option} does not go with --store, --resume and --no-wait")
    with one_line_warnings(arguments):
        with refused(ValueError):
            change = _resumed(arguments) if arguments.resume else _new(arguments, attempted)
        change.prepared.on_attempt = attempted
        target = change.prepared.target
        label = ResourceLabel(target.operation).text(change.prepared.parameters)
        is_quiet = arguments.quiet or change.effect is None or asks_for_a_code(target.client)
        report = _Report(change, arguments)
        waits = [(report.description, label)]
        progress = progress_on_stderr(waits, change.prepared.max_wait, quiet=is_quiet)
        end: WaiterOutcome[Any] | Exception | None
        try:
            with progress:
                end = change.run()
        except KeyboardInterrupt as interrupt:
            for wait in progress.interrupted():
                report.interrupted(wait, change.polled())
            return exit_code(interrupt)
        except (BotoCoreError, ClientError, StoreError) as error:
            end = error
        if end is not None:
            progress.ended(0, end)
        # The last event may still be on its way from the thread of callbacks.
        wait = progress.waits[0]
        wait = replace(wait, label=getattr(end, "label", "") or wait.label)
        return report.ended(wait, change.polled(), end)


class _Change:
    """A call and the wait for what it has done, as `begin` makes them.

    Args:
        prepared: the call.
        stops: when what was begun is stopped.
        beginning: what begins; None: a store keeps the call, or nothing is waited for after it, so
            that it is made as by `call_once`.

    Raises:
        UsageError: nothing is known that stops it.
    """

    made: CallOutcome | None = None
    """The call that was answered."""
    error: BaseException | None = None
    stop: Stop | None = None
    """What became of the stop after an interrupt; an error has its own."""
    repeat: str | None = None
    """How to repeat the same call."""

    def __init__(
        self, prepared: PreparedCall, stops: StopsAfter, beginning: Beginning | None = None
    ) -> None:
        self.prepared, self._stops, self._beginning = prepared, stops, beginning
        self.effect: EffectOfCall | None = (beginning or prepared).effect
        for name, asked in stops._asdict().items():
            if asked and (self.effect is None or self.effect.effect.stop is None):
                operation, option = prepared.target.operation.name, flag(f"stop_on_{name}")
                raise UsageError(f"{option}: nothing is known that stops {operation}")

    def run(self) -> WaiterOutcome[Any] | None:
        """Make the call and wait; return the outcome, if there was a wait."""
        operation = None
        try:
            self.made = self.prepared.run()
            if self._beginning is None:
                return self.made.outcome
            operation = self._beginning.begun(self.made)
            return operation.result()
        except KeyboardInterrupt as interrupt:
            if operation is not None:
                operation.cancel()
            answered = self._answered_before(interrupt)
            if answered is not None and self._stops.cancel:
                # A second Ctrl-C gives it up.
                self.stop = stop_in_time(answered)
            raise
        except (BotoCoreError, ClientError, StoreError) as error:
            answered, is_asked = self._answered_before(error), self._stops.includes(error)
            if answered is None or not (is_asked and isinstance(error, WaiterError)):
                raise
            self.error = stopped = told(error, stop_in_time(answered))
            raise stopped from None

    def _answered_before(self, error: BaseException) -> EffectOfCall | None:
        """Keep what has ended it, and return the call if that was answered before."""
        self.error, self.made = error, self.made or getattr(error, "call", None)
        return self.answered()

    def answered(self) -> EffectOfCall | None:
        """Return the call with its answer; None: there is none, or nothing is waited for."""
        if self.effect is None or self.made is None:
            return None
        return self.effect.answered(self.prepared.parameters, self.made.response)

    def polled(self) -> dict[str, Any]:
        """Return the parameters of each attempt."""
        answered = self.answered()
        with contextlib.suppress(WaiterFailedError):
            return {} if answered is None else answered.polled()
        return {}


def _new(arguments: argparse.Namespace, on_attempt: Observer) -> _Change:
    """Return the call of the arguments, after its token was printed."""
    operation: OperationModel = arguments.model
    if arguments.max_wait is None:
        raise UsageError("--max-wait is missing: the time for both at most, such as 90, 45m, 1h30m")
    parameters = given_parameters(arguments, operation)
    member = token_member(operation)
    token = None if member is None else member.value_in(parameters)
    complete = parameters
    if member is not None and token is None:
        # Some models require the token, which call_once makes.
        complete = member.put_into(parameters, new_token(member))
    check_parameters(operation, complete, arguments.only_by_json)
    client = client_of(session_of(arguments), operation.service_model.service_name, arguments)
    method = getattr(client, xform_name(operation.name))
    names = ("allow_repeat", "adopt_existing", "no_change_ok", "missing_ok")
    calls: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    calls["once"] = not arguments.once
    then_wait = (arguments.then or "").replace("-", "_") or None
    stops = StopsAfter(arguments.stop_on_timeout, arguments.stop_on_cancel)
    if arguments.no_wait or arguments.store is not None:
        calls["name"] = "begin"
        calls["in_store"] = None if arguments.store is None else _AnnouncedStore(arguments)
        calls["then_wait"] = None if arguments.no_wait else then_wait or True
        options = CallOptions(arguments.max_wait, **calls)
        change = _Change(PreparedCall(method, options, parameters), stops)
    else:
        keywords = {**parameters, **options_of_one(arguments), "on_attempt": on_attempt}
        # An interrupt may come before there is an operation that would stop it.
        beginning = Beginning(method, arguments.max_wait, then_wait, None, {}, calls, keywords)
        change = _Change(beginning.prepared, stops, beginning)
    if member is not None and not member.is_sensitive:
        name = f"--{xform_name(member.name, '-')}" if len(member.path) == 1 else member.name
        change.repeat = f"to repeat this call: {name} {change.prepared.token}"
        if token is None and not arguments.quiet:
            print(f"boto-wait begin: {change.repeat}", file=sys.stderr)
    return change


def _resumed(arguments: argparse.Namespace) -> _Change:
    store = store_of(arguments.store)
    with refused(LookupError), refused(StoreError, instead=CannotRunError):
        kept = store.get_call(arguments.resume)
    record = kept["record"]
    arguments.region = arguments.region or record["target"]["region"]
    arguments.endpoint_url = arguments.endpoint_url or record["target"]["endpoint"]
    client = client_of(session_of(arguments), record["service"], arguments)
    where: Any = {"in_store": store, "path": arguments.resume}
    call = resumed_call(client, record, max_wait=arguments.max_wait, **where)
    return _Change(call, StopsAfter(arguments.stop_on_timeout, arguments.stop_on_cancel))


class _AnnouncedStore:
    """A store that says how to go on with a call once it is kept."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._store = store_of(arguments.store)
        self._arguments = arguments
        self.note_call = self._store.note_call
        self.finish_call = self._store.finish_call

    def save_call(self, record: Mapping[str, Any], /) -> str:
        path = self._arguments.resume = self._store.save_call(record)
        print(f"boto-wait begin: to go on: {_resume_command(self._arguments)}", file=sys.stderr)
        return path


def _resume_command(arguments: argparse.Namespace) -> str:
    """Return the command that goes on with a call that a store keeps."""
    # Without a password.
    url = re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1@", arguments.store or "")
    words = ["--store", url] if url else []
    return _command(arguments, "--resume", arguments.resume, *words)


def _command(arguments: argparse.Namespace, *words: str) -> str:
    """Return a command of this kind, on the same connection."""
    names = "profile", "region", "endpoint_url", "ca_bundle"
    options = [f"{flag(name)}={value}" for name in names if (value := getattr(arguments, name))]
    options += ["--no-verify-ssl"] * (arguments.verify is False)
    return printable(shlex.join(["boto-wait", "begin", *words, *options]))


class _Report(OutcomeReport):
    """Prints how a change ends; the JSON has the call, and what that of a wait has.

    Args:
        change: the call and the wait.
        arguments: as for an `OutcomeReport`, and `resume` and `store`.
    """

    _command = "boto-wait begin"
    _answer = "last_response"

    def __init__(self, change: _Change, arguments: argparse.Namespace) -> None:
        self._change = change
        self._called = called = change.prepared.target.operation
        effect = change.effect
        polled = called if effect is None else effect.bound_waiter.operation
        name = called.name if effect is None else effect.effect.name
        service = called.service_model.service_name
        self.description = WaitDescription(
            waiter=name, operation=polled.name, service=service, goal="", acceptors=(), states=()
        )
        super().__init__(name, polled, arguments)

    def _failed(self, wait: WaitProgress, parameters: Mapping[str, Any], error: Exception) -> None:
        made = self._change.made
        is_polled = getattr(error, "attempts", None) != 0
        if made is None or (not is_polled and getattr(error, "last_response", None)):
            # What was answered last is the call: nothing was polled.
            self._operation, parameters = self._called, {}
        super()._failed(wait, parameters, error)

    def _facts(
        self, ending: str, wait: WaitProgress, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        change, operation = self._change, self._called
        prepared, made, error = change.prepared, change.made, change.error
        member = prepared.target.member
        facts = super()._facts(ending, wait, parameters)
        facts |= {
            "operation": operation.name,
            "parameters": redacted(operation.input_shape, prepared.parameters, is_answer=False),
            "token": None if member is None or member.is_sensitive else prepared.token,
            "call_attempts": getattr(made or error, "attempts", None),
            "polled": facts["parameters"],
        }
        if made is not None and self._with_response:
            facts["response"] = safe_response(operation, made.response)
        if error is None:
            return facts
        is_cut = isinstance(error, KeyboardInterrupt)
        # A call that was cut off may have been executed.
        is_unknown = getattr(error, "outcome_unknown", is_cut and made is None)
        facts |= {"error": error_json(error), "outcome_unknown": is_unknown}
        is_open = is_cut or isinstance(error, (WaiterTimeoutError, WaiterCancelledError))
        if self._arguments.resume and (is_open or is_unknown):
            facts["resume"] = _resume_command(self._arguments)
        stop = change.stop or getattr(error, "stop", None)
        if stop is not None:
            facts["stop"] = stop.to_json()
        return facts

    def _text(self, _: WaitProgress, result: WaiterOutcome[Any] | None) -> str:
        made, operation = self._change.made, self._called
        assert made is not None, "the call was answered"
        attempts = counted(made.attempts, "attempt")
        text = f"{operation.service_model.service_name} {operation.name}: {attempts}"
        if result is None:
            return text
        if result.basis == "unchanged":
            return f"{text}, nothing to change"
        if result.waiter == operation.name:
            return f"{text}, it is gone already"
        return f"{text}, then {result.waiter} after {span(result.elapsed)}"

    def _print_responses(self, facts: Mapping[str, Any]) -> None:
        shown = {name: facts[name] for name in ("response", self._answer) if name in facts}
        if shown:
            print(json_text(shown, indent=2), flush=True)

    def _lead_on(self, facts: Mapping[str, Any]) -> None:
        if self._change.stop is not None:
            self._say(self._change.stop.text)
        answered = self._change.answered()
        if answered is None:
            if facts["outcome_unknown"]:
                self._say(self._change.repeat or "find out if it was executed before you repeat it")
            return
        if facts["polled"]:
            self._say(f"polled: {self._operation.name} {json_text(facts['polled'])}")
        may_run = "stop" not in facts or facts["stop"]["state"] == "refused"
        if may_run and (command := self._stop_command(answered)):
            has_failed = isinstance(self._change.error, WaiterFailedError)
            self._say(f"to stop it{', if it still runs' * has_failed}: {command}")
        if self._has_text:
            self._print_responses(facts)

    def _stop_command(self, answered: EffectOfCall) -> str:
        """Return the command that stops what a call has begun; "" if nothing is known that does."""
        try:
            method, several = answered.stop_calls()
        except (NotImplementedError, WaiterFailedError):
            return ""
        service, commands = self._called.service_model, []
        shape = service.operation_model(answered.effect.stop or "").input_shape
        for parameters in several:
            words = [service.service_name, method.replace("_", "-")]
            for name, value in redacted(shape, parameters, is_answer=False).items():
                values = value if isinstance(value, list) else [value]
                words += [f"--{xform_name(name, '-')}", *map(str, values)]
            words += ["--no-wait", "--max-wait", "1m"]
            commands.append(_command(self._arguments, *words))
        return "; ".join(commands)
