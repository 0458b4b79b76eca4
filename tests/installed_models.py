"""What the installed botocore's models know."""

import botocore
import pytest

from boto_waiters_plus.definitions.shipped import WRITTEN_FOR


def _numbers(version):
    return tuple(int(part) for part in version.split(".")[:2])


IS_OLDER = _numbers(botocore.__version__) < _numbers(WRITTEN_FOR)
"""Whether botocore's models are older than those that the definitions were written from."""

with_the_operations_of_today = pytest.mark.skipif(
    IS_OLDER, reason="the installed botocore lacks some of the operations"
)
