"""The options of a wait that keeps to the letter of the specification.

They are kept apart from the others, because checking them imports the machine, and `install` needs
none.
"""

from __future__ import annotations

from typing import Final

from .options import WaitOptions

SMITHY: Final = WaitOptions(
    last_attempt="spec", retry_transient=False, converted_delays="aws", explain_failure=False
)
"""The options of a wait that keeps to the letter of the specification, and to AWS's numbers.

`install(defaults=SMITHY)` replaces the four defaults that differ: the last attempt is made
`min_delay` before the end, an error that no acceptor matches is a failure even if it is transient,
no further call follows a failure, and delays that were converted from botocore's are those of AWS's
Smithy models. A definition's own delays stay as they are.
"""
