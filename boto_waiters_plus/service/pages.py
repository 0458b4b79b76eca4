"""The pages of an answer as one; apart, because few waits read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from botocore import xform_name
from botocore.model import ListShape, OperationModel
from botocore.paginate import Paginator

from ..calls.clients import client_behind, is_async
from .shapes import members_of, page_tokens

MOST_PAGES: Final = 10


def read_pages(client: Any, operation: OperationModel, parameters: Mapping[str, Any]) -> Any:
    """Return the pages of an answer as one, at most `MOST_PAGES`; awaitable if the client is.

    Where more pages follow, it has the token of the last one.
    """
    pages = _paginator(client, operation).paginate(**parameters)
    return _awaited(pages) if hasattr(pages, "__aiter__") else _joined(islice(pages, MOST_PAGES))


async def _awaited(pages: Any) -> Any:
    read: list[Any] = []
    async for page in pages:
        read.append(page)
        if len(read) == MOST_PAGES:
            break
    return _joined(read)


def _paginator(client: Any, operation: OperationModel) -> Any:
    name = xform_name(operation.name)
    if client.can_paginate(name):
        return client.get_paginator(name)
    made: Any = Paginator
    if is_async(type(client_behind(client))):
        from aiobotocore.paginate import AioPaginator  # noqa: PLC0415 - an extra

        made = AioPaginator
    # botocore has paginators for most lists only.
    request, answer = operation.input_shape, operation.output_shape
    lists = [name for name, each in members_of(answer).items() if isinstance(each, ListShape)]
    tokens = {"input_token": page_tokens(request)[0], "output_token": page_tokens(answer)[0]}
    return made(getattr(client, name), {**tokens, "result_key": lists}, operation)


def _joined(pages: Iterable[Any]) -> Any:
    answer: Any = None
    for page in pages:
        answer = _with_next(answer, page)
    return answer


def _with_next(answer: Any, page: Any) -> Any:
    """Return the items of both, and what else the later page has."""
    if isinstance(answer, list) and isinstance(page, list):
        return answer + page
    if isinstance(answer, dict) and isinstance(page, dict):
        kept = {name: each for name, each in answer.items() if isinstance(each, list | dict)}
        return kept | {name: _with_next(kept.get(name), each) for name, each in page.items()}
    return page
