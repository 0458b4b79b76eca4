"""The credentials of assumed roles that the AWS CLI keeps are used, and kept for it."""

import argparse
import json

import pytest
from service.roles import KEYS, answering, profiles_in

from boto_waiters_plus.cli.options import session_of

FUTURE, PAST = "2100-01-01T00:00:00UTC", "2020-01-01T00:00:00UTC"


class FoundKeyError(Exception):
    """Has the name under which credentials are kept."""


class Keys:
    def __contains__(self, key):
        raise FoundKeyError(key)


def kept(expiration):
    """What the AWS CLI writes."""
    keys = {"AccessKeyId": "kept", "SecretAccessKey": "s", "SessionToken": "t"}
    return json.dumps({"Credentials": {**keys, "Expiration": expiration}})


@pytest.fixture
def session(tmp_path, monkeypatch):
    """A session of a role that needs a code, what it has asked, and the file of its credentials."""
    monkeypatch.setenv("HOME", str(tmp_path))
    profiles_in(tmp_path / "config", monkeypatch)
    person, asked = argparse.Namespace(profile="person"), []
    made = session_of(person)
    provider_of(made).cache = Keys()
    with pytest.raises(FoundKeyError) as found:
        access_key(made)
    made = session_of(person)
    provider_of(made)._prompter = lambda text: asked.append(text) or "123456"
    answering(made.get_component("event_emitter"), "before-call.sts", KEYS)
    return made, asked, tmp_path / ".aws" / "cli" / "cache" / f"{found.value.args[0]}.json"


def provider_of(session):
    return session.get_component("credential_provider").get_provider("assume-role")


def access_key(session):
    return session.get_credentials().get_frozen_credentials().access_key


def test_credentials_that_are_kept_ask_for_no_code(session):
    made, asked, file = session
    file.parent.mkdir(parents=True)
    file.write_text(kept(FUTURE))
    assert (access_key(made), asked) == ("kept", [])


@pytest.mark.parametrize("text", [None, kept(PAST), "", "{", "[]", "{}", '{"Credentials": 5}'])
def test_others_are_replaced(session, text):
    made, asked, file = session
    if text is not None:
        file.parent.mkdir(parents=True)
        file.write_text(text)
    assert (access_key(made), len(asked)) == ("key", 1)
    assert json.loads(file.read_text())["Credentials"]["AccessKeyId"] == "key"


def test_a_folder_that_cannot_be_written_ends_no_command(session):
    made, asked, file = session
    file.parents[2].mkdir()
    file.parents[1].write_text("")
    assert (access_key(made), len(asked)) == ("key", 1)
