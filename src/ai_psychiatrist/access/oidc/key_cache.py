"""The issuer's keys, kept for an hour, and longer while the issuer does not answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from ai_psychiatrist.access.oidc.public_keys import PublicKeys
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, RSAKey

logger = get_logger(__name__)

FRESH_SECONDS: Final = 3_600.0
STALE_SECONDS: Final = 86_400.0
"""How old keys may be while no newer ones can be had."""
PAUSE_SECONDS: Final = 60.0
"""Between two looks, whatever ids of keys are asked for."""

Load: TypeAlias = Callable[[], Awaitable[PublicKeys]]


class KeyCache:
    """Loads the keys when they are needed; of many who wait one loads."""

    def __init__(self, load: Load, clock: Callable[[], float] = time.monotonic) -> None:
        self._load = load
        self._clock = clock
        self._lock = asyncio.Lock()
        self._keys: PublicKeys | None = None
        self._loaded_at = 0.0
        self._tried_at: float | None = None

    async def find(self, key_id: object) -> "RSAKey | ECKey | None":
        """Return the key of an id, `None` where the issuer has none or cannot be asked."""
        if self._age() >= FRESH_SECONDS:
            await self._refresh()
        if (key := self._known(key_id)) is None:
            await self._refresh()
            key = self._known(key_id)
        return key

    def _age(self) -> float:
        return STALE_SECONDS if self._keys is None else self._clock() - self._loaded_at

    def _known(self, key_id: object) -> "RSAKey | ECKey | None":
        if self._keys is None or self._age() >= STALE_SECONDS:
            return None
        return self._keys.find(key_id)

    async def _refresh(self) -> None:
        async with self._lock:
            now = self._clock()
            if self._tried_at is not None and now - self._tried_at < PAUSE_SECONDS:
                return
            self._tried_at = now
            try:
                self._keys = await self._load()
                self._loaded_at = now
            except ConfigurationError as error:
                logger.error("token_keys_not_loaded", reason=str(error))
