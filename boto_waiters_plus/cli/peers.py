"""Waiters that others have, as the reference pages compare them with ours: counts, no more.

`tests/cases/handwritten.json` has the hand-written ones by name, each with ours beside it.
"""

from __future__ import annotations

BOTOCORE = "botocore 1.44.5"
AIRFLOW = "Airflow, apache-airflow-providers-amazon 9.39.0"
ANSIBLE = "Ansible, amazon.aws and community.aws"

TOTALS: tuple[tuple[str, int, int, int | None], ...] = (
    (BOTOCORE, 80, 410, None),
    (AIRFLOW, 27, 74, 13),
    (ANSIBLE, 11, 97, 77),
)
"""Services, waiters, waiters without a failure state (None: as those generated from them)."""

COUNTED = "2026-11-21"
"""When, in the packages as published."""

HANDWRITTEN: dict[str, tuple[int, int]] = {
    "appflow": (1, 0),
    "athena": (3, 0),
    "autoscaling": (0, 12),
    "batch": (2, 0),
    "bedrock": (4, 0),
    "bedrock-agent": (2, 0),
    "bedrock-agentcore-control": (2, 0),
    "comprehend": (3, 0),
    "databrew": (1, 0),
    "datazone": (1, 0),
    "dms": (8, 0),
    "dynamodb": (2, 3),
    "ec2": (0, 33),
    "ecs": (2, 0),
    "eks": (1, 6),
    "elb": (0, 9),
    "elbv2": (0, 12),
    "emr": (6, 0),
    "emr-containers": (1, 0),
    "emr-serverless": (10, 0),
    "glue": (4, 0),
    "kinesisanalyticsv2": (2, 0),
    "mwaa": (2, 0),
    "neptune": (2, 0),
    "neptune-graph": (1, 0),
    "network-firewall": (0, 7),
    "opensearchserverless": (1, 0),
    "quicksight": (1, 0),
    "rds": (2, 7),
    "redshift": (3, 0),
    "route53": (0, 1),
    "s3": (0, 6),
    "sagemaker": (6, 0),
    "stepfunctions": (1, 0),
    "waf": (0, 1),
}
"""Waiters written by hand in Airflow and in Ansible, by botocore's name of the service."""

DISTINCT = 163
"""Those of them that differ in service, operation or name."""

NOT_HERE: tuple[tuple[str, str, str], ...] = (
    (
        "appflow",
        "run_complete",
        "takes the id of a run as a parameter; flow_execution_successful waits for the last run",
    ),
    (
        "autoscaling",
        "min_viable_instances",
        "takes a number as a parameter; group_in_service waits for the group's own minimum",
    ),
    (
        "elb",
        "min_instances_in_service",
        "takes a number as a parameter; instance_in_service waits for those named",
    ),
    (
        "elbv2",
        "min_targets_healthy",
        "takes a number as a parameter; target_in_service waits for those named",
    ),
    (
        "mwaa",
        "mwaa_task_complete",
        "has no acceptors until Airflow adds them",
    ),
)
"""Those that no waiter here stands for: service, name, and why."""
