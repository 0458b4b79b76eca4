"""Rules that read the documentation of AWS's models: pages, filters, earlier runs."""

from dataclasses import replace
from pathlib import Path

import pytest
from case_tables import tabled
from data_rules import check
from installed_models import with_the_operations_of_today

from boto_waiters_plus.engine.model import WaiterDefinition

DATA = Path(__file__).resolve().parents[2] / "data"


def found(service, operation, path, rule, name="ThingReady", states=("READY",), **members):
    success, *failure = states
    definition = WaiterDefinition.from_states(
        name, operation, path=path, success=[success], failure=failure
    )
    definition = replace(definition, service=service, **members)
    return [e.id for e in check(definition) if e.id.startswith(rule)]


@with_the_operations_of_today
@tabled("service", "operation", "path", "found_it")
def test_names_beyond_a_page_are_a_warning(service, operation, path, found_it):
    rule = "WaiterNamedOnPages"
    expected = [f"{rule}.ThingReady"] if found_it else []
    assert found(service, operation, path, rule) == expected


@with_the_operations_of_today
@tabled("service", "operation", "path", "parameters")
def test_parameter_against_a_filter_is_a_warning(service, operation, path, parameters):
    rule = "WaiterFilteredByDefault"
    assert found(service, operation, path, rule) == [f"{rule}.ThingReady"] * parameters
    shipped = check(DATA / "rds.json")
    assert [e.id for e in shipped if e.id.startswith(f"{rule}.CustomDB")] == []


ATTACHMENT = "FirewallStatus.TransitGatewayAttachmentSyncState.TransitGatewayAttachmentStatus"


@with_the_operations_of_today
@pytest.mark.parametrize(("failed", "warned"), [("ERROR", True), ("FAILED", False)])
def test_failure_in_a_recoverable_state_is_a_warning(failed, warned):
    rule, states = "WaiterFailsOnRecoverable", ("READY", failed)
    events = found("network-firewall", "DescribeFirewall", ATTACHMENT, rule, states=states)
    assert bool(events) is warned


@with_the_operations_of_today
@tabled("name", "documentation", "warned")
def test_result_of_an_earlier_run_is_documented(name, documentation, warned):
    rule, path = "WaiterLastRun", "ProjectStatus"
    members = {"states": ("UpdateCompleted",), "documentation": documentation}
    events = found("sagemaker", "DescribeProject", path, rule, name, **members)
    assert events == [f"{rule}.{name}"] * warned
    # By its name a member is of the last run.
    path = "LastUpdateStatus.Status"
    members["states"] = ("Successful",)
    events = found("sagemaker", "DescribeFeatureGroup", path, rule, "GroupReady", **members)
    assert events == [f"{rule}.GroupReady"] * (documentation is None)


@with_the_operations_of_today
@pytest.mark.parametrize(
    ("service", "operation", "path", "warned"),
    [
        # The member has the status of the last operation, says the model.
        ("cognito-sync", "GetBulkPublishDetails", "BulkPublishStatus", True),
        ("securitylake", "ListDataLakes", "dataLakes[].updateStatus.status", True),
        # The answer is about the last change if the request names none.
        ("opensearch", "DescribeDomainChangeProgress", "ChangeProgressStatus.Status", True),
        # One query is run once.
        ("logs", "GetQueryResults", "status", False),
        ("redshift", "DescribeClusters", "Clusters[].ClusterStatus", False),
    ],
)
def test_status_of_the_last_operation_is_documented(service, operation, path, warned):
    rule = "WaiterLastRun"
    assert found(service, operation, path, rule) == [f"{rule}.ThingReady"] * warned


@pytest.mark.parametrize(("other", "warned"), [("active", True), ("deleted", False)])
def test_one_meaning_under_two_names_is_a_warning(models, other, warned):
    waiters = {"ThingActive": "active", "ThingReady": other}
    trait = {n: {"acceptors": [models.output("status", s)]} for n, s in waiters.items()}
    model = models.with_trait(trait)
    rule = "WaiterSameMeaning.ThingReady"
    assert [e.id for e in check(model) if "SameMeaning" in e.id] == [rule] * warned
