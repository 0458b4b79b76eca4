"""`tools/size.py`: what it counts, and that the package keeps its limits."""

import sys

import pytest
import size

pytestmark = pytest.mark.skipif(
    not (size.ROOT / "boto_waiters_plus").is_dir(), reason="only where the package lies beside"
)

MODULE = '''"""The module."""

# A comment.
LIMIT = 5
"""What it is."""


def add(
    one,
    other,
):
    """Return the sum.

    In two paragraphs.
    """
    text = """two
lines"""
    return one + other  # another comment
'''


def test_documentation_comments_and_blank_lines_do_not_count():
    assert size.lines_of_code(MODULE) == 8


def test_lines_are_summed_by_top_folder():
    lines = {"engine/machine.py": 3, "operations/sql/tables.py": 4, "options.py": 5}
    assert size.by_folder(lines) == {".": 5, "engine": 3, "operations": 4}


def test_the_package_and_its_tests_keep_their_limits(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["size.py", "--check"])
    assert size.main() == 0, capsys.readouterr().out


def test_a_folder_beyond_its_limit_is_named(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["size.py", "--check"])
    monkeypatch.setitem(size.MOST_OF_FOLDER, "engine", 100)
    assert size.main() == 1
    assert "engine: " in capsys.readouterr().out.partition("the tests")[2]
