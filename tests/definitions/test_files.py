"""Definitions from files and folders."""

import json
import os
import sys

import pytest
from case_tables import cases

from boto_waiters_plus import WaiterDefinition, WaiterDefinitionError, load_definitions
from boto_waiters_plus.definitions.files import MAX_FILE_SIZE
from boto_waiters_plus.validation import check

CASES = cases("malformed")
WAITABLE = "smithy.waiters#waitable"
ANY_RESPONSE = {"state": "success", "matcher": {"success": True}}


QUEUE = "com.amazonaws.sqs#GetQueueUrl"


def applied(traits, shape_id="com.acme#GetThing"):
    return {"smithy": "2.0", "shapes": {shape_id: {"type": "apply", "traits": traits}}}


def smithy(*names, **options):
    waiters = {name: {"acceptors": [ANY_RESPONSE]} for name in names}
    return applied({WAITABLE: waiters}, **options)


def waiters2(*names):
    acceptor = {"state": "success", "matcher": "status", "expected": 200}
    body = {"operation": "GetThing", "delay": 5, "maxAttempts": 9, "acceptors": [acceptor]}
    return {"version": 2, "waiters": dict.fromkeys(names, body)}


@pytest.fixture
def write(tmp_path):
    """Write a file in a new folder and return its path."""

    def written(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def names(source):
    return [definition.name for definition in load_definitions(source)]


def test_files_of_either_format_are_loaded(write):
    marked = b"\xef\xbb\xbf" + json.dumps(smithy("Ready", "Gone")).encode()
    assert names(write("a.json", smithy("Ready", "Gone"))) == ["Ready", "Gone"]
    assert names(write("b.json", marked)) == ["Ready", "Gone"]
    assert names(str(write("c.json", waiters2("Ready")))) == ["Ready"]


def test_dict_definition_or_several_sources_are_loaded(write):
    [ready] = load_definitions(smithy("Ready"))
    assert isinstance(ready, WaiterDefinition)
    assert ready.source == "dict"
    assert load_definitions(ready) == (ready,)
    several = [ready, smithy("Gone"), write("a.json", smithy("Up"))]
    assert names(several) == names(iter(several)) == ["Ready", "Gone", "Up"]
    assert load_definitions([]) == ()


@pytest.mark.parametrize("version", ["1.0", "2", "2.0"])
def test_model_of_each_smithy_version_is_read(version):
    assert names({**smithy("Ready"), "smithy": version}) == ["Ready"]


def refusal(path):
    with pytest.raises(WaiterDefinitionError) as caught:
        load_definitions(path)
    assert str(path) in str(caught.value)
    return caught.value.problem


@pytest.mark.parametrize("beside", [{}, smithy("Ready")["shapes"]])
def test_an_overlay_is_refused_by_file_and_waiter(write, beside):
    overlay = applied({"boto.waiters#overlay": {"QueueExists": {"minDelay": 1}}}, QUEUE)
    file = write("mine.json", {"smithy": "2.0", "shapes": beside | overlay["shapes"]})
    with pytest.raises(WaiterDefinitionError, match="retry_errors_for") as caught:
        load_definitions(file)
    assert (caught.value.source, caught.value.waiter) == (str(file), "QueueExists")
    [told] = [event for event in check(file) if "QueueExists" in event.message]
    assert (told.severity.name, told.source) == ("ERROR", str(file))


def test_a_file_of_other_traits_only_is_refused(write):
    file = write("mine.json", applied({"smithy.api#documentation": "A queue."}, QUEUE))
    assert refusal(file) == "no shape has the trait smithy.waiters#waitable"
    [event] = check(file)
    assert (event.severity, event.id) == ("WARNING", "WaiterNoDefinitions")


@pytest.mark.parametrize(("content", "says"), [
    *CASES["files"],
    (b'{"smithy": "2.0", "shapes": {"a": ' + b"9" * 10_000 + b"}}", "not JSON"),
    (json.dumps({"smithy": "2.0"}).encode("utf-16"), "not UTF-8"),
    (json.dumps({"smithy": "2.0"}).encode("utf-16-le"), "not JSON"),
    (b'{"smithy": "\xff"}', "not UTF-8"),
    (b"\x00" * 100, "not JSON"),
    (b"[" * 200_000, "nested too deeply"),
    (b'{"a":' * 200_000, "nested too deeply"),
], ids=str)  # fmt: skip
def test_bad_file_is_refused_by_name(write, content, says):
    assert says in refusal(write("bad.json", content))


def test_duplicate_members_are_found_at_any_depth(write):
    waiter = '{"acceptors": [{"state": "success", "state": "retry", "matcher": {"success": true}}]}'
    text = json.dumps(smithy("Ready")).replace(json.dumps({"acceptors": [ANY_RESPONSE]}), waiter)
    assert "'state' occurs twice" in refusal(write("bad.json", text))


def test_files_beyond_the_limit_are_not_read(write):
    path = write("large.json", smithy("Ready"))
    with path.open("r+b") as file:
        file.truncate(MAX_FILE_SIZE + 1)
    assert "larger than 10000000 bytes" in refusal(path)


@pytest.mark.parametrize("source", ["", ["", {"smithy": "2.0"}]], ids=["alone", "in a list"])
def test_an_empty_path_is_no_folder(write, tmp_path, monkeypatch, source):
    write("a.json", smithy("Ready"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WaiterDefinitionError, match=r"definitions: .*empty"):
        load_definitions(source)
    assert names(".") == ["Ready"]


def test_a_path_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(WaiterDefinitionError, match="NUL"):
        load_definitions("a\0b.json")
    assert "cannot be read: No such file" in refusal(tmp_path / "nothing.json")


@pytest.mark.skipif(sys.platform == "win32", reason="needs the right to make links there")
def test_loop_of_links_is_refused(tmp_path):
    (tmp_path / "a.json").symlink_to(tmp_path / "b.json")
    (tmp_path / "b.json").symlink_to(tmp_path / "a.json")
    assert "cannot be read" in refusal(tmp_path / "a.json")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
def test_special_files_are_refused_unread(tmp_path):
    """Reading a pipe or /dev/zero could take forever."""
    os.mkfifo(tmp_path / "a.json")
    assert "not a regular file" in refusal(tmp_path / "a.json")
    [event] = check(tmp_path / "a.json")
    assert (event.severity, event.source) == ("ERROR", str(tmp_path / "a.json"))


def test_folders_are_searched_in_order(write, tmp_path):
    write("b.json", smithy("Second"))
    write("a.json", smithy("First"))
    write("deep/er/c.json", waiters2("Third"))
    write("unrelated.json", {"name": "package"})
    write("list.json", b"[1, 2]")
    write("readme.txt", b"{")
    assert names(tmp_path) == ["First", "Second", "Third"]


def test_folder_without_waiters_or_with_a_bad_file_is_refused(write, tmp_path):
    assert "no waiter definitions in this folder" in refusal(tmp_path)
    write("unrelated.json", {"name": "package"})
    assert "no waiter definitions in this folder" in refusal(tmp_path)
    [event] = check(tmp_path)
    assert (event.severity, event.source) == ("WARNING", str(tmp_path))
    bad = write("b.json", b"{")
    with pytest.raises(WaiterDefinitionError) as caught:
        load_definitions(tmp_path)
    assert caught.value.source == str(bad)


@pytest.mark.skipif(sys.platform == "win32", reason="needs the right to make links there")
def test_linked_folders_are_read_once(write, tmp_path):
    write("shared/c.json", smithy("Third"))
    write("own/a.json", smithy("First"))
    write("own/real/b.json", smithy("Second"))
    for link, target in [
        ("1", "../shared"), ("2", "../shared"), ("0", "real"), ("real/up", ".."), ("up", "../..")
    ]:  # fmt: skip
        (tmp_path / "own" / link).symlink_to(target, target_is_directory=True)
    assert names(tmp_path / "own") == ["Third", "First", "Second"]
    sources = [definition.source for definition in load_definitions(tmp_path / "own")]
    assert sources[2] == str(tmp_path / "own" / "real" / "b.json")


# --- services ---


OURS, OF_EC2 = smithy("Ready"), smithy("Ready", shape_id="com.amazonaws.ec2#GetThing")


@pytest.mark.parametrize(("name", "content", "service"), [
    ("s3/2006-03-01/waiters-2.json", waiters2("Ready"), "s3"),
    ("s3/2006-03-01/waiters-2.more.json", waiters2("Ready"), "s3"),
    ("made-up/2024-01-01/smithy-waiters-1.json", OURS, "made-up"),
    ("dynamodb.json", waiters2("Ready"), "dynamodb"), ("mine.json", waiters2("Ready"), None),
    ("mine.json", OURS, None), ("s3.json", OURS, "s3"),
    ("s3.json", OF_EC2, "ec2"), ("mine.json", OF_EC2, "ec2"),
])  # fmt: skip
def test_namespace_or_path_name_the_service(write, name, content, service):
    [definition] = load_definitions(write(name, content))
    assert definition.service == service


@pytest.mark.parametrize(
    ("sdk_ids", "service"), [(["Auto Scaling"], "Auto Scaling"), (["One", "Two"], None)]
)
def test_service_of_a_model_is_its_sdk_id(sdk_ids, service):
    document = smithy("Ready")
    for sdk_id in sdk_ids:
        trait = {"aws.api#service": {"sdkId": sdk_id}}
        document["shapes"][f"com.acme#{sdk_id[:3]}"] = {"type": "service", "traits": trait}
    [definition] = load_definitions(document)
    assert definition.service == service
