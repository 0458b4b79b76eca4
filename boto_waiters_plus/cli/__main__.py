"""`python -m boto_waiters_plus.cli`."""

import sys

from . import main

sys.exit(main())
