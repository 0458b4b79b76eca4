"""The pages of an answer as one; apart, because few waits read them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
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
    if hasattr(pages, "__aiter__"):
        return _awaited(pages)
    return reduce(_with_next, islice(pages, MOST_PAGES))


async def _awaited(pages: Any) -> Any:
    read: list[Any] = []
    async for page in pages:
        read.append(page)
        if len(read) == MOST_PAGES:
            break
    return reduce(_with_next, read)


def _paginator(client: Any, operation: OperationModel) -> Any:
    name = xform_name(operation.name)
    if client.can_paginate(name):
        return client.get_paginator(name)
    # botocore has no paginator for some lists.
    made: Any = Paginator
    if is_async(type(client_behind(client))):
        from aiobotocore.paginate import AioPaginator  # noqa: PLC0415 - an extra

        made = AioPaginator
    request, answer = operation.input_shape, operation.output_shape
    lists = [name for name, each in members_of(answer).items() if isinstance(each, ListShape)]
    tokens = {"input_token": page_tokens(request)[0], "output_token": page_tokens(answer)[0]}
    return made(getattr(client, name), {**tokens, "result_key": lists}, operation)


def _with_next(answer: Any, page: Any) -> Any:
    """Return a page with the items of those before it."""
    if isinstance(answer, list) and isinstance(page, list):
        return answer + page
    if isinstance(answer, dict) and isinstance(page, dict):
        kept = {name: each for name, each in answer.items() if isinstance(each, list | dict)}
        return kept | {name: _with_next(kept.get(name), each) for name, each in page.items()}
    return page
