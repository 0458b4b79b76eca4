"""Waiters that others wrote: the files of Airflow's amazon provider, as they are.

They are those of the installed `apache-airflow-providers-amazon`; without it, the first test fails.
"""

import importlib.metadata
import json
from pathlib import Path

import pytest
from botocore import xform_name
from data.shared import full_sample, service_model

from boto_waiters_plus import load_definitions
from boto_waiters_plus.engine.matching import Matching

DISTRIBUTION = "apache-airflow-providers-amazon"
FOLDER = "airflow/providers/amazon/aws/waiters"
PLACEHOLDER = "{{EXECUTION_ID}}"
SERVICES = {"neptune_analytics": "neptune-graph"}
"""What a file is called that is not called after its service."""


def crawl(status):
    return {"Crawler": {"State": "READY", "LastCrawl": {"Status": status}}}


OUTPUTS = {
    "all_nodegroups_deleted": {"success": {"nodegroups": []}},
    "no_job_running": {"success": {"jobRuns": []}},
    "crawler_ready": {"success": crawl("SUCCEEDED"), "failure": crawl("FAILED")},
    "mwaa_dag_run_complete": {
        state: {"RestApiResponse": {"state": value}}
        for state, value in (("success", "success"), ("failure", "failed"))
    },
}
"""Responses of those that do not look for one text in one member."""

CANNOT_FAIL = {"db_cluster_stopped"}
"""Its failures are told by a member that the operation does not have; the checker says so."""


def installed_files():
    try:
        files = importlib.metadata.files(DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {each.name: each.read_text() for each in files if each.match(f"{FOLDER}/*.json")}


FILES = installed_files()
WAITERS = [
    (name, waiter)
    for name, text in sorted(FILES.items())
    for waiter, body in json.loads(text)["waiters"].items()
    if "acceptors" in body
]

pytestmark = pytest.mark.nightly(subject="programs")


def test_the_files_are_there():
    assert len(FILES) >= 26


@pytest.mark.parametrize(("file", "waiter"), WAITERS)
def test_waiter_has_each_of_its_ends(file, waiter, tmp_path):
    body, states = json.loads(FILES[file])["waiters"][waiter], set()
    service = SERVICES.get(Path(file).stem, Path(file).stem)
    model = service_model(service)
    if model is None:
        pytest.skip(f"the installed botocore has no {service}")
    for state, response in responses(waiter, body, client_operation(model, body["operation"])):
        # Airflow puts the id of the run there, whose samples all have one text.
        text = FILES[file].replace(PLACEHOLDER, response.pop(PLACEHOLDER))
        (tmp_path / file).write_text(text, encoding="utf-8")
        [found] = [each for each in load_definitions(tmp_path / file) if each.name == waiter]
        matching = Matching(found.acceptors)
        match = matching.match_response(response, status=200)
        if "Error" in response:
            match = matching.match_error([response["Error"]["Code"]])
        assert found.states[match.index].value == state
        states.add(state)
    assert "success" in states
    named = {acceptor["state"] for acceptor in body["acceptors"]}
    if waiter not in CANNOT_FAIL:
        assert ("failure" in named) == ("failure" in states)


def client_operation(model, name):
    """The operation by the name of the client's method, as botocore's waiters have it."""
    for each in model.operation_names:
        if xform_name(each) == xform_name(name):
            return model.operation_model(each)
    pytest.skip(f"the installed botocore has no {name}")


def responses(name, waiter, operation):
    """For each end that the waiter has, the first response that leads there, with that end."""
    ends = set()
    for acceptor in waiter["acceptors"]:
        state, expected = acceptor["state"], acceptor["expected"]
        possible = {"success"} if name in CANNOT_FAIL else {"success", "failure"}
        if state not in possible - ends:
            continue
        text = expected if isinstance(expected, str) else "any"
        if name in OUTPUTS:
            response = {**OUTPUTS[name][state]}
        elif acceptor["matcher"] == "error":
            response = {"Error": {"Code": expected, "Message": "no"}}
        else:
            response = full_sample(operation.output_shape, text)
        response[PLACEHOLDER] = text
        ends.add(state)
        yield state, response
