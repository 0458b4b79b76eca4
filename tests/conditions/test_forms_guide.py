"""The examples of docs/conditions.md run as they stand there."""

import dataclasses
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "conditions.md"


@dataclasses.dataclass
class User:
    name: str
    id: int = 7
    confirmed: bool = True


class Buffer(list):
    put = list.append
    count = list.__len__


def names():
    """What the examples take for granted."""
    return {
        "User": User,
        "find_user": User,
        "find_file": lambda name: None,
        "JobFailed": RuntimeError,
        "job": SimpleNamespace(
            status=lambda: "DONE",
            result=lambda: 42,
            describe=lambda: {"state": {"code": 16, "name": "running"}},
            done=lambda: True,
            error=lambda: None,
        ),
        "queue": SimpleNamespace(
            depth=iter([*range(102), *[3] * 900]).__next__, peek=lambda: ("ok", 3)
        ),
        "load_account": lambda token: SimpleNamespace(closed=not token),
        "fetch_balance": lambda account: 12,
        "buffer": Buffer(),
    }


@pytest.mark.skipif(not GUIDE.exists(), reason="the documentation is not part of a wheel")
def test_the_examples_of_the_guide_run(virtual_time):
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 6
    namespace = names()
    exec("\n".join(blocks), namespace)
    assert namespace["result"] == 42
    assert namespace["which"] == "enough"
    assert (namespace["tag"], namespace["depth"]) == ("ok", 3)
    assert namespace["open_account"]("token") == 12
    assert namespace["open_account"](None) is None
