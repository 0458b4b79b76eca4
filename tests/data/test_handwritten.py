"""Waiters that users of boto3 had to write themselves: `tests/cases/handwritten.json`.

Airflow and Ansible ship 171; each row has the waiter here that waits for the same states.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from beside import beside
from botocore import xform_name
from waiter_coverage import AIRFLOW, ANSIBLE, HANDWRITTEN, TOTALS

from boto_waiters_plus.engine.model import AcceptorState

ROOT = Path(__file__).resolve().parents[2]
ROWS = json.loads((ROOT / "tests/cases/handwritten.json").read_text(encoding="utf-8"))["waiters"]
FACTS, needs_facts = beside("reference/handwritten-waiters.json")

REQUESTED = {
    "athena": ["GetQueryExecution: SUCCEEDED / FAILED CANCELLED"],
    "rds": [
        "DescribeDBInstances: stopped / failed",
        "DescribeDBClusters: stopped / failed",
        "DescribeBlueGreenDeployments: AVAILABLE / INVALID_CONFIGURATION SWITCHOVER_FAILED",
        "DescribeBlueGreenDeployments: SWITCHOVER_COMPLETED / SWITCHOVER_FAILED",
    ],
    "autoscaling": [
        "DescribeAutoScalingGroups: InService",
        "DescribeAutoScalingInstances: InService",
        "DescribeInstanceRefreshes: Successful / Failed Cancelled",
    ],
    "batch": ["DescribeJobs: SUCCEEDED / FAILED"],
    "glue": ["GetJobRun: SUCCEEDED / FAILED TIMEOUT STOPPED ERROR", "GetCrawler: READY"],
    "stepfunctions": ["DescribeExecution: SUCCEEDED / FAILED TIMED_OUT ABORTED"],
    "sagemaker": [
        "DescribePipelineExecution: Succeeded / Failed Stopped",
        "DescribeCompilationJob: COMPLETED / FAILED STOPPED",
        "DescribeHyperParameterTuningJob: Completed / Failed Stopped",
        "DescribeUserProfile: InService / Failed",
    ],
    "emr-containers": ["DescribeJobRun: COMPLETED / FAILED CANCELLED"],
    "emr-serverless": [
        "GetJobRun: SUCCESS / FAILED CANCELLED",
        "GetApplication: STARTED / TERMINATED",
        "GetSession: STARTED / FAILED",
    ],
    "quicksight": ["DescribeIngestion: COMPLETED / FAILED CANCELLED"],
    "workspaces": ["DescribeWorkspaces: AVAILABLE / ERROR"],
    "redshift-data": ["DescribeStatement: FINISHED / FAILED ABORTED"],
    "logs": ["GetQueryResults: Complete / Failed Cancelled Timeout"],
    "ec2": [
        "DescribeVpcEndpoints: available / failed",
        "DescribeTransitGateways: available",
        "DescribeTransitGatewayVpcAttachments: available / failed",
        "DescribeRouteTables: RouteTables",
        "DescribeVpnGateways: attached",
        "DescribeInternetGateways: Attachments",
        "DescribeInternetGateways: InvalidInternetGatewayID.NotFound",
    ],
    "cloudformation": [
        "DescribeStackDriftDetectionStatus: DETECTION_COMPLETE / DETECTION_FAILED",
    ],
    "servicecatalog": ["DescribeRecord: SUCCEEDED / FAILED"],
    "firehose": ["DescribeDeliveryStream: ACTIVE / CREATING_FAILED"],
    "wafv2": ["GetWebACLForResource: WebACL"],
    "waf": ["GetChangeTokenStatus: INSYNC"],
    "connect": ["DescribeInstance: ACTIVE / CREATION_FAILED"],
    "synthetics": ["GetCanaryRuns: PASSED / FAILED"],
    "controltower": ["GetBaselineOperation: SUCCEEDED / FAILED"],
    "config": ["DescribeConfigRules: ACTIVE"],
    "lambda": ["GetFunctionConfiguration: Active Inactive / Failed"],
}
"""The most requested waiters that botocore lacks: what they poll, success, failure."""


def texts(definition, state):
    return " ".join(
        acceptor.matcher.describe()
        for acceptor in definition.acceptors
        if acceptor.state.value == state
    )


def key(row, service="service"):
    return row[service], xform_name(row["operation"]), row["name"].lower().replace("_", "")


def test_every_row_has_a_waiter_on_the_same_operation_or_a_reason(definitions):
    for row in ROWS:
        assert ("ours" in row) != ("none" in row)
        if "ours" in row:
            assert definitions[row["service"], row["ours"]].operation == row["operation"]


def test_every_row_differs():
    assert len({key(row) for row in ROWS}) == len(ROWS)


def test_counts_of_services_add_up_to_the_totals():
    totals = {name: counts for name, *counts in TOTALS}
    for index, name in enumerate((AIRFLOW, ANSIBLE)):
        counts = [each[index] for each in HANDWRITTEN.values() if each[index]]
        assert [len(counts), sum(counts)] == totals[name][:2]


@needs_facts
def test_ours_succeeds_by_the_same_values(definitions):
    """A row that differs says so."""
    rows = {key(row): row for row in ROWS}
    wrong = []
    differing = set()
    counts = Counter()
    for fact in json.loads(FACTS.read_text(encoding="utf-8")):
        counts[fact["botocore_service"], fact["source"].startswith("airflow")] += 1
        row = rows.pop(key(fact, "botocore_service"), None) or next(
            row for row in ROWS if key(row) == key(fact, "botocore_service")
        )
        if "none" in row:
            continue
        text = texts(definitions[row["service"], row["ours"]], "success")
        # True and False are of expressions that ours may put in another way.
        expected = [str(value) for value in fact["success"] if not isinstance(value, bool)]
        lacking = [value for value in expected if value not in text]
        if lacking and "differs" in row:
            differing.add(key(row))
        elif lacking:
            wrong.append((fact["service"], fact["name"], lacking))
    assert (wrong, rows) == ([], {})
    assert differing == {key(row) for row in ROWS if "differs" in row}
    assert {
        service: (counts[service, True], counts[service, False])
        for service in sorted({service for service, _ in counts})
    } == HANDWRITTEN


@pytest.mark.parametrize(
    ("service", "wanted"),
    [(service, wanted) for service, each in REQUESTED.items() for wanted in each],
)
def test_a_requested_waiter_is_here(service, wanted, definitions):
    operation, _, states = wanted.partition(": ")
    success, _, failure = states.partition(" / ")
    assert any(
        all(value in texts(definition, "success") for value in success.split())
        and all(value in texts(definition, "failure") for value in failure.split())
        and AcceptorState.SUCCESS in definition.states
        for (of, _), definition in definitions.items()
        if (of, definition.operation) == (service, operation)
    )
