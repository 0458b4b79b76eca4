"""The backends of the package under the contract of all backends."""

import time

import backend_contract as contract  # beside this file
import pytest
from stored_waits import NIGHTLY  # beside this file

from boto_waiters_plus.operations import Store


class Opened(contract.SharedContract):
    """Opens a database a second time."""

    @pytest.fixture
    def backend(self, url, clock):
        backend = Store(url, clock=clock).backend
        yield backend
        backend.close()

    @pytest.fixture
    def another(self, url, clock):
        another = Store(url, clock=clock).backend
        yield another
        another.close()


class TestMemory(contract.BackendContract):
    @pytest.fixture
    def backend(self, clock):
        return Store(":memory:", clock=clock).backend


class TestSqlite(Opened):
    @pytest.fixture
    def url(self, tmp_path):
        return tmp_path / "waits.db"


@NIGHTLY
class TestPostgresql(Opened):
    @pytest.fixture
    def url(self, new_database):
        return new_database()


@pytest.mark.parametrize("name", [":memory:", "waits.db"])
def test_setting_the_wall_clock_moves_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    backend = Store(name).backend
    lease, real = backend.acquire("worker", 3600), time.time
    _, before = backend.ended_ids(0)
    assert before == pytest.approx(real(), abs=600)
    for jump in (-7200, 7200):
        monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
        assert backend.leases() == {lease}
        assert 0 <= backend.ended_ids(0)[1] - before < 600
    backend.close()
