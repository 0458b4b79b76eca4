"""Run waiters on a real AWS account: create, change and delete cheap resources, and compare.

    BOTO_WAITERS_AWS_RUN=I-pay tox run -e aws
    BOTO_WAITERS_AWS_RUN=I-pay python tools/account_run.py [--only s3 lambda] [--to FILE]
    BOTO_WAITERS_AWS_RUN=I-pay python tools/account_run.py --clean

It uses the credentials and the region of the environment, and prints both first. Each resource has
the tag `boto-waiters-account-run` and is deleted at the end of its area, and otherwise at the end
of the run, also after an error, Ctrl-C or SIGTERM: the newest first, on past a deletion that fails.
What could not be deleted is listed; `--clean` finds it by the tag, in this region. Signals during
the deletions are noted and do not end them.

For each waiter the run knows what it has to say at each step: success, or not yet; and after most
changes made by `begin` it reads what they have changed. The table says `agreed` if all was so, else
what differed; or `no such thing` where an emulator (`--endpoint-url`, such as moto's server)
answers with HTTP 5xx or never reaches the state. What each service costs is printed first.

The rows are in `account_areas.json`. Their tests run them on moto, as far as it goes. An earlier
form of 20 services has also run, without Docker, on LocalStack (49 of 50 agree in eleven services):
localstack-core[runtime] 2026.3.0 of PyPI on Python 3.13, with cbor2 5.6.5 and service-identity. Its
dynamodb wants to download a server, and its functions want Docker.

Exit codes: 0 all agreed, 1 a waiter differed or a resource is left, 2 the variable, the region or
credentials are missing, 130 and 143 after Ctrl-C and SIGTERM.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import boto3
from account_areas import AREAS, Area, take
from account_resources import PREFIX, TAG, Resource, delete, leftovers
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from boto_waiters_plus import (
    WaiterAttemptsError,
    WaiterError,
    WaiterFailedError,
    WaiterTimeoutError,
    begin,
    wait_until,
)

VARIABLE, AGREEMENT = "BOTO_WAITERS_AWS_RUN", "I-pay"
_ASSUMED_BY = ("firehose", "glue", "lambda", "states")
_ASSUMING = {
    "Effect": "Allow",
    "Principal": {"Service": [f"{each}.amazonaws.com" for each in _ASSUMED_BY]},
    "Action": "sts:AssumeRole",
}
TRUST = json.dumps({"Version": "2012-10-17", "Statement": [_ASSUMING]})
ROUNDS = 6
"""How often a deletion that fails is tried: what depends on it may be on its way out."""

Say = Callable[[str], None]


class Interrupted(BaseException):
    """A signal came. No `except Exception` may catch it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


class Signals:
    """SIGINT and SIGTERM: raised between two calls, and only noted while something is made."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._held = 0
        self._came: int | None = None
        self.is_deleting = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self.is_deleting:
            self._say(f"{signal.Signals(number).name}: the deletions go on")
            return
        self._came = number
        if not self._held:
            raise Interrupted(number)

    def __enter__(self) -> None:
        self._held += 1

    def __exit__(self, *_: object) -> None:
        self._held -= 1
        if self._came is not None and not self.is_deleting and not self._held:
            raise Interrupted(self._came)


class Run:
    """One run: its resources, and what each waiter said."""

    def __init__(
        self, session: Any, endpoint: str | None, say: Say, pause: float, max_wait: float
    ) -> None:
        self.region: str = session.region_name
        self.account = ""
        self.id = uuid.uuid4().hex[:10]
        self.left: list[Resource] = []
        self.rows: dict[tuple[str, str], list[str]] = {}
        self.say = say
        self.signals = Signals(say)
        self._session = session
        self._endpoint = endpoint
        self._pause, self._max_wait = pause, max_wait
        self._clients: dict[str, Any] = {}
        self._shared: set[Resource] = set()
        self._role: str | None = None
        self._area: Area | None = None
        self._last = ""

    # --- what the steps of an area use ------------------------------------------------------

    def client(self, service: str) -> Any:
        """Return the client of a service."""
        if service not in self._clients:
            self._clients[service] = self._session.client(
                service,
                endpoint_url=self._endpoint,
                config=Config(retries={"mode": "standard", "max_attempts": 5}),
            )
        return self._clients[service]

    def name(self, more: str = "") -> str:
        """Return the name of resources of this run."""
        return f"{PREFIX}{self.id}{more and '-' + more}"

    def tags(self, form: str = "upper") -> Any:
        """Return the tag as pairs in `Key` and `Value`, in `key` and `value`, or as a map."""
        if form == "map":
            return {TAG: self.id}
        names = ("Key", "Value") if form == "upper" else ("key", "value")
        return [dict(zip(names, (TAG, self.id), strict=True))]

    def role(self) -> str:
        """Return the ARN of a role that several areas share, and that may do nothing."""
        if self._role is None:
            name = self.name("role")
            made = self.make(
                "role", name, self.client("iam").create_role, shared=True, RoleName=name,
                AssumeRolePolicyDocument=TRUST, Tags=self.tags(),
            )  # fmt: skip
            self._role = str(made["Role"]["Arn"])
        return self._role

    def make(
        self,
        kind: str,
        identity: str | Callable[[Any], str],
        method: Callable[..., Any],
        *,
        again_on: str | None = None,
        shared: bool = False,
        **parameters: Any,
    ) -> Any:
        """Make a resource, and note it before a signal can come between.

        Args:
            kind, identity: the resource; a function returns the id, given the response.
            method, parameters: the call.
            again_on: an error after which the call is made again.
            shared: whether other areas need it, so that it is kept to the end of the run.
        """
        with self.signals:
            if isinstance(identity, str):
                # Known before the call, whose answer may be lost.
                self.left.append(Resource(kind, identity))
            for count in range(12):
                try:
                    made = method(**parameters)
                    break
                except ClientError as error:
                    if _code(error) != again_on or count == 11:
                        raise
                    time.sleep(self._pause)
            if not isinstance(identity, str):
                self.left.append(Resource(kind, identity(made)))
            if shared:
                self._shared.add(self.left[-1])
        return made

    def end(self, kind: str) -> None:
        """Delete the newest resource of a kind.

        Raises:
            ClientError: it cannot be deleted; it stays on the list.
        """
        delete(self.client, self._newest(kind))
        self.forget(kind)

    def forget(self, kind: str) -> None:
        """Take the newest resource of a kind, which is deleted, off the list."""
        self.left.remove(self._newest(kind))

    def begin(
        self,
        client: Any,
        method: str,
        effect: Any,
        keep: Callable[[Any], Any],
        made: dict[str, Any],
        parameters: dict[str, Any],
    ) -> None:
        """Make a call by `begin`, and note whether its effect is seen.

        Args:
            client, method, parameters: the call.
            effect: what to wait for, as `then_wait` takes it; None: what is known to follow.
            keep: is given the response.
            made: what `make` takes beside, if the call makes a resource.
        """
        begun: list[Any] = []

        def call(**parameters: Any) -> Any:
            options = {"max_wait": self._max_wait, "then_wait": effect}
            begun.append(begin(getattr(client, method), **options, **parameters))
            return begun[0].call.response

        keep(self.make(method=call, **made, **parameters) if made else call(**parameters))
        try:
            self._note_end(f"begin {method}", begun[0].result)
        finally:
            begun[0].cancel()

    def expect(self, waiter: str, parameters: dict[str, Any]) -> None:
        """Wait, and note whether the waiter succeeds."""
        self._note_end(
            waiter,
            lambda: wait_until(self._of_area(), waiter, max_wait=self._max_wait, **parameters),
        )

    def compare(self, path: str, value: Any, expected: Any) -> None:
        """Note whether what the last step waited for is there."""
        if value != expected:
            self._note(self._last, f"after its success {path} is {value!r}, not {expected!r}")

    def refuse(self, waiter: str, parameters: dict[str, Any]) -> None:
        """Make one attempt, and note whether the waiter does not succeed."""
        try:
            wait_until(self._of_area(), waiter, max_wait=60, max_attempts=1, **parameters)
        except (WaiterAttemptsError, WaiterFailedError) as error:
            self._note(waiter, "" if not self._is_lack(error.last_response) else f"lacks: {error}")
        else:
            self._note(waiter, "it succeeded too early")

    # --- the run ----------------------------------------------------------------------------

    def areas(self, areas: Sequence[Area]) -> None:
        """Take the steps of each area; an error ends only its own."""
        for area in areas:
            self._area = area
            self.say(f"{area.service}: {', '.join(area.names)}")
            try:
                take(self, area)
            except (ClientError, BotoCoreError, WaiterError, LookupError) as error:
                lacks = isinstance(error, ClientError) and self._is_lack(error.response)
                for waiter in area.names:
                    if (area.service, waiter) not in self.rows:
                        self._note(waiter, f"{'lacks' if lacks else 'not run'}: {error}")
                self.say(f"  {error}")
            with self.signals:
                self.delete_all(keep=self._shared)

    def delete_all(self, keep: Sequence[Resource] | set[Resource] = ()) -> None:
        """Delete what is left, the newest first, on past deletions that fail."""
        errors: dict[Resource, Exception] = {}
        for count in range(ROUNDS):
            for resource in reversed([each for each in self.left if each not in keep]):
                try:
                    delete(self.client, resource)
                except (ClientError, BotoCoreError) as error:  # noqa: PERF203 - each by itself
                    errors[resource] = error
                else:
                    self.left.remove(resource)
            if not [each for each in self.left if each not in keep]:
                return
            if count < ROUNDS - 1:
                time.sleep(self._pause)
        for resource in self.left:
            if resource in errors:
                self.say(f"  cannot delete {resource}: {errors[resource]}")

    def table(self, areas: Sequence[Area]) -> str:
        """Return what agreed, as a table in Markdown."""
        lines = ["| waiter | result |", "|---|---|"]
        lines += [
            f"| {area.service} {waiter} | {self._result(area.service, waiter)} |"
            for area in areas
            for waiter in area.names
        ]
        return "\n".join(lines)

    def results(self, areas: Sequence[Area]) -> list[str]:
        """Return the result of each waiter."""
        return [self._result(area.service, waiter) for area in areas for waiter in area.names]

    def _result(self, service: str, waiter: str) -> str:
        said = self.rows.get((service, waiter))
        if said is None:
            return "not run"
        problems = [each for each in said if each]
        if not problems:
            return "agreed"
        kind, _, text = problems[0].partition(": ")
        text = " ".join(text.split())[:160].replace("|", "/")
        if kind == "lacks":
            return f"no such thing: {text}"
        return problems[0] if not text else f"{kind}: {text}"

    def _note_end(self, name: str, wait: Callable[[], object]) -> None:
        start = time.monotonic()
        try:
            wait()
        except WaiterError as error:
            # An emulator may never reach a state, such as that of an update.
            never = self._endpoint is not None and isinstance(error, WaiterTimeoutError)
            self._note(name, f"{'lacks' if never else 'success was expected'}: {error}")
        else:
            self._note(name, "")
        self.say(f"  {name} {time.monotonic() - start:.1f} s")

    def _newest(self, kind: str) -> Resource:
        return next(each for each in reversed(self.left) if each.kind == kind)

    def _is_lack(self, response: Any) -> bool:
        """Whether an error response says that an emulator lacks the operation."""
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return self._endpoint is not None and status >= 500

    def _of_area(self) -> Any:
        assert self._area is not None, "an area is under way"
        return self.client(self._area.service)

    def _note(self, name: str, problem: str) -> None:
        assert self._area is not None, "an area is under way"
        self._last = name
        self.rows.setdefault((self._area.service, name), []).append(problem)


def costs(areas: Sequence[Area]) -> str:
    """Return what the areas cost at most, as a table in Markdown."""
    lines = ["| service | USD at most | for |", "|---|---|---|"]
    lines += [f"| {each.service} | {each.dollars:.3f} | {each.price} |" for each in areas]
    return "\n".join([*lines, f"| all | {sum(each.dollars for each in areas):.3f} | |"])


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def clean(run: Run) -> int:
    """Delete what earlier runs have left; return the exit code."""
    found, unknown = leftovers(run.client)
    run.left = found[::-1]
    for resource in found:
        run.say(f"left by an earlier run: {resource}")
    for arn in unknown:
        run.say(f"has the tag and is not known: {arn}")
    run.signals.is_deleting = True
    run.delete_all()
    run.say(f"{len(found) - len(run.left)} deleted, {len(run.left) + len(unknown)} left")
    return 1 if run.left or unknown else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return the exit code."""
    parser = argparse.ArgumentParser(description="Run waiters on a real AWS account.")
    parser.add_argument("--only", nargs="+", metavar="SERVICE", help="the areas of these services")
    parser.add_argument("--clean", action="store_true", help="delete what earlier runs have left")
    parser.add_argument("--endpoint-url", help="an emulator, such as moto's server")
    parser.add_argument("--pause", type=float, default=10, help="seconds between two deletions")
    parser.add_argument("--max-wait", type=float, default=900, help="seconds for one wait")
    parser.add_argument("--to", type=Path, help="also write the table to this file")
    options = parser.parse_args(arguments)
    areas = [each for each in AREAS if not options.only or each.service in options.only]
    if os.environ.get(VARIABLE) != AGREEMENT:
        print(
            f"{costs(areas)}\nthis makes resources in your AWS account, which cost that at most: "
            f"set {VARIABLE}={AGREEMENT} if that is what you want",
            file=sys.stderr,
        )
        return 2
    session = boto3.Session()
    if session.region_name is None:
        print("no region: set AWS_DEFAULT_REGION", file=sys.stderr)
        return 2
    run = Run(
        session,
        options.endpoint_url,
        lambda text: print(text, flush=True),
        options.pause,
        options.max_wait,
    )
    try:
        run.account = run.client("sts").get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        print(f"no account: {error}", file=sys.stderr)
        return 2
    where = f" at {options.endpoint_url}" if options.endpoint_url else ""
    run.say(f"account {run.account}, region {run.region}{where}; run {run.id}")
    if options.clean:
        return clean(run)
    run.say(costs(areas))
    return _run(run, areas, options.to)


def _run(run: Run, areas: Sequence[Area], file: Path | None) -> int:
    code = 0
    try:
        run.areas(areas)
    except Interrupted as interrupted:
        code = interrupted.code
        run.say(f"{interrupted}: {len(run.left)} resources are being deleted")
    finally:
        run.signals.is_deleting = True
        run.delete_all()
    table = run.table(areas)
    print(table)
    if file is not None:
        file.write_text(f"{table}\n", encoding="utf-8")
    results = run.results(areas)
    run.say(f"{results.count('agreed')} of {len(results)} agreed")
    for resource in run.left:
        run.say(f"left: {resource}")
    if run.left:
        run.say("`--clean` finds it by its tag and tries again")
    differs = any(not each.startswith(("agreed", "no such thing")) for each in results)
    return code or (1 if run.left or differs else 0)


if __name__ == "__main__":
    sys.exit(main())
