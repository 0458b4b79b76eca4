"""`boto-wait check`."""

import copy
import json
import re
from pathlib import Path

import botocore
import pytest
from botocore.loaders import Loader

SHAPE = "com.amazonaws.eks#DescribeCluster"
NAME = "ClusterActive"
ENTRY = {"id": "WaiterUnhandledState", "namespace": "*", "reason": "meant so"}


@pytest.fixture
def write(tmp_path, waitable):
    """`write(path, expected=, failed=, shape=, **document)`: a file with a waiter."""

    def acceptor(state, path, expected):
        output = {"path": path, "expected": expected, "comparator": "stringEquals"}
        return {"state": state, "matcher": {"output": output}}

    def write(
        path="cluster.status", *, expected="ACTIVE", shape=SHAPE, failed=True, name=NAME, **document
    ):
        acceptors = [acceptor("success", path, expected)]
        if failed:
            acceptors.append(acceptor("failure", "cluster.status", "FAILED"))
        namespace, _, operation = shape.partition("#")
        document |= waitable(name, operation, *acceptors, namespace=namespace)
        file = tmp_path / f"waiters-{len(list(tmp_path.iterdir()))}.json"
        file.write_text(json.dumps(document, indent=2))
        return file

    return write


@pytest.fixture
def run_check(command):
    """`run_check(*words)`: exit code, stdout and stderr."""
    return lambda *words: command("check", *words)


def test_event_is_a_line_with_its_location(write, run_check):
    file = write("cluster.state")
    code, out, err = run_check(file)
    assert code == 0
    # Where the acceptor begins.
    text = rf"{re.escape(str(file))}:10:15: \[DANGER\] {SHAPE}: Waiter `ClusterActive`, acceptor 0"
    assert re.search(text + r".* \| WaitableTraitJmespathProblem\.JmespathEventDanger\.", out)
    assert re.fullmatch(r"boto-wait check: 2 DANGER(, \d+ \w+)*\n", err)


def test_lines_are_in_the_order_of_the_file(write, run_check):
    _, out, _ = run_check(write("cluster.state"), write(expected="ACTIV"))
    places = [re.match(r".*-(\d+)\.json:(\d+):(\d+): ", line) for line in out.splitlines()]
    numbers = [tuple(map(int, place.groups())) for place in places]
    assert len(set(numbers)) > 2
    assert numbers == sorted(numbers)


def test_events_below_a_severity_are_left_out(write, run_check):
    code, out, err = run_check(write("cluster.state", failed=False), "--severity", "ERROR")
    assert (code, out, "2 DANGER" in err) == (0, "", True)


def test_suppressions_of_one_file_hold_for_the_others(run_check):
    """As where a shell expands `data/*.json`."""
    data = Path(__file__).resolve().parents[2] / "data"
    words = ["--severity", "WARNING", data / "medialive.json"]
    assert run_check(*words)[1]
    assert run_check(*words, data / "traits.json")[:2] == (0, "")


@pytest.mark.parametrize(("name", "text", "place"), [
    ("broken.json", '{"smithy": "2.0", "shapes": {,}}', ":1:30"), ("list.json", "[]", ":1:1"),
    ("x.smithy", "namespace", ":1"), ("x.smithy", "@a(", ":1"),
])  # fmt: skip
def test_an_unreadable_file_is_an_error(tmp_path, name, text, place, run_check):
    (tmp_path / name).write_text(text)
    code, out, _ = run_check(tmp_path / name)
    assert (code, f"{tmp_path}/{name}{place}: [ERROR] -: " in out) == (1, True)


def test_service_can_be_given(write, run_check):
    file = write(shape="my.own#DescribeCluster")
    assert run_check(file)[0] == 1
    assert run_check(file, "--service", "eks")[0] == 0
    assert run_check(file, "--service", "nosuch")[:2] == (2, "")


def test_a_file_without_events_says_so(write, run_check):
    code, _, err = run_check(write(name="ClusterMine", metadata={"suppressions": [ENTRY]}))
    assert (code, err) == (0, "boto-wait check: no events\n")


def test_suppressed_events_are_only_counted(write, run_check):
    code, out, err = run_check(write(failed=False, metadata={"suppressions": [ENTRY]}))
    assert (code, "WaiterUnhandledState" in out) == (0, False)
    assert re.search(r"\d SUPPRESSED", err)


@pytest.mark.parametrize("output", ["text", "github"])
def test_control_characters_of_a_file_are_escaped(write, run_check, output):
    code, out, _ = run_check(write("cluster.\n\x1b[31m"), "--output", output)
    assert (code, "cluster.\\n\\x1b[31m" in out) == (1, True)


@pytest.mark.parametrize("severity", ["NOTE", "WARNING", "DANGER", "ERROR"])
def test_severity_that_fails_can_be_chosen(write, run_check, severity):
    assert run_check(write("cluster.state"), "--fail-on", severity)[0] == (severity != "ERROR")


def test_github_annotations(write, run_check):
    file = write("cluster.state", failed=False)
    first, *_ = run_check(file, "--output", "github", "--severity", "DANGER")[1].splitlines()
    event = "WaitableTraitJmespathProblem.JmespathEventDanger.ClusterActive.0"
    assert re.match(rf"::error file={file},line=\d+,col=\d+,title={event}::Waiter `Cluster", first)
    (file.parent / "a,b.json").write_text("{%")
    _, out, _ = run_check(file.parent / "a,b.json", "--output", "github")
    assert "/a%2Cb.json,line=1,col=2,title=" in out


def test_sarif_document(write, run_check):
    file = write("cluster.state")
    _, out, _ = run_check(file, "--output", "sarif", "--severity", "WARNING")
    document = json.loads(out)
    [run] = document["runs"]
    first = run["results"][0]
    assert (document["version"], first["level"]) == ("2.1.0", "error")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == str(file)
    assert place["region"].keys() == {"startLine", "startColumn"}
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} == rules


def test_installed_tells_what_a_newer_botocore_has(
    run_check, on_search_path, tmp_path, monkeypatch
):
    model = copy.deepcopy(Loader().load_service_model("kinesis", "service-2"))
    model["shapes"]["StreamStatus"]["enum"].append("CREATE_FAILED")
    on_search_path(json.dumps(model), "kinesis/2013-12-02/service-2.json")
    monkeypatch.setattr(Loader, "BUILTIN_DATA_PATH", str(tmp_path))
    monkeypatch.setattr(botocore, "__version__", "99.0")
    words = ("--installed", "--service", "kinesis")
    code, out, _ = run_check(*words, "--fail-on", "WARNING")
    assert (code, "StreamExists" in out, "CREATE_FAILED" in out) == (1, True, True)
    assert run_check(*words)[0] == 0
