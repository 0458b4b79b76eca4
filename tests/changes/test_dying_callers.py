"""Outages longer than the token lives, and callers that are killed and resumed by another process.

`python bench/call_once.py --outages` runs 1,000 schedules; here are 25 of them.
"""

import collections
import os

import botocore
import pytest
from changes.cutting_proxy import CuttingProxy

# With botocore 1.34 most of these schedules end with `outcome_unknown`, and few with a success.
IS_OLD = tuple(map(int, botocore.__version__.split(".")[:2])) < (1, 40)

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the service forks"),
]
pytest.importorskip("sqlalchemy")

from changes.dying_callers import run_plainly, run_schedule, virtual_machine  # noqa: E402

SCHEDULES = range(25)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    with CuttingProxy(str(tmp_path_factory.mktemp("service") / "tokens.db")) as proxy:
        yield proxy


@pytest.mark.timeout(600)
def test_never_two_resources_without_a_word(proxy, virtual_time, tmp_path):
    ends, plain = collections.Counter(), collections.Counter()
    with virtual_machine(virtual_time):
        for seed in SCHEDULES:
            ends[run_schedule(seed, proxy, virtual_time, tmp_path)] += 1
            plain[run_plainly(seed, proxy, virtual_time)] += 1
    # A call that is known to have ended has made one build; no call has made two.
    assert ends.keys() <= {(1, True), (1, False), (0, False)}
    if not IS_OLD:
        assert ends[1, True] > len(SCHEDULES) / 4
        # Under one token, too, a script starts two.
        assert max(plain) >= 2
