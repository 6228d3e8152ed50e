"""A request that is sent again with the same key is answered by what came of the first."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Final, TypeAlias

from fastapi import Header

from ai_psychiatrist.api.query_options import ScoringInQuery
from ai_psychiatrist.api.requests import KeptAssessmentRequest
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.worker_processes import beside_the_loop
from ai_psychiatrist.reviews.archive.idempotency import Answered, IdempotencyKey
from ai_psychiatrist.reviews.archives import Records

_DIGITS: Final = 64

KeyOfHeader: TypeAlias = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="A text of your own for this one request, such as a UUID. Sent again with it, "
        "the request begins nothing a second time; it is known for 24 hours at least.",
    ),
]


def asked_for(
    route: str, bodies: Sequence[KeptAssessmentRequest], query: ScoringInQuery
) -> list[str]:
    """Return all that a request asks for, to be told from another one by."""
    said = [route, query.model_dump_json()]
    for body in bodies:
        # Half a character, which is refused only where the text is read, has no bytes of its own.
        said.append(json.dumps(body.model_dump(mode="json")))
        if body.file is not None:
            said.append(f"{body.file.name} {hashlib.sha256(body.file).hexdigest()}")
    return said


async def key_of(
    given: str | None, principal_id: str, said: Callable[[], list[str]]
) -> IdempotencyKey | None:
    """Return the key of a request, `None` where it has none; nothing of it can be read back."""
    if given is None:
        return None
    fingerprint = await beside_the_loop(lambda: keyed_digest("\n".join(said()), length=_DIGITS))
    return IdempotencyKey(
        asked_by=principal_id,
        digest=keyed_digest(f"idempotency {given}", length=_DIGITS),
        fingerprint=fingerprint,
    )


@asynccontextmanager
async def once(key: IdempotencyKey | None, records: Records) -> AsyncIterator[Answered | None]:
    """Give what came of the first request with a key; `None` where this is the first.

    Whoever stores what comes of it says so in the same transaction; a request of which nothing
    came gives its key back. Raises `KeyUnderWay` and `KeyOfAnother`.
    """
    if key is None:
        yield None
        return
    answered = await _begun(key, records)
    if answered is not None:
        yield answered
        return
    try:
        yield None
    except BaseException:
        await _forget(key, records)
        raise


async def _begun(key: IdempotencyKey, records: Records) -> Answered | None:
    runner = records.archives.runner
    beginning = asyncio.ensure_future(
        records.ask(lambda archive: archive.idempotency.begin(key, runner))
    )
    try:
        return await asyncio.shield(beginning)
    except asyncio.CancelledError:
        # Its caller has gone, but a thread takes the key all the same.
        (answered,) = await asyncio.gather(beginning, return_exceptions=True)
        if answered is None:
            await _forget(key, records)
        raise


async def _forget(key: IdempotencyKey, records: Records) -> None:
    await records.ask(lambda archive: archive.idempotency.forget(key))
