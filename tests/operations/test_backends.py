"""The backends of the package under the contract of all backends."""

import threading

import backend_contract as contract  # beside this file
import pytest

from boto_waiters_plus.operations.backend import UNDRIVEN
from boto_waiters_plus.operations.memory_backend import MemoryBackend
from boto_waiters_plus.operations.sql import SqlBackend
from boto_waiters_plus.operations.sql.tables import LEASES, WAITS


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


class TestPostgresql(Opened):
    @pytest.fixture
    def backend(self, new_database):
        backend = SqlBackend(new_database())
        yield backend
        backend.close()

    @pytest.mark.parametrize("other", ["acquire", "write"])
    def test_a_wait_that_is_claimed_meanwhile_stays_claimed(self, backend, other):
        """The other reads the leases before the claim is committed."""
        backend.add([contract.wait_row(1)], contract.DEFINITIONS)
        overdue = [{"id": contract.ids(1)[0], "state": "expired", "lease": None, "worker": None}]
        arguments = {"acquire": ("second", 30), "write": (UNDRIVEN, overdue)}[other]
        thread = threading.Thread(target=getattr(backend, other), args=arguments)
        with backend.database.writing() as first:
            lease = LEASES.insert().values(worker="first", expires=1e12).returning(LEASES.c.id)
            number = first.execute(lease).scalar_one()
            first.execute(WAITS.update().values(lease=number, worker="first"))
            thread.start()
            waiting = "select count(*) from pg_locks where not granted"
            while thread.is_alive() and not first.exec_driver_sql(waiting).scalar_one():
                pass
        thread.join()
        assert contract.driver(backend, 1) == (number, "first")
