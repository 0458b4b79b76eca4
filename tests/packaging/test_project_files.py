"""The files for GitHub, pre-commit and citation: `tox run -e lint` checks them by their schemas."""

import ast
import importlib.util
import re
import shlex
from pathlib import Path

import pytest
from case_tables import tabled

import boto_waiters_plus
from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.parser import COMMANDS

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(
    not (ROOT / ".github").is_dir(), reason="only in a checkout: the source distribution has none"
)


def read(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def steps(workflow, job):
    return workflow["jobs"][job]["steps"]


def commands(workflow, job):
    return [step["run"] for step in steps(workflow, job) if "run" in step]


def test_ci_runs_the_projects_own_command_on_linux():
    job = read(".github/workflows/ci.yml")["jobs"]["linux"]
    assert job["runs-on"].startswith("ubuntu")
    assert job["timeout-minutes"] <= 60
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_the_night_runs_unit_tests_on_macos_and_windows():
    workflow = read(".github/workflows/nightly.yml")
    systems = {
        name.partition("-")[0] for name in workflow["jobs"]["unit"]["strategy"]["matrix"]["os"]
    }
    assert systems == {"macos", "windows"}
    (run,) = [line for line in commands(workflow, "unit") if "tox run" in line]
    folders = [word for word in run.split() if word.startswith("tests/")]
    assert {"tests/engine", "tests/hooks", "tests/wait"} <= set(folders)
    assert all((ROOT / folder).is_dir() for folder in folders)


def test_versions_of_the_matrix_are_text_and_supported():
    matrix = read(".github/workflows/nightly.yml")["jobs"]["unit"]["strategy"]["matrix"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert {f"Python :: {version}" for version in matrix["python"]} <= set(
        re.findall(r"Python :: [\d.]+", text)
    )


@pytest.mark.parametrize("name", ["ci", "nightly", "release"])
def test_workflows_have_no_more_rights_than_needed(name):
    workflow = read(f".github/workflows/{name}.yml")
    assert workflow["permissions"] == {"contents": "read"}
    asked = {job: each.get("permissions") for job, each in workflow["jobs"].items()}
    rights = {"attestations": "write", "id-token": "write"}
    assert {job: each for job, each in asked.items() if each} == (
        {"publish": rights} if name == "release" else {}
    )


def test_release_checks_before_it_publishes():
    workflow = read(".github/workflows/release.yml")
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads `on` as a boolean
    run = commands(workflow, "build")
    assert "python -m build" in run
    assert "python -m twine check --strict dist/*" in run
    publish = workflow["jobs"]["publish"]
    assert publish["needs"] == "build"
    assert publish["environment"] == "pypi"
    used = [step["uses"].partition("@")[0] for step in steps(workflow, "publish")]
    assert used == [
        "actions/download-artifact",
        "actions/attest-build-provenance",
        "pypa/gh-action-pypi-publish",
    ]
    assert not any("password" in step.get("with", {}) for step in steps(workflow, "publish"))


@pytest.mark.parametrize("form", ["bug", "waiter"])
def test_issue_forms_ask_for_the_error_text(form):
    body = read(f".github/ISSUE_TEMPLATE/{form}.yml")["body"]
    labels = {field["attributes"].get("label") for field in body}
    assert "Error text" in labels
    required = {f["id"] for f in body if f.get("validations", {}).get("required")}
    assert required >= ({"error", "code", "versions"} if form == "bug" else {"waiter", "response"})


def test_hook_fails_for_a_definition_that_is_wrong(tmp_path, capsys):
    hook, _ = read(".pre-commit-hooks.yaml")
    program, command, *options = shlex.split(hook["entry"])
    assert program == "boto-wait"
    assert command in COMMANDS
    wrong = tmp_path / "smithy-waiters-1.json"
    text = (ROOT / "data" / "s3.json").read_text(encoding="utf-8")
    wrong.write_text(text.replace('"minDelay": 1', '"minDelay": 900'), encoding="utf-8")
    assert main([command, *options, str(ROOT / "data" / "s3.json")]) == 0
    assert main([command, *options, str(ROOT / "data" / "s3.json"), str(wrong)]) == 1
    assert "minDelay" in capsys.readouterr().out.partition(str(wrong))[2]


def test_scan_hook_fails_for_a_loop(tmp_path):
    _, hook = read(".pre-commit-hooks.yaml")
    assert hook["types_or"] == ["python", "jupyter"]
    file = tmp_path / "poll.py"
    file.write_text(
        "import time\nwhile glue.get_crawler(Name='c')['State'] != 'READY':\n time.sleep(1)\n"
    )
    assert main([*shlex.split(hook["entry"])[1:], str(file)]) == 1


@tabled("path", "matches")
def test_hook_is_for_files_of_definitions(path, matches):
    hook, _ = read(".pre-commit-hooks.yaml")
    assert bool(re.search(hook["files"], path)) is matches


def test_own_hooks_check_every_definition():
    hooks = {hook["id"]: hook for hook in read(".pre-commit-config.yaml")["repos"][0]["hooks"]}
    assert set(hooks) == {"ruff-format", "ruff-check", "boto-wait-check"}
    names = [path.relative_to(ROOT).as_posix() for path in (ROOT / "data").rglob("*.json")]
    pattern = hooks["boto-wait-check"]["files"]
    assert [name for name in names if not re.search(pattern, name)] == []


def test_version_is_the_same_everywhere():
    version = boto_waiters_plus.__version__
    assert read("CITATION.cff")["version"] == version
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## ([\d.]+)", changes, re.MULTILINE)
    assert versions[0] == version


def test_benches_import_modules_that_are_there():
    """Of the package and of the tests, whose folders have been moved before."""
    ours = {"boto_waiters_plus", *(path.name for path in (ROOT / "tests").iterdir())}
    imported = {
        node.module
        for path in (ROOT / "bench").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0
    }
    found = {name for name in imported if name.partition(".")[0] in ours}
    assert len(found) > 10
    assert [name for name in found if importlib.util.find_spec(name) is None] == []
