"""Makes `runtime.calls` importable."""

import sys
from pathlib import Path

FOLDER = str(Path(__file__).absolute().parents[1])
if FOLDER not in sys.path:
    sys.path.append(FOLDER)
