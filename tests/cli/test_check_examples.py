"""`boto-wait check` on the specification's own examples, with their mistakes.

Two examples have a mistake: a waiter has `description`, where the member is `documentation`, and an
acceptor has no state and its matcher in place of `matcher`.
"""

import pytest

pytest.importorskip("lark")


HEAD = """$version: "2"
namespace smithy.example

use smithy.waiters#waitable

"""
THING_EXISTS = """@waitable(
    ThingExists: {
        description: "Waits until a thing has been created"
        acceptors: [
            // Fail-fast if the thing transitions to a "failed" state.
            { state: "failure", matcher: { output: {
                path: "status", comparator: "stringEquals", expected: "failed" } } }
            // Succeed when the thing enters into a "success" state.
            { state: "success", matcher: { output: {
                path: "status", comparator: "stringEquals", expected: "success" } } }
        ]
    }
)
operation GetThing { input: GetThingInput, output: GetThingOutput }

@input
structure GetThingInput { @required name: String }

@output
structure GetThingOutput { status: String }
"""
GROUP_EXISTS = """@waitable(
    GroupExists: {
        acceptors: [
            {
                inputOutput: {
                    path: "length(input.groups) == length(output.groups)"
                    expected: "true"
                    comparator: "booleanEquals"
                }
            }
        ]
    }
)
operation ListGroups { input: ListGroupsInput, output: ListGroupsOutput }
"""


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (
            THING_EXISTS,
            0,
            (
                "{file}:7:5: [NOTE] smithy.example#GetThing: `smithy.waiters#Waiter` "
                "has no member `description`; it is read as `documentation` | "
                "TraitValue.UnknownMember.smithy.waiters#Waiter.description"
            ),
        ),
        (
            GROUP_EXISTS,
            1,
            (
                "{file}:10:17: [ERROR] smithy.example#ListGroups: Waiter `GroupExists`, "
                "acceptor 0: state must be one of success, failure, retry, not null | Model\n"
                "{file}:10:17: [ERROR] smithy.example#ListGroups: Waiter `GroupExists`, "
                "acceptor 0: matcher must be an object, not null | Model"
            ),
        ),
    ],
    ids=["description", "no state"],
)
def test_mistake_of_an_example_is_an_event(tmp_path, capsys, text, code, line, run_check):
    file = tmp_path / "example.smithy"
    file.write_text(HEAD + text)
    assert run_check(file) == code
    assert capsys.readouterr().out == line.format(file=file) + "\n"
