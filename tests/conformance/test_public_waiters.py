"""The definitions resolved for 13 services against the ones AWS publishes in Smithy."""

import json
from functools import cache

import pytest
from beside import beside
from case_tables import cases
from data.shared import service_model

from boto_waiters_plus.definitions.smithy import parse_waiter
from boto_waiters_plus.engine.acceptors import ErrorTypeMatcher
from boto_waiters_plus.engine.delays import delay_range
from boto_waiters_plus.service.service_waiters import ServiceWaiters

FILE, pytestmark = beside("conformance/smithy-waiters-public.json")
PUBLIC = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
WAITERS = [
    pytest.param(service, name, id=f"{service}-{name}")
    for service, facts in PUBLIC.items()
    if service != "_meta"
    for name in facts["waiters"]
]

MORE_ACCEPTORS = cases("more-acceptors")["waiters"]


@cache
def waiters_of(service):
    return ServiceWaiters(service_model(service), None)


@pytest.mark.parametrize(("service", "name"), WAITERS)
def test_definition_equals_the_published_one(service, name):
    published = PUBLIC[service]["waiters"][name]
    body, operation = published["waiter"], published["operation"]
    theirs = parse_waiter(name, body, operation=operation, source="published")
    found = waiters_of(service).find(name)
    if found is None:
        assert service == "autoscaling"
        pytest.skip("no botocore has waiters of Auto Scaling")
    ours = found.definition
    assert ours.operation == theirs.operation
    assert (ours.min_delay, ours.max_delay) == delay_range(theirs.min_delay)
    more = [acceptor for acceptor in ours.acceptors if acceptor not in theirs.acceptors]
    common = tuple(acceptor for acceptor in ours.acceptors if acceptor not in more)
    assert common == theirs.acceptors
    assert list(map(compared_by, more)) == MORE_ACCEPTORS.get(service, {}).get(name, [])
    assert "allStringEquals" not in str([each.to_json() for each in more])


def compared_by(acceptor):
    matcher = acceptor.matcher
    return matcher.name if isinstance(matcher, ErrorTypeMatcher) else matcher.matcher.expected
