"""How `max_wait` reaches into a call of botocore, where a process does not want the usual way.

Usually the first wait puts a wrapper around the methods of botocore's connection classes, for the
whole process; outside a wait it does nothing, and `uninstall()` takes it away. Who refuses that
calls `set_process_wide(False)`: from then on each client that waits gets connection classes of
its own, and botocore's stay as they are.
"""

from __future__ import annotations

from .aws.connections import is_process_wide, set_process_wide

__all__ = ["is_process_wide", "set_process_wide"]
