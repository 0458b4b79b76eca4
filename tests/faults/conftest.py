"""A certificate for servers over TLS."""

import pytest
from faults.scenarios import Certificate


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    pytest.importorskip("cryptography")
    return Certificate(tmp_path_factory.mktemp("certificate"))
