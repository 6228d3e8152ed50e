"""Where the issuer's keys come from: a file, or an address of the issuer."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from ai_psychiatrist.access.oidc.public_keys import MOST_BYTES, KeysUnreadable, PublicKeys
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut

if TYPE_CHECKING:
    import httpx2

_READERS: Final = WorkerThreads(count=2, seconds=10.0)
_FETCH_SECONDS: Final = 5.0


def keys_in_file(path: Path) -> PublicKeys:
    """Read the keys of a file; raises `KeysUnreadable`."""
    try:
        return PublicKeys(read_regular(path, most_bytes=MOST_BYTES))
    except OSError as error:
        msg = f"AUTH_OIDC_JWKS_FILE cannot be read: {reason_of(error)}"
        raise KeysUnreadable(msg) from None


async def read_keys(path: Path) -> PublicKeys:
    """Read the keys of a file off the event loop; raises `KeysUnreadable`."""
    return await _apart(lambda: keys_in_file(path))


async def fetch_keys(url: str) -> PublicKeys:
    """Fetch the keys, from this address alone; raises `KeysUnreadable`."""
    import httpx2  # noqa: PLC0415

    is_encrypted = urlsplit(url).scheme == "https"
    verify = (
        await asyncio.to_thread(lambda: httpx2.create_ssl_context(trust_env=False))
        if is_encrypted
        else False
    )
    try:
        async with (
            asyncio.timeout(_FETCH_SECONDS),
            httpx2.AsyncClient(
                verify=verify,
                trust_env=False,
                follow_redirects=False,
                timeout=_FETCH_SECONDS,
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
            ) as client,
            client.stream("GET", url) as response,
        ):
            written = await _bounded(response)
    except (httpx2.HTTPError, TimeoutError, OSError) as error:
        msg = f"the keys at AUTH_OIDC_JWKS_URL cannot be fetched: {type(error).__name__}"
        raise KeysUnreadable(msg) from None
    return await _apart(lambda: PublicKeys(written))


async def _bounded(response: "httpx2.Response") -> bytes:
    if response.status_code != 200:
        msg = f"AUTH_OIDC_JWKS_URL answers with status {response.status_code}"
        raise KeysUnreadable(msg)
    written = b""
    async for chunk in response.aiter_raw():
        written += chunk
        if len(written) > MOST_BYTES:
            msg = f"what AUTH_OIDC_JWKS_URL answers is larger than {MOST_BYTES} bytes"
            raise KeysUnreadable(msg)
    return written


async def _apart(read: "Callable[[], PublicKeys]") -> PublicKeys:
    try:
        return await _READERS.run(read)
    except WorkTimedOut:
        msg = "the keys of the issuer were not read in time"
        raise KeysUnreadable(msg) from None
