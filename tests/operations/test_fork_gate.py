"""A fork waits for threads that are inside a library whose locks it would cut."""

import os
import subprocess
import sys

import pytest

SCRIPT = """if True:
    import os, threading, warnings
    warnings.simplefilter("ignore")  # Python's own, of forks beside threads
    from boto_waiters_plus.operations.sql.fork_gate import fork_gate

    inside, go_on, steps = threading.Event(), threading.Event(), []

    def hold():
        with fork_gate:
            inside.set()
            go_on.wait(30)
            steps.append("left")

    def come_late():
        with fork_gate:
            steps.append("late")

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(30)
    threading.Timer(0.2, go_on.set).start()
    child = os.fork()
    if not child:
        with fork_gate, fork_gate:  # free in the child, and re-entrant
            os._exit(7 if steps == ["left"] else 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    late = threading.Thread(target=come_late)
    late.start()
    late.join(30)
    with fork_gate:  # the thread that forks may be inside itself
        child = os.fork()
        if not child:
            os._exit(8)
    print(code, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), steps)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_waits_for_the_threads_inside_and_no_longer():
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "7 8 ['left', 'late']\n"
