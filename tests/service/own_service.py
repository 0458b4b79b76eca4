"""Clients of a service that botocore does not have."""

import json
from functools import partial

import botocore.session
from botocore.loaders import Loader

METADATA = {"apiVersion": "2024-01-01", "protocol": "rest-json", "signatureVersion": "v4"}
METADATA |= {"serviceId": "Mine", "endpointPrefix": "mine"}


def clients_of(folder, operation, *, shapes=(), **members):
    """Return a function that makes a client of a service of this operation."""
    http = {"method": "POST", "requestUri": "/"}
    operations = {operation: {"name": operation, "http": http, **members}}
    description = {"metadata": METADATA, "operations": operations, "shapes": dict(shapes)}
    place = folder / "mine/2024-01-01"
    place.mkdir(parents=True)
    (place / "service-2.json").write_text(json.dumps(description))
    session = botocore.session.Session()
    session.register_component("data_loader", Loader([str(folder)]))
    url = "https://mine.example"
    return partial(session.create_client, "mine", region_name="us-east-1", endpoint_url=url)
