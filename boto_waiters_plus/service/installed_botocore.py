"""Whether the installed botocore is the one that the shipped definitions were written from."""

from __future__ import annotations

import re

import botocore

from ..definitions.shipped import WRITTEN_FOR


def botocore_is_older() -> bool:
    """Return whether the installed botocore may lack what a shipped definition needs."""
    return _numbers(botocore.__version__) < _numbers(WRITTEN_FOR)


def botocore_is_newer() -> bool:
    """Return whether the installed botocore may have what no shipped definition knows."""
    return _numbers(botocore.__version__) > _numbers(WRITTEN_FOR)


def _numbers(version: str) -> tuple[int, ...]:
    # What comes behind, of a distributor for example, changes no model.
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])
