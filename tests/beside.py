"""Where the facts lie that some tests read and that are no part of a checkout."""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared"
REQUIRED = os.environ.get("CONFORMANCE_REQUIRED", "0") not in ("", "0")


def beside(path):
    """Return the place of `path` in the folder beside the checkout, and a mark for its tests.

    The mark skips them where nothing is there. With CONFORMANCE_REQUIRED set, the absence of
    conformance data is an error.
    """
    place = FOLDER / path
    if REQUIRED and path.startswith("conformance"):
        assert place.exists(), f"no {path} beside the checkout"
    return place, pytest.mark.skipif(not place.exists(), reason=f"no {path} beside the checkout")
