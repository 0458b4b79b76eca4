"""The definitions that come with the package, and botocore's own, as clients see them."""

import functools
import json

from botocore.loaders import Loader
from botocore.model import ServiceModel

from boto_waiters_plus.definitions.files import parse_document
from boto_waiters_plus.definitions.shipped import data_root, shipped_definitions, shipped_services
from boto_waiters_plus.engine.acceptors import AcceptorState, SuccessMatcher
from boto_waiters_plus.service.service_waiters import ServiceWaiters

SERVICES = list(shipped_services())
LOADER = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])


def test_shipped_files_are_parsed_completely():
    for service_id in SERVICES:
        text = (data_root() / f"{service_id}.json").read_text(encoding="utf-8")
        document = json.loads(text)
        assert document["smithy"] == "2.0", service_id
        assert {shape["type"] for shape in document["shapes"].values()} == {"apply"}, service_id
        written = {
            name: waiter
            for shape in document["shapes"].values()
            for name, waiter in shape["traits"]["smithy.waiters#waitable"].items()
        }
        parsed = parse_document(document, source=service_id)
        assert {d.name: d.to_json() for d in parsed} == written, service_id
        # They are split from the text without parsing all of it.
        split = shipped_definitions(service_id)
        assert split == tuple(parsed), service_id
        assert [d.service for d in split] == [d.service for d in parsed]
        assert {d.source for d in split} == {f"data/{service_id}.json"}


def test_services_without_definitions_have_none():
    assert shipped_definitions("no-such-service") == ()
    assert "traits" not in SERVICES


def services_with_waiters():
    return LOADER.list_available_services("waiters-2")


@functools.cache
def waiters_of(service):
    model = ServiceModel(LOADER.load_service_model(service, "service-2"), service_name=service)
    return ServiceWaiters(model, LOADER)


def test_an_empty_response_is_never_a_success():
    """botocore parses a truncated JSON body as `{}`, without an error."""
    ready_on_nothing = []
    for service in services_with_waiters():
        for waiter in waiters_of(service).values():
            document = waiter.data_model.output({"ResponseMetadata": {"HTTPStatusCode": 200}})
            index = waiter.matching.match_response(document, {}, status=200).index
            if index is None or waiter.definition.states[index] is not AcceptorState.SUCCESS:
                continue
            if waiter.definition.acceptors[index].matcher != SuccessMatcher(success=True):
                ready_on_nothing.append((service, waiter.definition.name))
    assert ready_on_nothing == []
