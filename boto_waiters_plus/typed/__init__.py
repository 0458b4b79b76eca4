"""`wait_until_*` for type checkers: `typed.<service>.enable(client)`.

The build writes a stub for each service beside this file, and none of the modules: they differ in
the name of the service alone, and are made here when they are imported. In a checkout that was
not installed there are no stubs, and type checkers see nothing.
"""

from __future__ import annotations

import keyword
import sys
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ..hooks.sessions import returns_outcomes


def _members_of(service: str) -> dict[str, Any]:
    """Return what the module of a service holds; `service` is the name as in `boto3.client`."""

    def enable(client: Any, /, **settings: Any) -> Any:
        """Do what `boto_waiters_plus.enable` does, for a boto3 client of this service.

        Raises:
            TypeError: not such a client; otherwise as `boto_waiters_plus.enable`.
        """
        return _enable_client(client, service, settings, awaits=False)

    def enable_async(client: Any, /, **settings: Any) -> Any:
        """Do what `boto_waiters_plus.enable` does, for an aiobotocore client of this service.

        Raises:
            TypeError: not such a client; otherwise as `boto_waiters_plus.enable`.
        """
        return _enable_client(client, service, settings, awaits=True)

    def enable_resource(resource: Any, /, **settings: Any) -> Any:
        """Do what `boto_waiters_plus.enable` does, for the client of a boto3 resource.

        Raises:
            TypeError: not a boto3 resource of this service; otherwise as
                `boto_waiters_plus.enable`.
            ValueError: the resource was made before `install`, or before its session was given to
                `enable`: its waiters would drop the outcome.
        """
        from boto3.resources.base import ServiceResource  # noqa: PLC0415 - see `_enable_client`

        if not isinstance(resource, ServiceResource):
            raise TypeError(
                f"resource must be a boto3 resource of {service}, not {type(resource).__name__}"
            )
        if resource.meta.service_name != service:
            raise TypeError(
                f"resource must be a resource of {service}, not of {resource.meta.service_name}"
            )
        if not returns_outcomes(type(resource)):
            raise ValueError(
                "resource was made before install() and before enable(session): make it after them"
            )
        _enable_client(resource.meta.client, service, settings, awaits=False)
        return resource

    known = {"enable": enable, "enable_async": enable_async, "enable_resource": enable_resource}
    # For annotations that are evaluated; the classes exist in the stubs alone.
    return {**known, **dict.fromkeys(("Client", "AsyncClient", "ServiceResource"), Any)}


def _enable_client(client: Any, service: str, settings: dict[str, Any], *, awaits: bool) -> Any:
    # Imported by the first call: a module of types alone costs nothing.
    from botocore.client import BaseClient  # noqa: PLC0415 - see above

    from ..calls.clients import client_behind, is_async  # noqa: PLC0415 - see above
    from ..hooks.enabling import enable  # noqa: PLC0415 - see above

    behind = client_behind(client)
    if not isinstance(behind, BaseClient):
        raise TypeError(f"client must be a client of {service}, not {type(client).__name__}")
    found = behind.meta.service_model.service_name
    if found != service:
        raise TypeError(f"client must be a client of {service}, not of {found}")
    if is_async(type(behind)) != awaits:
        kind, other = ("a boto3", "enable") if awaits else ("an aiobotocore", "enable_async")
        raise TypeError(f"client is {kind} client: use {other}")
    return enable(client, **settings)


# --- the modules ---------------------------------------------------------------------------------


class _ServiceLoader(Loader):
    """Makes the module of a service; the class is the entry of `sys.meta_path` that finds it.

    Args:
        service: the name as in `boto3.client`.
    """

    def __init__(self, service: str) -> None:
        self._service = service

    @classmethod
    def find_spec(cls, name: str, *_others: Any) -> ModuleSpec | None:
        """Return how a module of this package is made; None if there is no such service."""
        package, _, module = name.rpartition(".")
        service = _service_of(module) if package == __name__ else None
        return None if service is None else ModuleSpec(name, cls(service))

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module."""
        module.__doc__ = __doc__
        vars(module).update(_members_of(self._service))


sys.meta_path.append(_ServiceLoader)


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and _service_of(name) is not None:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _service_of(module: str) -> str | None:
    """Return the service of the installed botocore with this module; None if there is none."""
    service = module.removesuffix("_").replace("_", "-")
    if module != module_name(service):
        return None
    # botocore is not imported: that may have to wait until a program has patched `ssl`.
    botocore = find_spec("botocore")
    folders = () if botocore is None else botocore.submodule_search_locations or ()
    if any(Path(folder, "data", service).is_dir() for folder in folders):
        return service
    from ..service.places import default_loader  # noqa: PLC0415 - see above

    known = default_loader().list_available_services("service-2")
    return service if service in known else None


def module_name(service: str) -> str:
    """Return the name of a service's module: `lambda_` for `lambda`, `acm_pca` for `acm-pca`."""
    name = service.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name
