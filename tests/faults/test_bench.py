"""The command that writes the table of faults, on two of them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]


def test_the_table_is_put_between_the_marks_of_a_page(tmp_path):
    page = tmp_path / "faults.md"
    page.write_text("before\n<!-- measured -->\nold\n<!-- end of measured -->\nafter\n")
    command = [sys.executable, str(ROOT / "bench" / "faults.py"), "--short", "--limit", "60000"]
    faults = ["--fault", "hang mid-body", "--fault", "certificate is not trusted"]
    run = subprocess.run(
        [*command, *faults, "--write", str(page)],
        capture_output=True,
        text=True,
        timeout=150,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    text = page.read_text()
    assert text.startswith("before\n<!-- measured -->\n")
    assert text.endswith("\n<!-- end of measured -->\nafter\n")
    assert "old" not in text
    rows = {line.split(" | ")[0]: line.split(" | ") for line in text.splitlines()}
    assert rows["| hang mid-body"][1:4] == [
        "WaiterTimeoutError",
        "WaiterTimeoutError",
        "still waiting after 0.5 s",
    ]
    untrusted = rows["| certificate is not trusted"]
    assert untrusted[1:3] == ["WaiterFailedError (SSLError)", "raw SSLError"]
    assert untrusted[4] == "in time"
    assert "| poll: bounded and judged" in rows
