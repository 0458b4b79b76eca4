"""Whether the modules that a wait goes through are what they were."""

import sys
import types

MODULES = (
    "botocore.awsrequest",
    "botocore.endpoint",
    "botocore.httpsession",
    "botocore.retries",
    "urllib3",
    "http.client",
)


def namespaces():
    """Return what the modules and their classes hold, by their names."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(MODULES) and isinstance(module, types.ModuleType):
            found[name] = dict(vars(module))
            for each in list(vars(module).values()):
                if isinstance(each, type) and each.__module__.startswith(MODULES):
                    found[f"{name}.{each.__qualname__}"] = dict(vars(each))
    return found


def differences(before, after):
    """Return the names of what is not the object that it was."""
    return [
        f"{owner}.{name}"
        for owner, members in before.items()
        for name in members.keys() | after[owner].keys()
        if members.get(name) is not after[owner].get(name)
        # CPython keeps its caches of abstract classes there.
        and name not in {"_abc_impl", "__annotations__"}
    ]
