"""Scripts in an interpreter of their own, which imports nothing by itself."""

import json
import os
import subprocess
import sys
import textwrap


def output_of(script, *arguments, path=(), folder=None):
    """Return what a script prints in a new process, in which these places come before others."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    places = os.pathsep.join(filter(None, [*path, *sys.path]))
    options = {"timeout": 120, "env": {**os.environ, "PYTHONPATH": places}, "cwd": folder}
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def run(script, *arguments):
    """Return what a script prints as JSON."""
    return json.loads(output_of(script, *arguments))
