"""Write docs/figures.md: run the benches, one after the other, and put what they print there.

python tools/figures.py                  every bench in its short form: about 16 minutes
python tools/figures.py faults costs     these benches only
python tools/figures.py --long fleet     the long form, in a region of its own: up to hours
python tools/figures.py --list           the regions and their commands

A bench prints Markdown on its standard output. It stands on the page between the two marks of its
region, below the command, the date and the machine. A bench that fails leaves its region as it was
and is named at the end; the exit code is then 1.

The interpreter needs the extras `demo`, `fleet` and `store`; the machine, valgrind and PostgreSQL.
aiobotocore may be in another environment: --python-of-aio PATH.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).absolute().parents[1]
PAGE = ROOT / "docs" / "figures.md"
BENCH = ROOT / "bench"
LAST_RUN = "last run"
"""The region below the head of the page: when all benches were run, and on what."""

SHORT = {
    "paces": ["paces.py --table seen"],
    "history": ["paces.py --history --waits 1000", "screens.py --history --runs 1"],
    "last attempts": ["paces.py --table missed"],
    "faults": ["faults.py --repeats 3", "faults.py --cpu"],
    "costs": ["costs.py --processes 9"],
    "costs of calls": ["costs.py --only calls"],
    "scale": ["scale.py --short", "scale.py --only ours"],
    "first attempts": ["first_attempts.py"],
    "coalescing": ["coalescing.py"],
    "screens": ["screens.py"],
    "aio": ["aio.py --repeats 5", "aio.py --cpu"],
    "signals": ["signals.py"],
    "fleet": ["fleet.py --short"],
    "killed": [
        "operations_kill.py --rounds 5 --waits 20",
        "operations_kill.py --rounds 6 --waits 20 --postgresql",
    ],
    "differential": ["differential.py --waits 100"],
    "simulation": ["simulation.py", "batch_simulation.py"],
    "call_once": [
        "call_once.py --schedules 100",
        "call_once.py --outages --schedules 25",
        "call_once_kill.py --rounds 1",
    ],
}
"""The commands of each region; what they print stands there one after the other."""

LONG = {
    "long scale": ["scale.py"],
    "long fleet": ["fleet.py --stubbed --waits 100000", "fleet.py", "fleet.py --memory"],
    "long killed": ["operations_kill.py", "operations_kill.py --postgresql"],
    "long differential": ["differential.py"],
    "long call_once": [
        "call_once.py",
        "call_once.py --outages --first 400 --schedules 600",
        "call_once_kill.py",
    ],
}
"""Runs that show more than the short ones; these never replace them."""

MACHINE = """if True:
    import os, platform, botocore
    print(
        f"{os.cpu_count()} CPUs, {platform.system()} {platform.release()}, "
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"botocore {botocore.__version__}"
    )
"""


def put(region: str, lines: Iterable[str], page: Path) -> None:
    """Replace the lines between the marks of a region.

    Args:
        region: the name between the marks, as `faults` in `<!-- faults -->`.
        lines: what was measured, as Markdown.
        page: the file.

    Raises:
        SystemExit: the page does not have the marks.
    """
    start, end = f"<!-- {region} -->", f"<!-- end of {region} -->"
    before, opened, rest = page.read_text(encoding="utf-8").partition(start)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise SystemExit(f"{page} has no lines {start} and {end}")
    text = "\n".join([before + start, "", *lines, "", end + after])
    page.write_text(text, encoding="utf-8", newline="\n")


def benches(commands: Iterable[str]) -> set[str]:
    """Return the names of the benches of some commands."""
    return {command.partition(".py")[0] for command in commands}


def output(python: str, *words: str) -> str:
    """Return what a program prints.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [python, *words]
    done = subprocess.run(  # noqa: S603 - a bench
        command, check=False, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )
    print(done.stdout.strip(), flush=True)
    done.check_returncode()
    return done.stdout.strip()


def write(region: str, commands: Sequence[str], python_of_aio: str) -> bool:
    """Run the commands of a region and put what they print there; return False if one failed."""
    try:
        lines = measured(region, commands, python_of_aio)
    except subprocess.CalledProcessError:
        return False
    put(region, lines, PAGE)
    return True


def measured(region: str, commands: Sequence[str], python_of_aio: str) -> list[str]:
    """Run the commands of a region; return its lines."""
    is_aio = benches(commands) <= {"aio", "differential"}
    python = python_of_aio if is_aio else sys.executable
    known = ", ".join(f"`python bench/{command}`" for command in commands)
    lines = [f"{known} on {today()}: {output(python, '-c', MACHINE)}."]
    for command in commands:
        print(f"{region}: bench/{command}", flush=True)
        name, *words = shlex.split(command)
        if name == "scale.py":
            words += ["--python-of-aio", python_of_aio]
        lines += ["", output(python, str(BENCH / name), *words)]
    return lines


def today() -> str:
    """Return the date, as in 2026-11-30."""
    return dt.datetime.now(dt.timezone.utc).date().isoformat()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benches and write the page; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="bench", help="default: all")
    parser.add_argument("--long", action="store_true", help="the long forms instead")
    parser.add_argument("--list", action="store_true", help="only list the regions")
    parser.add_argument("--python-of-aio", default=sys.executable, help="one with aiobotocore")
    options = parser.parse_args(arguments)
    regions = LONG if options.long else SHORT
    unknown = set(options.names) - set().union(*map(benches, regions.values()))
    if unknown:
        parser.error(f"no bench of the {'long' if options.long else 'short'} form: {unknown}")
    if options.names:
        names = set(options.names)
        regions = {key: each for key, each in regions.items() if names & benches(each)}
    if options.list:
        for region, commands in regions.items():
            print(f"{region:20}{'; '.join(commands)}")
        return 0
    began, load = time.monotonic(), os.getloadavg()[0]
    failed = [
        region
        for region, commands in regions.items()
        if not write(region, commands, options.python_of_aio)
    ]
    minutes = (time.monotonic() - began) / 60
    how = f"load {load:.1f} at the start, {minutes:.0f} minutes"
    older = f" Failed, and left as before: {', '.join(failed)}." if failed else ""
    if not options.names and not options.long:
        machine = output(sys.executable, "-c", MACHINE)
        put(LAST_RUN, [f"All benches, {today()}: {machine}; {how}.{older}"], PAGE)
    print(f"{how}.{older}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
