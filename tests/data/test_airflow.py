"""Waiters that others wrote: the files of Airflow's amazon provider, as they are.

They are looked for in an installed `apache-airflow-providers-amazon`, else in its wheel, which
`AIRFLOW_AMAZON_WHEEL` names (the file, or a folder it is in). Nothing is skipped but all of it.
"""

import importlib.metadata
import json
import os
import zipfile
from pathlib import Path, PurePosixPath

import botocore.session
import pytest

from boto_waiters_plus import load_definitions
from boto_waiters_plus.validation import Severity, check

DISTRIBUTION = "apache-airflow-providers-amazon"
FOLDER = "airflow/providers/amazon/aws/waiters"
SERVICES = {"neptune_analytics": "neptune-graph"}
"""What a file is called that is not called after its service."""

"""Responses of those that do not look for one text in one member."""

"""Its failures are told by a member that the operation does not have; the checker says so."""


def is_waiters(name):
    return str(PurePosixPath(name).parent) == FOLDER and name.endswith(".json")


def installed_files():
    try:
        files = importlib.metadata.files(DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {file.name: file.read_text() for file in files if is_waiters(str(file))}


def files_of_a_wheel():
    place = Path(os.environ.get("AIRFLOW_AMAZON_WHEEL") or os.devnull)
    wheels = sorted(place.glob("*.whl")) if place.is_dir() else [place]
    if not wheels or wheels[-1].suffix != ".whl":
        return {}
    with zipfile.ZipFile(wheels[-1]) as wheel:
        names = filter(is_waiters, wheel.namelist())
        return {PurePosixPath(name).name: wheel.read(name).decode() for name in names}


FILES = installed_files() or files_of_a_wheel()
WAITERS = [
    (name, waiter)
    for name, text in sorted(FILES.items())
    for waiter, body in json.loads(text)["waiters"].items()
    if "acceptors" in body
]

pytestmark = pytest.mark.skipif(not FILES, reason=f"{DISTRIBUTION} is not at hand")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("waiters")
    for name, text in FILES.items():
        (path / name).write_text(text, encoding="utf-8")
    return path


def test_all_files_load(folder):
    assert len(FILES) >= 26
    found = {d.name for d in load_definitions(folder)}
    assert found == {waiter for _, waiter in WAITERS}


def test_the_checker_knows_an_operation_for_every_waiter(folder):
    known = set(botocore.session.get_session().get_available_services())
    if not known >= {service_of(name) for name in FILES}:
        pytest.skip("the installed botocore is too old")
    events = [event for name in FILES for event in check(folder / name, service_of(name))]
    ids = {event.id for event in events if event.severity > Severity.NOTE}
    assert "WaiterUnknownOperation" not in ids
    assert "Model" not in ids
    assert {waiter for _, waiter in WAITERS if f"WaiterUnknownState.{waiter}.2" in ids} == {
        "import_task_cancelled"
    }


def service_of(file):
    stem = Path(file).stem
    return SERVICES.get(stem, stem)
