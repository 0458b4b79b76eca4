"""`boto-wait check`."""

import json
import re
from pathlib import Path

import pytest

WAITABLE = "smithy.waiters#waitable"
SHAPE = "com.amazonaws.eks#DescribeCluster"


@pytest.fixture
def write(tmp_path):
    def write(
        path="cluster.status",
        *,
        expected="ACTIVE",
        shape=SHAPE,
        failed=True,
        name="ClusterActive",
        **document,
    ):
        acceptors = [(path, expected, "success"), ("cluster.status", "FAILED", "failure")]
        waiter = {
            "acceptors": [
                {
                    "state": state,
                    "matcher": {
                        "output": {"path": path, "expected": expected, "comparator": "stringEquals"}
                    },
                }
                for path, expected, state in acceptors[: 2 if failed else 1]
            ]
        }
        traits = {WAITABLE: {name: waiter}}
        document |= {"smithy": "2.0", "shapes": {shape: {"type": "apply", "traits": traits}}}
        file = tmp_path / f"waiters-{len(list(tmp_path.iterdir()))}.json"
        file.write_text(json.dumps(document, indent=2))
        return file

    return write


def test_clean_file_exits_with_0(write, capsys, run_check):
    assert run_check(write()) == 0
    out, err = capsys.readouterr()
    assert [line for line in out.splitlines() if "NOTE" not in line] == []
    assert err.startswith("boto-wait check: ")


def test_event_is_a_line_with_its_location(write, capsys, run_check):
    file = write("cluster.state")
    assert run_check(file) == 0
    out, err = capsys.readouterr()
    _, first, *_ = out.splitlines()
    assert re.fullmatch(
        rf"{re.escape(str(file))}:10:15: "
        rf"\[DANGER\] {SHAPE}: Waiter `ClusterActive`, acceptor 0: Problem found in .* \| "
        rf"WaitableTraitJmespathProblem\.JmespathEventDanger\.ClusterActive\.0",
        first,
    )
    assert re.fullmatch(r"boto-wait check: 2 DANGER(, \d+ \w+)*\n", err)


def test_lines_are_in_the_order_of_the_file(write, capsys, run_check):
    run_check(write("cluster.state"), write(expected="ACTIV"))
    out, _ = capsys.readouterr()
    places = [re.match(r".*-(\d+)\.json:(\d+):(\d+): ", line) for line in out.splitlines()]
    numbers = [tuple(map(int, place.groups())) for place in places]
    assert len(set(numbers)) > 2
    assert numbers == sorted(numbers)


def test_events_below_a_severity_are_left_out(write, capsys, run_check):
    file = write("cluster.state", failed=False)
    assert run_check(file, "--severity", "ERROR") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 DANGER" in err


def test_suppressions_of_one_file_hold_for_the_others(capsys, run_check):
    """As where a shell expands `data/*.json`."""
    data = Path(__file__).resolve().parents[2] / "data"
    run_check(data / "medialive.json", "--severity", "WARNING")
    assert capsys.readouterr().out
    files = [data / f"{name}.json" for name in ("medialive", "traits")]
    assert run_check(*files, "--severity", "WARNING") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (
            "broken.json",
            '{"smithy": "2.0", "shapes": {,}}',
            "broken.json:1:30: [ERROR] -: not JSON",
        ),
        ("list.json", "[]", "list.json:1:1: [ERROR] -: "),
        ("x.smithy", "namespace", "x.smithy:1: [ERROR] -: "),
        ("x.smithy", "@a(", "x.smithy:1: [ERROR] -: "),
    ],
)
def test_an_unreadable_file_is_an_error(tmp_path, capsys, name, text, line, run_check):
    (tmp_path / name).write_text(text)
    assert run_check(tmp_path / name) == 1
    assert f"{tmp_path}/{line}" in capsys.readouterr().out


def test_service_can_be_given(write, run_check):
    file = write(shape="my.own#DescribeCluster")
    assert run_check(file) == 1
    assert run_check(file, "--service", "eks") == 0


def test_a_file_without_events_says_so(write, capsys, run_check):
    entry = {"id": "WaiterUnhandledState", "namespace": "*", "reason": "meant so"}
    assert run_check(write(name="ClusterMine", metadata={"suppressions": [entry]})) == 0
    assert capsys.readouterr().err == "boto-wait check: no events\n"


def test_suppressed_events_are_only_counted(write, capsys, run_check):
    entry = {"id": "WaiterUnhandledState", "namespace": "*", "reason": "meant so"}
    assert run_check(write(failed=False, metadata={"suppressions": [entry]})) == 0
    out, err = capsys.readouterr()
    assert "WaiterUnhandledState" not in out
    assert re.search(r"\d SUPPRESSED", err)


def test_control_characters_of_a_file_are_escaped(write, capsys, run_check):
    assert run_check(write("cluster.\n\x1b[31m")) == 1
    assert "cluster.\\n\\x1b[31m" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["nothing.json"], ["FILE", "--service", "nosuch"]])
def test_wrong_arguments_exit_with_2(write, capsys, words, run_check):
    assert run_check(*[write() if word == "FILE" else word for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("boto-wait check: ")


@pytest.mark.parametrize(
    ("severity", "code"), [("NOTE", 1), ("WARNING", 1), ("DANGER", 1), ("ERROR", 0)]
)
def test_severity_that_fails_can_be_chosen(write, run_check, severity, code):
    assert run_check(write("cluster.state"), "--fail-on", severity) == code


def test_github_annotations(write, capsys, run_check):
    file = write("cluster.state", failed=False)
    run_check(file, "--output", "github", "--severity", "DANGER")
    first, *_ = capsys.readouterr().out.splitlines()
    event = "WaitableTraitJmespathProblem.JmespathEventDanger.ClusterActive.0"
    assert first.startswith(f"::error file={file},line=10,col=15,title={event}::Waiter `Cluster")
    (file.parent / "a,b.json").write_text("{%")
    run_check(file.parent / "a,b.json", "--output", "github")
    assert "/a%2Cb.json,line=1,col=2,title=" in capsys.readouterr().out


def test_sarif_document(write, capsys, run_check):
    file = write("cluster.state")
    run_check(file, "--output", "sarif", "--severity", "WARNING")
    document = json.loads(capsys.readouterr().out)
    [run] = document["runs"]
    first = run["results"][0]
    assert (document["version"], first["level"]) == ("2.1.0", "error")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == str(file)
    assert place["region"] == {"startLine": 10, "startColumn": 15}
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} == rules


def test_no_file_is_refused(run_check):
    with pytest.raises(SystemExit) as caught:
        run_check()
    assert caught.value.code == 2
