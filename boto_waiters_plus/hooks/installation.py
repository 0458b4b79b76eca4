"""`install` and `uninstall`.

Sessions made from now on are reached by botocore's `register_initializer`; those that exist, by
a wrapper around `Session.create_client`; every waiter object, however it was built, by a wrapper
around `Waiter.wait`. They are put in place at once if botocore is imported already, and
otherwise when it is: an `install` that comes first must not import botocore, or `ssl`, before a
program patches sockets or chooses another botocore.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..common.wrong_arguments import wrong_type
from ..settings import NO_SETTINGS, Observer, Settings
from . import wrapping  # noqa: F401 - it is compared with itself, whatever drops modules later
from .import_hook import ImportHook
from .state import INSTALLED, PATCHED_MODULES

if TYPE_CHECKING:
    from ..definitions.files import Source
    from ..engine.model import WaiterDefinition
    from ..options import WaitOptions


def install(
    *,
    definitions: Source | Iterable[Source] = (),
    defaults: WaitOptions | Mapping[str, Any] | None = None,
    on_event: Observer | None = None,
    get_waiter: bool = True,
) -> None:
    """Give every client `wait_until_*` methods and run all waiters on the engine.

    Reaches sessions made from now on, existing sessions, and every botocore waiter object. It
    imports neither boto3 nor botocore nor aiobotocore: what the program imports later is extended
    then. It is safe to call again and from several threads: definitions and handlers add to
    the earlier ones, defaults replace them.

    Args:
        definitions: waiters of your own: a path, a dict, a `WaiterDefinition`, or several; they
            win over all others.
        defaults: options for every wait that does not give them; the delays are for waiters, not
            for the forms of `conditions`, which have an `interval`.
        on_event: called with a `WaitEvent` as a wait starts, after each attempt, and at its end;
            `poll`, the forms of `conditions` and the assertions of `testing` included.
        get_waiter: False leaves every `Waiter` object to botocore and adds the methods only.

    Raises:
        WaiterDefinitionError: a definition breaks a rule; nothing is installed then.
        TypeError, ValueError: an argument is not valid.
    """
    settings = settings_from(definitions, defaults, on_event)
    if not isinstance(get_waiter, bool):
        raise wrong_type("get_waiter", get_waiter, "True or False")
    with INSTALLED.lock:
        INSTALLED.level.own = INSTALLED.level.own.extended(settings)
        INSTALLED.runs_waiters = get_waiter
        INSTALLED.on = True
        _IMPORT_HOOK.put_in_place()
    # The lock is not held: other threads take it while they import.
    if any(name in sys.modules for name in PATCHED_MODULES):
        _patches().apply_to_imported()


def uninstall() -> None:
    """Undo `install`: botocore behaves as it did before, for existing clients too.

    Sessions and clients that were given to `enable` keep what they were given there.
    """
    with INSTALLED.lock:
        INSTALLED.level.own = NO_SETTINGS
        INSTALLED.runs_waiters = True
        INSTALLED.on = False
        _IMPORT_HOOK.remove()
        for session, hook in list(INSTALLED.session_hooks.items()):
            if not hook.is_explicit:
                hook.unregister()
                del INSTALLED.session_hooks[session]
    if INSTALLED.patches is not None:
        INSTALLED.patches.apply_to_imported()


def observe(on_event: Observer) -> None:
    """Call a function with the events of all waits of the process, without `install`."""
    with INSTALLED.lock:
        INSTALLED.level.own = INSTALLED.level.own.extended(Settings(observers=(on_event,)))


def stop_observing(on_event: Observer) -> None:
    """Undo `observe`."""
    with INSTALLED.lock:
        own = INSTALLED.level.own
        others = tuple(each for each in own.observers if each is not on_event)
        INSTALLED.level.own = Settings(own.definitions, own.defaults, others)


def settings_from(
    definitions: Source | Iterable[Source],
    defaults: WaitOptions | Mapping[str, Any] | None,
    on_event: Observer | None,
) -> Settings:
    """Return the settings, checked and loaded before anything is changed."""
    if on_event is not None and not callable(on_event):
        raise wrong_type("on_event", on_event, "a function")
    loaded: tuple[WaiterDefinition, ...] = ()
    options: WaitOptions | None = None
    # Imported where they are needed: a program that never waits should not pay for them.
    if definitions or not isinstance(definitions, tuple):
        from ..definitions.files import load_definitions  # noqa: PLC0415 - see above

        loaded = load_definitions(definitions)
    if defaults is not None:
        from ..options import as_options  # noqa: PLC0415 - see above

        options = as_options(defaults, "defaults")
    return Settings(loaded, options, () if on_event is None else (on_event,))


def _patches() -> Any:
    """Return the module that patches; the first one, should it be imported again."""
    if INSTALLED.patches is None:
        from . import patches  # noqa: PLC0415 - imports what the program imports by itself

        INSTALLED.patches = patches
    return INSTALLED.patches


_IMPORT_HOOK: Final = ImportHook(PATCHED_MODULES, lambda module: _patches().apply_to(module))
