"""The backends of the package under the contract of all backends."""

import backend_contract as contract  # beside this file
import pytest
from stored_waits import NIGHTLY  # beside this file

from boto_waiters_plus.operations.memory_backend import MemoryBackend
from boto_waiters_plus.operations.sql import SqlBackend


class Opened(contract.SharedContract):
    """Opens a database a second time."""

    @pytest.fixture
    def another(self, backend):
        another = SqlBackend(backend.url)
        yield another
        another.close()


class TestMemory(contract.LocalContract):
    @pytest.fixture
    def backend(self):
        return MemoryBackend()


class TestSqlite(contract.LocalContract, Opened):
    @pytest.fixture
    def backend(self, tmp_path):
        backend = SqlBackend(tmp_path / "waits.db")
        yield backend
        backend.close()


@NIGHTLY
class TestPostgresql(Opened):
    @pytest.fixture
    def backend(self, new_database):
        backend = SqlBackend(new_database())
        yield backend
        backend.close()
