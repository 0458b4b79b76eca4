"""A person has read what may be polled from outside; what the files name exists."""

import json
from pathlib import Path

import botocore.session
import pollable
import pytest
from case_tables import tabled

from boto_waiters_plus.definitions.pollable_list import PollableList, from_groups

DATA = Path(__file__).resolve().parents[2] / "data"
POLLABLE = json.loads((DATA / "pollable.json").read_text(encoding="utf-8"))
SENSITIVE = json.loads((DATA / "sensitive.json").read_text(encoding="utf-8"))


@pytest.mark.models
def test_every_candidate_has_been_read():
    assert [each.name for each in pollable.new_operations()] == []


def test_a_new_operation_is_shown_and_not_allowed(monkeypatch):
    session = botocore.session.get_session()
    read = session.get_service_model("kinesis").operation_model("DescribeStream")
    empty = {**POLLABLE["allowed"], "kinesis": ""}
    monkeypatch.setattr("boto_waiters_plus.service.pollable.pollable_list", lambda: known)
    known = PollableList(empty, POLLABLE["refused"])
    monkeypatch.setattr(pollable, "candidates", lambda: [read])
    assert [each.name for each in pollable.new_operations()] == ["DescribeStream"]


def test_the_file_has_the_form_of_its_tool():
    text = (DATA / "pollable.json").read_text(encoding="utf-8")
    assert pollable.file_text(pollable.rewritten(POLLABLE, [])) == text
    assert len(text) <= 80_000


def test_nothing_is_both_allowed_and_refused():
    for service, reasons in POLLABLE["refused"].items():
        assert not from_groups(POLLABLE["allowed"].get(service, "")) & reasons.keys()


@tabled("names", "text")
def test_names_are_grouped_by_their_verbs(names, text):
    assert pollable.as_groups(names) == text
    assert from_groups(text) == {*names}


@pytest.mark.models
def test_a_sensitive_member_is_one_of_its_service_only():
    loader = botocore.session.get_session().get_component("data_loader")
    named = {member for members in SENSITIVE["members"].values() for member in members}
    gone = dict.fromkeys(named)
    for service in loader.list_available_services("service-2"):
        model = loader.load_service_model(service, "service-2")
        service_id = model["metadata"]["serviceId"].lower().replace(" ", "-")
        members = {
            f"{shape}.{member}"
            for shape, body in model["shapes"].items()
            for member in body.get("members", ())
        }
        assert members & named <= {*SENSITIVE["members"].get(service_id, ())}, service
        for each in members & named:
            gone.pop(each, None)
    # Of services that only older versions of botocore have.
    assert set(gone) == set(SENSITIVE["members"].get("opsworks", ()))
