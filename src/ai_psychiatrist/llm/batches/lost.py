"""Find a batch again whose handle was not kept, because the program ended at that moment."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from pydantic_ai.models import Model

_AHEAD: Final = timedelta(hours=1)
"""By so much a provider's clock may be behind this one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A batch that a provider lists."""

    id: str
    created_at: datetime


async def handed_in_since(
    model: Model, since: datetime, ids: Collection[str]
) -> list[Listed] | None:
    """Return batches of this many calls, and where that can be seen of these calls, made since.

    `None` for a provider whose list says too little.
    """
    client: Any = getattr(model, "client", None)
    if model.system == "anthropic":
        return await _of_anthropic(client, since - _AHEAD, len(ids))
    if model.system == "openai":
        return await _of_openai(client, since - _AHEAD, ids)
    return None


async def _of_anthropic(client: Any, since: datetime, calls: int) -> list[Listed]:  # noqa: ANN401
    found = []
    # The newest come first.
    async for one in client.beta.messages.batches.list(limit=100):
        if one.created_at < since:
            break
        counts = one.request_counts
        asked = counts.processing + counts.succeeded + counts.errored
        if asked + counts.canceled + counts.expired == calls:
            found.append(Listed(id=one.id, created_at=one.created_at))
    return found


async def _of_openai(client: Any, since: datetime, ids: Collection[str]) -> list[Listed]:  # noqa: ANN401
    found = []
    async for one in client.batches.list(limit=100):
        created_at = datetime.fromtimestamp(one.created_at, tz=UTC)
        if created_at < since:
            break
        first = (await client.files.content(one.input_file_id)).content.partition(b"\n")[0]
        if orjson.loads(first).get("custom_id") in ids:
            found.append(Listed(id=one.id, created_at=created_at))
    return found
