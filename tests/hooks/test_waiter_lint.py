"""What botocore's own tests ask of the config of every waiter that a client names."""

import botocore.session
import jmespath
import pytest
from botocore.utils import ArgumentGenerator

import boto_waiters_plus as bwp


def problems_of(client):
    """What is wrong with the waiters of a client, by name."""
    model = client.meta.service_model
    samples = {}
    for name in client.waiter_names:
        waiter = client.get_waiter(name)
        acceptors, operation = waiter.config.acceptors, waiter.config.operation
        if not waiter.name.isalnum() or not acceptors:
            yield name, "name or acceptors"
        if operation not in samples:
            shape = model.operation_model(operation).output_shape
            generator = ArgumentGenerator(use_member_names=True)
            samples[operation] = shape and generator.generate_skeleton(shape)
        for acceptor in acceptors:
            if acceptor.matcher.startswith("path"):
                value = jmespath.search(acceptor.argument, samples[operation])
                is_list = isinstance(value, list)
                if value is None or (acceptor.matcher in ("pathAll", "pathAny") and not is_list):
                    yield name, acceptor.argument


@pytest.mark.nightly(subject="catalog")
def test_every_waiter_of_every_service_passes():
    bwp.install()
    session = botocore.session.get_session()
    services = session.get_available_services()
    found = {name: [*problems_of(session.create_client(name))] for name in services}
    assert {name: problems for name, problems in found.items() if problems} == {}
