"""Write the stubs of `boto_waiters_plus.typed`, one for each service.

    python tools/generate_types.py boto_waiters_plus/typed

The build of a wheel does the same. The waiters are those of `data/` and of the installed botocore,
the parameters those of its models.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import boto3
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from service_stub import resources_of, service_stub, shared_stub

from boto_waiters_plus.definitions.shipped import shipped_services
from boto_waiters_plus.service.catalog import client_name
from boto_waiters_plus.service.service_waiters import ServiceWaiters
from boto_waiters_plus.typed import module_name

PACKAGE = '''\
"""Waits of each service, for type checkers; generated."""

{imports}
{names}
def module_name(service: str) -> str: ...
'''
"""pyright warns of a module that is imported from its package and has a stub but no source, as long
as the name stands for the module itself: so it is a variable."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write every file, and remove those of services that no longer exist."""
    parser = argparse.ArgumentParser(description="Write the types of all waiters.")
    parser.add_argument("folder", type=Path, help="where to write")
    folder: Path = parser.parse_args(arguments).folder
    print(f"{write(folder)} files")


def write(folder: Path) -> int:
    """Write every file and remove what was written before; return the number of files."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = files()
    for path in folder.iterdir():
        is_generated = path.suffix in {".py", ".pyi"} and path.name != "__init__.py"
        if is_generated and path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return len(texts)


def files() -> dict[str, str]:
    """Return the text of every file by its name."""
    loader = _loader_of(Loader.BUILTIN_DATA_PATH)
    resources = _loader_of(Path(boto3.__file__).parent / "data")
    texts = {}
    for service in sorted(_services(loader)):
        try:
            document = loader.load_service_model(service, "service-2")
        except UnknownServiceError:
            continue  # newer than this botocore
        model = ServiceModel(document, service_name=service)
        waiters = list(ServiceWaiters(model, loader).values())
        if waiters:
            stub = service_stub(service, waiters, resources_of(service, resources))
            texts[f"{module_name(service)}.pyi"] = stub
    names = [Path(each).stem for each in texts]
    package = PACKAGE.format(
        imports="".join(f"from . import {name} as _{name}\n" for name in names),
        names="".join(f"{name} = _{name}\n" for name in names),
    )
    return {"__init__.pyi": package, "_shared.pyi": shared_stub(), **texts}


def _loader_of(folder: str | Path) -> Loader:
    """Return a loader without the search path of the machine that builds."""
    return Loader(extra_search_paths=[str(folder)], include_default_search_paths=False)


def _services(loader: Loader) -> set[str]:
    """Return the `boto3.client` names of the services that may have waiters."""
    return {*map(client_name, shipped_services()), *loader.list_available_services("waiters-2")}


if __name__ == "__main__":
    main()
