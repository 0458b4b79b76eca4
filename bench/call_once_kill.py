"""Stored calls whose process is killed at each of their steps, and resumed by another process.

    python bench/call_once_kill.py [--rounds 50]

A call with `then_wait` is killed (`kill -9`) at each step: before and after each access to its
store, before its request, and in its wait. Another process goes on with what the store keeps.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1] / "tests"))
from changes.test_killed_process import AFTER, BEFORE, run_caller, serving

OPEN = [point for point in (*BEFORE, *AFTER) if point != "after finish"]


def main() -> None:
    """Print how many rounds ended with one instance, the same response, and its wait."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    arguments = parser.parse_args()
    began = time.perf_counter()
    print("| killed | rounds | instances | ended |\n|---|---|---|---|")
    for point in OPEN:
        ends: Counter[tuple[int, str]] = Counter()
        for _ in range(arguments.rounds):
            with serving() as service, tempfile.TemporaryDirectory() as folder:
                store = Path(folder) / "calls.db"
                killed = run_caller(service, store, point)
                assert killed.returncode == -9, f"{point}: {killed.stderr}"
                resumed = run_caller(service, store, "none")
                ends[len(service.instances), resumed.stdout.strip()] += 1
        for (instances, end), rounds in ends.items():
            print(f"| {point} | {rounds} | {instances} | {end} |", flush=True)
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
