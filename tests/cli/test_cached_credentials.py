"""The credentials of assumed roles that the AWS CLI keeps are used, and kept for it."""

import argparse
import json
import shutil

import pytest
from service.roles import KEYS, answering, profiles_in

from boto_waiters_plus.cli.options import session_of

FUTURE, PAST = "2100-01-01T00:00:00UTC", "2020-01-01T00:00:00UTC"


def kept(expiration):
    """What the AWS CLI writes."""
    keys = {"AccessKeyId": "kept", "SecretAccessKey": "s", "SessionToken": "t"}
    return json.dumps({"Credentials": {**keys, "Expiration": expiration}})


@pytest.fixture
def session(tmp_path, monkeypatch):
    """A session of a role that needs a code, what it has asked, and the file of its credentials."""
    monkeypatch.setenv("HOME", str(tmp_path))
    profiles_in(tmp_path / "config", monkeypatch)
    asked = []

    def make():
        made = session_of(argparse.Namespace(profile="person"))
        provider = made.get_component("credential_provider").get_provider("assume-role")
        provider._prompter = lambda text: asked.append(text) or "123456"
        answering(made.get_component("event_emitter"), "before-call.sts", KEYS)
        return made

    assert access_key(make()) == "key"
    asked.clear()
    [file] = (tmp_path / ".aws/cli/cache").iterdir()
    return make(), asked, file


def access_key(session):
    return session.get_credentials().get_frozen_credentials().access_key


def test_credentials_that_are_kept_ask_for_no_code(session):
    made, asked, file = session
    file.write_text(kept(FUTURE))
    assert (access_key(made), asked) == ("kept", [])


@pytest.mark.parametrize("text", [None, kept(PAST), "", "{", "[]", "{}", '{"Credentials": 5}'])
def test_others_are_replaced(session, text):
    made, asked, file = session
    shutil.rmtree(file.parents[2])
    if text is not None:
        file.parent.mkdir(parents=True)
        file.write_text(text)
    assert (access_key(made), len(asked)) == ("key", 1)
    assert json.loads(file.read_text())["Credentials"]["AccessKeyId"] == "key"


def test_a_folder_that_cannot_be_written_ends_no_command(session):
    made, asked, file = session
    shutil.rmtree(file.parents[1])
    file.parents[1].write_text("")
    assert (access_key(made), len(asked)) == ("key", 1)
