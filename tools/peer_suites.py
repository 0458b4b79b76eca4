"""Run the test suites of botocore and its relatives with and without `install()`, and compare.

    python tools/peer_suites.py CACHE
    python tools/peer_suites.py CACHE --full --workers 2
    python tools/peer_suites.py CACHE --suite botocore --version 1.34.0 --tests tests/unit/docs
    python tools/peer_suites.py CACHE --suite placebo --suite c7n

The suites come from the source distributions on the package index, or from GitHub's archive of a
tag where the index has none. That of boto3 carries no tests, so `tests/peers` holds what its users
would notice. Every suite runs twice in a virtual environment with the version it belongs to: once
as it is, once with this file as a pytest plugin that calls `install()` before anything is
collected. Downloads and environments are kept in CACHE; a source that lies there as
PROJECT-VERSION is not downloaded.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import urllib.request
from collections import Counter
from collections.abc import Iterable
from http.client import HTTPException
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

ROOT = Path(__file__).absolute().parents[1]
OLDEST = "1.34.0"
OUTCOMES = ("passed", "failed", "skipped", "error")


class Suite(NamedTuple):
    """The tests of one project: a few minutes' worth, and all that need no network.

    Without a `version`, the installed one is tried. `archive` is the URL of the source where the
    package index has none.
    """

    quick: tuple[str, ...]
    full: tuple[str, ...]
    requires: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    version: str = ""
    archive: str = ""
    options: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


AMAZON_WAITERS = (
    "tests/unit/amazon/aws/waiters",
    "tests/unit/amazon/aws/utils/test_waiter.py",
    "tests/unit/amazon/aws/utils/test_waiter_with_logging.py",
)

SUITES = {
    "botocore": Suite(
        quick=(
            "tests/unit/test_waiters.py",
            "tests/unit/test_client.py",
            "tests/unit/test_stub.py",
            "tests/unit/test_session.py",
            "tests/unit/test_hooks.py",
            "tests/unit/docs",
            "tests/functional/test_client.py",
            "tests/functional/test_client_class_names.py",
            "tests/functional/test_public_apis.py",
            "tests/functional/test_session.py",
            "tests/functional/test_stub.py",
            "tests/functional/test_waiter_config.py",
            "tests/functional/docs/test_lex.py",
            "tests/functional/docs/test_secretsmanager.py",
            "tests/functional/docs/test_alias.py",
        ),
        full=("tests/unit", "tests/functional"),
        requires=("jsonschema",),
        # Compares the stored endpoint rules alone, in half an hour.
        ignore=("tests/functional/test_endpoint_rulesets.py",),
    ),
    "s3transfer": Suite(
        quick=("tests/functional/test_manager.py", "tests/functional/test_upload.py"),
        full=("tests/unit", "tests/functional"),
    ),
    "aiobotocore": Suite(
        quick=("tests/test_waiter.py", "tests/test_patches.py", "tests/test_stubber.py"),
        full=("tests/test_waiter.py", "tests/test_patches.py", "tests/test_stubber.py"),
        requires=(
            "moto[server,s3,sqs,awslambda,dynamodb,cloudformation,sns,batch,ec2,rds]",
            *("anyio", "dill", "docker", "packaging", "pytest-mock", "time-machine"),
            *("tiny-proxy", "trio", "trustme"),
        ),
    ),
    "placebo": Suite(
        quick=("tests",),
        full=("tests",),
        version="0.10.0",
        archive="https://github.com/garnaat/placebo/archive/refs/tags/{}.tar.gz",
    ),
    # Answers that placebo recorded. The chosen tests are those of the resources that wait.
    "c7n": Suite(
        quick=(
            "tests/test_ebs.py",
            "tests/test_ec2.py",
            "tests/test_eks.py",
            "tests/test_elasticache.py",
            "tests/test_mu.py",
            "tests/test_rds.py",
        ),
        full=("tests",),
        requires=(
            *("freezegun==1.5.*", "placebo==0.10.0", "pytest-env==1.8.*"),
            *("pytest-recording==0.14.*", "pytest-terraform==0.7.0"),
        ),
        version="0.9.51",
        archive="https://github.com/cloud-custodian/cloud-custodian/archive/refs/tags/{}.0.tar.gz",
    ),
    "apache-airflow-providers-amazon": Suite(
        quick=(*AMAZON_WAITERS, "tests/unit/amazon/aws/hooks/test_batch_waiters.py"),
        full=(*AMAZON_WAITERS, "tests/unit/amazon/aws/hooks", "tests/unit/amazon/aws/triggers"),
        requires=(
            *("aiobotocore==3.10.0", "apache-airflow==3.3.2"),  # else pip searches for minutes
            *("moto==5.2.*", "pytest-asyncio==1.5.*"),
        ),
        # These need other providers or, as the `conftest.py`, Airflow's development tools, which
        # have no current release.
        ignore=(
            "tests/unit/amazon/aws/hooks/test_appflow.py",
            "tests/unit/amazon/aws/hooks/test_base_aws.py",
            "tests/unit/amazon/aws/hooks/test_duckdb.py",
            "tests/unit/amazon/aws/hooks/test_eks.py",
            "tests/unit/amazon/aws/triggers/test_eks.py",
            "tests/unit/amazon/aws/triggers/test_serialization.py",
            "tests/unit/amazon/aws/triggers/test_sqs.py",
        ),
        version="9.39.0",
        options=("--noconftest",),
        variables=(
            ("AIRFLOW_CONN_AWS_DEFAULT", "aws://"),
            ("AIRFLOW_HOME", "{folder}/.airflow"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ),
    ),
}


def pytest_configure() -> None:
    """Install the package: this file is the plugin of the second run."""
    import boto_waiters_plus as bwp  # noqa: PLC0415 - the tool itself does not need it

    bwp.install()


# --- getting a suite --------------------------------------------------------------------------


def run(*command: str | Path, **keywords: Any) -> subprocess.CompletedProcess[str]:
    """A command that has to succeed."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **keywords)  # noqa: S603, PLW1510 - checked below
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def source(project: str, version: str, cache: Path) -> Path:
    """The unpacked source."""
    folder = cache / f"{project}-{version}"
    if not folder.is_dir():
        files = cache / "files"
        files.mkdir(exist_ok=True)
        file = files / f"{project.replace('-', '_')}-{version}.tar.gz"
        if SUITES[project].archive:
            download(SUITES[project].archive.format(version), file, folder)
        else:
            run(
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--no-binary", ":all:", "--dest", files, f"{project}=={version}"),
            )
        with tarfile.open(file) as archive:
            top = archive.getnames()[0].partition("/")[0]
            archive.extractall(files, filter="data")
        (files / top).rename(folder)
    return folder


def download(url: str, file: Path, folder: Path) -> None:
    """Get what the package index does not have."""
    try:
        with urllib.request.urlopen(url, timeout=60) as response:  # noqa: S310 - a URL of SUITES
            file.write_bytes(response.read())
    except (OSError, HTTPException) as error:
        raise SystemExit(f"{url}: {error}\nUnpack this archive as {folder}") from error


def environment(project: str, version: str, cache: Path) -> Path:
    """The interpreter of a virtual environment with that version."""
    folder = cache / f"environment-{project}-{version}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        run(sys.executable, "-m", "venv", folder)
        boto3 = f"boto3=={version}" if project == "botocore" else "boto3"
        run(
            *(python, "-m", "pip", "install", "--quiet", f"{project}=={version}", boto3),
            *("wrapt", "pytest", "pytest-xdist", *SUITES[project].requires),
        )
        (folder / "complete").touch()
    return python


# --- running it -------------------------------------------------------------------------------


def outcomes(
    python: Path,
    folder: Path,
    suite: Suite,
    tests: Iterable[str],
    options: Iterable[str],
    *,
    install: bool,
) -> dict[str, str]:
    """The outcome of every test, by its name."""
    report = folder.parent / f"{folder.name}-{'install' if install else 'stock'}.xml"
    variables = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    variables |= {
        **{key: value.format(folder=folder) for key, value in suite.variables},
        "PYTHONHASHSEED": "0",  # ids that come from a set are the same in both runs
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tools"))),
    }
    command = [python, "-m", "pytest", "-q", "-o", f"cache_dir={folder.parent / 'pytest'}"]
    command += [f"--junitxml={report}"]
    command += ["-p", Path(__file__).stem] if install else []
    report.unlink(missing_ok=True)
    done = subprocess.run(  # noqa: S603 - the suite's own tests; those that fail are reported
        [*map(str, command), *options, *tests],
        cwd=folder,
        env=variables,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1):  # neither all passed nor some failed: nothing was run
        raise SystemExit(done.stdout + done.stderr)
    return {name(case): outcome(case) for case in ET.parse(report).iter("testcase")}  # noqa: S314 - pytest wrote it


def name(case: ET.Element) -> str:
    """The name of a test."""
    return f"{case.get('classname')}::{case.get('name')}"


def outcome(case: ET.Element) -> str:
    """One of OUTCOMES."""
    words = {"error": "error", "failure": "failed", "skipped": "skipped"}
    tags = {child.tag for child in case}
    return next((word for tag, word in words.items() if tag in tags), "passed")


def compare(project: str, version: str, arguments: argparse.Namespace) -> bool:
    """Run a suite twice and print both counts; whether they are the same."""
    title = f"{project} {version}"
    folder = source(project, version, arguments.cache)
    suite = SUITES[project]
    chosen = arguments.tests or (suite.full if arguments.full else suite.quick)
    tests = [test for test in chosen if (folder / test).exists()]
    if not tests:
        raise SystemExit(f"{title}: no tests in {folder}")
    python = environment(project, version, arguments.cache)
    options = [*suite.options, *(f"--ignore={path}" for path in suite.ignore)]
    options += ["-n", str(arguments.workers)] if arguments.workers else []
    stock, ours = (
        outcomes(python, folder, suite, tests, options, install=install)
        for install in (False, True)
    )
    for label, found in (("stock", stock), ("install()", ours)):
        counts = Counter(found.values())
        print(f"{title:38} {label:10}" + "".join(f"{counts[word]:>9}" for word in OUTCOMES))
    differing = sorted(n for n in stock.keys() | ours.keys() if stock.get(n) != ours.get(n))
    for test in differing:
        print(f"    {test}: {stock.get(test)} -> {ours.get(test)}")
    if "passed" not in stock.values():
        raise SystemExit(f"{title}: no test passes without install()")
    return not differing


def versions(project: str, arguments: argparse.Namespace) -> list[str]:
    """The versions to try: those given, else the suite's, or the installed and the oldest one."""
    if arguments.version or SUITES[project].version:
        return list(arguments.version or [SUITES[project].version])
    try:
        installed = metadata.version(project)
    except metadata.PackageNotFoundError:
        print(f"{project:38} is not installed: give a --version")
        return []
    return [installed, OLDEST] if project == "botocore" else [installed]


def main() -> None:
    """Print the table; exit with 1 if any outcome differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=lambda text: Path(text).absolute())
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all")
    parser.add_argument(
        "--version", action="append", help="default: the suite's, or installed, oldest supported"
    )
    parser.add_argument("--tests", nargs="+", help="folders or files instead of the chosen ones")
    parser.add_argument("--full", action="store_true", help="all tests that need no network")
    parser.add_argument("--workers", type=int, default=0, help="processes of pytest-xdist")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    (arguments.cache / "pytest.ini").touch()  # or pytest would take a configuration from above
    print(f"{'':38} {'':10}" + "".join(f"{word:>9}" for word in OUTCOMES))
    same = [
        compare(project, version, arguments)
        for project in arguments.suite or SUITES
        for version in versions(project, arguments)
    ]
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
