"""Write the page that compares the shipped waiters with what other tools wait for.

    python tools/waiter_coverage.py PAGE

The build of the site calls it. The counts of Airflow and Ansible were taken by hand.
`handwritten.json` beside this file names their waiters, `state-waits.json` what Terraform's AWS
provider waits for; each row has the equivalent waiter here or the reason why there is none.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from generate_data import corrections
from model_states import REASONS, judged

from boto_waiters_plus.cli.service_lookup import confidence
from boto_waiters_plus.definitions.shipped import (
    WRITTEN_FOR,
    shipped_definitions,
    shipped_services,
)
from boto_waiters_plus.engine.acceptors import AcceptorState
from boto_waiters_plus.engine.model import WaiterDefinition
from boto_waiters_plus.service.catalog import client_name

TOOLS = Path(__file__).resolve().parent

BOTOCORE = f"botocore {WRITTEN_FOR}"
AIRFLOW = "Airflow, apache-airflow-providers-amazon 9.39.0"
ANSIBLE = "Ansible, amazon.aws and community.aws"
SMITHY = "AWS's Smithy models, 13 services"
TERRAFORM = "Terraform's AWS provider: what had no waiter here in August 2026, or one in part"

ACK = "ACK: the resources of its EKS, MSK, Network Firewall and AgentCore controllers with states"
ACK_WAITS = 9
"""Read by hand; each has a waiter. Most of ACK's waits are code, not states, and not counted."""

SMITHY_WAITERS = 134
"""The waiters of AWS's published models; each is here under its own name."""

TOTALS = (
    (AIRFLOW, 27, 74, 13),
    (ANSIBLE, 11, 97, 77),
)
"""Services, waiters, and waiters without a failure state, in the packages as published."""

HAND_COUNTED = (AIRFLOW, ANSIBLE)

COUNTED_ON = "2026-11-21"

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
"""The number of waiters in Airflow and in Ansible, by the service's `boto3.client` name."""

CONFIDENCE_MEANINGS = {
    "recorded answers": "what it compares was seen in so many recorded answers of AWS",
    "documentation examples": "the same in so many examples of AWS's documentation",
    "run on moto": "a real client ran it to success against moto's implementation of the service",
    "every value of the enum": "every value of the state's enum in botocore's model was judged",
    "from botocore": "converted from botocore's waiter of the same name",
    "not read by a person yet": "a rule wrote it, or a state of it, for a newer botocore",
    "model only": "none of these: paths and errors of the model, states of the documentation",
}
"""What a waiter may rest on, as `confidence` words it without its counts."""

INTRODUCTION = """\
# Waiters by source

Which services have waiters, and where their definitions come from. `boto-wait list` prints the
shipped waiters, and `boto-wait list SERVICE` all waiters that a client of the service has in your
installation.

**Generated** waiters are converted from botocore's. **Curated** waiters were written for this
package from the API models. `boto-wait show SERVICE WAITER` prints what a waiter rests on, often
on more than one of these:

| confidence | waiters | meaning |
|---|---|---|
"""

NO_FAILURE_STATE = """\
If a resource can fail, a waiter without a failure state polls a failed resource until `max_wait`.
Not every resource can: a waiter for existence or deletion often has no state but an error to go by,
and an error that no acceptor matches ends the wait in any case."""

Services = dict[str, list[WaiterDefinition]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description="Compare the shipped waiters with others.")
    parser.add_argument("page", type=Path, help="the file to write")
    page: Path = parser.parse_args(arguments).page
    page.write_text(coverage_page(), encoding="utf-8", newline="\n")


def coverage_page() -> str:
    """Return the page, as Markdown."""
    services = {
        client_name(service_id): list(shipped_definitions(service_id))
        for service_id in shipped_services()
        if shipped_definitions(service_id)
    }
    lines = [*_confidences(services), "", *_sources(services), *_states_in_models()]
    lines += _services(services)
    return INTRODUCTION + "\n".join(lines) + "\n"


def is_generated(definition: WaiterDefinition) -> bool:
    """Whether the definition is converted from botocore's."""
    return "generated" in definition.tags


def _confidences(services: Services) -> Iterator[str]:
    found = (definition for group in services.values() for definition in group)
    counted = Counter(part for each in found for part in confidence_parts(each))
    for text, meaning in CONFIDENCE_MEANINGS.items():
        yield f"| {text} | {counted[text]} | {meaning} |"


def confidence_parts(definition: WaiterDefinition) -> list[str]:
    """Return what a definition rests on, without the counts."""
    parts = confidence(definition).split(", ")
    # `1 recorded answer` is one of `recorded answers`.
    return [re.sub(r"^\d+ (.*?)s?$", r"\1s", part) for part in parts]


def _sources(services: Services) -> Iterator[str]:
    yield "| source | services | waiters | without a failure state |"
    yield "|---|---|---|---|"
    choices: dict[str, Callable[[WaiterDefinition], bool]] = {
        "generated": is_generated,
        "curated": lambda definition: not is_generated(definition),
        "all": lambda _: True,
    }
    for name, chosen in choices.items():
        groups = [[d for d in found if chosen(d)] for found in services.values()]
        found = [definition for group in groups for definition in group]
        without = sum(AcceptorState.FAILURE not in definition.states for definition in found)
        yield f"| boto_waiters_plus, {name} | {sum(map(bool, groups))} | {len(found)} | {without} |"
    generated = [[each for each in group if is_generated(each)] for group in services.values()]
    botocores = (BOTOCORE, sum(map(bool, generated)), sum(map(len, generated)), "as generated")
    for row in (botocores, *TOTALS):
        yield f"| {' | '.join(map(str, row))} |"
    yield ""
    yield f"The last {len(TOTALS)} rows were counted on {COUNTED_ON}."
    yield NO_FAILURE_STATE
    yield ""
    yield from _coverage(services)


def _coverage(services: Services) -> Iterator[str]:
    """Yield the table by source, and what no definition can express."""
    generated = sum(is_generated(definition) for found in services.values() for definition in found)
    handwritten, waits = _rows("handwritten.json", "waiters"), _rows("state-waits.json", "waits")
    missing = [row for row in handwritten if "none" in row]
    by_source = {source: sum(row["source"] in source for row in missing) for source in HAND_COUNTED}
    yield "| source | waits | covered | not expressible | waiters written from it |"
    yield "|---|---|---|---|---|"
    yield _share(BOTOCORE, generated, 0, "yes: converted")
    yield _share(SMITHY, SMITHY_WAITERS, 0, "yes")
    yield _share(TERRAFORM, len(waits), sum("none" in wait for wait in waits), "yes")
    for source, _, waiters, _ in TOTALS:
        if source in by_source:
            yield _share(source, waiters, by_source[source], "yes")
    yield _share(ACK, ACK_WAITS, 0, "no: the waiters were there")
    yield ""
    yield "A list that waiters were written from says nothing of what other lists have. The"
    yield "models do: see [below](#states-in-the-models)."
    yield ""
    yield "A shipped definition cannot wait for an item that only the caller's value picks from a"
    yield "list, or for the equality of an answer with what the caller wanted. One that is made in"
    yield "code can: the value goes into its path. These waits have no waiter here:"
    yield ""
    yield "| source | service | waiter or operation | reason |"
    yield "|---|---|---|---|"
    for row in missing:
        yield f"| `{row['source']}` | {row['service']} | {row['name']} | {row['none']} |"
    reasons = {(w["service"], w["operation"], w["none"]) for w in waits if "none" in w}
    for service, operation, reason in sorted(reasons):
        yield f"| Terraform | {service} | {operation} | {reason} |"
    yield ""
    yield from _differences(waits)
    yield from _corrections()


def _differences(waits: list[dict[str, Any]]) -> Iterator[str]:
    """Yield where a waiter follows the API's documentation and not the provider's states."""
    yield "Where a waiter here ends in another way than the provider's list of states, it follows"
    yield "the documentation of the API:"
    yield ""
    yield "| service | waiter | difference |"
    yield "|---|---|---|"
    found = {(w["service"], w["ours"], w["differs"]) for w in waits if "differs" in w}
    for service, name, difference in sorted(found):
        yield f"| `{service}` | {name} | {difference} |"
    yield ""


def _corrections() -> Iterator[str]:
    """Yield the converted waiters that are changed, and why."""
    yield "These waiters of botocore are changed. `get_waiter` keeps botocore's own acceptors:"
    yield ""
    yield "| service | waiter | further failures | also gone | reason |"
    yield "|---|---|---|---|---|"
    for (service_id, name), change in sorted(corrections().items()):
        service = client_name(service_id.replace(" ", "-").lower())
        states = ", ".join(f"`{each}`" for each in change.failures)
        gone = f"`{change.also_gone}`" if change.also_gone else ""
        yield f"| `{service}` | `{name}` | {states} | {gone} | {change.reason} |"
    yield ""


def breakable(name: str, longer_than: int = 0) -> str:
    """Return a name that a table may break between its words, if it has more characters."""
    if len(name) <= longer_than:
        return name
    return re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "<wbr>", name)


def _share(source: str, waits: int, not_expressible: int, is_from: str) -> str:
    return f"| {source} | {waits} | {waits - not_expressible} | {not_expressible} | {is_from} |"


def _states_in_models() -> Iterator[str]:
    """Yield how many read operations with a state that passes have a waiter, and the others."""
    found = judged()
    yield "## States in the models"
    yield ""
    yield f"{found.total} operations of {BOTOCORE} get or describe something that is named by a"
    yield "required parameter, and answer with a state whose values, by its enumeration or its"
    yield "documentation, are in progress and at rest; lists are not counted."
    yield f"{len(found.covered)} of them have a waiter, {len(found.reasoned)} a reason why"
    yield f"there is none, {len(found.open)} neither. The waiters of August 2026 had"
    yield "41 % of them; the others were written from this list."
    yield ""
    yield "| service | operation | why there is no waiter |"
    yield "|---|---|---|"
    reasons = json.loads(REASONS.read_text(encoding="utf-8"))
    for each in found.reasoned:
        name = each.operation.name
        reason = reasons[each.service_id][name]
        yield f"| `{client_name(each.service_id)}` | {breakable(name)} | {reason} |"
    yield ""


def _rows(name: str, member: str) -> list[dict[str, Any]]:
    document = json.loads((TOOLS / name).read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = document[member]
    return rows


def _services(services: Services) -> Iterator[str]:
    yield "## By service"
    yield ""
    yield "| service | waiters | generated | curated | Airflow | Ansible |"
    yield "|---|---|---|---|---|---|"
    for name, found in sorted(services.items()):
        generated = sum(map(is_generated, found))
        counts = (len(found), generated, len(found) - generated, *HANDWRITTEN.get(name, (0, 0)))
        yield f"| `{name}` | {' | '.join(map(str, counts))} |"


if __name__ == "__main__":
    main()
