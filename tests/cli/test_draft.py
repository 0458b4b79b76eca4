"""`boto-wait draft`."""

import json
import os
from pathlib import Path

import pytest
from botocore.exceptions import UnknownServiceError
from botocore.session import Session
from installed_models import with_the_operations_of_today

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.client_options import service_model
from boto_waiters_plus.cli.draft import draft, state_paths, states_at
from boto_waiters_plus.cli.exit_codes import UsageError
from boto_waiters_plus.definitions.state_words import sort_states
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.validation import Severity, check

STATES = Path(os.environ.get("STATES_WITHOUT_WAITERS", "/work/shared/reference/enum-gaps.json"))


@pytest.fixture
def draft_of(capsys):
    """`draft_of(*words)`: the document, its waiter, and what stderr has."""

    def run(*words):
        assert main(["draft", *words]) == 0
        out, err = capsys.readouterr()
        document = json.loads(out)
        [waiter] = bwp.load_definitions(document)
        return document, waiter, err

    return run


def expected(waiter, state):
    return {a.matcher.matcher.expected for a in waiter.acceptors if a.state is state}


@with_the_operations_of_today
def test_states_are_sorted_and_marked_as_guesses(draft_of):
    document, waiter, err = draft_of("accessanalyzer", "get-finding-recommendation")
    assert (waiter.name, waiter.tags) == ("FindingRecommendationSucceeded", ("draft",))
    assert expected(waiter, AcceptorState.SUCCESS) == {"SUCCEEDED"}
    assert expected(waiter, AcceptorState.FAILURE) == {"FAILED"}
    assert waiter.documentation == (
        "DRAFT: the states were sorted by their names. Confirm each of them. "
        "success: SUCCEEDED; failure: FAILED; passing: IN_PROGRESS."
    )
    # One of this name is shipped already.
    replaced = f"WaiterReplacesShipped.{waiter.name}"
    assert [event.id for event in check(document)] == [replaced]
    assert err == f"boto-wait draft: GetFindingRecommendation has {waiter.name} already\n"


def test_other_paths_are_named_and_can_be_chosen(draft_of):
    *_, err = draft_of("appstream", "DescribeImages")
    others = "boto-wait draft: other states: --path Images[].ImageErrors[].ErrorCode\n"
    assert err.startswith(others)
    _, waiter, err = draft_of("appstream", "describe-images", "--path", "Images[0].State")
    assert waiter.acceptors[0].matcher.matcher.path == "Images[0].State"
    assert "other states" not in err


def test_given_states_are_no_guesses(draft_of):
    words = ["--success", "ENDED", "--failure", "LOST", "--name", "JobOver", "--path", "Status"]
    _, waiter, err = draft_of("appstream", "describe-images", *words)
    assert waiter.name == "JobOver"
    assert waiter.documentation == "Success: ENDED; failure: LOST."
    assert "[DANGER]" in err  # there is no such path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("s3 headbucke", "no s3 operation 'headbucke'; did you mean 'head-bucket'?"),
        ("s3 head-bucket", "HeadBucket has no member with a state: give --path and --success"),
        ("appstream describe-images --path Images[", "--path is not a JMESPath expression"),
        ("appstream describe-images --path Images[].Name", "cannot guess which state of Images"),
        ("appstream describe-images --name over", "name: a waiter name is UpperCamelCase"),
    ],
)
def test_wrong_arguments_exit_with_2(words, message, capsys):
    assert main(["draft", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith(f"boto-wait draft: {message}")


FOR_THE_WRITER = (
    "WaiterPaginatedPath.",
    "WaiterFailsOnEndedItem.",
    "WaiterNamedNotReturned.",
    "WaiterUnreadFailures.",
)
"""What the draft of a list leaves to whoever completes it."""


@pytest.mark.skipif(not STATES.is_file(), reason="the list of states is not here")
@with_the_operations_of_today
def test_drafts_of_operations_without_waiters_are_clean():
    """Every tenth operation of the list."""
    listed = json.loads(STATES.read_text())
    rows = [(s, o, row) for s, each in listed.items() if s != "_meta" for o, row in each.items()]
    session, first, drafts = Session(), 0, 0
    for service, name, row in rows[::10]:
        try:
            operation = service_model(session, service).operation_model(name)
        except (UsageError, UnknownServiceError):
            continue
        path = row["member"]
        assert path in state_paths(operation)
        first += state_paths(operation)[0] == path
        assert set(states_at(operation, path)) == set(row["values"])
        document = draft(operation, path, sort_states(row["values"]))
        [waiter] = bwp.load_definitions(document)
        named = expected(waiter, AcceptorState.SUCCESS) | expected(waiter, AcceptorState.FAILURE)
        assert named - {"true"} <= set(row["values"])
        events = [e for e in check(document) if not e.id.startswith(FOR_THE_WRITER)]
        assert [str(e) for e in events if e.severity >= Severity.WARNING] == []
        drafts += 1
    assert drafts >= 60
    assert first / drafts > 0.8
