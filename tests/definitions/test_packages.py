"""Definitions that other packages bring, as they are when they are installed."""

import concurrent.futures
import importlib
import json
import logging
import sys
import threading
import zipfile
from types import SimpleNamespace

import boto3
import pytest
from botocore.loaders import Loader

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main
from boto_waiters_plus.definitions import files as definition_files
from boto_waiters_plus.service.service_waiters import ServiceWaiters

STATUS = "StreamDescription.StreamStatus"
MODULE = """
import boto_waiters_plus as bwp

gone = bwp.WaiterDefinition.from_states(
    "StreamWeird", "DescribeStream", path="StreamDescription.StreamStatus", success=["WEIRD"]
)
"""


FILE = "smithy-waiters-1.json"


def waiters(*names, expected="ACTIVE"):
    matcher = {"output": {"path": STATUS, "expected": expected, "comparator": "stringEquals"}}
    acceptors = [{"state": "success", "matcher": matcher}]
    body = {"acceptors": acceptors, "tags": ["of-a-package"]}
    shape = {"type": "apply", "traits": {"smithy.waiters#waitable": dict.fromkeys(names, body)}}
    return json.dumps({"smithy": "2.0", "shapes": {"com.amazonaws.kinesis#DescribeStream": shape}})


def put(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def raises_for_a_waiter_that_no_place_has(client, match):
    with pytest.raises(bwp.WaiterDefinitionError, match=match):
        bwp.wait_until(client, "NotThere", StreamName="s", max_wait=9)


TEAM = {
    "team_waiters/__init__.py": "",
    "team_waiters/deep/kinesis.json": waiters("StreamReady", "StreamExists", expected="READY"),
    "team_waiters/notes.json": "{}",
    "team_module.py": MODULE,
}


@pytest.fixture(scope="module")
def distribution(tmp_path_factory):
    """`distribution(name, files, entry_points)`: the folder of an installed package."""

    def install(name, files, entry_points):
        folder = tmp_path_factory.mktemp(name)
        info = f"{name}-1.0.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        points = f"[{definition_files.GROUP}]\n{entry_points}\n"
        more = {f"{info}/METADATA": metadata, f"{info}/entry_points.txt": points}
        for path, text in {**files, **more}.items():
            put(folder / path, text)
        return folder

    return install


@pytest.fixture(scope="module")
def team(distribution):
    return distribution("team", TEAM, "a = team_waiters\nb = team_module:gone")


@pytest.fixture(scope="module")
def broken(distribution):
    files = {"bad_code.py": "1 / 0", "bad_waiters/kinesis.json": waiters("NotThere", "not_there")}
    return distribution("broken", files, "c = bad_code\nd = bad_waiters")


@pytest.fixture
def installed(monkeypatch):
    """Puts folders on `sys.path`, for a process that has looked up no waiter yet."""

    def put(*folders):
        for folder in folders:
            monkeypatch.syspath_prepend(str(folder))
        definition_files.installed_definitions.cache_clear()

    yield put
    monkeypatch.undo()
    definition_files.installed_definitions.cache_clear()
    for name in [name for name in sys.modules if name.startswith(("team_", "bad_"))]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def kinesis(answers):
    bwp.install()
    client = boto3.client("kinesis")
    answers(client, {"StreamDescription": {"StreamStatus": "READY"}})
    return client


def test_waiters_of_a_package_need_no_line_of_code(installed, team, kinesis):
    installed(team)
    assert kinesis.wait_until_stream_ready(StreamName="s", max_wait=9).observed == "READY"
    assert kinesis.get_waiter("stream_ready").wait(StreamName="s").observed == "READY"
    assert "wait_until_stream_weird" in dir(kinesis)
    assert "wait_until_stream_ready" not in dir(boto3.client("sqs"))


def test_a_package_comes_after_the_search_path_and_before_the_shipped(
    installed, team, kinesis, tmp_path, monkeypatch
):
    installed(team)
    assert kinesis.wait_until_stream_exists(StreamName="s", max_wait=9).observed == "READY"
    put(tmp_path / "kinesis/2013-12-02" / FILE, waiters("StreamExists", expected="X"))
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    definition = boto3.Session().client("kinesis").wait_until_stream_exists.definition
    assert definition.acceptors[0].matcher.matcher.expected == "X"


def test_a_package_is_read_at_the_first_lookup(installed, team, kinesis):
    installed(team)
    kinesis.describe_stream(StreamName="s")
    kinesis.get_waiter("stream_exists")
    assert "team_module" not in sys.modules
    assert kinesis.wait_until_stream_ready
    assert "team_module" in sys.modules


def test_a_broken_package_is_passed_over(installed, team, broken, kinesis, caplog):
    installed(broken, team)
    with caplog.at_level(logging.WARNING, "boto_waiters_plus"):
        for _ in range(2):
            assert kinesis.wait_until_stream_ready(StreamName="s", max_wait=9)
        assert "wait_until_stream_ready" in dir(kinesis)
    first, second = [record.getMessage() for record in caplog.records]
    assert first.startswith("refused: entry point 'c' of broken: bad_code cannot be loaded: Zero")
    assert second.startswith("refused: ")
    assert "bad_waiters/kinesis.json" in second


def test_a_broken_package_raises_for_a_waiter_that_no_place_has(installed, broken, kinesis):
    installed(broken)
    for _ in range(2):
        raises_for_a_waiter_that_no_place_has(kinesis, "bad_code")
    with pytest.raises(AttributeError, match="bad_code"):
        _ = kinesis.wait_until_not_there
    assert not hasattr(kinesis, "wait_until_not_there")


def test_a_malformed_record_of_another_package_breaks_no_wait(installed, tmp_path, kinesis, caplog):
    text = "[console_scripts]\nno equals sign\n"
    put(tmp_path / "other-1.0.dist-info/entry_points.txt", text)
    installed(tmp_path)
    assert kinesis.wait_until_stream_exists.definition.source.startswith("data/")
    assert "installed packages: their entry points cannot be read: TypeError" in caplog.text


def test_a_package_that_blocks_holds_only_lookups(
    installed, distribution, team, kinesis, monkeypatch
):
    importing, may_go_on = threading.Event(), threading.Event()
    gate = SimpleNamespace(wait=lambda: importing.set() or may_go_on.wait(60))
    monkeypatch.setitem(sys.modules, "gate", gate)
    own = bwp.WaiterDefinition.from_states("Own", "DescribeStream", path=STATUS, success=["READY"])
    files = {"bad_gate.py": f"import gate\ngate.wait(){MODULE}"}
    installed(distribution("blocking", files, "e = bad_gate:gone"), team)
    options = {"StreamName": "s", "max_wait": 0.1, "call_in_thread": True}
    with concurrent.futures.ThreadPoolExecutor() as threads:
        held = threads.submit(bwp.wait_until, kinesis, "StreamReady", **options)
        try:
            assert importing.wait(60)
            # This one needs no look-up.
            other = threads.submit(bwp.wait_until, kinesis, own, StreamName="s", max_wait=9)
            assert other.result(60).observed == "READY"
            assert not held.done()
        finally:
            may_go_on.set()


@pytest.mark.parametrize(("module", "entry_point", "words"), [
    ("bad_a", "bad_a", "bad_a.*folder"),
    ("bad_b", "bad_b:y", "bad_b:y.*AttributeError"),
    ("bad_c", "bad_c:x", " int$"),
    ("bad_c", "bad_d", "bad_d.*ModuleNotFoundError"),
])  # fmt: skip
def test_what_is_wrong_is_told(installed, distribution, kinesis, module, entry_point, words):
    installed(distribution("wrong", {f"{module}.py": "x = 1"}, f"e = {entry_point}"))
    raises_for_a_waiter_that_no_place_has(kinesis, words)


def test_an_archive_on_the_path_is_searched(installed, team, kinesis, tmp_path):
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in team.rglob("*"):
            if file.is_file() and "waiters" not in file.parts[-2]:
                zipped.write(file, file.relative_to(team))
    installed(archive)
    assert kinesis.wait_until_stream_weird


def test_lists_have_the_waiters_of_packages(installed, team, capsys):
    installed(team)
    # One for any service is listed with those that have its operation.
    for words in (["stream-ready"], ["--tag", "of-a-package"], ["stream-weird"]):
        assert main(["list", *words, "--output", "json"]) == 0
        found = {(each["service"], each["waiter"]) for each in json.loads(capsys.readouterr().out)}
        name = "StreamWeird" if words == ["stream-weird"] else "StreamReady"
        assert ("kinesis", name) in found


# --- files on the search path that nothing reads ------------------------------------------------


def found_on(path):
    loader = Loader(extra_search_paths=[str(path)])
    return ServiceWaiters(boto3.client("kinesis").meta.service_model, loader).find("StreamReady")


@pytest.mark.parametrize("place", [".", "kinesis", "kinesis/2013"])
def test_a_file_without_its_api_version_is_named(tmp_path, caplog, place):
    put(tmp_path / place / FILE, waiters("StreamReady"))
    assert found_on(tmp_path) is None
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{tmp_path / place / FILE} is not read")
    assert f"kinesis/2013-12-02/{FILE}" in record.getMessage()


def test_a_file_of_another_version_beside_the_right_one_is_nothing_to_tell(tmp_path, caplog):
    for version in ("2013-12-02", "2012-01-01"):
        put(tmp_path / "kinesis" / version / FILE, waiters("StreamReady"))
    assert "2013-12-02" in found_on(tmp_path).definition.source
    assert caplog.records == []
