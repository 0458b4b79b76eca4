"""How far waits outlive their deadline, fault by fault, what they end in, and what they leave.

    python bench/faults.py                          every fault, all retry modes: about 10 minutes
    python bench/faults.py --summary                the same, but only the medians by retry mode
    python bench/faults.py --short                  few repeats, one mode; fails if a bound breaks
    python bench/faults.py --via call               measure the bare call (or get_waiter, thread)
    python bench/faults.py --cpu                    CPU of one poll, and of the bare call

Faults that only a deadline ends run `--repeats` times in each mode, those that end by themselves a
tenth of that. Overrun is the time from the deadline to the return of the wait; on an idle machine
its median should be under 3 ms and its worst under 25. The server runs in the same process, so that
its threads count too.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).absolute().parents[1]
# In place of this folder, where `faults` would be this file.
sys.path[0:1] = [str(ROOT), str(ROOT / "tests")]

import urllib3  # noqa: E402 - the path comes first
from botocore.exceptions import ClientError, WaiterError  # noqa: E402
from faults.scenarios import (  # noqa: E402
    ABANDONED,
    ANSWER,
    FAULTS,
    FORMS,
    HEALTHY,
    MODES,
    Certificate,
    Fault,
    Form,
    Running,
    ending_of,
    make_client,
    operation,
    retry_quota,
    run_fault,
    waiter_of,
)
from faults.server import BlackHole, FaultServer, answer  # noqa: E402
from faults.unchanged import differences, namespaces  # noqa: E402

import boto_waiters_plus as bwp  # noqa: E402
from boto_waiters_plus.calls.bounded_call import bounded_call  # noqa: E402
from boto_waiters_plus.calls.client_call import BlockingCall, Calls  # noqa: E402
from boto_waiters_plus.service.judge import DefinitionJudge  # noqa: E402
from boto_waiters_plus.service.service_waiters import ServiceWaiters  # noqa: E402
from boto_waiters_plus.service.waits import ClientRequest  # noqa: E402

MEDIAN, WORST = 3.0, 25.0
"""ms that a fault may be late on an idle machine."""

PATIENCE = 2.0
"""Seconds of the deadline of a fault that ends by itself."""

TURN = 5
"""Calls of one kind before it is the next one's turn."""

CPU_TITLE = (
    "CPU of one poll (the call under its deadline, and its answer judged) and of the bare call:"
)

_WORDS_OF_CHANGES = {
    True: "The modules of botocore and urllib3 are afterwards what they were.",
    False: "MODULES OF BOTOCORE OR URLLIB3 HAVE CHANGED.",
}


def through_stock(running: Running, _: float) -> Any:
    """Make one attempt with botocore alone."""
    waiter, parameters = waiter_of(running.client)
    config = {"Delay": 1, "MaxAttempts": 1}
    return running.client.get_waiter(waiter).wait(WaiterConfig=config, **parameters)


@dataclass
class Cell:
    """What was measured of one fault, by retry mode where that is of interest."""

    endings: Counter[str] = field(default_factory=Counter)
    overruns: dict[str, list[float]] = field(default_factory=dict)
    quota: list[int] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    lingering: int = 0
    raised: dict[str, str] = field(default_factory=dict)
    """What each form raised."""

    @property
    def all_overruns(self) -> list[float]:
        return [over for overruns in self.overruns.values() for over in overruns]


def error_of(run: Callable[[], Any]) -> Exception | None:
    """What a call or a wait raised."""
    try:
        run()
    except Exception as error:
        return error
    return None


def words_of(run: Callable[[], Any]) -> str:
    """What a wait returned or raised, in the words of its user."""
    try:
        result = run()
    except WaiterError as error:
        cause = getattr(error, "last_exception", None)
        code = error.last_response.get("Error", {}).get("Code") if error.last_response else None
        why = type(cause).__name__ if cause and not isinstance(cause, ClientError) else code
        return f"{type(error).__name__}{f' ({why})' if why else ''}"
    except Exception as error:
        return f"raw {type(error).__name__}"
    return "None" if result is None else type(result).__name__


def measure(fault: Fault, modes: Sequence[str], plan: Plan, certificate: Certificate) -> Cell:
    cell = Cell()
    descriptors = _descriptors()
    with warnings.catch_warnings(record=True) as unclosed:
        warnings.simplefilter("always", ResourceWarning)
        for mode in modes:
            overruns = cell.overruns.setdefault(mode, [])
            for _ in range(plan.repeats_of(fault)):
                with run_fault(fault, mode, certificate) as running:
                    overruns.append(_measure_once(fault, running, plan, cell))
                cell.lingering = max(cell.lingering, len(_own_threads()))
            # A refresh of credentials lasts until its own timeouts.
            _wait_for_threads(15 if fault.place == "credentials" else 3)
        gc.collect()
    cell.left["ResourceWarnings"] += sum(each.category is ResourceWarning for each in unclosed)
    cell.left["threads"] += len(_own_threads())
    cell.left["descriptors"] += _descriptors_over(descriptors)
    return cell


def _descriptors_over(before: int) -> int:
    """How many more are open; those that the server is about to close get a second."""
    end = time.perf_counter() + 1
    while _descriptors() > before and time.perf_counter() < end:
        time.sleep(0.01)
    return max(0, _descriptors() - before)


@contextlib.contextmanager
def collected() -> Iterator[None]:
    """Let Python collect its garbage before what is measured, and not in it.

    A full collection stops a process that has made a thousand clients for 60 ms, whatever it does.
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _measure_once(fault: Fault, running: Running, plan: Plan, cell: Cell) -> float:
    """The overrun of one wait, in ms; the rest goes into the cell."""
    seconds = plan.seconds_of(fault)
    # Definitions are read at the first wait of a client, before its time begins.
    name, _ = waiter_of(running.client)
    getattr(bwp.enable(running.client), f"wait_until_{name}")
    with collected():
        began = time.perf_counter()
        raised = error_of(lambda: plan.form(running, seconds))
        over = time.perf_counter() - began - seconds
    ending = ending_of(raised)
    cell.endings[ending] += 1
    quota = retry_quota(running.client)
    if quota is not None:
        cell.quota.append(quota)
    # The client that waits for its turn has not touched its idle connection.
    if running.server is not None and ending == ABANDONED and fault.place != "throttled":
        if not running.server.wait_until_closed(0.5):
            cell.left["connections"] += running.server.open_connections
        running.server.script = [answer(body=HEALTHY[fault.protocol])]
        is_asked = fault.place == "server" and fault.handshake is None
        if is_asked and ending_of(error_of(running.call)) != ANSWER:
            cell.left["client unusable"] += 1
    return max(0.0, over * 1000)


@dataclass(frozen=True)
class Plan:
    """How, how often and how long."""

    form: Form
    repeats: int
    seconds: float

    def repeats_of(self, fault: Fault) -> int:
        return self.repeats if _only_a_deadline_ends(fault) else max(1, self.repeats // 10)

    def seconds_of(self, fault: Fault) -> float:
        is_late = fault.place == "credentials"  # by as much as its own pause, if cut off early
        return self.seconds if is_late or _only_a_deadline_ends(fault) else PATIENCE


def _warm_up() -> None:
    """Call once without a wait: botocore and urllib3 import and choose some things late."""
    with FaultServer([answer(body=HEALTHY["json"])]) as server:
        client = make_client("json", server.url)
        for _ in range(2):
            operation(client)()
        client.close()


def _only_a_deadline_ends(fault: Fault) -> bool:
    return fault.endings == {ABANDONED}


def _wait_for_threads(seconds: float) -> None:
    """A connect that was given up lasts until its own timeout; a lookup, until it is answered."""
    end = time.perf_counter() + seconds
    while _own_threads() and time.perf_counter() < end:
        time.sleep(0.005)


def _own_threads() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("boto_waiters_plus") and "dog" not in name]


def _descriptors() -> int:
    with contextlib.suppress(OSError):
        return len(list(Path("/proc/self/fd").iterdir()))
    return 0


# --- what each form raises -------------------------------------------------------------------


def raised_by(fault: Fault, form: Form, seconds: float, certificate: Certificate) -> str:
    """What a form raises in the standard retry mode, or the first that the fault is about."""
    mode = "standard" if "standard" in fault.modes else fault.modes[0]
    with run_fault(fault, mode, certificate) as running:
        return words_of(lambda: form(running, seconds))


def raised_by_stock(fault: Fault, cap: float, certificate: Certificate) -> str:
    """What botocore alone raises, given up after `cap` seconds."""
    mode = "standard" if "standard" in fault.modes else fault.modes[0]
    with run_fault(fault, mode, certificate) as running:
        ended: list[str] = []
        thread = threading.Thread(
            target=lambda: ended.append(words_of(lambda: through_stock(running, 0))), daemon=True
        )
        began = time.perf_counter()
        thread.start()
        thread.join(cap)
        if not ended:
            return f"still waiting after {cap:g} s"
        return f"{ended[0]}, {time.perf_counter() - began:.1f} s"


# --- the table -------------------------------------------------------------------------------

HEADER = (
    "fault",
    "`wait_until_*`",
    "`get_waiter`",
    "botocore alone",
    "median over, ms",
    "worst over, ms",
    "judged",
    "left behind",
    "quota",
)


def row(fault: Fault, cell: Cell) -> str:
    is_cut = ABANDONED in cell.endings and max(cell.all_overruns) > 0
    left = ", ".join(f"{count} {what}" for what, count in cell.left.items() if count)
    if cell.lingering:
        left = ", ".join(filter(None, [left, "a thread for a while"]))
    cells = [
        fault.name,
        *(cell.raised.get(way, "") for way in ("wait_until", "get_waiter", "stock")),
        f"{statistics.median(cell.all_overruns):.1f}" if is_cut else "in time",
        f"{max(cell.all_overruns):.1f}" if is_cut else "",
        judged(fault, cell) if is_cut else "",
        left or "nothing",
        f"{min(cell.quota)}" if cell.quota else "",
    ]
    return "| " + " | ".join(cells) + " |"


def judged(fault: Fault, cell: Cell) -> str:
    """Whether a fault that is bounded by design keeps what is promised."""
    if not _only_a_deadline_ends(fault):
        return "see limits" if fault.note else ""
    median, worst = statistics.median(cell.all_overruns), max(cell.all_overruns)
    return "ok" if median < MEDIAN and worst < WORST else "over"


def summary(faults: Sequence[Fault], cells: dict[str, Cell], modes: Sequence[str]) -> list[str]:
    """Median and worst of the faults that only a deadline ends, by retry mode and of all."""
    lines = [
        "| retry mode | waits | median over, ms | worst over, ms | judged |",
        "|---|---|---|---|---|",
    ]
    bounded = [cells[fault.name] for fault in faults if _only_a_deadline_ends(fault)]
    groups = {mode: [o for cell in bounded for o in cell.overruns.get(mode, [])] for mode in modes}
    groups["all"] = [over for overruns in groups.values() for over in overruns]
    for name, overruns in groups.items():
        if overruns:
            median, worst = statistics.median(overruns), max(overruns)
            verdict = "ok" if median < MEDIAN and worst < WORST else "over"
            lines.append(f"| {name} | {len(overruns)} | {median:.2f} | {worst:.1f} | {verdict} |")
    over = groups["all"]
    if over:
        # As other pages quote it.
        text = f"{statistics.median(over):.1f} ms median, {max(over):.1f} ms worst"
        lines += ["", f"Overrun: {text}, in {len(over):,} waits."]
    return lines


def unexpected(faults: Sequence[Fault], cells: dict[str, Cell]) -> Iterator[str]:
    for fault in faults:
        cell = cells[fault.name]
        wrong = set(cell.endings) - fault.endings
        if wrong:
            yield f"{fault.name}: ended in {wrong}"
        if +cell.left:
            yield f"{fault.name}: left behind {dict(+cell.left)}"


# --- CPU of one poll -------------------------------------------------------------------------


@contextlib.contextmanager
def server_process() -> Iterator[str]:
    """A healthy server whose CPU is not ours; its URL."""
    script = ROOT / "tests" / "faults" / "server.py"
    body = HEALTHY["json"].decode()
    command = [sys.executable, str(script), body]
    with subprocess.Popen(  # noqa: S603 - our own script
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.communicate()


def _poll(client: Any, **options: Any) -> Callable[[], Any]:
    """A call and its judge."""
    name, parameters = waiter_of(client)
    bound_waiter = ServiceWaiters(client.meta.service_model, None).find(name)
    assert bound_waiter is not None
    judge = DefinitionJudge(bound_waiter.polling, parameters, client.meta.endpoint_url)
    request = ClientRequest(client, bound_waiter, parameters)
    call = BlockingCall(Calls(client=client, **options), request)
    return lambda: judge.judge(call.make(30))


def cpu(rounds: int, calls: int) -> list[str]:
    """A table of what a poll adds to the bare call; rounds take turns, the machine is not ours."""
    with server_process() as url:
        client = make_client("json", url, None)
        call = operation(client)
        event = threading.Event()
        poll, poll_cancel, poll_thread = (
            _poll(client, cancel=cancel, in_thread=in_thread)
            for cancel, in_thread in ((None, False), (event, False), (None, True))
        )
        runs: dict[str, Callable[[], Any]] = {
            "bare call": call,
            "bare call again": call,
            "bounded call": lambda: bounded_call(call, client=client, seconds=30),
            "poll: bounded and judged": poll,
            "poll with a cancel event": poll_cancel,
            "poll with call_in_thread": poll_thread,
        }
        for run in runs.values():
            for _ in range(50):
                run()
        order = random.Random(1)  # Who follows whom costs something too.
        spent: dict[str, list[float]] = {name: [0.0] * rounds for name in runs}
        for number in range(rounds):
            # A few of each in turns: what else the machine does meets all of them.
            for _ in range(calls // TURN):
                for name, run in order.sample(list(runs.items()), len(runs)):
                    began = time.process_time()
                    for _ in range(TURN):
                        run()
                    spent[name][number] += (time.process_time() - began) / calls * 1e6
        client.close()
    lines = [CPU_TITLE, "", "| one | CPU, us | to bare |", "|---|---|---|"]
    for name, each in spent.items():
        ratios = [one / other for one, other in zip(each, spent["bare call"], strict=True)]
        ratio = statistics.median(ratios)
        lines.append(f"| {name} | {statistics.median(each):.0f} | x{ratio:.3f} |")
    return [*lines, "", f"{rounds} rounds of {calls} calls in turns; CPU of the process."]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="for CI: fewer repeats, one mode")
    parser.add_argument("--cpu", action="store_true", help="only the CPU of one poll")
    parser.add_argument("--summary", action="store_true", help="without the table of faults")
    parser.add_argument("--via", choices=FORMS, default="wait_until", help="what is measured")
    parser.add_argument("--mode", choices=MODES, action="append", help="default: all")
    parser.add_argument("--fault", action="append", help="part of a fault's name; default: all")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.2, help="the deadline of a hang")
    parser.add_argument("--cap", type=float, default=3, help="seconds for botocore alone; 0: no")
    parser.add_argument("--limit", type=float, default=1000, help="ms over that --short allows")
    options = parser.parse_args()
    if options.cpu:
        rounds, calls = (5, 100) if options.short else (15, 400)
        print("\n".join(cpu(rounds, calls)))
        return 0
    if options.short:
        options.repeats = min(options.repeats, 2)
        options.cap = min(options.cap, 0.5)
    modes = options.mode or (["standard"] if options.short else list(MODES))
    faults = chosen(options.fault or [""], modes)
    with tempfile.TemporaryDirectory() as folder:
        problems = run(faults, modes, options, Certificate(Path(folder)))
    for problem in problems:
        print(f"PROBLEM {problem}", file=sys.stderr)
    return 1 if problems else 0


def chosen(names: Sequence[str], modes: Sequence[str]) -> list[Fault]:
    faults = [
        fault
        for fault in FAULTS
        if any(part in fault.name for part in names) and set(modes) & set(fault.modes)
    ]
    with BlackHole() as hole:
        if not hole.holds:
            print("Left out: connecting to a full queue does not hang on this machine.\n")
            faults = [fault for fault in faults if "black hole" not in fault.place]
    return faults


def run(
    faults: Sequence[Fault],
    modes: Sequence[str],
    options: argparse.Namespace,
    certificate: Certificate,
) -> list[str]:
    """Print what was measured; return what is not as it should be."""
    plan = Plan(FORMS[options.via], options.repeats, options.seconds)
    began = time.perf_counter()
    _warm_up()
    before = namespaces()
    cells: dict[str, Cell] = {}
    for fault in faults:
        own_modes = [mode for mode in modes if mode in fault.modes]
        cell = cells[fault.name] = measure(fault, own_modes, plan, certificate)
        for name in ("wait_until", "get_waiter"):
            seconds = plan.seconds_of(fault)
            cell.raised[name] = raised_by(fault, FORMS[name], seconds, certificate)
        print(row(fault, cell), file=sys.stderr, flush=True)
    # Last: what botocore alone is still waiting for goes on beside whatever comes behind it.
    for fault in faults:
        if options.cap:
            cells[fault.name].raised["stock"] = raised_by_stock(fault, options.cap, certificate)
    by_mode = summary(faults, cells, modes)
    time.sleep(2)
    left = len(_own_threads())
    changed = differences(before, namespaces())
    what = (
        f"urllib3 {urllib3.__version__}, through {options.via}, deadline "
        f"{options.seconds:g} s ({PATIENCE:g} s where the fault ends by itself), retry modes "
        f"{', '.join(modes)}, {options.repeats} repeats of each; threads of the package "
        f"two seconds after the last: {left}. {_WORDS_OF_CHANGES[not changed]}"
    )
    lines = [what, "", *by_mode, ""]
    if not options.summary:
        lines += ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
        lines += [row(fault, cells[fault.name]) for fault in faults]
    print("\n".join(lines))
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    problems = [*unexpected(faults, cells), *(f"{each} has changed" for each in changed)]
    bounded = [cells[fault.name] for fault in faults if _only_a_deadline_ends(fault)]
    worst = max((over for cell in bounded for over in cell.all_overruns), default=0.0)
    if worst > options.limit:
        problems.append(f"{worst:.0f} ms over")
    return problems


if __name__ == "__main__":
    sys.exit(main())
