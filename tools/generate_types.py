"""Write the modules and stubs of `boto_waiters_plus.typed`, one of each for each service.

    python tools/generate_types.py boto_waiters_plus/typed

The build of a wheel does the same. The waiters are those of `data/` and of the installed botocore,
the parameters those of its models.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from service_stub import resources_of, service_stub

from boto_waiters_plus.aws.service_waiters import ServiceWaiters
from boto_waiters_plus.cli.service_lookup import client_name
from boto_waiters_plus.definitions.shipped import shipped_services
from boto_waiters_plus.options import WaitOptions
from boto_waiters_plus.typed import module_name

PACKAGE = '''\
"""Waits of each service, for type checkers; generated."""

from typing import Any

{imports}
def members_of(service: str) -> dict[str, Any]: ...
def module_name(service: str) -> str: ...
'''

MODULE = '''\
"""Waits of `{service}`, for type checkers; generated."""

from boto_waiters_plus.typed import members_of

globals().update(members_of("{service}"))
'''

KEYWORDS = '''\
"""What every wait takes; generated."""

from collections.abc import Callable
from typing import Literal, TypedDict

from typing_extensions import ReadOnly

from ..engine.wait_event import WaitEvent
from ..options import CancelEvent, Seconds, Subscribable, WakeSignal

class Options(TypedDict, total=False):
{options}

class StockConfig(TypedDict, total=False):
    Delay: ReadOnly[float]
    MaxAttempts: ReadOnly[int]

class WaiterConfig(StockConfig, total=False):
    MaxWait: ReadOnly[Seconds]
'''


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
    # Not the search path of the machine that builds.
    builtin = str(Loader.BUILTIN_DATA_PATH)
    loader = Loader(extra_search_paths=[builtin], include_default_search_paths=False)
    texts = {}
    for service in sorted(_services(loader)):
        try:
            document = loader.load_service_model(service, "service-2")
        except UnknownServiceError:
            continue  # newer than this botocore
        model = ServiceModel(document, service_name=service)
        waiters = list(ServiceWaiters(model, loader).values())
        if waiters:
            name = module_name(service)
            texts[f"{name}.py"] = MODULE.format(service=service)
            texts[f"{name}.pyi"] = service_stub(service, waiters, resources_of(service))
    names = [Path(each).stem for each in texts if each.endswith(".pyi")]
    imports = "".join(f"from . import {name} as {name}\n" for name in names)
    options = "\n".join(f"    {option.name}: {option.type}" for option in fields(WaitOptions))
    keywords = KEYWORDS.format(options=options)
    return {
        "__init__.pyi": PACKAGE.format(imports=imports),
        "_keywords.pyi": keywords,
        **texts,
    }


def _services(loader: Loader) -> set[str]:
    """Return the `boto3.client` names of the services that may have waiters."""
    return {*map(client_name, shipped_services()), *loader.list_available_services("waiters-2")}


if __name__ == "__main__":
    main()
