"""What mypy and pyright say of typed waits and of the examples in the documentation.

Each checker runs once in an environment with the stubs of boto3 and once in one without.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
from pathlib import Path

import pytest
from generate_types import write

import boto_waiters_plus

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests/cases"
CALLS = (CASES / "typed_calls.txt").read_text(encoding="utf-8")
PREAMBLES = json.loads((CASES / "typed_pages.json").read_text(encoding="utf-8"))
"""The pages that are checked, with the names that their examples take as given."""
PAGES = [
    path
    for name in PREAMBLES
    if (path := ROOT / ("" if name == "README.md" else "docs") / name).is_file()
]

NEEDED = ("mypy", "pyright", "mypy_boto3_s3", "types_aiobotocore_s3")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]

STUBS = re.compile(r"mypy_boto3_|types_aiobotocore|(boto3|botocore|aiobotocore)-stubs")
ENVIRONMENTS = ("with stubs", "without stubs")
CHECKERS = ("mypy", "pyright")

pytestmark = [
    pytest.mark.nightly(subject="types"),
    pytest.mark.skipif(
        bool(MISSING) and "TYPES_REQUIRED" not in os.environ, reason=f"without {', '.join(MISSING)}"
    ),
]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of the package with its types: the installed wheel's, or else a copy of ours."""
    installed = Path(boto_waiters_plus.__file__).parent
    if (installed / "typed/s3.pyi").is_file():
        return installed
    copy = tmp_path_factory.mktemp("package") / "boto_waiters_plus"
    shutil.copytree(installed, copy, ignore=shutil.ignore_patterns("__pycache__"))
    write(copy / "typed")
    return copy


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def environment(request, package, tmp_path_factory):
    """An interpreter that has what this one has, with the stubs of boto3 or without."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / package.name).symlink_to(package)
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        is_left_out = request.param == "without stubs" and STUBS.match(path.name)
        is_own = package.name in path.name or path.suffix == ".pth"
        if not is_own and not is_left_out:
            (packages / path.name).symlink_to(path)
    return request.param, folder / "bin/python"


@pytest.fixture(scope="module", params=CHECKERS)
def errors(request, environment, tmp_path_factory):
    """`errors[file name]`: the numbers of the lines with errors, and the texts."""
    kind, python = environment
    folder = tmp_path_factory.mktemp("checked")
    (folder / "calls.py").write_text(CALLS, encoding="utf-8")
    for page in PAGES:
        module = as_module(page, is_typed=kind == "with stubs")
        (folder / f"page_{page.stem}.py").write_text(module, encoding="utf-8")
    (folder / "readme_as_printed.py").write_text(readme_as_printed(), encoding="utf-8")
    check = check_by_mypy if request.param == "mypy" else check_by_pyright
    found = {path.name: {} for path in folder.glob("*.py")}
    for path, line, text in check(folder, python):
        found[Path(path).name].setdefault(line, []).append(text)
    return found


def check_by_mypy(folder, python):
    # The examples of a page reuse names.
    options = ("--strict", "--ignore-missing-imports", "--allow-redefinition", "--output", "json")
    command = (sys.executable, "-m", "mypy", *options, "--python-executable", str(python), ".")
    for line in output_of(command, folder).splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            if found["severity"] == "error":
                yield found["file"], found["line"], found["message"]


def check_by_pyright(folder, python):
    # Stubs are missing on purpose, and those of boto3 call no member of a response required.
    rules = ("MissingImports", "MissingModuleSource", "TypedDictNotRequiredAccess")
    config = {f"report{rule}": False for rule in rules}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = (sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", str(python))
    for found in json.loads(output_of(command, folder))["generalDiagnostics"]:
        if found["severity"] == "error":
            yield found["file"], found["range"]["start"]["line"] + 1, found["message"]


def output_of(command, folder):
    # Of the package under test, only what is installed in the environment.
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=150
    ).stdout


def as_module(page, *, is_typed):
    """Return the examples of a page as one module; `is_typed`, with clients given to `typed`."""
    text = "\n".join([*PREAMBLES[page.name], *python_blocks(page)])
    if is_typed:
        text = f"from boto_waiters_plus import typed\n{typed_form(text)}"
    if re.search(r"^(async with|.*\bawait )", text, re.MULTILINE) and "async def" not in text:
        text = f"async def page() -> None:\n{textwrap.indent(text, '    ')}"
    return text


def python_blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def readme_as_printed():
    return "\n".join(["import boto3", *python_blocks(ROOT / "README.md")])


def typed_form(text):
    """Return the examples as docs/typing.md tells to write them."""
    # Waiters of one's own, by name.
    text = re.sub(
        r'(boto3\.client\("sqs"\))\.wait_until_(\w+)\(', r'bwp.wait_until(\1, "\2", ', text
    )
    text = re.sub(r'boto3\.client\("(?!sqs)(\w+)"[^()]*\)', r"typed.\1.enable(\g<0>)", text)
    text = text.replace("typed.lambda.", "typed.lambda_.")
    text = re.sub(
        r'(async with .*\.create_client\("(\w+)"\)) as (\w+):\n( +)',
        r"\1 as untyped:\n\4\3 = typed.\2.enable_async(untyped)\n\4",
        text,
    )
    # Inside `deadline`.
    return re.sub(r"(\.wait_until_\w+\((?![^()]*max_wait)[^()]*)\)", r"\1, max_wait=None)", text)


def test_marked_lines_are_errors_and_no_others(errors):
    marked = [n for n, line in enumerate(CALLS.splitlines(), 1) if line.endswith("# error")]
    assert sorted(errors["calls.py"]) == marked, errors["calls.py"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_have_no_errors(errors, page):
    assert errors[f"page_{page.stem}.py"] == {}


def test_the_readme_says_what_types_need(errors, environment):
    """As printed, waits have no errors but those of clients that `install` alone has extended."""
    installed, _, typed = readme_as_printed().partition("from boto_waiters_plus import typed")
    assert ".wait_until_" in typed
    lines = installed.splitlines()
    unseen = [n for n, line in enumerate(lines, 1) if ".wait_until_" in line]
    assert len(unseen) == 2
    found = errors["readme_as_printed.py"]
    assert sorted(found) == (unseen if environment[0] == "with stubs" else []), found
