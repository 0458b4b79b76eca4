"""Files of Smithy IDL, loaded and checked."""

import pytest

pytest.importorskip("lark")

from boto_waiters_plus import WaiterDefinitionError, load_definitions
from boto_waiters_plus.validation import Severity, check

MODEL = """$version: "2"
namespace smithy.example
use smithy.waiters#waitable

@waitable(
    ThingThere: {
        description: "Waits until it is there"
        acceptors: [{ state: "success", matcher: { success: true } }]
    }
)
operation GetThing {}
"""


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "things.smithy"
    file.write_text(MODEL, encoding="utf-8")
    return file


def test_idl_files_and_folders_are_loaded(file):
    for path in (file, str(file), file.parent):
        [definition] = load_definitions(path)
        assert (definition.name, definition.source) == ("ThingThere", str(file))


def test_invalid_idl_files_are_named_with_the_line(file):
    file.write_text(MODEL + "}")
    with pytest.raises(
        WaiterDefinitionError, match=r"things\.smithy.* line 12|things\.smithy.*\(line 12"
    ):
        load_definitions(file)
    [event] = check(file)
    assert (event.severity, str(event.location)) == (Severity.ERROR, f"{file}:12")


def test_events_have_positions_in_the_idl(file):
    for path in (file, file.parent):
        [event] = check(path)
        assert event.severity is Severity.NOTE
        assert event.id == "TraitValue.UnknownMember.smithy.waiters#Waiter.description"
        assert str(event.location) == f"{file}:6:5"
